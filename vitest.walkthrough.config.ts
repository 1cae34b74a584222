import { defineConfig } from 'vitest/config';
import { patient } from './vitest.config.ts';

/** The pages for newcomers, followed against a whole demo. `npm run test:walkthrough` runs them. */
export default defineConfig({
  test: {
    ...patient,
    include: ['test/walkthrough/**/*.test.ts'],
    globalSetup: 'test/support/build.ts',
    pool: 'forks',
  },
});
