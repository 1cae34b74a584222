/** Facts in whatever order they come: positions, profit and losses counted once. */

import { beforeEach, expect, test } from 'vitest';
import type { StandardOrder } from '../../../domain/order.ts';
import type { TradeRecord } from '../../../ports/stores/accounting-store.ts';
import { type Exchange, idOf, type FactPlace } from '../ledger/facts.ts';
import { createAccountingLedger } from '../ledger/ledger.ts';
import { type Books, NO_PROFIT } from './books.ts';
import { createFolder } from './fold.ts';
import type { Note, Pass } from './folding.ts';
import type { ReadFact, Reading } from '../reader/reading.ts';
import { positionViewOf } from '../pnl.ts';
import type { Routes } from '../../routes/route.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
const WETH = `0x${'b'.repeat(40)}` as const;
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const ONE = { num: 1n, den: 1n };
const order = { user: '0xtaker' } as unknown as StandardOrder;
const exchange: Exchange = {
  orderId: word(1),
  pair: 'WETH-USDC',
  pays: { chainId: 2, token: USDC, amount: 24_973_895_500n },
  earns: { chainId: 1, token: WETH, amount: 9_998n * 10n ** 15n },
  portion: 10n ** 19n,
  platformFee: 2n * 10n ** 15n,
  relayFee: 0n,
};
const place = (chainId: number, block: number): FactPlace => ({
  chainId,
  block: BigInt(block),
  blockHash: word(block),
  txHash: word(block + 1),
  atMs: block,
});

const token = (address: typeof USDC, symbol: string, decimals: number) => ({
  address,
  symbol,
  name: symbol,
  decimals,
  eip3009: null,
  priceSymbol: null,
});
const tokens = { [USDC]: token(USDC, 'USDC', 6), [WETH]: token(WETH, 'WETH', 18) };
let eth = 2_500n;
let found: TradeRecord[] = [];
let books: Books;
let clockMs = 1_000;

const { fold, tradeOf } = createFolder({
  clock: { nowMs: () => clockMs, monotonicMs: () => clockMs, after: () => () => {} },
  reader: { infoOf: ({ token: address }) => tokens[address as typeof USDC], described: new Map() },
  routes: () => ({ find: () => ({ pairName: 'WETH-USDC', lp: 'buy' }), all: [] }) as unknown as Routes,
  usd: (asset) => (asset === 'WETH' ? { num: eth, den: 1n } : ONE),
  native: () => ({ num: eth, den: 1n }),
  mid: () => Number(eth),
  found: (trade) => found.push(trade),
});

const OPERATOR = `0x${'e'.repeat(40)}` as const;

beforeEach(() => {
  eth = 2_500n;
  found = [];
  clockMs = 1_000;
  books = {
    journal: createAccountingLedger(),
    cursors: new Map(),
    gas: new Map(),
    began: new Map(),
    positions: new Map(),
    trades: new Map(),
    opened: new Set(),
    sums: { ...NO_PROFIT },
  };
  take({
    openings: [1, 2].map((chainId) => ({
      cursor: { chainId, block: 1n, hash: word(0), nonce: 0 },
      balances: [
        { chainId, token: USDC, amount: 100_000_000_000n },
        { chainId, token: WETH, amount: 10n ** 19n },
      ],
      native: [{ chainId, token: 'native' as const, operator: OPERATOR, amount: 10n ** 18n }],
      legacyGasOperator: undefined,
      fresh: true,
    })),
  });
});

const take = (pass: Partial<Pass>) =>
  fold(books, {
    openings: [],
    readings: [],
    notes: [],
    known: new Set(),
    older: new Map(),
    transfers: new Map(),
    inFlight: [],
    revalue: false,
    ...pass,
  });
const reading = (chainId: number, block: number, facts: ReadFact[]): Reading => ({
  cursor: { chainId, block: BigInt(block), hash: word(block), nonce: 0 },
  gas: [],
  facts,
});
const sent = (block = 10) =>
  reading(2, block, [
    {
      id: idOf.sent(exchange.orderId, place(2, block)),
      kind: 'sent',
      exchange,
      place: place(2, block),
      order,
    },
  ]);
const credited = reading(1, 20, [
  { id: idOf.credit(exchange.orderId, place(1, 20)), kind: 'credited', exchange, place: place(1, 20), order },
]);
const refunded = reading(1, 20, [
  { id: idOf.refund(exchange.orderId, place(1, 20)), kind: 'refunded', exchange, place: place(1, 20), order },
]);
const accepted = (): Note => ({
  kind: 'accepted',
  trade: tradeOf(exchange, order, clockMs, null, false),
  record: undefined,
});

/** What we have at mid, less what the owner put in, against what the books say was earned. */
function balances(): { worth: bigint; earned: bigint } {
  const views = [...books.positions.values()].map((row) =>
    positionViewOf(row, row.asset === 'WETH' ? { num: eth, den: 1n } : ONE),
  );
  const worth = views.reduce(
    (sum, { valueMicros, ownerMicros }) => sum + (valueMicros ?? 0n) - ownerMicros,
    0n,
  );
  const earned =
    books.sums.spread -
    books.sums.lost +
    views.reduce(
      (sum, { realisedMicros, unrealisedMicros }) => sum + realisedMicros + (unrealisedMicros ?? 0n),
      0n,
    );
  return { worth, earned };
}

test('a trade earns its spread at acceptance, then follows the market', () => {
  take({ notes: [accepted()] });
  expect(books.sums.spread).toBe(0n);
  eth = 2_400n;
  take({ readings: [sent()] });
  // 9.998 WETH at 2500 less what was paid; the fall since is the position's, not the spread's.
  expect(books.sums.spread).toBe(24_995_000_000n - 24_973_895_500n);
  expect(books.sums.fees).toBe(5_000_000n);
  take({ readings: [credited] });
  expect(books.trades.get(exchange.orderId)).toMatchObject({
    stage: 'finalised',
    counted: true,
    late: false,
  });
  expect(balances().earned).toBe(balances().worth);
  expect(found).toEqual([]);
});

test('a claim read before its fill gives the same result', () => {
  take({ notes: [accepted()], readings: [credited] });
  take({ readings: [sent()] });
  expect(books.trades.get(exchange.orderId)).toMatchObject({ stage: 'finalised', counted: true });
  expect(books.journal.balance('assets:receivable', 1, WETH)).toBe(0n);
  expect(balances().earned).toBe(balances().worth);
});

test('an order without a seen acceptance is priced at the current mid and flagged', () => {
  take({ readings: [sent()] });
  expect(books.trades.get(exchange.orderId)).toMatchObject({ late: true, counted: true, stage: 'filled' });
  expect(found).toHaveLength(1);
});

test.each([
  ['refund after the fill', [sent(), refunded]],
  ['refund before it', [refunded, sent()]],
])('filled and refunded is a loss, once: %s', (_, readings) => {
  take({ notes: [accepted()] });
  for (const each of readings) take({ readings: [each] });
  expect(books.trades.get(exchange.orderId)).toMatchObject({ stage: 'lost' });
  expect(books.sums.lost).toBe(24_995_000_000n);
  expect(books.journal.balance('expense:lost', 1, WETH)).toBe(exchange.earns.amount);
  expect(books.journal.balance('assets:receivable', 1, WETH)).toBe(0n);
  expect(balances().earned).toBe(balances().worth);
});

test('given up, then found filled, then refunded: one loss', () => {
  take({ notes: [accepted(), { kind: 'failed', orderId: exchange.orderId }] });
  take({ readings: [sent()] });
  take({ readings: [refunded] });
  expect(books.journal.balance('expense:lost', 1, WETH)).toBe(exchange.earns.amount);
  expect(books.journal.balance('assets:receivable', 1, WETH)).toBe(0n);
});

test('a trade that only the chains know ends the same, whichever chain is read first', () => {
  take({ readings: [credited] });
  take({ readings: [sent()] });
  expect(books.trades.get(exchange.orderId)).toMatchObject({ stage: 'finalised', counted: true, late: true });
  expect(books.journal.balance('assets:receivable', 1, WETH)).toBe(0n);
  expect(found).toHaveLength(1);
});

test('marks and gas add to the sums; facts already stored add nothing', () => {
  take({ notes: [accepted()], readings: [sent()] });
  take({
    notes: [{ kind: 'mark', orderId: exchange.orderId, horizon: 10, mark: { bps: 4, atMs: 1, late: false } }],
  });
  expect(books.sums.markout_10s).toBe((-24_973_895_500n * 4n) / 10_000n);
  const gas = reading(2, 11, [
    {
      id: idOf.gas(2, place(2, 11)),
      kind: 'gas',
      wei: 10n ** 15n,
      place: place(2, 11),
      share: 0,
      orderId: exchange.orderId,
      operator: OPERATOR,
      before: false,
      payer: OPERATOR,
    },
  ]);
  take({ readings: [gas] });
  expect(books.sums.gas).toBe(2_500_000n);
  expect(
    take({
      readings: [gas, sent()],
      known: new Set([idOf.gas(2, place(2, 11)), idOf.sent(exchange.orderId, place(2, 10))]),
    }).entries,
  ).toEqual([]);
  expect(books.journal.gas(2, OPERATOR)).toBe(10n ** 18n - 10n ** 15n);
});
