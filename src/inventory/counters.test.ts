/**
 * The counters against plain sums by name: however many pairs a taker asks for, in whatever order it comes
 * and goes.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../domain/steps.ts';
import { createCounters, type Way } from './counters.ts';
import type { Side } from './event.ts';
import type { Tally } from './tallies.ts';

interface Live {
  tally: Tally;
  way: Way;
  amounts: { notional: bigint; gapLoss: bigint };
  names: string[];
}

const step = fc.record({
  taker: fc.integer({ min: 0, max: 3 }),
  pair: fc.integer({ min: 0, max: 24 }),
  buys: fc.boolean(),
  notional: fc.bigInt(1n, 1_000n),
  gapLoss: fc.bigInt(0n, 10n),
  ends: fc.nat(),
});

test('law: what counts against each cap is the sum of what is live under its name, and what is not live counts nowhere', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300, size: 'max' }), (steps) => {
      const counters = createCounters();
      const live: Live[] = [];
      for (const { taker, pair, buys, notional, gapLoss, ends } of steps) {
        // A third of the time one of those that are live ends instead.
        const over = ends % 3 === 0 ? live.splice(ends % (live.length || 1), 1)[0] : undefined;
        if (over !== undefined) {
          counters.takeOff(over.tally, over.way, over.amounts);
          counters.drop(over.tally);
          continue;
        }
        const side: Side = buys ? 'buy' : 'sell';
        const [by, of, asset] = [`taker ${taker}`, `P${pair}`, `A${pair % 5}`];
        const [tally, way] = [counters.tallyOf(by, of), counters.wayOf(of, side, asset)];
        expect(counters.tallyOf(by, of), 'the same for as long as something counts').toBe(tally);
        counters.add(tally, way, { notional, gapLoss });
        live.push({
          tally,
          way,
          amounts: { notional, gapLoss },
          names: [
            'total',
            `perTaker ${by}`,
            `perTakerPair ${by} ${of}`,
            `perPair ${of}`,
            `perPairSide ${of} ${side}`,
            `perAssetSide ${asset} ${side}`,
          ],
        });
      }
      const sums = new Map<string, { count: number; notional: bigint; gapLoss: bigint }>();
      for (const { names, amounts } of live) {
        for (const name of names) {
          const { count, notional, gapLoss } = sums.get(name) ?? { count: 0, notional: 0n, gapLoss: 0n };
          sums.set(name, {
            count: count + 1,
            notional: notional + amounts.notional,
            gapLoss: gapLoss + amounts.gapLoss,
          });
        }
      }
      const shown: typeof sums = new Map();
      atOnce(
        counters.visit((scope, { count, notional, gapLoss }, ...of) =>
          shown.set([scope, ...of].join(' ').trim(), { count, notional, gapLoss }),
        ),
      );
      expect(shown).toEqual(sums);
    }),
    { numRuns: 200 },
  );
});
