import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Ledger } from '../../inventory/ledger.ts';
import { limitUse } from './limit-use.ts';

test('law: lists the fullest counters of each limit first, and an unused limit as empty', () => {
  const arbCounter = fc.record({
    scope: fc.constantFrom('perTaker' as const, 'perTakerPair' as const, 'perPair' as const),
    count: fc.integer({ min: 1, max: 9 }),
    notional: fc.bigInt(0n, 900_000_000n),
    gapLoss: fc.bigInt(0n, 90_000_000n),
    of: fc.constantFrom('a', 'b'),
    pair: fc.constantFrom('', 'WETH-USDC'),
  });
  const limits = {
    perTaker: { count: 10, notional: 500_000_000n },
    perTakerPair: { gapLoss: 50_000_000n },
    total: { count: 100 },
    groupSize: 4,
  };
  fc.assert(
    fc.property(fc.array(arbCounter, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (counters, most) => {
      const ledger: Pick<Ledger, 'visitCounters'> = {
        visitCounters(visitor) {
          for (const { scope, of, pair, ...counter } of counters) visitor(scope, counter, of, pair);
        },
      };
      const used = {
        perTaker: ({ count, notional }: (typeof counters)[number]) =>
          Math.max(count / 10, Number(notional) / 5e8),
        perTakerPair: ({ gapLoss }: (typeof counters)[number]) => Number(gapLoss) / 5e7,
      };
      const rows = limitUse(ledger, limits, most);
      for (const scope of ['perTaker', 'perTakerPair'] as const) {
        const wanted = counters
          .filter((each) => each.scope === scope)
          .map(used[scope])
          .sort((a, b) => b - a)
          .slice(0, most);
        expect(rows.filter((row) => row.scope === scope).map((row) => row.used)).toEqual(
          wanted.length === 0 ? [0] : wanted,
        );
      }
      expect(rows.filter(({ scope }) => scope === 'total')).toEqual([
        {
          scope: 'total',
          of: '',
          count: 0,
          maxCount: 100,
          notionalUsd: 0,
          maxNotionalUsd: null,
          gapLossUsd: 0,
          maxGapLossUsd: null,
          used: 0,
        },
      ]);
      // Without a limit there is no row.
      expect(rows.some(({ scope }) => scope === 'perPair')).toBe(false);
    }),
  );
});

test('a row names the taker and pair, with amounts in USD', () => {
  const ledger: Pick<Ledger, 'visitCounters'> = {
    visitCounters(visitor) {
      visitor('perTakerPair', { count: 2, notional: 250_500_000n, gapLoss: 0n }, '0xa', 'WETH-USDC');
    },
  };
  expect(limitUse(ledger, { perTakerPair: { count: 4, notional: 1_000_000_000n } })).toEqual([
    {
      scope: 'perTakerPair',
      of: '0xa WETH-USDC',
      count: 2,
      maxCount: 4,
      notionalUsd: 250.5,
      maxNotionalUsd: 1_000,
      gapLossUsd: 0,
      maxGapLossUsd: null,
      used: 0.5,
    },
  ]);
});
