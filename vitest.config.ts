import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Test files that need a missing program: scripts/run.mjs names them. */
export const leftOut = (process.env['FIRMQUOTE_TESTS_LEFT_OUT'] ?? '').split(',').filter(Boolean);

/** Tests start real chains and databases on a machine of two cores. */
export const patient = {
  testTimeout: 180_000,
  hookTimeout: 120_000,
  // A busy machine is no failure: speed is measured in bench/.
  expect: { poll: { timeout: 30_000, interval: 25 } },
  setupFiles: 'test/support/fast-check.ts',
};

/** What `npm test` leaves to `npm run test:long`: each takes long, and a change elsewhere seldom breaks it. */
const LONG_TESTS = ['test/long/**/*.test.ts'];
/** `npm test` sets `short`, `npm run test:long` sets `long`; without either vitest runs all. */
const chosen = process.env['FIRMQUOTE_TESTS'];

/** They start first. A browser takes a core, so consoles take turns with tests that mostly wait. */
const LONGEST = [
  'workspace-console',
  'deploy-crash',
  'workspace-trade',
  'remote-signers',
  'lp-transfers-console',
  'lp-transfer-books',
  'lp-console',
  'certify',
  'operator-console',
  'finality',
  'lp-pricing-console',
  'lp-settles',
  'settlement',
  'client-trust',
].map((name) => `/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const place = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return place === -1 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    ...patient,
    include: chosen === 'long' ? LONG_TESTS : ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // `npm run test:faults`, `test:alerts`, `test:hostile`, `test:walkthrough`, `test:package`, `lp-day` and `rehearse` run these.
    exclude: [
      ...['faults', 'alerts', 'hostile', 'kill', 'walkthrough', 'package', 'lp-day', 'rehearsal'].map(
        (name) => `test/${name}/**`,
      ),
      ...leftOut,
      ...(chosen === 'short' ? LONG_TESTS : []),
    ],
    // openapi-typescript calls TypeScript's compiler as a library, which TypeScript 7 no longer is.
    server: { deps: { inline: ['openapi-typescript'] } },
    alias: [
      { find: /^typescript$/, replacement: new URL('test/support/typescript5.ts', import.meta.url).pathname },
    ],
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // Files share a process, which loads the code once.
    isolate: false,
    // One more than two cores, because tests mostly wait for blocks and leases. The long ones do not.
    maxWorkers: chosen === 'long' ? 2 : 3,
  },
});
