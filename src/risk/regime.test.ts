/** The second spike soon after the first stops a pair; one alone, or two far apart, do not. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { QUIET, type Regime, spiked, type SpikeRule } from './regime.ts';

const rule: SpikeRule = { againSeconds: 300, haltSeconds: 60 };
const fold = (times: readonly number[]): Regime => times.reduce((regime, lastMs, at) => spiked(regime, { count: at + 1, lastMs }, rule), QUIET);

test.each([
  ['one', [1_000], 0],
  ['two within five minutes', [1_000, 301_000], 361_000],
  ['two further apart', [1_000, 301_001], 0],
  ['a third extends', [1_000, 2_000, 30_000], 90_000],
] as const)('%s', (_, times, until) => {
  expect(fold(times).haltedUntilMs).toBe(until);
});

test('two that were only seen together were soon after each other', () => {
  expect(spiked(QUIET, { count: 2, lastMs: 5_000 }, rule).haltedUntilMs).toBe(65_000);
});

test('looking again changes nothing, and a halt is never cut short', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400_000), { minLength: 1, maxLength: 50 }), (gaps) => {
      let [atMs, regime] = [0, QUIET];
      for (const [at, gap] of gaps.entries()) {
        const sight = { count: at + 1, lastMs: (atMs += gap) };
        const next = spiked(regime, sight, rule);
        expect(spiked(next, sight, rule)).toBe(next);
        expect(next.haltedUntilMs).toBeGreaterThanOrEqual(regime.haltedUntilMs);
        if (next.haltedUntilMs !== regime.haltedUntilMs) expect(gap).toBeLessThanOrEqual(300_000);
        regime = next;
      }
    }),
  );
});
