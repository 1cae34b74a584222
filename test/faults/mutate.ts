/**
 * Takes defences out one by one, in a copy of the tree, and expects the fault's test to fail each time. A
 * test that still passes proves nothing.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { FAULTS } from './faults.ts';
import { fileOf, takeOut } from './take-out.ts';

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

/** Returns how many defences could be taken out without a failing test. Without ids it tries all of them. */
export function mutate(ids: readonly string[]): number {
  const chosen = FAULTS.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-mutant-'));
  let unproved = 0;
  try {
    for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const { id, test, defences } of chosen) {
      if (runTest(folder, test, id) === 'fails') {
        unproved += defences.length;
        console.log(`${id} fails with all its defences in place, so that it proves none of them`);
        continue;
      }
      for (const defence of defences) {
        const path = join(folder, fileOf(defence));
        const whole = readFileSync(path, 'utf8');
        const isContract = path.endsWith('.sol');
        writeFileSync(path, takeOut(whole, defence));
        if (isContract)
          spawnSync(process.execPath, ['scripts/contracts.mjs', 'build'], { cwd: folder, stdio: 'inherit' });
        const failed = runTest(folder, test, id) === 'fails';
        if (!failed) unproved += 1;
        console.log(`${failed ? 'red  ' : 'GREEN'} ${id} without: ${defence.what} (${defence.symbol})`);
        writeFileSync(path, whole);
        if (isContract)
          cpSync(join(ROOT, 'src/settlement/abi'), join(folder, 'src/settlement/abi'), { recursive: true });
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(
    unproved === 0
      ? 'every defence is proved'
      : `${unproved} defence${unproved === 1 ? '' : 's'} could be taken out without a failing test`,
  );
  return unproved;
}

function runTest(folder: string, test: string, id: string): 'passes' | 'fails' {
  const { status, stdout } = spawnSync(
    join(folder, 'node_modules/.bin/vitest'),
    ['run', '--config', 'vitest.faults.config.ts', test, '-t', `${id}:`],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0' } },
  );
  return status !== 0 && /\d+ failed/.test(stdout) ? 'fails' : 'passes';
}
