import { defineConfig } from 'vitest/config';
import { patient } from './vitest.config.ts';

/**
 * The faults alone: they kill, freeze and cheat real processes, so they take their time. `npm run
 * test:faults` runs them.
 */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/faults/**/*.test.ts', 'test/kill/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/faults/support/build.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
