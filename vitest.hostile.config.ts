import { defineConfig } from 'vitest/config';
import { leftOut, patient } from './vitest.config.ts';

/** Peers that lie, flood and stall. `npm run test:hostile` runs them. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/hostile/**/*.test.ts'],
    exclude: leftOut,
    globalSetup: ['test/support/build.ts', 'test/support/cluster.ts'],
    pool: 'forks',
    // Files share a process, which loads the code once.
    isolate: false,
    maxWorkers: 2,
  },
});
