/** No float is promised twice, whatever the processes, takers and orders do at the same time. */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { silentLog } from '../../../../test/support/silent.ts';
import { storedOrder } from '../../../../test/support/stored-order.ts';
import { random32 } from '../../../../test/support/trade.ts';
import { type Address, addressToBytes32 } from '../../../domain/hex.ts';
import type { Fact } from '../../../domain/fact.ts';
import type {
  FloatBlock,
  FloatPlace,
  FloatPromise,
  FloatStore,
  FloatTransfer,
} from '../../../ports/stores/floats.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import { connectDatabase, type Database } from '../pool.ts';
import { createTransferStore } from '../transfer-store.ts';
import { createFloatStore } from './float-store.ts';
import { createVenueStore } from './venue-store.ts';

const [ORIGIN, DEST] = [31_001, 31_002];
const TOKEN: Address = `0x${'70'.repeat(20)}`;
const TAKER: Address = `0x${'7a'.repeat(20)}`;
const BLOCK: FloatBlock = { number: 9n, requested: 0n, paid: [] };

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

const newPlace = (): FloatPlace => ({
  venueId: `bridge-${(venues += 1)}`,
  account: `0x${venues.toString(16).padStart(40, 'ac')}`,
  chainId: DEST,
  token: TOKEN,
});
const promiseOf = (place: FloatPlace, change: Partial<FloatPromise> = {}): FloatPromise => ({
  ...place,
  amount: 10n,
  originChainId: ORIGIN,
  taker: TAKER,
  nonce: BigInt(random32()),
  until: 100,
  most: 100n,
  held: 100n,
  asOf: BLOCK,
  ...change,
});
const paidIn = (number: bigint, ...orders: OrderRecord[]): FloatBlock => ({
  number,
  requested: 0n,
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
    expect(await floats[1].use(place, BLOCK, at(100))).toEqual({ promised: 60n, open: 0n, moving: 0n });
    expect(await floats[1].use(place, BLOCK, at(101))).toEqual({ promised: 0n, open: 0n, moving: 0n });
    // A process that does not see the origin lets nothing expire.
    expect(await floats[1].use(place, BLOCK, new Map())).toEqual({ promised: 60n, open: 0n, moving: 0n });
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
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 100n, open: 0n, moving: 0n });
    expect(await floats[0].promise(promiseOf(place, { amount: 1n }), at(50))).toBe(false);
  });

  test('becomes the order that was accepted under it, and no other quote of it is kept', async () => {
    const place = newPlace();
    const nonce = BigInt(random32());
    for (const amount of [80n, 40n])
      expect(await floats[0].promise(promiseOf(place, { nonce, amount }), at(50))).toBe(true);
    await accept(place, 40n, nonce);
    expect(await floats[1].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 40n, moving: 0n });
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
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 40n, moving: 0n });
    const failure = { code: 'expired_unfilled', message: 'No fill in time.' } as const;
    await append(record, [{ kind: 'failed', failure }], 'failed');
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 0n, open: 0n, moving: 0n });
  });
});

const THIRD = 31_003;
const DAY_MS = 86_400_000;

function transferOf(place: FloatPlace, amount: bigint, change: Partial<FloatTransfer> = {}, to = ORIGIN) {
  const createdAtMs = Date.now();
  return {
    ...place,
    transfer: {
      ...{
        id: random32(),
        bridge: 'cctp',
        reason: 'test',
        createdAtMs,
        estimate: null,
        sent: null,
        facts: [],
      },
      move: {
        ...{ account: place.account, amount },
        from: { chainId: place.chainId, token: TOKEN },
        to: { chainId: to, token: TOKEN },
      },
    },
    ...{ held: 100n, asOf: BLOCK, low: 0n },
    day: {
      sinceMs: createdAtMs - DAY_MS,
      most: 1_000n * 10n ** 12n,
      places: [ORIGIN, DEST, THIRD].map((chainId) => ({ chainId, token: TOKEN, decimals: 6 })),
    },
    ...change,
  } satisfies FloatTransfer;
}
const elsewhere = (place: FloatPlace, chainId: number): FloatPlace => ({ ...place, chainId });
const inBlock = { txHash: random32(), availableAt: 50, lapsesAt: 90 };

describe('a transfer to another chain', () => {
  const lastFact = async (id: string) => (await createTransferStore(db).find(id))?.facts.length ?? 0;
  const note = async (
    { transfer: { id } }: FloatTransfer,
    fact: Parameters<ReturnType<typeof createTransferStore>['append']>[2],
    final = false,
  ) => expect(await createTransferStore(db).append(id, await lastFact(id), fact, { final })).toBe(true);
  const movingIn = async (place: FloatPlace, number: bigint, requested = 0n) =>
    (await floats[1].use(place, { number, requested, paid: [] }, at(50))).moving;

  test('takes only what no quote, order, `low` or other transfer needs, and no quote takes it', async () => {
    const place = newPlace();
    expect(await floats[0].promise(promiseOf(place, { amount: 10n }), at(50))).toBe(true);
    await accept(place, 20n, BigInt(random32()));
    const low = 30n;
    expect(await floats[1].transfer(transferOf(place, 41n, { low }), at(50))).toBe('not_free');
    expect(await floats[1].transfer(transferOf(place, 40n, { low }), at(50))).toBe('added');
    expect(await floats[0].use(place, BLOCK, at(50))).toEqual({ promised: 10n, open: 20n, moving: 40n });
    expect(await floats[0].promise(promiseOf(place, { amount: 31n }), at(50))).toBe(false);
    expect(await floats[0].promise(promiseOf(place, { amount: 30n }), at(50))).toBe(true);
  });

  test('does not count twice where the limit of the operator leaves less than is held', async () => {
    const place = newPlace();
    expect(await floats[0].transfer(transferOf(place, 60n), at(50))).toBe('added');
    expect(await floats[0].promise(promiseOf(place, { amount: 31n, most: 30n }), at(50))).toBe(false);
    expect(await floats[0].promise(promiseOf(place, { amount: 30n, most: 30n }), at(50))).toBe(true);
  });

  test('counts until the block shows its request, and again once the request has lapsed', async () => {
    const place = newPlace();
    const wanted = transferOf(place, 60n);
    expect(await floats[0].transfer(wanted, at(50))).toBe('added');
    expect(await movingIn(place, 9n)).toBe(60n);
    // Mined, and no fact yet.
    expect([await movingIn(place, 9n, 60n), await movingIn(place, 9n, 59n)]).toEqual([0n, 60n]);
    await note(wanted, { kind: 'requested', amount: 60n, blockNumber: 10n, ...inBlock });
    expect([await movingIn(place, 9n), await movingIn(place, 10n)]).toEqual([60n, 0n]);
    await note(wanted, { kind: 'lapsed' });
    expect(await movingIn(place, 20n)).toBe(60n);
    await note(wanted, { kind: 'requested', amount: 60n, blockNumber: 21n, ...inBlock });
    expect([await movingIn(place, 20n), await movingIn(place, 21n)]).toEqual([60n, 0n]);
    const { txHash } = inBlock;
    await note(wanted, { kind: 'given_back', amount: 60n, txHash, blockNumber: 30n }, true);
    expect([await movingIn(place, 20n), await movingIn(place, 30n)]).toEqual([60n, 0n]);
  });

  test('of another account, chain or token does not count', async () => {
    const place = newPlace();
    expect(await floats[0].transfer(transferOf(newPlace(), 60n), at(50))).toBe('added');
    expect(await floats[0].transfer(transferOf(elsewhere(place, THIRD), 60n), at(50))).toBe('added');
    expect(await movingIn(place, 9n)).toBe(0n);
  });

  test('is refused while one to or from the same place is open, or the other way', async () => {
    const place = newPlace();
    const first = transferOf(place, 10n);
    const tries = [
      transferOf(place, 10n, {}, THIRD),
      transferOf(elsewhere(place, THIRD), 10n, {}, ORIGIN),
      transferOf(elsewhere(place, ORIGIN), 10n, {}, DEST),
    ];
    expect(await floats[0].transfer(first, at(50))).toBe('added');
    for (const each of tries) expect(await floats[1].transfer(each, at(50))).toBe('one_is_open');
    expect(await floats[1].transfer(transferOf(elsewhere(place, THIRD), 1n, {}, DEST), at(50))).toBe('added');
    const { txHash } = inBlock;
    await note(first, { kind: 'deposited', amount: 10n, txHash, blockNumber: 30n }, true);
    expect(await floats[1].transfer(transferOf(place, 10n), at(50))).toBe('added');
  });

  test('counts against the sum of a day, whatever decimals its token has', async () => {
    const place = newPlace();
    const day = {
      ...transferOf(place, 1n).day,
      most: 100n * 10n ** 12n,
      places: [
        { chainId: DEST, token: TOKEN, decimals: 6 },
        { chainId: ORIGIN, token: TOKEN, decimals: 8 },
        { chainId: THIRD, token: TOKEN, decimals: 6 },
      ],
    };
    expect(await floats[0].transfer(transferOf(place, 60n, { day }), at(50))).toBe('added');
    const back = transferOf(elsewhere(place, THIRD), 41n, { day }, DEST);
    expect(await floats[0].transfer(back, at(50))).toBe('over_day');
    const held = 10_000n;
    const eight = (amount: bigint) => transferOf(elsewhere(place, ORIGIN), amount, { day, held }, THIRD);
    expect(await floats[0].transfer(eight(4_001n), at(50))).toBe('over_day');
    expect(await floats[0].transfer(eight(4_000n), at(50))).toBe('added');
    const later = { ...day, sinceMs: Date.now() + 1 };
    expect(await floats[0].transfer({ ...back, day: later }, at(50))).toBe('added');
  });

  test('two processes at once begin one, from whichever places, and quotes take the rest', async () => {
    let rounds = 0;
    for (let round = 0; round < 8; round += 1) {
      const place = newPlace();
      const tries = Array.from({ length: 12 }, (_, n) => {
        const source = n % 3 === 0 ? elsewhere(place, THIRD) : place;
        return (floats[n % 2] as FloatStore).transfer(transferOf(source, 60n), at(50));
      });
      const quotes = Array.from({ length: 12 }, (_, n) =>
        (floats[n % 2] as FloatStore).promise(promiseOf(place, { amount: 20n }), at(50)),
      );
      const begun = (await Promise.all(tries)).filter((answer) => answer === 'added');
      await Promise.all(quotes);
      expect(begun.length).toBeLessThanOrEqual(1);
      rounds += begun.length;
      const { promised, moving } = await floats[0].use(place, BLOCK, at(50));
      expect(promised + moving).toBeLessThanOrEqual(100n);
      expect(promised).toBeGreaterThan(0n);
    }
    expect(rounds).toBeGreaterThan(0);
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
