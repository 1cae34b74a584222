/** Every branch of what to do next for an award, and the laws that no branch may break. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AwardStep, type AwardView, nextStep } from './step.ts';

const view = (overrides: Partial<AwardView> = {}): AwardView => ({
  sameChain: false,
  fillDeadline: 1_000,
  expires: 2_000,
  origin: { status: 'deposited', now: 900, finalTime: 890 },
  dest: { now: 900, finalTime: 890 },
  fill: 'none',
  proven: false,
  fillMarginSeconds: 4,
  claimSeconds: 60,
  ...overrides,
});

test.each<[string, Partial<AwardView>, AwardStep]>([
  ['open at depth, in time', {}, { do: 'fill' }],
  [
    'not open yet',
    { origin: { status: 'none', now: 900, finalTime: 890 } },
    { do: 'wait', why: 'not open at depth' },
  ],
  [
    'never opened, and deeply too late',
    { origin: { status: 'none', now: 1_100, finalTime: 1_001 } },
    { do: 'end', why: 'never opened' },
  ],
  [
    'too late only at the head',
    { origin: { status: 'none', now: 1_100, finalTime: 1_000 } },
    { do: 'wait', why: 'not open at depth' },
  ],
  ['no time to land', { dest: { now: 997, finalTime: 990 } }, { do: 'wait', why: 'too late to fill' }],
  [
    'the window closed',
    { dest: { now: 1_010, finalTime: 1_001 } },
    { do: 'end', why: 'not filled in time', faded: true },
  ],
  ['no time to prove', { expires: 950 }, { do: 'wait', why: 'too little time to prove and claim' }],
  ['filled, shallow', { fill: 'shallow' }, { do: 'wait', why: 'fill not at depth' }],
  ['filled, deep', { fill: 'final' }, { do: 'prove' }],
  ['filled, deep, proven', { fill: 'final', proven: true }, { do: 'claim' }],
  [
    'claimed',
    { fill: 'final', proven: true, origin: { status: 'claimed', now: 900, finalTime: 890 } },
    { do: 'wait', why: 'settled, its events are on their way' },
  ],
  [
    'refunded, nothing delivered',
    { origin: { status: 'refunded', now: 2_100, finalTime: 2_090 } },
    { do: 'end', why: 'refunded to the taker' },
  ],
  [
    'refunded after delivery',
    { fill: 'final', origin: { status: 'refunded', now: 2_100, finalTime: 2_090 } },
    { do: 'end', why: 'refunded to the taker', lost: true },
  ],
  ['one chain', { sameChain: true }, { do: 'wait', why: 'settles in one transaction' }],
  [
    'one chain, opened by somebody on an escrow that allows it, and deeply too late',
    { sameChain: true, origin: { status: 'deposited', now: 1_100, finalTime: 1_001 } },
    { do: 'end', why: 'never settled' },
  ],
  [
    'one chain, never begun, and deeply too late',
    { sameChain: true, origin: { status: 'none', now: 1_100, finalTime: 1_001 } },
    { do: 'end', why: 'never settled' },
  ],
])('%s', (_, overrides, expected) => expect(nextStep(view(overrides))).toEqual(expected));

const time = fc.integer({ min: 0, max: 3_000 });
const anyView: fc.Arbitrary<AwardView> = fc.record({
  sameChain: fc.boolean(),
  fillDeadline: time,
  expires: time,
  origin: fc.record({
    status: fc.constantFrom('none', 'deposited', 'claimed', 'refunded'),
    now: time,
    finalTime: time,
  }),
  dest: fc.record({ now: time, finalTime: time }),
  fill: fc.constantFrom('none', 'shallow', 'final'),
  proven: fc.boolean(),
  fillMarginSeconds: fc.integer({ min: 0, max: 60 }),
  claimSeconds: fc.integer({ min: 1, max: 600 }),
});

test('law: sends a fill once, only when the input is final in escrow, and only with time left to be paid', () => {
  fc.assert(
    fc.property(anyView, (any) => {
      const step = nextStep(any);
      if (step.do !== 'fill') return;
      expect(any.sameChain).toBe(false);
      expect(any.fill).toBe('none');
      expect(any.origin.status).toBe('deposited');
      expect(any.dest.now + any.fillMarginSeconds).toBeLessThanOrEqual(any.fillDeadline);
      expect(Math.max(any.origin.now, any.dest.now) + any.claimSeconds).toBeLessThanOrEqual(any.expires);
    }),
    { numRuns: 2_000 },
  );
});

test('law: never gives up a filled order for a reason of our own', () => {
  fc.assert(
    fc.property(anyView, (any) => {
      const step = nextStep(any);
      if (step.do === 'end' && any.fill !== 'none') expect(any.origin.status).toBe('refunded');
    }),
    { numRuns: 2_000 },
  );
});
