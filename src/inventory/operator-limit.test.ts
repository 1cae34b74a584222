/** An operator's limit on chain bounds what is promised, so that every promise can be paid. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitAt } from '../settlement/spending-limit.ts';
import type { HoldRequest } from './event.ts';
import { createLedger } from './ledger.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
const WETH = `0x${'b'.repeat(40)}` as const;
const PLACE = { chainId: 1, token: USDC };
const LIFE = 30;

const ledgerOf = (balance: bigint) => {
  const ledger = createLedger({
    buckets: [
      { ...PLACE, asset: 'USDC', decimals: 6, buffer: 100n },
      { chainId: 1, token: WETH, asset: 'WETH', decimals: 18 },
    ],
    graceSeconds: () => 5,
    limits: {},
  });
  ledger.apply({ type: 'deposited', id: 'd', ...PLACE, amount: balance });
  return ledger;
};

const request = (orderId: string, amount: bigint, lapsesAt = 1_060): HoldRequest => ({
  ...PLACE,
  orderId,
  amount,
  input: { chainId: 1, token: WETH, amount: 7n },
  group: `nonce of ${orderId}`,
  lapsesAt,
  taker: 'alice',
  pair: 'WETH/USDC',
  side: 'buy',
  notional: amount,
});

test('the limit bounds what is promised; without one the balance does', () => {
  const ledger = ledgerOf(1_100n);
  ledger.setOperatorLimit(1, USDC, { most: 300n, left: 300n });
  expect(ledger.free(1, USDC)).toBe(300n);
  expect(ledger.hold(request('a', 200n), 1_000)).toEqual({ held: true });
  expect(ledger.hold(request('b', 101n), 1_000)).toEqual({
    declined: 'no_inventory',
    maxAmount: 100n,
    detail: "the operator's limit on chain leaves no more",
  });
  ledger.setOperatorLimit(1, USDC, null);
  expect(ledger.free(1, USDC)).toBe(800n);
  ledger.setOperatorLimit(1, USDC, { most: 5_000n, left: 5_000n });
  expect(ledger.hold(request('c', 801n), 1_000)).toEqual({ declined: 'no_inventory', maxAmount: 800n });
});

test('lowered below what is promised, nothing is free and the balance is no shortfall', () => {
  const ledger = ledgerOf(1_100n);
  ledger.hold(request('a', 400n), 1_000);
  ledger.setOperatorLimit(1, USDC, { most: 100n, left: 100n });
  expect(ledger.bucket(1, USDC)).toMatchObject({ free: 0n, shortfall: 0n });
  expect(ledger.hold(request('b', 1n), 1_000)).toMatchObject({ declined: 'no_inventory', maxAmount: 0n });
});

test('law: whatever is promised can be paid within the limit, whenever it is accepted', () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('quote' as const), amount: fc.bigInt(1n, 200n) }),
    fc.record({ do: fc.constant('accept' as const), which: fc.nat() }),
    fc.record({ do: fc.constant('head' as const) }),
    fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
  );
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 0, max: 90 }),
      (steps, windowSeconds) => {
        const ledger = ledgerOf(100_000n);
        const limit = { most: 300n, windowSeconds, since: 0, spent: 0n };
        let now = 1_000;
        // The ledger's clock is that of the last block it has read.
        let known = now;
        let live: HoldRequest[] = [];
        let unheard: string[] = [];
        let toFinal: string[] = [];
        const head = () => {
          ledger.setOperatorLimit(1, USDC, limitAt(limit, now));
          for (const orderId of unheard) ledger.apply({ type: 'filled', orderId, id: `tx of ${orderId}` });
          for (const orderId of toFinal)
            ledger.apply({ type: 'fill_final', orderId, id: `tx of ${orderId}` });
          [toFinal, unheard] = [unheard, []];
          ledger.advance(1, now);
          known = now;
        };
        head();
        for (const [at, each] of steps.entries()) {
          if (each.do === 'pass') now += each.seconds;
          else if (each.do === 'head') head();
          else if (each.do === 'quote') {
            const asked = request(`q${at}`, each.amount, now + LIFE);
            if ('held' in ledger.hold(asked, known)) live.push(asked);
          } else {
            live = live.filter(({ lapsesAt }) => lapsesAt >= now);
            const accepted = live[each.which % Math.max(1, live.length)];
            if (accepted === undefined) continue;
            live = live.filter((one) => one !== accepted);
            // As the escrow counts.
            if (now >= limit.since + limit.windowSeconds) Object.assign(limit, { since: now, spent: 0n });
            limit.spent += accepted.amount;
            expect(limit.spent).toBeLessThanOrEqual(limit.most);
            unheard.push(accepted.orderId);
          }
        }
      },
    ),
    { numRuns: Number(process.env['FUZZ_RUNS'] ?? 300) },
  );
});
