/**
 * Takes defences out one by one, in a copy of the tree, and expects the fault's test to fail each time. A
 * test that still passes proves nothing.
 */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { FAULTS } from './faults.ts';
import { fileOf, takeOut } from './take-out.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
/** Made by a build, or linked. */
/** What scripts/contracts.mjs writes. */
const GENERATED = [
  'contracts/artifacts',
  'src/settlement/abi',
  'src/adapters/evm/deploy/abi',
  'test/support/abi',
];
const LEFT_OUT = new Set(['.git', 'dist', 'node_modules']);

type Outcome = 'passes' | 'fails' | 'does not run';
/** A test that does not run, such as for want of a file, shows nothing. */
const COLOURS: Record<Outcome, string> = { passes: 'GREEN', fails: 'red  ', 'does not run': 'NOT RUN' };

/** Returns how many defences could be taken out without a failing test. Without ids it tries all of them. */
export function mutate(ids: readonly string[]): number {
  const chosen = FAULTS.filter(({ id }) => ids.length === 0 || ids.includes(id));
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-mutant-'));
  let unproved = 0;
  try {
    for (const name of readdirSync(ROOT))
      if (!LEFT_OUT.has(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const { id, test, defences } of chosen) {
      const whole = runTest(folder, test, id);
      if (whole !== 'passes') {
        unproved += defences.length;
        console.log(`${id} ${whole} with all its defences in place, so that it proves none of them`);
        continue;
      }
      for (const defence of defences) {
        const path = join(folder, fileOf(defence));
        const text = readFileSync(path, 'utf8');
        const isContract = path.endsWith('.sol');
        writeFileSync(path, takeOut(text, defence));
        if (isContract)
          spawnSync(process.execPath, ['scripts/contracts.mjs', 'build'], { cwd: folder, stdio: 'inherit' });
        const outcome = runTest(folder, test, id);
        if (outcome !== 'fails') unproved += 1;
        console.log(`${COLOURS[outcome]} ${id} without: ${defence.what} (${defence.symbol})`);
        writeFileSync(path, text);
        if (isContract)
          for (const generated of GENERATED)
            cpSync(join(ROOT, generated), join(folder, generated), { recursive: true });
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

function runTest(folder: string, test: string, id: string): Outcome {
  const { status, stdout, stderr } = spawnSync(
    join(folder, 'node_modules/.bin/vitest'),
    ['run', '--project', 'faults', test, '-t', `${id}:`],
    { cwd: folder, encoding: 'utf8', env: { ...process.env, FORCE_COLOR: '0' } },
  );
  const shown = stripVTControlCharacters(`${stdout}${stderr}`);
  if (status === 0 && /Tests +\d+ passed/.test(shown)) return 'passes';
  if (/Tests +\d+ failed/.test(shown)) return 'fails';
  console.log(shown.split('\n').slice(-30).join('\n'));
  return 'does not run';
}
