/**
 * One project for each command that runs tests. The folder of a test says which: test/long, test/faults and
 * so on have a command each, and `npm test` runs all others.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

type Options = NonNullable<TestProjectInlineConfiguration['test']>;

const BUILD = ['test/support/build.ts', 'test/support/cluster.ts'];
/** Files share a process, which loads the code once. */
const SHARED: Options = { isolate: false };
/** One more than two cores, because tests mostly wait for blocks and leases. */
const WORKERS = 3;
/** Suites whose files share the workers when they run together, as in CI. */
const TOGETHER: Options = { maxWorkers: WORKERS, sequence: { groupOrder: 1 } };
/** A later test of these starts where the one before it ended. */
const IN_ORDER: Options = { maxWorkers: 1, bail: 1 };
const LIBRARIES: Options = {
  // openapi-typescript calls TypeScript's compiler as a library, which TypeScript 7 no longer is.
  server: { deps: { inline: ['openapi-typescript'] } },
  alias: [{ find: /^typescript$/, replacement: join(import.meta.dirname, 'test/support/typescript5.ts') }],
};

/** The projects but `short`, each with its folders under test/. */
const SUITES: Record<string, Options & { folders: readonly string[] }> = {
  // Tests that take long each, and that a change elsewhere seldom breaks.
  long: { folders: ['long'], ...SHARED, ...LIBRARIES, globalSetup: BUILD, ...TOGETHER },
  // Faults, which kill, freeze and deceive real processes.
  faults: {
    folders: ['faults', 'kill'],
    ...SHARED,
    globalSetup: [...BUILD, 'test/faults/support/build.ts'],
    ...TOGETHER,
    hookTimeout: 300_000,
  },
  // Every alert rule against the fault that it is there for.
  alerts: { folders: ['alerts'], globalSetup: [...BUILD, 'test/faults/support/build.ts'], maxWorkers: 1 },
  // Peers that lie, flood and stall.
  hostile: { folders: ['hostile'], ...SHARED, globalSetup: BUILD, ...TOGETHER },
  // The pages for newcomers, followed against a whole demo.
  walkthrough: { folders: ['walkthrough'], globalSetup: ['test/support/build.ts'] },
  // The packed file, installed and used in an empty folder.
  package: { folders: ['package'], globalSetup: ['test/support/build.ts'], testTimeout: 120_000 },
  // A day in the life of an LP, in one world.
  'lp-day': {
    folders: ['lp-day'],
    ...IN_ORDER,
    globalSetup: BUILD,
    testTimeout: 400_000,
    hookTimeout: 300_000,
  },
  // The way to production, step by step in one world.
  rehearsal: {
    folders: ['rehearsal'],
    ...IN_ORDER,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
};

const SHORT: Options = { ...SHARED, ...LIBRARIES, globalSetup: BUILD, maxWorkers: WORKERS };

/** Test files that need a missing program: scripts/test.mjs names them. */
const leftOut = (process.env['FIRMQUOTE_TESTS_LEFT_OUT'] ?? '').split(',').filter(Boolean);
const inFolders = (folders: readonly string[]) => folders.map((name) => `test/${name}/**/*.test.ts`);

function project(name: string, at: number, options: Options): TestProjectInlineConfiguration {
  return {
    test: {
      name,
      pool: 'forks',
      // Tests start real chains and databases on a machine of two cores.
      testTimeout: 180_000,
      hookTimeout: 120_000,
      // A busy machine is no failure: speed is measured in bench/.
      expect: { poll: { timeout: 30_000, interval: 25 } },
      setupFiles: 'test/support/fast-check.ts',
      // `vitest run` without a project runs one after the other.
      sequence: { groupOrder: at },
      ...options,
      exclude: [...(options.exclude ?? []), ...leftOut],
      maxWorkers: options.maxWorkers ?? 2,
    },
  };
}

/** The test files that took long, which start first: `RENEW_LONGEST=yes .ci/run` writes them. */
const LONGEST = join(import.meta.dirname, 'test', 'longest.json');
const longest = JSON.parse(readFileSync(LONGEST, 'utf8')) as string[];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return place === -1 ? longest.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      project('short', 0, {
        ...SHORT,
        include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
        exclude: inFolders(Object.values(SUITES).flatMap(({ folders }) => folders)),
      }),
      ...Object.entries(SUITES).map(([name, { folders, ...options }], at) =>
        project(name, at + 1, { ...options, include: inFolders(folders) }),
      ),
    ],
  },
});
