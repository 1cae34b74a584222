/** Errors of a bundled program name the lines of src, because its maps are there and are read. */

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

test('a stack trace of a bundled program names the file and line of src', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-traces-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const entry = join(folder, 'program.ts');
  await writeFile(
    entry,
    `import { mapStackTraces } from '${ROOT}/src/adapters/system/stack-traces.ts';
import { parseUnits } from '${ROOT}/src/domain/amount.ts';
mapStackTraces();
try {
  parseUnits('1.234', 2);
} catch (error) {
  console.log((error as Error).stack);
}
`,
  );
  const built = spawnSync(
    process.execPath,
    ['scripts/build.mjs', relative(ROOT, entry), join(folder, 'out')],
    { cwd: ROOT, encoding: 'utf8' },
  );
  expect(built.stderr).toBe('');
  // Programs of the package are modules.
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  const ran = spawnSync(process.execPath, [join(folder, 'out/program.js')], { encoding: 'utf8' });
  const lines = (await readFile(join(ROOT, 'src/domain/amount.ts'), 'utf8')).split('\n');
  const thrown = lines.findIndex((line) => line.includes('throw new AmountError({ text })')) + 1;
  expect(ran.stdout).toContain(`${ROOT}/src/domain/amount.ts:${thrown}:`);
  expect(ran.stdout).toMatch(/program\.ts:5:3/);
});
