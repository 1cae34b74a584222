/** scripts/vitest.mjs: how a failed test that passes on its second run is counted. */

import { join } from 'node:path';
import { expect, test } from 'vitest';

const { verdictOf } = (await import(join(import.meta.dirname, '..', 'scripts/vitest.mjs'))) as {
  verdictOf(
    first: unknown,
    second: unknown,
    root: string,
    unsteadyFails: boolean,
  ): { passed: number; failed: number; lines: string[] };
};

const file = (name: string, tests: Record<string, 'passed' | 'failed'>, message = '') => ({
  name: `/root/${name}`,
  status: message !== '' || Object.values(tests).includes('failed') ? 'failed' : 'passed',
  message,
  assertionResults: Object.entries(tests).map(([fullName, status]) => ({
    fullName,
    status,
    failureMessages: status === 'failed' ? ['why'] : [],
  })),
});
const report = (...testResults: unknown[]) => ({ testResults });

const steady = file('a.test.ts', { one: 'passed', two: 'passed' });
const broken = file('b.test.ts', { three: 'failed', four: 'passed' });
const mended = file('b.test.ts', { three: 'passed', four: 'passed' });

test('a test that passes on its second run fails where unsteady tests count, and is named', () => {
  const verdict = verdictOf(report(steady, broken), report(mended), '/root', true);
  expect(verdict).toEqual({ passed: 3, failed: 1, lines: ['UNSTEADY b.test.ts > three | why'] });
});

test('elsewhere it passes, and is named', () => {
  const verdict = verdictOf(report(steady, broken), report(mended), '/root', false);
  expect(verdict).toEqual({ passed: 4, failed: 0, lines: ['UNSTEADY b.test.ts > three | why'] });
});

test('a test that fails twice counts once', () => {
  const verdict = verdictOf(report(steady, broken), report(broken), '/root', true);
  expect(verdict).toEqual({ passed: 3, failed: 1, lines: ['FAILED b.test.ts > three | why'] });
});

test('a set-up that failed once fails where unsteady tests count, beside its tests that passed', () => {
  const verdict = verdictOf(
    report(steady, file('b.test.ts', {}, 'no set-up')),
    report(mended),
    '/root',
    true,
  );
  expect(verdict).toEqual({ passed: 4, failed: 1, lines: ['UNSTEADY b.test.ts | its set-up: no set-up'] });
});
