import { defineConfig } from 'vitest/config';
import { leftOut, patient } from './vitest.config.ts';

/** A day in the life of an LP, in one world, one part after the other. `npm run lp-day` runs it. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/lp-day/**/*.test.ts'],
    exclude: leftOut,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 400_000,
    hookTimeout: 300_000,
    // A later part of the day starts where the one before it ended.
    bail: 1,
  },
});
