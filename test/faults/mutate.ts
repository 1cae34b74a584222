/**
 * Takes defences out one by one, in a copy of the tree, and wants the fault's test red each time: a test that
 * stays green proves nothing.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FAULTS } from './faults.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const COPIED = [
  'src',
  'test',
  'config',
  'contracts',
  'docs',
  'scripts',
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'vitest.config.ts',
  'vitest.faults.config.ts',
];

/** Answers how many defences turned out to be unproved. */
export function mutate(ids: readonly string[]): number {
  const chosen = FAULTS.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-mutant-'));
  let unproved = 0;
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const { id, test, defences } of chosen) {
      for (const { what, file, from, to } of defences) {
        const path = join(folder, file);
        const whole = readFileSync(path, 'utf8');
        writeFileSync(
          path,
          whole.replace(from, () => to),
        );
        if (file.endsWith('.sol'))
          spawnSync(process.execPath, ['scripts/contracts.mjs', 'build'], { cwd: folder, stdio: 'inherit' });
        const { status, stdout } = spawnSync(
          join(folder, 'node_modules/.bin/vitest'),
          ['run', '--config', 'vitest.faults.config.ts', test, '-t', `${id}:`],
          { cwd: folder, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0' } },
        );
        const red = status !== 0 && /\d+ failed/.test(stdout);
        if (!red) unproved += 1;
        console.log(`${red ? 'red  ' : 'GREEN'} ${id} without: ${what} (${file})`);
        writeFileSync(path, whole);
        if (file.endsWith('.sol'))
          cpSync(join(ROOT, 'src/settlement/abi'), join(folder, 'src/settlement/abi'), { recursive: true });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    unproved === 0
      ? 'every defence is proved'
      : `${unproved} defence${unproved === 1 ? '' : 's'} could be taken out unnoticed`,
  );
  return unproved;
}
