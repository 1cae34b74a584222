/** docs/lp/studies.md shows what its commands print. `RENEW_DOCS=yes` writes the page again. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { simCommand } from '../src/apps/cli/sim/sim.ts';

const PAGE = new URL('../docs/lp/studies.md', import.meta.url);
/** A command block, and the output block that follows it. */
const STUDIES = /```sh\n([^`]*npm run -s sim -- [^\n]+)\n```\n\n```text\n([^`]*)```/g;
let folder: string;

beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'firmquote-studies-'))));
afterAll(() => rm(folder, { recursive: true }));

/** Runs the block's lines: `sed` of one replacement into a file, and the simulator. */
async function outputOf(block: string): Promise<string> {
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line = '') => void printed.push(String(line)));
  for (const line of block.split('\n')) {
    const sed = /^sed 's\/(.+)\/(.+)\/' (\S+) > (\S+)$/.exec(line);
    if (sed !== null) {
      const [, pattern, text, from, into] = sed as unknown as string[];
      const source = await readFile(from as string, 'utf8');
      await writeFile(
        join(folder, into as string),
        source
          .split('\n')
          .map((each) => each.replace(new RegExp(pattern as string), text as string))
          .join('\n'),
      );
      continue;
    }
    const words = line.replace('npm run -s sim -- ', '').split(' ');
    await simCommand().parseAsync(
      words.map((word) => (word.endsWith('.json') && !word.includes('/') ? join(folder, word) : word)),
      { from: 'user' },
    );
  }
  log.mockRestore();
  return `${printed.slice(0, -1).join('\n')}\n`;
}

test('every figure is what its command prints', async () => {
  const page = await readFile(PAGE, 'utf8');
  const studies = [...page.matchAll(STUDIES)];
  expect(studies.length).toBeGreaterThan(1);
  expect(studies.length).toBe(page.match(/```text/g)?.length);
  let renewed = page;
  for (const [block, command, output] of studies as unknown as string[][]) {
    const now = await outputOf(command as string);
    if (process.env.RENEW_DOCS !== 'yes') expect(output, command).toBe(now);
    renewed = renewed.replace(block as string, () =>
      (block as string).replace(/```text\n[^`]*```$/, () => `\`\`\`text\n${now}\`\`\``),
    );
  }
  if (renewed !== page) await writeFile(PAGE, renewed);
}, 60_000);
