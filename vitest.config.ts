import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Run by npm run test:faults, a step of its own in CI.
    exclude: ['test/faults/**', 'test/kill/**'],
    globalSetup: 'test/support/build.ts',
    setupFiles: 'test/support/fast-check.ts',
    // Real chains and databases start within tests; the machine has two cores.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    // What is awaited comes when it comes: a busy machine is no failure, speed lives in bench/.
    expect: { poll: { timeout: 30_000, interval: 25 } },
  },
});
