/**
 * The books balance after every entry, and agree in the end whatever order facts came in and however often.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JournalEntry } from '../../../ports/stores/accounting-store.ts';
import type { Exchange, FactPlace } from './facts.ts';
import { createAccountingLedger, type AccountingLedger } from './ledger.ts';

const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const USDC = `0x${'a'.repeat(40)}` as const;
const WETH = `0x${'b'.repeat(40)}` as const;

const exchange = (n: number, crossed = false): Exchange => ({
  orderId: word(n),
  pair: 'WETH-USDC',
  pays: { chainId: crossed ? 2 : 1, token: USDC, amount: 24_973_895_500n + BigInt(n) },
  earns: { chainId: 1, token: WETH, amount: 9_997_000_000_000_000_000n },
  portion: 10_000_000_000_000_000_000n,
  platformFee: 2_000_000_000_000_000n,
  relayFee: 1_000_000_000_000_000n,
});
const place = (chainId: number, block: number, fork = 0): FactPlace => ({
  chainId,
  block: BigInt(block),
  blockHash: word(1_000 * block + fork),
  txHash: word(block + 7),
  atMs: block,
});

function opened(): AccountingLedger {
  const journal = createAccountingLedger();
  for (const chainId of [1, 2])
    for (const token of [USDC, WETH]) journal.opening({ chainId, token, amount: 10n ** 21n }, 1n, 0);
  return journal;
}

/** Per token of each chain, over all accounts. */
function sums(journal: AccountingLedger): bigint[] {
  const totals = new Map<string, bigint>();
  for (const { chainId, token, amount } of journal.balances())
    totals.set(`${chainId}${token}`, (totals.get(`${chainId}${token}`) ?? 0n) + amount);
  return [...totals.values()];
}

test('a cross-chain trade: seen, final, credited; every account has its postings', () => {
  const journal = opened();
  const trade = exchange(1, true);
  journal.filled(trade, place(2, 10));
  expect(journal.balance('assets:outbound', 2, USDC)).toBe(-trade.pays.amount);
  expect(journal.inventory({ chainId: 2, token: USDC })).toBe(10n ** 21n);
  expect(journal.balance('assets:receivable', 1, WETH)).toBe(trade.earns.amount);
  journal.sent(trade, place(2, 10));
  expect(journal.balance('assets:outbound', 2, USDC)).toBe(0n);
  expect(journal.inventory({ chainId: 2, token: USDC })).toBe(10n ** 21n - trade.pays.amount);
  journal.credited(trade, place(1, 30));
  expect(journal.balance('assets:receivable', 1, WETH)).toBe(0n);
  expect(journal.inventory({ chainId: 1, token: WETH })).toBe(10n ** 21n + trade.earns.amount);
  expect(journal.balance('trading:WETH-USDC', 1, WETH)).toBe(-trade.portion);
  expect(journal.balance('trading:WETH-USDC', 2, USDC)).toBe(trade.pays.amount);
  expect(
    journal.balance('expense:platform-fee', 1, WETH) + journal.balance('expense:relay-fee', 1, WETH),
  ).toBe(3_000_000_000_000_000n);
  expect(sums(journal).every((sum) => sum === 0n)).toBe(true);
});

test('a removed fill is reversed by another entry; mined again it counts once', () => {
  const journal = opened();
  const trade = exchange(2, true);
  const [seen] = journal.filled(trade, place(2, 10));
  const [reversal] = journal.unfilled(trade.orderId, place(2, 10), 11);
  expect(reversal).toMatchObject({ kind: 'reversal', id: `reversal:${seen?.id}` });
  expect(journal.balance('assets:receivable', 1, WETH)).toBe(0n);
  journal.filled(trade, place(2, 11));
  // The chain goes back to the first branch: its fill is final after all, and the other one never came.
  journal.sent(trade, place(2, 10));
  journal.passed(2, 12n, 12);
  expect(journal.inventory({ chainId: 2, token: USDC })).toBe(10n ** 21n - trade.pays.amount);
  expect(journal.balance('assets:outbound', 2, USDC)).toBe(0n);
  expect(journal.balance('assets:receivable', 1, WETH)).toBe(trade.earns.amount);
});

test('refunded: an unfilled order moves nothing, a filled one loses its input', () => {
  const journal = opened();
  expect(journal.refunded(exchange(3), place(1, 9), false)[0]?.postings).toEqual([]);
  const trade = exchange(4, true);
  journal.sent(trade, place(2, 10));
  journal.refunded(trade, place(1, 20), true);
  expect(journal.balance('expense:lost', 1, WETH)).toBe(trade.earns.amount);
  expect(journal.balance('assets:receivable', 1, WETH)).toBe(0n);
});

test('gas, deposits and withdrawals', () => {
  const journal = createAccountingLedger();
  const operator = `0x${'e'.repeat(40)}` as const;
  journal.opening({ chainId: 1, token: 'native', operator, amount: 10n ** 18n }, 5n, 0);
  const gas = { place: place(1, 6), share: 0, orderId: word(9), operator, before: false };
  journal.spent({ ...gas, wei: 21_000n * 7n });
  journal.spent({ ...gas, wei: 21_000n * 7n });
  expect(journal.gas(1, operator)).toBe(10n ** 18n - 147_000n);
  // Mined before the operator's opening balance was read: an expense that this balance has paid already.
  journal.spent({ wei: 5n, place: place(1, 4), share: 0, orderId: null, operator, before: true });
  expect(journal.gas(1, operator)).toBe(10n ** 18n - 147_000n);
  expect(journal.balance('expense:gas', 1, 'native')).toBe(147_005n);
  journal.owner({ chainId: 1, token: USDC, amount: 500n }, place(1, 7), 0);
  journal.owner({ chainId: 1, token: USDC, amount: -200n }, place(1, 7), 1);
  expect(journal.inventory({ chainId: 1, token: USDC })).toBe(300n);
  expect(journal.balance('equity:owner', 1, USDC)).toBe(-300n);
});

test('refuses an entry that does not balance', () => {
  expect(() => opened().sent({ ...exchange(5), portion: 1n }, place(1, 3))).toThrow(/balance/);
});

type Fact = (journal: AccountingLedger) => JournalEntry[];

/** One life of an order as facts, and what it must have done to the inventory when all of them have come. */
const life = fc
  .record({
    crossed: fc.boolean(),
    ghost: fc.boolean(),
    seen: fc.boolean(),
    end: fc.constantFrom('credit', 'refund', 'open'),
  })
  .map((shape) => (n: number) => {
    const trade = exchange(n, shape.crossed);
    const filled = place(trade.pays.chainId, 100 + n);
    const facts: Fact[] = [(journal) => journal.sent(trade, filled)];
    if (shape.seen) facts.push((journal) => journal.filled(trade, filled));
    if (shape.ghost) {
      const ghost = place(trade.pays.chainId, 100 + n, 5);
      facts.push(
        (journal) => journal.filled(trade, ghost),
        (journal) => journal.unfilled(trade.orderId, ghost, 1),
      );
    }
    if (shape.end === 'credit') facts.push((journal) => journal.credited(trade, place(1, 500 + n)));
    if (shape.end === 'refund') facts.push((journal) => journal.refunded(trade, place(1, 500 + n), true));
    return {
      trade,
      facts,
      earned: shape.end === 'credit' ? trade.earns.amount : 0n,
      owed: shape.end === 'open' ? trade.earns.amount : 0n,
    };
  });

test('law: any order and repetition of facts balances after every entry and gives one result', () => {
  fc.assert(
    fc.property(
      fc.array(life, { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.nat()),
      fc.nat({ max: 3 }),
      (shapes, dice, doubles) => {
        const lives = shapes.map((make, n) => make(n + 1));
        const facts = lives.flatMap((each) => each.facts);
        for (let extra = 0; extra < doubles; extra++) facts.push(...facts.slice(0, 20));
        const roll = dice[Symbol.iterator]();
        const order = facts
          .map((fact) => ({ fact, at: roll.next().value as number }))
          .sort((a, b) => a.at - b.at);
        const journal = opened();
        const entries: JournalEntry[] = [];
        for (const { fact } of order) {
          entries.push(...fact(journal));
          expect(sums(journal).every((sum) => sum === 0n)).toBe(true);
        }
        for (const chainId of [1, 2]) entries.push(...journal.passed(chainId, 10_000n, 1));
        expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
        for (const chainId of [1, 2]) {
          const paid = lives.reduce(
            (sum, { trade }) => sum + (trade.pays.chainId === chainId ? trade.pays.amount : 0n),
            0n,
          );
          expect(journal.inventory({ chainId, token: USDC })).toBe(10n ** 21n - paid);
          expect(journal.balance('assets:outbound', chainId, USDC)).toBe(0n);
        }
        expect(journal.inventory({ chainId: 1, token: WETH })).toBe(
          10n ** 21n + lives.reduce((sum, { earned }) => sum + earned, 0n),
        );
        expect(journal.balance('assets:receivable', 1, WETH)).toBe(
          lives.reduce((sum, { owed }) => sum + owed, 0n),
        );
      },
    ),
    { numRuns: 150 },
  );
});
