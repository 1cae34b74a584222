/**
 * `npm run bench -- compare COMMIT NAME [--rounds 2] [arguments of the bench]`: builds that commit beside
 * this tree and runs the bench of both in alternation, because a shared machine changes its speed. Each tree
 * runs its own bench; an older one, which knows no `--rates`, gets the rates of this tree written into its
 * file.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bin, captured, fail, ROOT } from './processes.mjs';

/** The list of rates in a bench that takes none as an argument. */
const OLD_RATES = { venue: /(?<=const RATES = )\[[^\]]*\](?: as const)?/, submit: /\[50, 100, GATE, 600\]/ };
/** The older benches need the rate of their gate. */
const GATES = { venue: 800, submit: 200 };
const RATES = { venue: [800, 1_200, 1_600, 2_000, 2_400, 3_200], submit: [200, 300, 400, 500, 600] };

export async function compare(args) {
  const [given, name, ...rest] = args;
  const { values, tokens } = parseArgs({
    args: rest,
    options: { rounds: { type: 'string', default: '2' } },
    strict: false,
    tokens: true,
  });
  const rounds = Number(values.rounds);
  const known = given && name && existsSync(join(ROOT, `bench/${name}.ts`));
  if (!known || !(Number.isInteger(rounds) && rounds > 0))
    fail('Usage: npm run bench -- compare COMMIT NAME [--rounds 2] [arguments of the bench]');
  const own = tokens.flatMap((token) =>
    token.kind === 'option' && token.name === 'rounds' ? [] : [rest[token.index]],
  );
  const rates = /^--rates=(.+)$/.exec(own.find((word) => word.startsWith('--rates=')) ?? '')?.[1];
  const words = rates === undefined && RATES[name] ? [...own, `--rates=${RATES[name].join(',')}`] : own;
  const commit = git('rev-parse', '--short', `${given}^{commit}`);
  const trees = { [commit]: older(commit, name, rates ?? RATES[name]?.join(',')), here: ROOT };
  for (const [label, tree] of Object.entries(trees)) {
    const built = spawnSync(bin('tsc'), ['-p', benchProject(tree)], { cwd: tree, stdio: ['ignore', 2, 2] });
    if (built.status !== 0) fail(`The benches of ${label} do not compile. The message of tsc is above.`);
  }
  const results = [];
  for (let round = 1; round <= rounds; round += 1)
    // The order turns round by round, so that neither is always the first.
    for (const label of round % 2 === 1 ? [commit, 'here'] : ['here', commit]) {
      const file = join(trees[label], `dist/bench/bench/${name}.js`);
      console.error(`== round ${round}: ${label}`);
      const { output, status } = await captured(
        process.execPath,
        ['--enable-source-maps', file, ...words],
        (chunk) => process.stdout.write(chunk),
      );
      if (status !== 0) fail(`bench ${name} of ${label} ended with status ${status}.`);
      results.push({ label, round, figures: JSON.parse(output.trim().split('\n').at(-1)) });
    }
  console.log(`\n${summary(name, results)}`);
  return 0;
}

/** Lists each rate, tree and round. A bench without rates has printed its last lines already. */
function summary(name, results) {
  return results
    .flatMap(({ label, round, figures }) => ratesOf(figures).map((row) => ({ ...row, label, round })))
    .sort((a, b) => a.offered - b.offered)
    .map(
      ({ offered, label, round, perSecond, p50Ms, p99Ms, refusalP99Ms, cpu }) =>
        `${name} ${String(offered).padStart(5)}/s offered, ${label.padEnd(9)} round ${round}: ${perSecond}/s answered, p50 ${p50Ms} ms, p99 ${p99Ms} ms, refusals p99 ${refusalP99Ms} ms, CPU of the venue ${cpu?.venue} us each`,
    )
    .join('\n');
}

/** Only `venue` and `submit` have rows of rates; `rows` of others is something else. */
function ratesOf({ rows, all }) {
  const found = rows ?? all?.[0]?.rows;
  return Array.isArray(found) ? found : [];
}

/** Checks a commit out, with its own packages; not under node_modules, from where tsc emits no JSON. */
function older(commit, name, rates) {
  const folder = join(ROOT, 'data/bench-compare', commit);
  if (!existsSync(join(folder, 'package.json'))) {
    git('worktree', 'prune');
    git('worktree', 'add', '--force', '--detach', folder, commit);
  }
  if (!existsSync(join(folder, 'node_modules/.package-lock.json'))) {
    const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
    });
    if (done.status !== 0)
      fail(`The packages of ${commit} could not be installed. The message of npm is above.`);
  }
  const file = join(folder, `bench/${name}.ts`);
  if (!existsSync(file)) fail(`${commit} has no bench "${name}".`);
  const text = readFileSync(file, 'utf8');
  if (rates !== undefined && !text.includes('--rates=') && OLD_RATES[name])
    writeFileSync(
      file,
      text.replace(OLD_RATES[name], `[${[...new Set([GATES[name], ...rates.split(',').map(Number)])]}]`),
    );
  return folder;
}

/** Older trees have the configuration of their benches in the root. */
function benchProject(tree) {
  return existsSync(join(tree, 'bench/tsconfig.json')) ? 'bench/tsconfig.json' : 'tsconfig.bench.json';
}

function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
}
