import { defineConfig } from 'vitest/config';
import base from './vitest.config.ts';

/** The faults alone: they kill, freeze and cheat real processes, so they take their time. `npm run test:faults` runs them. */
export default defineConfig({ test: { ...base.test, include: ['test/faults/**/*.test.ts', 'test/kill/**/*.test.ts'], exclude: [], globalSetup: ['test/support/build.ts', 'test/faults/support/build.ts'], testTimeout: 180_000, hookTimeout: 300_000 } });
