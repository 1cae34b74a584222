/** The adjustment for each cause, and for several together. */

import { expect, test } from 'vitest';
import { type AdjustmentRule, adjustmentFor, NO_ADJUSTMENT } from './adjustment.ts';

const rule: AdjustmentRule = {
  volSpike: { sigmaFactor: 2, sizeFactor: 0.5 },
  freeOption: { omegaFactor: 3 },
  drawdown: { sizeFactor: 0.25 },
  leastValiditySeconds: 6,
};
const none = { volatile: false, suspicion: 0, reduced: false } as const;

test('no cause, no adjustment', () => {
  expect(adjustmentFor(rule, none)).toEqual(NO_ADJUSTMENT);
});

test('a volatile market: wider, smaller and shorter', () => {
  expect(adjustmentFor(rule, { ...none, volatile: true })).toEqual({
    sigmaFactor: 2,
    sizeFactor: 0.5,
    omegaFactor: 1,
    maxSeconds: 6,
    control: 'vol_spike',
  });
});

test('a suspected taker pays more for the option, and from the second step on gets it short', () => {
  expect(adjustmentFor(rule, { ...none, suspicion: 1 })).toEqual({ ...NO_ADJUSTMENT, omegaFactor: 3 });
  expect(adjustmentFor(rule, { ...none, suspicion: 2 })).toEqual({
    ...NO_ADJUSTMENT,
    omegaFactor: 3,
    maxSeconds: 6,
  });
});

test('losses and a volatile market both cut the size', () => {
  expect(adjustmentFor(rule, { volatile: true, suspicion: 0, reduced: true }).sizeFactor).toBe(0.125);
  expect(adjustmentFor(rule, { ...none, reduced: true })).toEqual({
    ...NO_ADJUSTMENT,
    sizeFactor: 0.25,
    control: 'drawdown',
  });
});
