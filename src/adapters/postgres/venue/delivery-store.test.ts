/**
 * Tests that a delivery from a ledger is written once, however many workers read it, and that rows agree with
 * facts.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { storedOrder } from '../../../../test/support/stored-order.ts';
import { random32 } from '../../../../test/support/trade.ts';
import type { Evidence, Fact } from '../../../domain/fact.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import type { Database } from '../pool.ts';
import { rebuildTrades } from '../trades/trade-rebuild.ts';
import { createVenueStore } from './venue-store.ts';

const CHAIN = 31_337;
const T = 1_800_000_000;
const [account, token] = [`0x${'ac'.repeat(20)}`, `0x${'70'.repeat(20)}`] as const;

let postgres: TestPostgres;
let db: Database;
let store: VenueStore;
let block = 100n;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  store = createVenueStore(db);
  expect(await store.withdrawalsRead(CHAIN, 100n)).toMatchObject({ block: 100n });
});
afterAll(() => postgres.stop());

const evidence = (): Evidence => ({
  chainId: CHAIN,
  txHash: random32(),
  blockNumber: block,
  blockHash: random32(),
  at: T,
});
const credited = (autoWithdraw: boolean, who: `0x${string}`): Fact => ({
  kind: 'credited',
  outputIndex: 0,
  account: who,
  token,
  amount: 2n ** 200n,
  autoWithdraw,
  windowSeconds: 900,
  evidence: evidence(),
});
const withdrawn = (amount: bigint, ended = false): Fact => ({
  kind: 'withdrawn',
  outputIndex: 0,
  amount,
  ended,
  evidence: evidence(),
});
const read = async (orderId: Bytes32): Promise<OrderRecord> =>
  (await store.order(orderId)) ?? expect.fail('no such order');
const next = () => ({ block: (block += 1n), logIndex: 0 });

/** A settled order whose output is in the ledger. */
async function delivered(
  autoWithdraw: boolean,
  who: `0x${string}` = account,
  workspaceId = 'w1',
): Promise<Bytes32> {
  const order = storedOrder(CHAIN, { workspaceId });
  expect(await store.accept(order, '{}', null)).toMatchObject({ kind: 'accepted' });
  const [claim] = await store.claim([order.orderId], 'w', 60_000);
  if (!claim) return expect.fail('not claimed');
  expect(
    await store.append(
      claim,
      await read(order.orderId),
      [credited(autoWithdraw, who), { kind: 'finalised', evidence: evidence() }],
      { status: 'settled', final: true, event: 'order.settled', atMs: 5 },
    ),
  ).toBe(true);
  return order.orderId;
}

test('deferred deliveries are due after their window, until they end, however often they were tried', async () => {
  const orderId = await delivered(true, `0x${'01'.repeat(20)}`);
  const due = async (now: number) =>
    (await store.dueDeliveries(CHAIN, now, 10))
      .filter((each) => each.orderId === orderId)
      .map(({ lookAt }) => lookAt);
  expect([await due(T + 899), await due(T + 900)]).toEqual([[], [0]]);
  await store.postponeDelivery({ orderId, outputIndex: 0 }, T + 1_000);
  // It stays due, and the next try waits.
  expect(await due(T + 900)).toEqual([T + 1_000]);
  await store.postponeDelivery({ orderId, outputIndex: 0 }, T + 950);
  expect(await due(T + 900)).toEqual([T + 1_000]);
  expect(
    await store.readWithdrawal(
      CHAIN,
      next(),
      [{ before: await read(orderId), facts: [withdrawn(2n ** 200n, true)] }],
      9,
    ),
  ).toBe('written');
  expect(await due(T + 10_000)).toEqual([]);
  const record = await read(orderId);
  expect(record.facts.at(-1)).toMatchObject({
    seq: 4,
    recordedAtMs: 9,
    fact: { kind: 'withdrawn', amount: 2n ** 200n, ended: true },
  });
});

test('an event is written once by any number of readers', async () => {
  const orderId = await delivered(false);
  const place = next();
  const before = await read(orderId);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      store.readWithdrawal(CHAIN, place, [{ before, facts: [withdrawn(5n)] }], 9),
    ),
  );
  expect(answers.toSorted()).toEqual([...Array.from({ length: 7 }, () => 'known'), 'written']);
  expect(
    await store.readWithdrawal(
      CHAIN,
      { ...place, block: place.block - 1n },
      [{ before: await read(orderId), facts: [withdrawn(5n)] }],
      9,
    ),
  ).toBe('known');
  expect(
    (await store.openDeliveries(CHAIN, account, token)).find((each) => each.orderId === orderId),
  ).toEqual({
    orderId,
    outputIndex: 0,
    workspaceId: 'w1',
    left: 2n ** 200n - 5n,
    requested: 0n,
    autoWithdraw: false,
  });
  expect((await store.withdrawalsRead(CHAIN, 0n)).block).toBe(place.block);
});

test('an order that has moved on leaves the event and its orders unchanged', async () => {
  const [one, two] = [await delivered(false), await delivered(false)];
  const stale = await read(two);
  expect(
    await store.appendLate(
      { before: stale, facts: [{ kind: 'payout_sent', outputIndex: 0, chainId: CHAIN, txHash: random32() }] },
      9,
    ),
  ).toBe(true);
  expect(await store.appendLate({ before: stale, facts: [withdrawn(1n)] }, 9)).toBe(false);
  const place = next();
  const late = async (second: OrderRecord) => [
    { before: await read(one), facts: [withdrawn(1n)] },
    { before: second, facts: [withdrawn(1n)] },
  ];
  expect(await store.readWithdrawal(CHAIN, place, await late(stale), 9)).toBe('moved');
  expect((await read(one)).facts).toHaveLength(3);
  expect(await store.readWithdrawal(CHAIN, place, await late(await read(two)), 9)).toBe('written');
  expect((await read(one)).facts).toHaveLength(4);
});

test('rebuilds rows from facts alone', async () => {
  const who = `0x${'02'.repeat(20)}` as const;
  const orders = [await delivered(true, who, 'w2'), await delivered(false, who, 'w2')];
  expect(
    await store.appendLate(
      {
        before: await read(orders[1] as Bytes32),
        facts: [
          {
            kind: 'withdrawal_requested',
            outputIndex: 0,
            amount: 9n,
            availableAt: T,
            lapsesAt: T + 9,
            evidence: evidence(),
          },
        ],
      },
      9,
    ),
  ).toBe(true);
  const rows = () => db.query('select * from ledger_delivery where account = $1 order by order_id', [who]);
  const live = await rows();
  expect(live).toHaveLength(2);
  await db.query('delete from ledger_delivery where account = $1', [who]);
  await rebuildTrades(db);
  expect(await rows()).toEqual(live);
});
