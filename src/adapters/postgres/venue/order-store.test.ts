/** Orders in a real database: accepted once however they race, claimed by one, appended in sequence. */

import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { silentLog } from '../../../../test/support/silent.ts';
import type { Fact } from '../../../domain/fact.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type {
  Claim,
  IdempotencyScope,
  NewOrder,
  OrderNews,
  OrderRecord,
} from '../../../ports/stores/store.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { createPostgresBus } from '../bus.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import type { Database } from '../pool.ts';
import { createVenueStore } from './venue-store.ts';

let postgres: TestPostgres;
let db: Database;
let store: VenueStore;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
  store = createVenueStore(db);
});
afterAll(() => postgres.stop());

const random32 = (): Bytes32 => `0x${randomBytes(32).toString('hex')}`;

function newOrder(overrides: Partial<NewOrder> = {}): NewOrder {
  return {
    orderId: random32(),
    quoteId: random32(),
    workspaceId: 'w1',
    keyId: 'k1',
    memberId: 'm1',
    namespace: 'rfq',
    mode: 'test',
    executionMode: 'apiSubmit',
    originChainId: 31337,
    destChainIds: [31337],
    order: {
      user: '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
      nonce: BigInt(random32()),
      originChainId: 31337n,
      expires: 1_800_003_691,
      fillDeadline: 1_800_000_091,
      inputOracle: '0x5fbdb2315678afecb367f032d93f642f64180aa3',
      inputs: [[1_324_161_310_598_743_833_836_268_493_538_283_093_091_898_295_570n, 2_500_000_000n]],
      outputs: [
        {
          oracle: random32(),
          settler: random32(),
          chainId: 31337n,
          token: random32(),
          amount: 2n ** 200n,
          recipient: random32(),
          callbackData: '0x',
          context: '0xe2',
        },
      ],
    },
    validUntil: 1_800_000_031,
    commitments: [
      { lp: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', deadline: 1_800_000_091, signature: '0x1234' },
    ],
    route: null,
    parentOrderId: null,
    solverIds: ['lp-a'],
    signature: '0xabcd',
    signScheme: 'EIP712',
    funding: '0x13',
    candidate: '{"a":1}',
    referenceId: null,
    amountUsd: 2500.5,
    screening: null,
    travelRule: null,
    createdAtMs: Date.now(),
    ...overrides,
  };
}

const scope = (key: string, bodySha256 = 'aa'): IdempotencyScope => ({
  workspaceId: 'w1',
  namespace: 'rfq',
  mode: 'test',
  key,
  bodySha256,
});

test('an accepted order round-trips with its first fact and event', async () => {
  const order = newOrder();
  expect(await store.accept(order, '{"id":1}', null)).toEqual({ kind: 'accepted', response: '{"id":1}' });
  const read = await store.order(order.orderId);
  expect(read).toMatchObject({ ...order, facts: [{ seq: 1, fact: { kind: 'accepted' } }] });
  expect(await store.events(order.orderId)).toMatchObject([{ seq: 1, type: 'order.created' }]);
});

test('fifty concurrent submissions of one order make one order', async () => {
  const order = newOrder();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => store.accept({ ...order }, `{"n":${i}}`, null)),
  );
  const accepted = answers.filter(({ kind }) => kind === 'accepted');
  expect(accepted).toHaveLength(1);
  expect(
    answers.every(
      (answer) =>
        answer.kind === 'accepted' ||
        (answer.kind === 'replayed' && answer.response === (accepted[0] as { response: string }).response),
    ),
  ).toBe(true);
});

test('one idempotency key makes one order; another body is refused', async () => {
  const key = random32();
  const orders = Array.from({ length: 20 }, () => newOrder());
  const answers = await Promise.all(
    orders.map((order) => store.accept(order, JSON.stringify({ id: order.orderId }), scope(key))),
  );
  const accepted = answers.filter(({ kind }) => kind === 'accepted');
  expect(accepted).toHaveLength(1);
  for (const answer of answers) expect(['accepted', 'replayed', 'in_progress']).toContain(answer.kind);
  expect(await store.accept(newOrder(), '{}', scope(key, 'bb'))).toEqual({ kind: 'idempotency_key_reuse' });
  expect(await store.idempotency(scope(key))).toMatchObject({
    kind: 'done',
    response: (accepted[0] as { response: string }).response,
  });
  expect(await store.idempotency(scope(key, 'bb'))).toEqual({ kind: 'reused' });
  const placed = await Promise.all(orders.map(({ orderId }) => store.order(orderId)));
  expect(placed.filter(Boolean)).toHaveLength(1);
});

test('keys that are looked up at the same moment each get their own state', async () => {
  const [used, fresh] = [random32(), random32()];
  const order = newOrder();
  await store.accept(order, '{"n":1}', scope(used));
  const asked = [scope(fresh), scope(used), scope(used, 'bb'), { ...scope(used), mode: 'live' as const }];
  expect(await Promise.all(asked.map((one) => store.idempotency(one)))).toEqual([
    { kind: 'unknown' },
    { kind: 'done', orderId: order.orderId, response: '{"n":1}' },
    { kind: 'reused' },
    { kind: 'unknown' },
  ]);
});

test('a key older than a day can be used again', async () => {
  const key = random32();
  const order = newOrder({ createdAtMs: Date.now() - 25 * 3_600_000 });
  await store.accept(order, '{}', scope(key));
  const later = newOrder();
  expect(await store.accept(later, '{"x":2}', scope(key, 'cc'))).toEqual({
    kind: 'accepted',
    response: '{"x":2}',
  });
});

test("a quote and a taker's nonce are used once", async () => {
  const order = newOrder();
  await store.accept(order, '{}', null);
  expect(await store.accept(newOrder({ quoteId: order.quoteId }), '{}', null)).toEqual({
    kind: 'quote_already_used',
  });
  expect(await store.accept({ ...order, signature: '0xffff' }, '{}', null)).toEqual({
    kind: 'quote_already_used',
  });
  expect(
    await store.accept(newOrder({ order: { ...newOrder().order, nonce: order.order.nonce } }), '{}', null),
  ).toEqual({ kind: 'nonce_used' });
});

test('the next leg of a route is accepted once by concurrent submissions, and again only after it failed', async () => {
  const parent = newOrder({
    route: {
      venueId: 'dex',
      kind: 'dex',
      through: { filler: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc', data: '0xc0ffee' },
    },
    commitments: [],
  });
  await store.accept(parent, '{}', null);
  expect(await store.order(parent.orderId)).toMatchObject({
    route: parent.route,
    parentOrderId: null,
    commitments: [],
  });
  const legs = Array.from({ length: 8 }, () => newOrder({ parentOrderId: parent.orderId }));
  const answers = await Promise.all(legs.map((leg) => store.accept(leg, '{"leg":1}', null)));
  expect(answers.map(({ kind }) => kind).sort()).toEqual([
    'accepted',
    ...Array.from({ length: 7 }, () => 'leg_taken'),
  ]);
  const taken = legs[answers.findIndex(({ kind }) => kind === 'accepted')] as NewOrder;
  expect(await store.accept(taken, '{"again":1}', null)).toEqual({ kind: 'replayed', response: '{"leg":1}' });
  expect((await store.nextLegs(parent.orderId)).map(({ orderId }) => orderId)).toEqual([taken.orderId]);

  const [claim] = await store.claim([taken.orderId], 'w', 10_000);
  if (!claim) throw new Error('not claimed');
  await store.append(
    claim,
    (await store.order(taken.orderId)) as OrderRecord,
    [{ kind: 'failed', failure: { code: 'not_opened', message: 'm' } }],
    { status: 'failed', final: true, event: 'order.failed', atMs: Date.now() },
  );
  const again = newOrder({ parentOrderId: parent.orderId });
  expect(await store.accept(again, '{}', null)).toMatchObject({ kind: 'accepted' });
  expect((await store.nextLegs(parent.orderId)).map(({ orderId }) => orderId)).toEqual([
    taken.orderId,
    again.orderId,
  ]);
});

test('an order has one owner at a time; a stale fence writes nothing', async () => {
  const order = newOrder();
  await store.accept(order, '{}', null);
  const [first] = await store.claim([order.orderId], 'a', 50);
  if (!first) throw new Error('not claimed');
  expect(await store.claim([order.orderId], 'b', 1_000)).toEqual([]);
  await new Promise((done) => setTimeout(done, 80));
  const [second] = await store.claim([order.orderId], 'b', 60_000);
  if (!second) throw new Error('not taken over');
  expect(second.fence).toBeGreaterThan(first.fence);
  const outcome = { status: 'pending', final: false, event: null, atMs: Date.now() } as const;
  const before = (seq: number) => ({
    order: order.order,
    facts: Array.from({ length: seq }, (_, index) => ({
      seq: index + 1,
      recordedAtMs: order.createdAtMs,
      fact: { kind: 'accepted' } as const,
    })),
  });
  const sent = { kind: 'sent', step: 'settle', chainId: 31337, txHash: random32() } as const;
  expect(await store.append(first, before(1), [sent], outcome)).toBe(false);
  expect(await store.renew([first], 1_000)).toEqual([]);
  expect(await store.append(second, before(2), [sent], outcome)).toBe(false);
  expect(await store.append(second, before(1), [sent, sent], outcome)).toBe(true);
  expect((await store.order(order.orderId))?.facts.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(await store.renew([second], 1_000)).toMatchObject([{ fence: second.fence }]);
  await store.release([second]);
  expect(await store.claim([order.orderId], 'c', 1_000)).toHaveLength(1);
});

test('facts of many orders in one batch: each is written or refused by itself, and each is published', async () => {
  const bus = createPostgresBus(db, silentLog);
  const heard = new Set<string>();
  await bus.subscribe('orders', (payload) => {
    const { orderId, event } = JSON.parse(payload) as OrderNews;
    if (event === null) heard.add(orderId);
  });
  const orders = Array.from({ length: 60 }, () => newOrder());
  await Promise.all(orders.map((order) => store.accept(order, '{}', null)));
  const claims = new Map(
    (
      await store.claim(
        orders.map(({ orderId }) => orderId),
        'a',
        60_000,
      )
    ).map((claim) => [claim.orderId, claim]),
  );
  const outcome = { status: 'pending', final: false, event: null, atMs: Date.now() } as const;
  const ends = await Promise.allSettled(
    orders.map(async ({ orderId }, n) => {
      const claim = claims.get(orderId) as Claim;
      // Every tenth is another worker's by now, and one has a text that PostgreSQL cannot keep.
      const fence = n % 10 === 0 ? claim.fence - 1n : claim.fence;
      const fact: Fact =
        n === 33
          ? { kind: 'failed', failure: { code: 'not_opened', message: '\0' } }
          : { kind: 'sent', step: 'settle', chainId: 31337, txHash: random32() };
      return store.append({ ...claim, fence }, (await store.order(orderId)) as OrderRecord, [fact], outcome);
    }),
  );
  const expected = orders.map((_, n) => (n === 33 ? 'rejected' : n % 10 !== 0));
  expect(ends.map((end) => (end.status === 'rejected' ? 'rejected' : end.value))).toEqual(expected);
  for (const [n, { orderId }] of orders.entries())
    expect((await store.order(orderId))?.facts).toHaveLength(expected[n] === true ? 2 : 1);
  await expect
    .poll(() => orders.filter(({ orderId }) => heard.has(orderId)).length)
    .toBe(expected.filter((one) => one === true).length);
  await bus.close();
});

test('concurrent appends, renewals and releases of the same orders never deadlock', async () => {
  const orders = Array.from({ length: 40 }, () => newOrder());
  await Promise.all(orders.map((order) => store.accept(order, '{}', null)));
  const claims = await store.claim(
    orders.map(({ orderId }) => orderId),
    'a',
    60_000,
  );
  const records = new Map(await store.ordersWith(claims.map(({ orderId }) => orderId)));
  const other = createVenueStore(db);
  const outcome = { status: 'pending', final: false, event: null, atMs: Date.now() } as const;
  const appended = async (order: Claim, from: VenueStore) => {
    const record = records.get(order.orderId) as OrderRecord;
    const fact: Fact = { kind: 'sent', step: 'settle', chainId: 31337, txHash: random32() };
    return from.append(order, record, [fact], outcome);
  };
  for (let round = 0; round < 10; round += 1) {
    const [even, odd] = [
      claims.filter((_, n) => n % 2 === round % 2),
      claims.filter((_, n) => n % 2 !== round % 2).toReversed(),
    ];
    const [first, second, kept, again] = await Promise.all([
      Promise.all(even.map((claim) => appended(claim, store))),
      Promise.all(odd.map((claim) => appended(claim, other))),
      store.renew(claims, 60_000),
      other.renew(claims.toReversed(), 60_000),
    ]);
    // What was read before the first round holds in it alone.
    expect([...first, ...second].every((written) => written === (round === 0))).toBe(true);
    expect([kept.length, again.length]).toEqual([40, 40]);
  }
  await Promise.all([store.release(claims), other.release(claims.toReversed())]);
  expect(
    await store.claim(
      orders.map(({ orderId }) => orderId),
      'b',
      1_000,
    ),
  ).toHaveLength(40);
});

test('facts keep every digit; a final order is no longer open; the event is published', async () => {
  const bus = createPostgresBus(db, silentLog);
  const heard: string[] = [];
  await bus.subscribe('orders', (payload) => heard.push(payload));
  const order = newOrder();
  await store.accept(order, '{}', null);
  const [claim] = await store.claim([order.orderId], 'a', 10_000);
  if (!claim) throw new Error('not claimed');
  const evidence = {
    chainId: 31337,
    txHash: random32(),
    blockNumber: 2n ** 60n,
    blockHash: random32(),
    at: 1_800_000_000,
  };
  const filled = {
    kind: 'filled',
    outputIndex: 0,
    solver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
    timestamp: 1_800_000_000,
    amount: 2n ** 200n,
    evidence,
  } as const;
  expect((await store.openOrdersOf('lp-a')).map(({ orderId }) => orderId)).toContain(order.orderId);
  await store.append(
    claim,
    (await store.order(order.orderId)) as OrderRecord,
    [{ kind: 'opened', evidence }, filled, { kind: 'finalised', evidence }],
    { status: 'settled', final: true, event: 'order.settled', atMs: Date.now() },
  );
  expect((await store.order(order.orderId))?.facts[2]?.fact).toEqual(filled);
  expect(await store.events(order.orderId)).toMatchObject([{ seq: 1 }, { seq: 2, type: 'order.settled' }]);
  expect((await store.openOrders(1000)).map(({ orderId }) => orderId)).not.toContain(order.orderId);
  expect((await store.openOrdersOf('lp-a')).map(({ orderId }) => orderId)).not.toContain(order.orderId);
  await expect
    .poll(() => heard.filter((text) => text.includes(order.orderId)).map((text) => JSON.parse(text).event))
    .toEqual(['order.created', 'order.settled']);
  await bus.close();
});

test('open orders page by age without repeats', async () => {
  const seen = new Set<string>();
  let after: { createdAtMs: number; orderId: Bytes32 } | undefined;
  for (;;) {
    const page = await store.openOrders(3, after);
    for (const { orderId } of page) {
      expect(seen.has(orderId)).toBe(false);
      seen.add(orderId);
    }
    const last = page.at(-1);
    if (!last) break;
    after = { createdAtMs: last.createdAtMs, orderId: last.orderId };
  }
  expect(seen.size).toBeGreaterThan(5);
});
