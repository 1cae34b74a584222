import { defineConfig } from 'vitest/config';
import { patient } from './vitest.config.ts';

/** The packed file, installed and used in an empty folder. `npm run test:package` runs it. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/package/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    pool: 'forks',
    testTimeout: 120_000,
  },
});
