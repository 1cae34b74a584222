/** Any history in real books: figures of windows add up, and a window's profit is its change of value. */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import './support/fast-check.ts';
import { createJournalStore } from '../src/adapters/postgres/lp/accounting-store.ts';
import type { Database } from '../src/adapters/postgres/pool.ts';
import { createLpStore } from '../src/adapters/postgres/lp/lp-store.ts';
import { LP_MIGRATIONS } from '../src/adapters/postgres/migrations/lp.ts';
import type { StandardOrder } from '../src/domain/order.ts';
import { type Books, NO_PROFIT } from '../src/lp/accounting/fold/books.ts';
import { createFolder } from '../src/lp/accounting/fold/fold.ts';
import type { Pass } from '../src/lp/accounting/fold/folding.ts';
import { type Exchange, type FactPlace, idOf } from '../src/lp/accounting/ledger/facts.ts';
import { createAccountingLedger } from '../src/lp/accounting/ledger/ledger.ts';
import { positionViewOf } from '../src/lp/accounting/pnl.ts';
import type { Routes } from '../src/lp/routes/route.ts';
import type { ProfitKey, StoredProfit } from '../src/ports/stores/accounting-store.ts';
import { startTestPostgres, type TestPostgres } from './support/postgres.ts';

const TOKENS = { USDC: `0x${'a'.repeat(40)}`, WETH: `0x${'b'.repeat(40)}` } as const;
const OPERATOR = `0x${'e'.repeat(40)}` as const;
const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const order = { user: `0x${'c'.repeat(40)}` } as unknown as StandardOrder;
const place = (n: number): FactPlace => ({
  ...{ chainId: 1, block: BigInt(n), blockHash: word(n), txHash: word(n), atMs: n },
});

let postgres: TestPostgres;
let db: Database;
beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('lp_profit', LP_MIGRATIONS);
});
afterAll(() => postgres?.stop());

const amount = fc.bigInt({ min: 1n, max: 10n ** 12n });
const step = fc.oneof(
  fc.record({ do: fc.constant('price' as const), usd: fc.bigInt({ min: 900n, max: 4_000n }) }),
  fc.record({
    do: fc.constant('trade' as const),
    pays: fc.constantFrom('USDC', 'WETH'),
    amount,
    got: amount,
  }),
  fc.record({ do: fc.constantFrom('gas', 'refund', 'mark'), of: fc.nat(20), amount }),
  fc.record({ do: fc.constant('transfer' as const), amount, kept: fc.bigInt({ min: 0n, max: 10n ** 6n }) }),
  fc.record({
    do: fc.constant('owner' as const),
    asset: fc.constantFrom('USDC', 'WETH'),
    amount: fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n }),
  }),
);

/** One step, one transaction. Answers the value of all positions less the owner's own after each. */
async function play(steps: readonly (typeof step extends fc.Arbitrary<infer S> ? S : never)[]) {
  await db.query('truncate lp_entry, lp_posting, lp_balance, lp_pending, lp_trade, lp_position, lp_profit');
  await db.query('truncate lp_journal_cursor, lp_gas_cursor, lp_transfer');
  const store = createJournalStore(db);
  await store.open((await createLpStore(db).open()).epoch);
  let eth = 2_500n;
  const usd = (asset: string) => ({ num: asset === 'WETH' ? eth : 1n, den: 1n });
  const infoOf = ({ token }: { token: string }) => {
    const symbol = token === TOKENS.USDC ? 'USDC' : 'WETH';
    return { symbol, decimals: symbol === 'USDC' ? 6 : 9 } as never;
  };
  const { fold } = createFolder({
    clock: { nowMs: () => 1_000, monotonicMs: () => 1_000, after: () => () => {} },
    reader: { infoOf, described: new Map() },
    routes: () => ({ find: () => ({ pairName: 'WETH-USDC', lp: 'buy' }), all: [] }) as unknown as Routes,
    usd,
    native: () => ({ num: eth, den: 1n }),
    mid: () => Number(eth),
    found: () => {},
  });
  const books: Books = {
    ...{ journal: createAccountingLedger(), cursors: new Map(), gas: new Map(), began: new Map() },
    ...{ positions: new Map(), trades: new Map(), opened: new Set(), sums: { ...NO_PROFIT } },
  };
  const trades: Exchange[] = [];
  const worth = new Map<number, bigint>();
  for (const [at, each] of steps.entries()) {
    const n = at + 1;
    const of = 'of' in each ? trades[each.of % Math.max(1, trades.length)] : undefined;
    const pass: Pass = {
      ...{
        openings: [],
        readings: [],
        notes: [],
        known: new Set(),
        older: new Map(),
        transfers: new Map(),
        inFlight: [],
      },
      revalue: true,
    };
    const cursor = { chainId: 1, block: BigInt(n), hash: word(n), nonce: 0 };
    const read = (fact: Pass['readings'][number]['facts'][number]) =>
      Object.assign(pass, { readings: [{ cursor, gas: [], facts: [fact] }] });
    if (each.do === 'price') eth = each.usd;
    else if (each.do === 'trade') {
      const [pays, earns] = each.pays === 'USDC' ? (['USDC', 'WETH'] as const) : (['WETH', 'USDC'] as const);
      const exchange: Exchange = {
        ...{ orderId: word(n), pair: n % 2 === 0 ? 'WETH-USDC' : 'USDC-WETH' },
        pays: { chainId: 1, token: TOKENS[pays], amount: each.amount },
        earns: { chainId: 1, token: TOKENS[earns], amount: each.got },
        ...{ portion: each.got + 7n, platformFee: 5n, relayFee: 2n },
      };
      trades.push(exchange);
      read({ id: idOf.sent(word(n), place(n)), kind: 'sent', exchange, place: place(n), order });
    } else if (each.do === 'owner') {
      const money = { chainId: 1, token: TOKENS[each.asset as 'USDC' | 'WETH'], amount: each.amount };
      read({ id: idOf.owner(place(n), 0), kind: 'owner', money, place: place(n), logIndex: 0 });
    } else if (each.do === 'transfer') {
      const money = { chainId: 1, token: TOKENS.USDC, amount: each.amount };
      const move = { ...{ account: OPERATOR, amount: each.amount }, from: money, to: money };
      const transfer = {
        ...{ id: `t${n}`, bridge: 'cctp', move, reason: '', createdAtMs: 0 },
        ...{ estimate: null, sent: null, facts: [] },
      };
      const got = { ...money, amount: each.amount - (each.amount * each.kept) / 10n ** 7n };
      const step = { transfer, transferId: transfer.id, place: place(n), share: 0 };
      const gas = { wei: each.kept * 10n ** 9n, orderId: null, operator: OPERATOR, before: false };
      read({ id: idOf.departed(`t${n}`), kind: 'departed', transfer, money, place: place(n) });
      pass.readings[0]?.facts.push(
        { ...{ id: idOf.gas(1, place(n)), kind: 'gas', payer: OPERATOR }, ...step, ...gas },
        {
          ...{ id: idOf.arrived(`t${n}`), kind: 'arrived', transfer, place: place(n), logIndex: 0 },
          ...{ money: got, left: { ...money, block: 0n } },
        },
      );
    } else if (of !== undefined && each.do === 'gas') {
      const paid = { wei: each.amount * 10n ** 6n, orderId: of.orderId, operator: OPERATOR, before: false };
      read({ id: idOf.gas(1, place(n)), kind: 'gas', place: place(n), share: 0, payer: OPERATOR, ...paid });
    } else if (of !== undefined && each.do === 'refund')
      read({
        ...{ id: idOf.refund(of.orderId, place(n)), kind: 'refunded', exchange: of, place: place(n), order },
      });
    else if (of !== undefined) {
      const mark = { bps: Number(each.amount % 300n) / 7, atMs: 1, late: false };
      Object.assign(pass, { notes: [{ kind: 'mark', orderId: of.orderId, horizon: 10, mark }] });
    }
    expect(await store.write({ ...fold(books, pass), takers: [] })).toBe(true);
    const [{ at: bookedMs } = { at: null }] = await db.query<{ at: number | null }>(
      'select max(at_ms) as at from lp_profit',
    );
    if (bookedMs === null) continue;
    worth.set(
      bookedMs,
      [...books.positions.values()]
        .map((row) => positionViewOf(row, usd(row.asset)))
        .reduce((sum, { valueMicros, ownerMicros }) => sum + (valueMicros ?? 0n) - ownerMicros, 0n),
    );
  }
  return { store, worth, books };
}

/** Every number of a report, by name. */
function figuresOf({ rows, all, assets, transfers }: StoredProfit): Map<string, bigint> {
  const figures = new Map<string, bigint>();
  for (const [name, value] of Object.entries(transfers)) figures.set(`transfers ${name}`, BigInt(value));
  for (const row of [...rows, { ...all, key: 'all' }])
    for (const [name, value] of Object.entries({ ...row, ...row.markMicros }))
      if (typeof value === 'bigint' || typeof value === 'number')
        figures.set(`${row.key} ${name}`, BigInt(value));
  for (const { asset, ...row } of assets)
    for (const [name, value] of Object.entries(row)) figures.set(`${asset} ${name}`, value);
  return figures;
}

function add(sums: Map<string, bigint>, more: ReadonlyMap<string, bigint>): void {
  for (const [name, value] of more) sums.set(name, (sums.get(name) ?? 0n) + value);
}
const nonZero = (figures: ReadonlyMap<string, bigint>) =>
  Object.fromEntries([...figures].filter(([, value]) => value !== 0n).sort());

test('windows that tile an interval add up to it exactly, and each is the change of value less the owner’s own', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.array(fc.nat(24), { maxLength: 4 }),
      fc.constantFrom<ProfitKey>('pair', 'corridor', 'taker', 'trade'),
      async (steps, cuts, by) => {
        const { store, worth, books } = await play(steps);
        const times = [...worth.keys()];
        if (times.length === 0) return;
        const ends = [...new Set(cuts.map((cut) => (times[cut % times.length] as number) + 1))].sort(
          (one, other) => one - other,
        );
        const edges = [0, ...ends, null];
        const sums = new Map<string, bigint>();
        const worthBefore = (edge: number | null) =>
          edge === null
            ? (worth.get(times.at(-1) as number) ?? 0n)
            : edge === 0
              ? 0n
              : (worth.get(edge - 1) ?? 0n);
        for (const [at, untilMs] of edges.slice(1).entries()) {
          const sinceMs = edges[at] as number;
          const report = await store.profit(by, { sinceMs, untilMs }, 1_000);
          add(sums, figuresOf(report));
          const total = (name: 'realised' | 'unrealised') =>
            report.assets.reduce((sum, each) => sum + each[name], 0n);
          const { grossMicros, feesMicros, lostMicros } = report.all;
          expect(
            grossMicros -
              feesMicros +
              total('realised') +
              total('unrealised') -
              lostMicros -
              report.transfers.feesMicros,
            `from ${sinceMs} to ${untilMs}`,
          ).toBe(worthBefore(untilMs) - worthBefore(sinceMs));
        }
        const whole = await store.profit(by, { sinceMs: 0, untilMs: null }, 1_000);
        expect(nonZero(sums)).toEqual(nonZero(figuresOf(whole)));
        // And the whole is what the books in memory say.
        expect({
          spread: whole.all.grossMicros - whole.all.feesMicros,
          ...{ fees: whole.all.feesMicros, gas: whole.all.gasMicros, lost: whole.all.lostMicros },
          ...{ bridgeFees: whole.transfers.feesMicros, transferGas: whole.transfers.gasMicros },
          ...{ markout_10s: whole.all.markMicros[10], markout_1s: 0n, markout_60s: 0n },
        }).toEqual(books.sums);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);
