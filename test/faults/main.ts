/**
 * `npm run test:faults -- F18 …` runs the named faults, prints (--list) or proves (--mutate) their defences,
 * or writes the page about them (--page). Without arguments scripts/run.mjs runs all faults.
 */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { mutate } from './mutate.ts';
import { defencesOf, page, PAGE } from './page.ts';
import { SEED } from './seed.ts';

const ROOT = resolve(import.meta.dirname, '..', '..');
const { values, positionals: ids } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    list: { type: 'boolean' },
    mutate: { type: 'boolean' },
    page: { type: 'boolean' },
  },
});
const unknown = ids.filter((id) => !FAULTS.some((fault) => fault.id === id));

if (unknown.length > 0) {
  console.error(`There is no fault ${unknown.join(', ')}. docs/reference/faults.md lists them all.`);
  process.exitCode = 1;
} else if (values.list) {
  console.log(defencesOf(ids));
} else if (values.page) {
  writeFileSync(join(ROOT, PAGE), page());
} else if (values.mutate) {
  process.exitCode = mutate(ids) === 0 ? 0 : 1;
} else {
  const seed = values.seed ?? String(SEED);
  console.log(`faults: seed ${seed} (again: npm run test:faults -- --seed ${seed})`);
  const files = [...new Set(FAULTS.filter(({ id }) => ids.includes(id)).map(({ test }) => test))];
  const names = ids.length > 0 ? ['-t', `^(${ids.join('|')}):`] : [];
  const { status } = spawnSync(
    join(ROOT, 'node_modules/.bin/vitest'),
    ['run', '--project', 'faults', ...files, ...names],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, FIRMQUOTE_SEED: seed } },
  );
  process.exitCode = status ?? 1;
}
