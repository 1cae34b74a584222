import { defineConfig } from 'vitest/config';
import { leftOut, patient } from './vitest.config.ts';

/** The way to production, step by step in one world. `npm run rehearse` runs it. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/rehearsal/**/*.test.ts'],
    exclude: leftOut,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Each step starts where the one before it ended.
    bail: 1,
  },
});
