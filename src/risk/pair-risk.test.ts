/** What stops a pair: a burst first, then a stressed market, each until its time is over. */

import { expect, test } from 'vitest';
import { NEW_PAIR_RISK, type PairRisk, pairStop } from './pair-risk.ts';

const stressed: PairRisk = {
  ...NEW_PAIR_RISK,
  regime: { ...NEW_PAIR_RISK.regime, level: 'stressed', untilMs: 2_000 },
};

test('a new pair is not stopped', () => {
  expect(pairStop(NEW_PAIR_RISK, 0)).toBeUndefined();
});

test('a stressed market stops the pair until its halt is over', () => {
  expect(pairStop(stressed, 1_999)).toBe('vol_spike');
  expect(pairStop(stressed, 2_000)).toBeUndefined();
});

test('an elevated market does not stop the pair', () => {
  expect(pairStop({ ...stressed, regime: { ...stressed.regime, level: 'elevated' } }, 0)).toBeUndefined();
});

test('a freeze after a burst is named before a stressed market', () => {
  const both: PairRisk = { ...stressed, burst: { acceptances: [], frozenUntilMs: 1_000 } };
  expect(pairStop(both, 999)).toBe('burst');
  expect(pairStop(both, 1_000)).toBe('vol_spike');
});
