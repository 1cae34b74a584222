/** The sums of the shadow report: nothing is counted twice or lost, whatever the order of the requests. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ShadowRequest } from '../../ports/stores/shadow-store.ts';
import { isBetter, shadowReport, type ShadowSums } from './report.ts';

const WINDOW = { sinceMs: 0, untilMs: null };

const declined: ShadowRequest = {
  ...{ rfqId: 'd', atMs: 1, pair: 'WETH-USDC', side: 'buy', fixes: 'exactInput' },
  ...{ declined: 'limit', control: 'limit_taker', input: null, output: null, spreadBps: null },
  ...{ volumeMicros: null, earnedMicros: null, winProbability: null, mid: null },
  ...{ acceptedInput: null, acceptedOutput: null, mark1: null, mark10: null, mark60: null },
};
/** 1,000 USD at 10 bps: 1 USD, half of it expected. */
const quoted: ShadowRequest = {
  ...declined,
  ...{ rfqId: 'q', declined: null, control: null, input: 400n, output: 1_000n, spreadBps: 10 },
  ...{ volumeMicros: 1_000_000_000n, earnedMicros: 1_000_000n, winProbability: 0.5, mid: 2_500 },
};

test('one quote that beats the accepted one, one that does not, and one decline', () => {
  const { total, rows } = shadowReport(
    [
      { ...quoted, acceptedInput: 400n, acceptedOutput: 999n, mark1: 2, mark10: -4, mark60: null },
      { ...quoted, rfqId: 'worse', acceptedInput: 400n, acceptedOutput: 1_001n, mark1: 2 },
      declined,
    ],
    WINDOW,
  );
  expect(rows).toEqual([{ ...total, pair: 'WETH-USDC' }]);
  expect(total).toEqual({
    pair: null,
    requests: 3,
    declines: 1,
    declinesBy: { 'limit (limit_taker)': 1 },
    spreadBps: 10,
    all: {
      quotes: 2,
      volumeMicros: 2_000_000_000n,
      earnedMicros: 2_000_000n,
      // 2 bps of 1,000 USD against the LP, twice; 4 bps in its favour, once.
      markMicros: { 1: -400_000n, 10: 400_000n, 60: 0n },
      marked: { 1: 2, 10: 1, 60: 0 },
    },
    accepted: 2,
    better: {
      quotes: 1,
      volumeMicros: 1_000_000_000n,
      earnedMicros: 1_000_000n,
      markMicros: { 1: -200_000n, 10: 400_000n, 60: 0n },
      marked: { 1: 1, 10: 1, 60: 0 },
    },
    assumed: { wins: 1, earnedMicros: 1_000_000n },
  });
});

test('a draw wins nothing, and of a request that fixes the output the smaller input is better', () => {
  expect(isBetter({ ...quoted, acceptedInput: 400n, acceptedOutput: 1_000n })).toBe(false);
  const exact = { ...quoted, fixes: 'exactOutput', acceptedOutput: 1_000n } as const;
  expect(isBetter({ ...exact, acceptedInput: 401n })).toBe(true);
  expect(isBetter({ ...exact, acceptedInput: 400n })).toBe(false);
  expect(isBetter({ ...exact, acceptedInput: 399n })).toBe(false);
  expect(isBetter(quoted)).toBe(false);
});

const money = fc.bigInt({ min: 1n, max: 10n ** 15n });
const bps = fc.option(fc.double({ min: -500, max: 500, noNaN: true }));
const request: fc.Arbitrary<ShadowRequest> = fc
  .record({
    pair: fc.constantFrom('WETH-USDC', 'EURC-USDC', null),
    isQuote: fc.boolean(),
    reason: fc.constantFrom('limit', 'no_inventory', 'stale_price'),
    fixes: fc.constantFrom('exactInput' as const, 'exactOutput' as const),
    input: money,
    output: money,
    accepted: fc.option(fc.tuple(money, money)),
    volumeMicros: money,
    earnedMicros: fc.bigInt({ min: -1_000n, max: 10n ** 12n }),
    winProbability: fc.double({ min: 0, max: 1, noNaN: true }),
    mark1: bps,
    mark10: bps,
    mark60: bps,
  })
  .map(({ pair, isQuote, reason, fixes, accepted, ...quote }) => ({
    ...declined,
    pair,
    fixes,
    ...(isQuote ? { ...quote, spreadBps: 7, declined: null, control: null } : { declined: reason }),
    acceptedInput: accepted?.[0] ?? null,
    acceptedOutput: accepted?.[1] ?? null,
  }));

const addUp = (sums: readonly ShadowSums[]) => ({
  quotes: sums.reduce((sum, { quotes }) => sum + quotes, 0),
  volumeMicros: sums.reduce((sum, { volumeMicros }) => sum + volumeMicros, 0n),
  earnedMicros: sums.reduce((sum, { earnedMicros }) => sum + earnedMicros, 0n),
  markMicros: {
    1: sums.reduce((sum, { markMicros }) => sum + markMicros[1], 0n),
    10: sums.reduce((sum, { markMicros }) => sum + markMicros[10], 0n),
    60: sums.reduce((sum, { markMicros }) => sum + markMicros[60], 0n),
  },
  marked: {
    1: sums.reduce((sum, { marked }) => sum + marked[1], 0),
    10: sums.reduce((sum, { marked }) => sum + marked[10], 0),
    60: sums.reduce((sum, { marked }) => sum + marked[60], 0),
  },
});

test('law: the pairs add up to the total, quotes and declines to the requests, in any order', () => {
  let better = 0;
  fc.assert(
    fc.property(fc.array(request, { maxLength: 40 }), (requests) => {
      const { rows, total } = shadowReport(requests, WINDOW);
      expect(shadowReport(requests.toReversed(), WINDOW)).toEqual({ ...WINDOW, rows, total });
      expect(total.requests).toBe(requests.length);
      for (const row of [total, ...rows]) {
        expect(row.all.quotes + row.declines).toBe(row.requests);
        expect(Object.values(row.declinesBy).reduce((sum, count) => sum + count, 0)).toBe(row.declines);
        expect(row.better.quotes).toBeLessThanOrEqual(Math.min(row.accepted, row.all.quotes));
        expect(row.assumed.wins).toBeLessThanOrEqual(row.all.quotes);
        expect(row.spreadBps).toBe(row.all.quotes === 0 ? null : 7);
      }
      expect(addUp(rows.map(({ all }) => all))).toEqual(total.all);
      expect(addUp(rows.map((row) => row.better))).toEqual(total.better);
      const rest = requests.filter((each) => !isBetter(each));
      expect(addUp([shadowReport(rest, WINDOW).total.all, total.better])).toEqual(total.all);
      better += total.better.quotes;
    }),
  );
  expect(better).toBeGreaterThan(50);
});
