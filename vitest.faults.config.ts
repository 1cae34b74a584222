import { defineConfig } from 'vitest/config';
import { leftOut, patient } from './vitest.config.ts';

/** The faults, which kill, freeze and deceive real processes. `npm run test:faults` runs them. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/faults/**/*.test.ts', 'test/kill/**/*.test.ts'],
    exclude: leftOut,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts', 'test/faults/support/build.ts'],
    pool: 'forks',
    // Files share a process, which loads the code once.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
