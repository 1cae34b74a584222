/**
 * Transfers in the books: at every stage what the books have is what lies on the chains and on the way, less
 * the fees they have recorded, whichever chain is read first and wherever the process dies.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../../../../test/support/fast-check.ts';
import type { Balance, BookedTransfer, PositionRow } from '../../../ports/stores/accounting-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { Routes } from '../../routes/route.ts';
import type { ReadFact, Reading } from '../reader/reading.ts';
import { type Books, NO_PROFIT } from '../fold/books.ts';
import { createFolder } from '../fold/fold.ts';
import { type FactPlace, idOf } from '../ledger/facts.ts';
import { createAccountingLedger } from '../ledger/ledger.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
/** The second chain counts in finer units. */
const DECIMALS: Readonly<Record<number, number>> = { 1: 6, 2: 9 };
const SCALE = 1_000n;
const OPENING = 10n ** 12n;
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;

const { fold } = createFolder({
  clock: { nowMs: () => 1_000, monotonicMs: () => 1_000, after: () => () => {} },
  reader: {
    infoOf: ({ chainId }) => ({ symbol: 'USDC', decimals: DECIMALS[chainId] }) as never,
    described: new Map(),
  },
  routes: () => ({ find: () => undefined, all: [] }) as unknown as Routes,
  usd: () => ({ num: 1n, den: 1n }),
  native: () => ({ num: 2_500n, den: 1n }),
  mid: () => undefined,
  found: () => {},
});

/** Two chains whose blocks are lists of facts, and what lies in the escrow of each after each block. */
function createChains() {
  const blocks: Record<number, { facts: ReadFact[]; escrow: bigint }[]> = {
    1: [{ facts: [], escrow: OPENING }],
    2: [{ facts: [], escrow: OPENING * SCALE }],
  };
  const of = (chainId: number) => blocks[chainId] as { facts: ReadFact[]; escrow: bigint }[];
  return {
    of,
    /** Mines a block of one movement; `factOf` gets its place. */
    mine(chainId: number, change: bigint, factOf: (place: FactPlace) => ReadFact): bigint {
      const number = of(chainId).length;
      const hash = word(chainId * 1_000_000 + number);
      const place = { chainId, block: BigInt(number), blockHash: hash, txHash: hash, atMs: number };
      of(chainId).push({ facts: [factOf(place)], escrow: (of(chainId).at(-1)?.escrow ?? 0n) + change });
      return place.block;
    },
  };
}

/** What a database keeps, and a process that is opened from it. */
interface Stored {
  balances: Balance[];
  positions: Map<string, PositionRow>;
  cursors: Map<number, bigint>;
  ids: Set<string>;
  transfers: Map<string, BookedTransfer>;
  sums: Books['sums'];
}

function openBooks({ balances, positions, cursors, sums }: Stored): Books {
  return {
    journal: createAccountingLedger({ balances }),
    cursors: new Map([...cursors].map(([chainId, block]) => [chainId, cursorOf(chainId, block)])),
    ...{ gas: new Map(), began: new Map(), positions: new Map(positions), trades: new Map() },
    opened: new Set([1, 2].map((chainId) => idOf.opening(chainId, USDC))),
    sums: { ...sums },
  };
}
const cursorOf = (chainId: number, block: bigint) => ({ chainId, block, hash: word(0), nonce: 0 });

function openFirst(): Stored {
  const books = openBooks({
    ...{ balances: [], positions: new Map(), cursors: new Map(), ids: new Set() },
    ...{ transfers: new Map(), sums: NO_PROFIT },
  });
  const stored: Stored = {
    ...{ balances: [], positions: new Map(), cursors: new Map(), ids: new Set() },
    ...{ transfers: new Map(), sums: NO_PROFIT },
  };
  write(books, stored, {
    openings: [1, 2].map((chainId) => ({
      cursor: cursorOf(chainId, 0n),
      balances: [{ chainId, token: USDC, amount: chainId === 1 ? OPENING : OPENING * SCALE }],
      ...{ native: [], legacyGasOperator: undefined, fresh: true },
    })),
  });
  return stored;
}

/** One pass; `dies`: before its transaction commits. */
function write(books: Books, stored: Stored, pass: Partial<Parameters<typeof fold>[1]>, dies = false): void {
  const batch = fold(books, {
    ...{ openings: [], readings: [], notes: [], known: stored.ids, older: new Map(), inFlight: [] },
    ...{ transfers: stored.transfers, revalue: true, ...pass },
  });
  if (dies) return;
  for (const { id } of batch.entries) {
    expect(stored.ids.has(id), `${id} is booked twice`).toBe(false);
    stored.ids.add(id);
  }
  stored.balances = books.journal.balances();
  stored.positions = new Map(books.positions);
  for (const { chainId, block } of batch.cursors) stored.cursors.set(chainId, block);
  for (const transfer of batch.transfers) stored.transfers.set(transfer.id, transfer);
  stored.sums = { ...books.sums };
}

/** In units of the finer chain. */
const fine = (chainId: number, amount: bigint): bigint => (chainId === 1 ? amount * SCALE : amount);
const sumOf = ({ balances }: Stored, account: string): bigint =>
  balances
    .filter((each) => each.account === account)
    .reduce((sum, { chainId, amount }) => sum + fine(chainId, amount), 0n);

const transfer = fc.record({
  from: fc.constantFrom(1, 2),
  amount: fc.bigInt({ min: 1n, max: 10n ** 10n }),
  /** Millionths that the bridge keeps. */
  fee: fc.bigInt({ min: 0n, max: 20_000n }),
  refused: fc.boolean(),
});
const act = fc.oneof(
  fc.record({ do: fc.constant('begin' as const), transfer }),
  fc.record({ do: fc.constant('end' as const), of: fc.nat(10) }),
  fc.record({
    do: fc.constant('owner' as const),
    chainId: fc.constantFrom(1, 2),
    amount: fc.bigInt(-5n, 5n),
  }),
  fc.record({
    do: fc.constant('read' as const),
    chainIds: fc.constantFrom([1], [2], [1, 2], [2, 1]),
    blocks: fc.integer({ min: 1, max: 4 }),
    dies: fc.boolean(),
  }),
);

test('the books have what lies on the chains and on the way, less recorded fees, at every stage', () => {
  fc.assert(
    fc.property(fc.array(act, { minLength: 4, maxLength: 40 }), (acts) => {
      const chains = createChains();
      const stored = openFirst();
      const onTheWay: { stored: StoredTransfer; fee: bigint; refused: boolean }[] = [];
      let books = openBooks(stored);
      let owner = 0n;
      let [number, ended, keptByBridges] = [0, 0, 0n];

      function begin({
        from,
        amount,
        fee,
        refused,
      }: typeof transfer extends fc.Arbitrary<infer T> ? T : never) {
        const id = `t${(number += 1)}`;
        const place = (chainId: number) => ({ chainId, token: USDC });
        const money = { ...place(from), amount };
        const move = { account: USDC, amount, from: place(from), to: place(3 - from) };
        const of: StoredTransfer = {
          ...{ id, bridge: 'cctp', move, reason: '', createdAtMs: 0, estimate: null, sent: null, facts: [] },
        };
        const block = chains.mine(from, -amount, (at) => ({
          ...{ id: idOf.departed(id), kind: 'departed', transfer: of, money, place: at },
        }));
        const facts = [{ kind: 'withdrawn' as const, amount, txHash: word(0), blockNumber: block }];
        onTheWay.push({ stored: { ...of, facts }, fee, refused });
      }
      function end(of: number) {
        const [due] = onTheWay.splice(of % Math.max(1, onTheWay.length), 1);
        if (due === undefined) return;
        const { move, id, facts } = due.stored;
        const left = {
          ...move.from,
          amount: move.amount,
          block: (facts[0] as { blockNumber: bigint }).blockNumber,
        };
        const toChain = due.refused ? move.from : move.to;
        const whole = due.refused
          ? move.amount
          : move.from.chainId === 1
            ? move.amount * SCALE
            : move.amount / SCALE;
        const kept = due.refused ? 0n : (whole * due.fee) / 1_000_000n;
        keptByBridges += fine(move.from.chainId, move.amount) - fine(toChain.chainId, whole - kept);
        ended += 1;
        chains.mine(toChain.chainId, whole - kept, (place) => ({
          ...(due.refused
            ? { id: idOf.returned(id), kind: 'returned' as const }
            : { id: idOf.arrived(id), kind: 'arrived' as const }),
          ...{ transfer: due.stored, left, money: { ...toChain, amount: whole - kept }, place, logIndex: 0 },
        }));
      }
      function read(chainIds: readonly number[], blocks: number, dies: boolean) {
        const readings = chainIds.flatMap((chainId): Reading[] => {
          const from = Number(stored.cursors.get(chainId) ?? 0n);
          const facts = chains.of(chainId).slice(from + 1, from + 1 + blocks);
          const cursor = cursorOf(chainId, BigInt(from + facts.length));
          return facts.length === 0 ? [] : [{ cursor, gas: [], facts: facts.flatMap((each) => each.facts) }];
        });
        if (readings.length > 0) write(books, stored, { readings }, dies);
        if (dies) books = openBooks(stored);
      }
      function check() {
        const { balances, cursors, positions, sums } = stored;
        let onChains = 0n;
        for (const chainId of [1, 2]) {
          const { escrow } = chains.of(chainId)[Number(cursors.get(chainId) ?? 0n)] as { escrow: bigint };
          const booked = balances.find(
            (each) => each.account === 'assets:inventory' && each.chainId === chainId,
          );
          expect(booked?.amount).toBe(escrow);
          onChains += fine(chainId, escrow);
        }
        const inBooks = sumOf(stored, 'equity:owner') * -1n - sumOf(stored, 'expense:bridge-fee');
        const onTheirWay = sumOf(stored, 'assets:in-transit');
        // Coarser units are rounded down: the clearing account keeps less than one for each transfer.
        expect(inBooks - sumOf(stored, 'transfer:USDC')).toBe(onChains + onTheirWay);
        // What is owned, in 1e-18: money on its way counts.
        expect(positions.get('USDC')?.quantity).toBe((onChains + onTheirWay) * 10n ** 9n);
        expect(sums.bridgeFees).toBe(
          [...stored.transfers.values()].reduce((sum, { feeMicros }) => sum + feeMicros, 0n),
        );
      }

      for (const each of acts) {
        if (each.do === 'begin') begin(each.transfer);
        else if (each.do === 'end') end(each.of);
        else if (each.do === 'read') read(each.chainIds, each.blocks, each.dies);
        else {
          owner += fine(each.chainId, each.amount);
          const money = { chainId: each.chainId, token: USDC, amount: each.amount };
          chains.mine(each.chainId, each.amount, (place) => ({
            ...{ id: idOf.owner(place, 0), kind: 'owner', money, place, logIndex: 0 },
          }));
        }
        check();
      }
      while (onTheWay.length > 0) end(0);
      read([1, 2], 1_000, false);
      check();
      // All is read: nothing is on the way, each transfer is booked once, the fees are the bridges'.
      expect(sumOf(stored, 'assets:in-transit')).toBe(0n);
      expect([...stored.transfers.values()].filter(({ endedAtMs }) => endedAtMs !== null)).toHaveLength(
        ended,
      );
      expect(sumOf(stored, 'equity:owner')).toBe(-(OPENING * SCALE * 2n + owner));
      expect(sumOf(stored, 'expense:bridge-fee') + sumOf(stored, 'transfer:USDC')).toBe(keptByBridges);
    }),
    { numRuns: 200 },
  );
});

test('what left before the books were opened comes in as the owner’s', () => {
  const stored = openFirst();
  const books = openBooks(stored);
  const place = { chainId: 2, block: 1n, blockHash: word(1), txHash: word(2), atMs: 5 };
  const move = {
    account: USDC,
    amount: 7n,
    from: { chainId: 1, token: USDC },
    to: { chainId: 2, token: USDC },
  };
  const of: StoredTransfer = {
    ...{ id: 't', bridge: 'cctp', move, reason: '', createdAtMs: 0, estimate: null, sent: null, facts: [] },
  };
  write(books, stored, {
    readings: [
      {
        cursor: cursorOf(2, 1n),
        gas: [],
        facts: [
          {
            ...{ id: idOf.arrived('t'), kind: 'arrived', transfer: of, place, logIndex: 0 },
            ...{ left: { ...move.from, amount: 7n, block: 0n }, money: { ...move.to, amount: 6_900n } },
          },
        ],
      },
    ],
  });
  expect(sumOf(stored, 'assets:in-transit')).toBe(0n);
  expect(sumOf(stored, 'equity:owner')).toBe(-(OPENING * SCALE * 2n + 6_900n));
  expect(stored.transfers.size).toBe(0);
});
