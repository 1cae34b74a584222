import { defineConfig } from 'vitest/config';
import { leftOut, patient } from './vitest.config.ts';

/** Every alert rule against the fault that it is there for. `npm run test:alerts` runs it, alone. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/alerts/**/*.test.ts'],
    exclude: leftOut,
    globalSetup: ['test/support/build.ts', 'test/faults/support/build.ts', 'test/support/cluster.ts'],
    pool: 'forks',
    maxWorkers: 1,
  },
});
