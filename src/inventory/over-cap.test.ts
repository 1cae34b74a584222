/** One process and several replicas decline the same request with the same words. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Decline } from '../domain/decline.ts';
import type { HoldRequest } from './event.ts';
import type { NonceGroup } from './hold.ts';
import { type Cap, capRefusal, claimsOf, type Limits, type Outstanding, SCOPES } from './limits.ts';
import { overCap } from './over-cap.ts';

const amount = fc.bigInt(0n, 1_000n);
const cap: fc.Arbitrary<Cap | undefined> = fc.option(
  fc.record(
    { count: fc.integer({ min: 0, max: 5 }), notional: amount, gapLoss: amount },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);
const counter: fc.Arbitrary<Outstanding> = fc.record({
  count: fc.integer({ min: 0, max: 6 }),
  notional: amount,
  gapLoss: amount,
});

const ALONE: NonceGroup = { id: 'g', holds: [] };

const requestOf = (notional: bigint, gapLoss: bigint, output: bigint): HoldRequest => ({
  orderId: 'a',
  chainId: 1,
  token: `0x${'a'.repeat(40)}`,
  amount: output,
  input: { chainId: 1, token: `0x${'b'.repeat(40)}`, amount: 7n },
  group: 'g',
  lapsesAt: 1_060,
  taker: 'alice',
  pair: 'WETH/USDC',
  side: 'buy',
  notional,
  gapLoss,
});

test('law: overCap declines as the claims do, with the one that leaves the least', () => {
  fc.assert(
    fc.property(
      fc.tuple(...SCOPES.map(() => cap)),
      fc.tuple(...SCOPES.map(() => counter)),
      fc.tuple(amount, amount, fc.bigInt(1n, 10n ** 24n)),
      (caps, counters, [notional, gapLoss, output]) => {
        const limits: Limits = Object.fromEntries(
          SCOPES.flatMap((scope, at) => (caps[at] === undefined ? [] : [[scope, caps[at]]])),
        );
        const request = requestOf(notional, gapLoss, output);
        let least: Decline | undefined;
        for (const claim of claimsOf(request, 'WETH', limits)) {
          const used = BigInt((counters[SCOPES.indexOf(claim.scope)] as Outstanding)[claim.what]);
          // Exactly: what is used and what is asked for exceed the cap.
          if (used + claim.amount <= claim.most) continue;
          const refusal = capRefusal(request, claim, claim.most - used);
          const fits = refusal.maxAmount as bigint;
          // The largest part of the output whose share of the claim fits in the rest of the cap.
          const rest = claim.most > used ? claim.most - used : 0n;
          if (claim.what === 'count' || claim.amount === 0n) expect(fits).toBe(0n);
          else
            expect(fits * claim.amount <= rest * output && (fits + 1n) * claim.amount > rest * output).toBe(
              true,
            );
          if (least?.maxAmount === undefined || fits < least.maxAmount) least = refusal;
        }
        expect(overCap(request, limits, counters, ALONE)).toEqual(least);
      },
    ),
    { numRuns: 500 },
  );
});
