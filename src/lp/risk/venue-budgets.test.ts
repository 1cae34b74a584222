import { expect, test } from 'vitest';
import type { HoldRequest } from '../../inventory/event.ts';
import { createLedger } from '../../inventory/ledger.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { createVenueBudgets } from './venue-budgets.ts';

const TOKEN = `0x${'a'.repeat(40)}` as const;
const USER = `0x${'b'.repeat(40)}` as const;

function budgets() {
  let nowMs = 0;
  let serial = 0;
  const ledger = createLedger({
    buckets: [{ chainId: 1, token: TOKEN, asset: 'USDC', decimals: 6 }],
    graceSeconds: () => 0,
    limits: {},
  });
  ledger.apply({ type: 'deposited', id: 'd', chainId: 1, token: TOKEN, amount: 1_600_000n });
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const venues = createVenueBudgets({ ledger, clock, limits: () => ({}) }, () => 0.5);
  const request = (amount: bigint): HoldRequest => ({
    orderId: `o${++serial}`,
    chainId: 1,
    token: TOKEN,
    amount,
    input: { chainId: 1, token: TOKEN, amount },
    group: `1:${USER}:${serial}`,
    lapsesAt: 10 + Math.floor(nowMs / 1000),
    taker: USER,
    pair: 'USDC-USDC',
    side: 'sell',
    notional: amount,
  });
  return {
    venues,
    wait(ms: number) {
      nowMs += ms;
      ledger.apply({ type: 'time', chainId: 1, now: Math.floor(nowMs / 1000) });
    },
    /** Quotes and, if wanted, trades. */
    quote(amount: bigint, filled = false): boolean {
      const asked = request(amount);
      if (venues.refusal('v', asked) !== undefined) return false;
      expect(ledger.hold(asked, Math.floor(nowMs / 1000))).toEqual({ held: true });
      venues.held('v', asked);
      const order = { originChainId: 1n, user: USER, nonce: BigInt(serial) };
      if (filled) venues.filled({ order, slice: { pays: asked } } as unknown as OpenAward);
      return true;
    },
    /** In thousands; quotes that have not ended take a little. */
    most: () =>
      [1_600n, 790n, 390n, 190n, 90n].find(
        (each) => venues.refusal('v', request(each * 1_000n)) === undefined,
      ),
  };
}

test('half of the free inventory, freed when quotes end', () => {
  const { quote, wait } = budgets();
  expect(quote(800_000n)).toBe(true);
  expect(quote(1n)).toBe(false);
  wait(12_000);
  expect(quote(800_000n)).toBe(true);
});

test('shrinks to an eighth while nothing is filled, and recovers with time', () => {
  const { quote, wait, most } = budgets();
  for (let n = 0; n < 9_000; n += 1) {
    expect(quote(1n)).toBe(true);
    if (n % 50 === 49) wait(1_000);
  }
  wait(12_000);
  expect(most()).toBe(90n);
  wait(30 * 60_000);
  expect(most()).toBe(790n);
});

test('a venue with one trade in a hundred quotes keeps its budget', () => {
  const { quote, wait, most } = budgets();
  for (let n = 0; n < 3_000; n += 1) {
    expect(quote(1n, n % 100 === 0)).toBe(true);
    if (n % 50 === 49) wait(1_000);
  }
  wait(12_000);
  expect(most()).toBe(790n);
});
