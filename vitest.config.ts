import { defineConfig, type TestProjectConfiguration } from 'vitest/config';

/** Real chains and databases start within tests; the machine has two cores. */
export const patient = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // What is awaited comes when it comes: a busy machine is no failure, speed lives in bench/.
  expect: { poll: { timeout: 30_000, interval: 25 } },
  setupFiles: 'test/support/fast-check.ts',
};

/**
 * Tests beside the code share a process from file to file, so that it is loaded once; those of the whole
 * system have one each.
 */
const projects: TestProjectConfiguration[] = [
  { test: { ...patient, name: 'src', include: ['src/**/*.test.ts'], isolate: false } },
  // The faults are run by npm run test:faults, a step of its own in CI.
  {
    test: {
      ...patient,
      name: 'test',
      include: ['test/**/*.test.ts'],
      exclude: ['test/faults/**', 'test/kill/**'],
    },
  },
];

export default defineConfig({
  test: {
    projects,
    globalSetup: 'test/support/build.ts',
    pool: 'forks',
    // One more than cores: much of what tests do is wait, for blocks, for leases, for clocks.
    maxWorkers: 3,
  },
});
