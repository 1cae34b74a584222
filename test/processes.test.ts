/** scripts/processes.mjs: how the commands of package.json start programs. */

import { join } from 'node:path';
import { expect, test } from 'vitest';

const { run } = (await import(join(import.meta.dirname, '..', 'scripts/processes.mjs'))) as {
  run(
    program: string,
    words: string[],
    onLine?: (line: string) => void,
    env?: Record<string, string>,
  ): Promise<number>;
};

test('a program gets the environment of the command and what the command adds', async () => {
  const lines: string[] = [];
  const script = 'console.log(process.env.FIRMQUOTE_SEED, process.env.PATH.length > 0)';
  const status = await run(process.execPath, ['-e', script], (line) => lines.push(line), {
    FIRMQUOTE_SEED: '7',
  });
  expect({ status, lines }).toEqual({ status: 0, lines: ['7 true'] });
});

test('the exit status of a program is returned', async () => {
  expect(await run(process.execPath, ['-e', 'process.exit(3)'])).toBe(3);
});
