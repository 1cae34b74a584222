import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

/** Test files that need a missing program: scripts/run.mjs names them. */
export const leftOut = (process.env['FIRMQUOTE_TESTS_LEFT_OUT'] ?? '').split(',').filter(Boolean);

/** Tests start real chains and databases on a machine of two cores. */
export const patient = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A busy machine is no failure: speed is measured in bench/.
  expect: { poll: { timeout: 30_000, interval: 25 } },
  setupFiles: 'test/support/fast-check.ts',
};

/**
 * Tests beside the code share a process, which loads the code once; tests of the whole system have one each.
 */
const projects: TestProjectConfiguration[] = [
  { test: { ...patient, name: 'src', include: ['src/**/*.test.ts'], exclude: leftOut, isolate: false } },
  // `npm run test:faults` runs the faults.
  {
    test: {
      ...patient,
      name: 'test',
      include: ['test/**/*.test.ts'],
      exclude: ['test/faults/**', 'test/kill/**', ...leftOut],
      isolate: false,
    },
  },
];

export default defineConfig({
  test: {
    projects,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    pool: 'forks',
    // One more than the cores, because tests mostly wait for blocks and leases.
    maxWorkers: 3,
  },
});
