/** No float is promised twice, whatever the processes, takers and orders do at the same time. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { silentLog } from '../../../../test/support/silent.ts';
import { storedOrder } from '../../../../test/support/stored-order.ts';
import { random32 } from '../../../../test/support/trade.ts';
import { type Address, addressToBytes32 } from '../../../domain/hex.ts';
import type { Fact } from '../../../domain/fact.ts';
import type { FloatBlock, FloatPlace, FloatPromise, FloatStore } from '../../../ports/stores/floats.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import { connectDatabase, type Database } from '../pool.ts';
import { createFloatStore } from './float-store.ts';
import { createVenueStore } from './venue-store.ts';

const [ORIGIN, DEST] = [31_001, 31_002];
const TOKEN: Address = `0x${'70'.repeat(20)}`;
const TAKER: Address = `0x${'7a'.repeat(20)}`;
const BLOCK: FloatBlock = { number: 9n, paid: [] };

let postgres: TestPostgres;
let db: Database;
let other: Database;
let store: VenueStore;
/** Two processes. */
let floats: [FloatStore, FloatStore];
let venues = 0;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  other = connectDatabase({ url: db.url, schema: 'venue', log: silentLog });
  store = createVenueStore(db);
  floats = [createFloatStore(db), createFloatStore(other)];
});
afterAll(async () => {
  await other.close();
  await postgres.stop();
});

const newPlace = (): FloatPlace => ({ venueId: `bridge-${(venues += 1)}`, chainId: DEST, token: TOKEN });
const promiseOf = (place: FloatPlace, change: Partial<FloatPromise> = {}): FloatPromise => ({
  ...place,
  amount: 10n,
  originChainId: ORIGIN,
  taker: TAKER,
  nonce: BigInt(random32()),
  until: 100,
  most: 100n,
  asOf: BLOCK,
  ...change,
});
const paidIn = (number: bigint, ...orders: OrderRecord[]): FloatBlock => ({
  number,
  paid: orders.map(({ orderId }) => ({ orderId, index: 0 })),
});
const at = (now: number) => new Map([[ORIGIN, now]]);

async function accept({ venueId, token }: FloatPlace, amount: bigint, nonce: bigint): Promise<OrderRecord> {
  const plain = storedOrder(ORIGIN);
  const [output] = plain.order.outputs;
  const order = storedOrder(ORIGIN, {
    namespace: 'router',
    destChainIds: [DEST],
    solverIds: [venueId],
    route: { venueId, kind: 'bridge', through: null },
    order: {
      user: TAKER,
      nonce,
      outputs: output ? [{ ...output, chainId: BigInt(DEST), token: addressToBytes32(token), amount }] : [],
    },
  });
  expect(await store.accept(order, '{}', null)).toMatchObject({ kind: 'accepted' });
  return (await store.order(order.orderId)) ?? expect.fail('no such order');
}

async function append(record: OrderRecord, facts: Fact[], status: 'pending' | 'settled' | 'failed') {
  const [claim] = await store.claim([record.orderId], 'worker', 60_000);
  if (!claim) return expect.fail('not claimed');
  const final = status === 'settled';
  expect(await store.append(claim, record, facts, { status, final, event: null, atMs: Date.now() })).toBe(
    true,
  );
}

const filled = (): Fact => ({
  kind: 'filled',
  outputIndex: 0,
  solver: TAKER,
  timestamp: 50,
  amount: 10n,
  evidence: { chainId: DEST, txHash: random32(), blockNumber: 5n, blockHash: random32(), at: 50 },
});

describe('a promise', () => {
  test('counts until its quote has expired on the chain of the order', async () => {
    const place = newPlace();
    expect(await floats[0].promise(promiseOf(place, { amount: 60n }), at(50))).toBe(true);
    expect(await floats[1].promise(promiseOf(place, { amount: 41n }), at(50))).toBe(false);
    expect(await floats[1].use(place, BLOCK, at(100))).toEqual({ promised: 60n, open: 0n });
    expect(await floats[1].use(place, BLOCK, at(101))).toEqual({ promised: 0n, open: 0n });
    // A process that does not see the origin lets nothing expire.
    expect(await floats[1].use(place, BLOCK, new Map())).toEqual({ promised: 60n, open: 0n });
    expect(await floats[1].promise(promiseOf(place, { amount: 100n, until: 200 }), at(101))).toBe(true);
  });

  test('of another venue, chain or token does not count', async () => {
    const place = newPlace();
    for (const elsewhere of [newPlace(), { ...place, chainId: ORIGIN }, { ...place, token: TAKER }])
      expect(await floats[0].promise(promiseOf(elsewhere, { amount: 100n }), at(50))).toBe(true);
    expect(await floats[0].promise(promiseOf(place, { amount: 100n }), at(50))).toBe(true);
  });

  test('under one nonce counts as the largest, because one order of it is accepted at most', async () => {
    const place = newPlace();
    const nonce = 7n;
    for (const amount of [60n, 100n, 30n])
      expect(await floats[0].promise(promiseOf(place, { nonce, amount }), at(50))).toBe(true);
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 100n, open: 0n });
    expect(await floats[0].promise(promiseOf(place, { amount: 1n }), at(50))).toBe(false);
  });

  test('becomes the order that was accepted under it, and no other quote of it is kept', async () => {
    const place = newPlace();
    const nonce = BigInt(random32());
    for (const amount of [80n, 40n])
      expect(await floats[0].promise(promiseOf(place, { nonce, amount }), at(50))).toBe(true);
    await accept(place, 40n, nonce);
    expect(await floats[1].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 40n });
    expect(await floats[1].promise(promiseOf(place, { nonce, amount: 1n }), at(50))).toBe(false);
    expect(await floats[1].promise(promiseOf(place, { amount: 61n }), at(50))).toBe(false);
    expect(await floats[1].promise(promiseOf(place, { amount: 60n }), at(50))).toBe(true);
  });

  test('an order counts in each block that does not show its fill, and in no other', async () => {
    const place = newPlace();
    const record = await accept(place, 40n, BigInt(random32()));
    const other = await accept(place, 7n, BigInt(random32()));
    expect(await floats[0].owed(place)).toHaveLength(2);
    expect(await floats[0].owed(newPlace())).toEqual([]);
    const [before, after] = [paidIn(4n), paidIn(5n, record)];
    const opens = async (...blocks: FloatBlock[]) =>
      Promise.all(blocks.map(async (block) => (await floats[1].use(place, block, at(50))).open));
    // The fill is mined and not final: no fact tells of it yet.
    expect(await opens(before, after)).toEqual([47n, 7n]);
    await append(record, [filled()], 'pending');
    expect(await opens(before, after)).toEqual([47n, 7n]);
    // Facts do not decide: a reorganisation may have moved the fill.
    expect(await opens(paidIn(9n))).toEqual([47n]);
    // Promises of different blocks in one batch are measured with their own.
    const promise = (asOf: FloatBlock, amount: bigint) =>
      floats[1].promise(promiseOf(place, { asOf, amount }), at(50));
    expect(await Promise.all([promise(before, 53n), promise(after, 40n), promise(after, 1n)])).toEqual([
      true,
      true,
      false,
    ]);
    // Settled: a replica whose node is behind still sees the money in the balance.
    const settled = (await store.order(record.orderId)) ?? expect.fail('no such order');
    await append(settled, [], 'settled');
    expect(await floats[0].owed(place)).toMatchObject([{ orderId: other.orderId, index: 0 }]);
    expect(await opens(before, paidIn(5n))).toEqual([47n, 7n]);
  });

  test('an order that failed has no claim on the float', async () => {
    const place = newPlace();
    const record = await accept(place, 40n, BigInt(random32()));
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 40n });
    const failure = { code: 'expired_unfilled', message: 'No fill in time.' } as const;
    await append(record, [{ kind: 'failed', failure }], 'failed');
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 0n });
  });
});

test('law: bursts over two processes, with orders accepted in between, stay within what there is', async () => {
  const zStep = fc.record({
    process: fc.nat(1),
    nonce: fc.bigInt(1n, 6n),
    amount: fc.bigInt(1n, 60n),
    accepts: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(zStep, { minLength: 2, maxLength: 16 }), async (steps) => {
      const place = newPlace();
      const salt = BigInt(random32()) << 8n;
      const kept = new Map<bigint, bigint>();
      await Promise.all(
        steps.map(async ({ process, nonce: small, amount, accepts }) => {
          const nonce = (salt + small) % (1n << 255n);
          const promise = promiseOf(place, { nonce, amount });
          if (!(await (floats[process] as FloatStore).promise(promise, at(50)))) return;
          if (accepts && !kept.has(nonce)) {
            kept.set(nonce, amount);
            await accept(place, amount, nonce);
          }
        }),
      );
      const [first, second] = await Promise.all(floats.map((each) => each.use(place, BLOCK, at(50))));
      expect(first).toEqual(second);
      const orders = [...kept.values()].reduce((sum, amount) => sum + amount, 0n);
      expect(first?.open).toBe(orders);
      expect(orders + (first?.promised ?? 0n)).toBeLessThanOrEqual(100n);
    }),
    { numRuns: 25 },
  );
});

test('a burst of equal quotes gets all there is, and not one more', async () => {
  const place = newPlace();
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (floats[index % 2] as FloatStore).promise(promiseOf(place, { amount: 7n }), at(50)),
    ),
  );
  expect(answers.filter(Boolean)).toHaveLength(14);
});
