/**
 * `npm run bench -- compare COMMIT NAME [--rounds 2] [arguments of the bench]`: builds that commit beside
 * this tree and runs the bench of both in alternation, because a shared machine changes its speed. Each tree
 * runs its own bench; an older one, which knows no `--rates`, gets the rates of this tree written into its
 * file. The summary lists what both have in common, by run, and then this tree's share of the commit's.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bin, captured, fail, ROOT } from './processes.mjs';

/** The list of rates in a bench that takes none as an argument. */
const OLD_RATES = { venue: /(?<=const RATES = )\[[^\]]*\](?: as const)?/, submit: /\[50, 100, GATE, 600\]/ };
/**
 * The older benches need the rate of their gate. It comes first, where their compiler is measured, so that
 * submissions are compared at higher rates only.
 */
const GATES = { venue: 800, submit: 200 };
const RATES = { venue: [800, 1_200, 1_600, 2_000, 2_400, 3_200], submit: [300, 450, 600, 800] };
/**
 * Arguments with which the older and the newer bench measure the same: one rate of settling; quotes of one
 * pair with ten in flight. Each ignores what only the other knows. The other rates only make the run short:
 * at a given rate, b33ea59 declines most requests, because its takers hold too many quotes by then.
 */
const ARGUMENTS = {
  settle: ['100', '15'],
  quotes: ['--live=10000', '--pairs=1', '--looks=1', '--rate=1000', '--rates=1000'],
};

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
  const words = own.length > 0 ? own : (ARGUMENTS[name] ?? []);
  const rates = /^--rates=(.+)$/.exec(own.find((word) => word.startsWith('--rates=')) ?? '')?.[1];
  if (rates === undefined && RATES[name]) words.push(`--rates=${RATES[name].join(',')}`);
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
  const rows = results.flatMap(({ label, round, figures }) =>
    comparable(name, figures).map((row) => ({ ...row, label, round })),
  );
  console.log(`\n${summary(name, rows)}\n${shares(name, rows, commit, rounds)}`);
  return 0;
}

/**
 * Reads what the closing lines of both trees have in common: `what` was measured, `perSecond`, latencies, and
 * the CPU of one unit in microseconds.
 */
function comparable(name, figures) {
  const { rows, all, p50Ms, p99Ms, perSecond } = figures;
  if (name === 'settle')
    return [
      {
        what: `${figures.offeredPerSecond}/s`,
        perSecond: figures.settledPerSecond,
        cpu: figures.cpuMicrosPerOrder.venue,
        ...{ p50Ms, p99Ms },
      },
    ];
  if (name === 'quotes') {
    const of = ({ quotesPerSecond, cpuMicrosPerQuote, live, ...row }) => ({
      ...{ perSecond: quotesPerSecond, cpu: cpuMicrosPerQuote, live },
      ...{ p50Ms: row.p50Ms, p99Ms: row.p99Ms },
    });
    const { ratio, baseline } = figures;
    return [
      { what: '10 in flight', ...of(figures), viemTimes: ratio },
      { what: '10 in flight, viem', ...of(baseline) },
      ...(Array.isArray(rows) ? rows.map(rateRow) : []),
    ];
  }
  const measured = (rows ?? all?.[0]?.rows ?? []).map(rateRow);
  const best = Math.max(...measured.map((row) => row.perSecond));
  if (measured.length > 0) return [...measured, { what: 'best rate', perSecond: best }];
  // Of other benches, whatever has one of these names at the top.
  return [{ what: 'all', perSecond, p50Ms, p99Ms }];
}

const rateRow = ({ offered, perSecond, p50Ms, p99Ms, refusalP99Ms, cpu, cpuMicros, served, live }) => ({
  what: `${offered}/s`,
  ...{ perSecond, p50Ms, p99Ms, refusalP99Ms, live },
  cpu: cpu?.venue ?? (served > 0 ? Math.round(cpuMicros / served) : undefined),
});

/** Lists what was measured in each run. */
function summary(name, rows) {
  return whatsOf(rows)
    .flatMap((what) => rows.filter((row) => row.what === what))
    .map(({ what, label, round, perSecond, p50Ms, p99Ms, refusalP99Ms, cpu, live, viemTimes }) =>
      [
        `${name} ${what.padEnd(18)} ${label.padEnd(9)} round ${round}: ${perSecond}/s`,
        p50Ms === undefined ? [] : `p50 ${p50Ms} ms, p99 ${p99Ms} ms`,
        refusalP99Ms > 0 ? `refusals p99 ${refusalP99Ms} ms` : [],
        cpu === undefined ? [] : `CPU ${cpu} us each`,
        live === undefined ? [] : `${live} live`,
        viemTimes === undefined ? [] : `${viemTimes} times viem`,
      ]
        .flat()
        .join(', '),
    )
    .join('\n');
}

/** Says, by round, which percentage of the commit's figures this tree has. */
function shares(name, rows, commit, rounds) {
  return whatsOf(rows)
    .map((what) => {
      const found = (label, round) =>
        rows.find((row) => row.what === what && row.label === label && row.round === round);
      const percents = (key) =>
        Array.from({ length: rounds }, (_, n) => {
          const [here, there] = [found('here', n + 1)?.[key], found(commit, n + 1)?.[key]];
          return here > 0 && there > 0 ? `${Math.round((100 * here) / there)} %` : '-';
        }).join(', ');
      return `${name} ${what.padEnd(18)} here / ${commit}: rate ${percents('perSecond')}; CPU each ${percents('cpu')}; p99 ${percents('p99Ms')}`;
    })
    .join('\n');
}

const whatsOf = (rows) => [...new Set(rows.map(({ what }) => what))];

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
  // The committed text, because an earlier comparison may have written other rates into the file.
  const text = git('show', `${commit}:bench/${name}.ts`);
  const old = rates !== undefined && !text.includes('--rates=') && OLD_RATES[name];
  const list = old && `[${[...new Set([GATES[name], ...rates.split(',').map(Number)])]}]`;
  const wanted = `${old ? text.replace(old, list) : text}\n`;
  if (readFileSync(file, 'utf8') !== wanted) writeFileSync(file, wanted);
  return folder;
}

/** Older trees have the configuration of their benches in the root. */
function benchProject(tree) {
  return existsSync(join(tree, 'bench/tsconfig.json')) ? 'bench/tsconfig.json' : 'tsconfig.bench.json';
}

function git(...words) {
  return execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' }).trim();
}
