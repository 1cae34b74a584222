/**
 * The commands behind package.json: each installs the locked packages and then runs. Plain Node, because it
 * runs before any package is installed.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compare } from './bench-compare.mjs';
import { ci } from './ci.mjs';
import { install } from './install.mjs';
import { pack } from './pack.mjs';
import { bin, fail, ROOT, run } from './processes.mjs';
import { missingPrograms, withoutTestsOf } from './programs.mjs';
import { contracts, suite, test } from './test.mjs';

const commands = {
  demo: (args) => (install(), pages(), typescript('src/apps/cli/main.ts', ['demo', ...args])),
  cli: (args) => (install(), pages(), typescript('src/apps/cli/main.ts', args)),
  sim: (args) => (install(), typescript('src/apps/cli/main.ts', ['sim', ...args])),
  bench: ([name, ...args]) => {
    install();
    if (name === 'compare') return compare(args);
    const file = `bench/${name}.ts`;
    if (!name || !existsSync(join(ROOT, file)))
      fail(
        `There is no bench "${name ?? ''}". Benches are the files in bench/, such as: npm run bench -- quotes`,
      );
    // Benches run compiled, as firmquote ships: a development loader adds work to every function.
    const built = run(bin('tsc'), ['-p', 'bench/tsconfig.json']);
    return built.then((status) =>
      status === 0
        ? run(process.execPath, ['--enable-source-maps', `dist/bench/bench/${name}.js`, ...args])
        : status,
    );
  },
  docs: () => documents(),
  fuzz: (args) => (install(), typescript('test/fuzz/main.ts', args)),
  faults: (args) => faults(args),
  'lp-day': (args) => lpDay(args),
  // The tests that `npm test` leaves out because they take long.
  long: () => suite(['long']),
  alerts: () => suite(['alerts']),
  rehearse: () => suite(['rehearsal']),
  walkthrough: () => suite(['walkthrough']),
  package: () => suite(['package']),
  hostile: (args) =>
    args.length > 0
      ? (install(), run(bin('vitest'), ['run', '--project', 'hostile', ...args]))
      : suite(['hostile']),
  // Several suites in one run: their files share the workers, so none waits for the end of another suite.
  suites: (names) => seeded(names, 'test:faults'),
  // Runs the flows on a venue of two processes that share a database.
  replicas: (args) => (
    install(),
    run(bin('vitest'), ['run', ...(args.length > 0 ? args : ['flows/', 'test/api-shapes'])], undefined, {
      FIRMQUOTE_TEST_REPLICAS: '2',
      ...withoutTestsOf(missingPrograms()),
    })
  ),
  contracts: () => contracts(),
  nightly: () => contracts({ FOUNDRY_PROFILE: 'nightly' }),
  mutants: (args) => (install(), run(process.execPath, ['contracts/mutate.mjs', ...args])),
  prove: () => (install(), run(process.execPath, ['scripts/prove.mjs'])),
  kill: (args) => (install(), typescript('test/kill/main.ts', args)),
  soak: (args) => {
    install();
    if (missingPrograms().some(({ name }) => name === 'redis-server')) fail('The soak runs on redis-server.');
    return args.includes('--hostile')
      ? typescript(
          'test/soak/hostile/soak.ts',
          args.filter((each) => each !== '--hostile'),
        )
      : typescript('test/soak/soak.ts', args);
  },
  'soak:ledger': (args) => (install(), typescript('test/soak/main.ts', args)),
  build: () => (install(), pages(), run(process.execPath, ['scripts/build.mjs', '--clean', '--types'])),
  // `npm pack` by itself builds nothing: .npmrc lets no script run with it.
  pack: async (args) => (await commands.build()) || pack(args),
  test: (args) => test(args),
  'lp-replicas': async (args) => {
    // Runs the LP's flows with two replicas of each LP, but for those about a single process.
    process.env.FIRMQUOTE_TEST_LP_REPLICAS ??= '2';
    if (args.length > 0) return test(args);
    const flows = await test(
      ['books', 'drift', 'levels', 'plugin', 'quotes', 'refusals', 'risk', 'settles', 'takers'].map(
        (name) => `flows/lp-${name}.test.ts`,
      ),
    );
    return (
      (await run(bin('vitest'), [
        'run',
        '--project',
        'faults',
        'test/faults/reorgs.test.ts',
        'test/faults/lp-failover.test.ts',
      ])) || flows
    );
  },
  ci: () => ci(),
};

const [command, ...args] = process.argv.slice(2);
if (!Object.hasOwn(commands, command ?? ''))
  fail(`Unknown command "${command}". One of: ${Object.keys(commands).join(', ')}.`);
process.exitCode = await commands[command](args);

/** Records the examples from a real venue, then writes the documents and pictures that show them. */
async function documents() {
  install();
  const renew = (...words) => run(bin('vitest'), ['run', ...words], undefined, { RENEW_DOCS: 'yes' });
  const text = 'test/flows/documents.test.ts';
  return (
    (await renew(text, '--update')) ||
    (await run(bin('vitest'), ['run', text, '--update'])) ||
    renew('test/long/flows/docs-page.test.ts')
  );
}

/** The console that a process serves. */
function pages() {
  const built = spawnSync(process.execPath, ['scripts/pages.mjs'], { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (built.status !== 0) fail('The console could not be built. The message of vite is above.');
}

/** Runs all faults with one seed; passes other arguments to `test/faults/main.ts`. */
async function faults(args) {
  const [option, given] = args;
  if (args.length > 0 && !(option === '--seed' && args.length === 2)) {
    install();
    return typescript('test/faults/main.ts', args);
  }
  return seeded(['faults'], 'test:faults', given);
}

/** Runs the LP's day with one seed: `--seed S` runs a day again. */
async function lpDay([option, given, ...rest]) {
  if (option !== undefined && (option !== '--seed' || !/^\d+$/.test(given ?? '') || rest.length > 0))
    fail('Usage: npm run lp-day -- --seed S');
  return seeded(['lp-day'], 'lp-day', given);
}

/** Runs suites with one seed, by which `npm run COMMAND` makes the same choices again. */
function seeded(projects, command, given) {
  const seed = given ?? String(Math.floor(Math.random() * 1e9));
  console.log(`seed ${seed} (again: npm run ${command} -- --seed ${seed})`);
  // Each name has the seed beside it, so that the end of a long run is enough to run the failure again.
  return suite(projects, { FIRMQUOTE_SEED: seed }, ` | seed ${seed}`);
}

function typescript(file, words) {
  // An absolute path to the loader lets the command be called from any folder.
  const loader = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
  return run(process.execPath, ['--import', loader, file, ...words]);
}
