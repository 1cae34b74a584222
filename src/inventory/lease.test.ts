import { expect, test } from 'vitest';
import { covers, renew, resume } from './lease.ts';

const rule = { longestQuoteSeconds: 60, aheadSeconds: 30, graceSeconds: 15 };

test('a first start quotes without waiting, but signs nothing before the lease is stored', () => {
  expect(resume(null, 1_000, rule)).toEqual({ kind: 'resume' });
  expect(covers(null, 1_001)).toBe(false);
  expect(renew(null, 1_000, rule)).toEqual({ signedUpTo: 1_090, clean: false });
});

test('after a crash: waits until the last possible deadline and the grace have passed', () => {
  const lease = { signedUpTo: 1_090, clean: false };
  expect(resume(lease, 1_105, rule)).toEqual({ kind: 'wait', until: 1_105 });
  expect(resume(lease, 1_106, rule)).toEqual({ kind: 'resume' });
});

test('after a clean stop: no wait, under a new lease that never ends earlier', () => {
  const lease = { signedUpTo: 1_090, clean: true };
  expect(resume(lease, 1_001, rule)).toEqual({ kind: 'resume' });
  expect(covers(lease, 1_001)).toBe(false);
  expect(renew(lease, 990, rule)).toEqual({ signedUpTo: 1_090, clean: false });
});

test('renews early: half of the lead is left when it is stored', () => {
  const lease = { signedUpTo: 1_090, clean: false };
  expect(renew(lease, 1_015, rule)).toBeNull();
  expect(renew(lease, 1_016, rule)).toEqual({ signedUpTo: 1_106, clean: false });
  expect(covers(lease, 1_090)).toBe(true);
  expect(covers(lease, 1_091)).toBe(false);
});
