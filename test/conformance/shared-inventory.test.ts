/**
 * The shared inventory on a real Redis: it decides as plain arithmetic does, whatever the sizes, and a taker
 * who takes everything from all replicas at once is paid.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSharedInventory } from '../../src/adapters/redis/shared-inventory.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { ChainReport, SharedHoldGroup, SharedInventory } from '../../src/ports/shared-inventory.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { createSharedTruth } from '../support/shared-truth.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';

let redis: TestRedis;
const open: SharedInventory[] = [];
let serial = 0;

beforeAll(async () => {
  redis = await startRedis();
});

afterAll(async () => {
  await Promise.all(open.map((each) => each.close()));
  await redis?.stop();
});

const connect = (name: string): SharedInventory => {
  const shared = createSharedInventory(
    { clock: systemClock, random: systemRandom, log: silentLog, metrics: silentMetrics },
    { url: redis.url, name, timeoutMs: 10_000 },
  );
  open.push(shared);
  return shared;
};

async function joined(
  shared: SharedInventory,
  generation = '1',
  until = new Map<number, number>(),
): ReturnType<SharedInventory['join']> {
  await expect.poll(() => shared.state().state).not.toBe('unreachable');
  return shared.join(generation, until);
}

/** Replicas of an LP that nobody has seen before. */
async function replicas(count: number): Promise<SharedInventory[]> {
  serial += 1;
  const all = Array.from({ length: count }, () => connect(`lp-${serial}`));
  for (const each of all) await joined(each);
  return all;
}

const report = (told: Partial<ChainReport>): ChainReport => ({
  chainId: 1,
  block: 1n,
  time: 0,
  rooms: [],
  kept: [],
  unknownOrders: [],
  ended: [],
  used: [],
  ...told,
});
const one = (orderId: string, amount: bigint, more: Partial<SharedHoldGroup> = {}): SharedHoldGroup => ({
  group: `g-${orderId}`,
  clockChainId: 1,
  promises: [{ orderId, bucket: '1:t', amount, endsAt: 1_000, caps: [] }],
  ...more,
});

const amounts = fc.oneof(
  fc.bigInt(0n, 20n),
  fc.bigInt(0n, 10n ** 14n + 3n),
  fc.bigInt((1n << 53n) - 3n, (1n << 53n) + 3n),
  fc.bigInt(0n, 10n ** 25n),
);
const orders = fc.integer({ min: 0, max: 15 }).map((n) => `o${n}`);
const groupNames = fc.integer({ min: 0, max: 5 }).map((n) => `g${n}`);
const bucketNames = fc.constantFrom('1:t', '1:u');

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('promise' as const),
      by: fc.nat(1),
      order: orders,
      more: amounts,
      bucket: bucketNames,
      amount: amounts,
      endsIn: fc.integer({ min: -1, max: 20 }),
      cap: fc.option(fc.record({ amount: amounts, most: amounts })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tell' as const),
      by: fc.nat(1),
      block: fc.bigInt(0n, 9n),
      time: fc.integer({ min: 0, max: 40 }),
      rooms: fc.uniqueArray(fc.record({ bucket: bucketNames, room: amounts }), {
        selector: ({ bucket }) => bucket,
      }),
      kept: fc.array(orders, { maxLength: 2 }),
      unknownOrders: fc.array(orders, { maxLength: 2 }),
      ended: fc.array(orders, { maxLength: 2 }),
      used: fc.array(fc.record({ group: groupNames, winner: fc.option(orders) }), { maxLength: 1 }),
    }),
  },
);

test('law: decides as exact arithmetic does, whichever replica asks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const [truth, both] = [createSharedTruth(), await replicas(2)];
      // An order belongs to one group for ever: its id says which.
      const groupOf = (order: string) => `g${Number(order.slice(1)) % 6}`;
      for (const each of steps) {
        const by = both[each.by] as SharedInventory;
        if (each.do === 'promise') {
          const { order, bucket, amount, more, endsIn, cap } = each;
          const caps = cap === null ? [] : [{ key: 'total', ...cap }];
          const second = { orderId: `${order}9`, bucket, amount: more, endsAt: 20 + endsIn, caps };
          const asked: SharedHoldGroup = {
            group: groupOf(order),
            clockChainId: 1,
            promises: [{ orderId: order, bucket, amount, endsAt: 20 + endsIn, caps }, second],
          };
          expect(await by.reserve(asked)).toEqual(truth.reserve(asked));
        } else {
          const { block, time, rooms, unknownOrders, ended, used } = each;
          const kept = each.kept.map((orderId) => ({
            orderId,
            group: groupOf(orderId),
            clockChainId: 1,
            bucket: '1:t',
            amount: 7n,
          }));
          const told = report({ block, time, rooms, kept, unknownOrders, ended, used });
          const [answer, right] = [await by.report(told), truth.report(told, each.by)];
          expect([...(answer?.known ?? [])].sort()).toEqual([...right.known].sort());
        }
        expect(await by.sums()).toEqual(truth.sums());
        expect((await by.kept())?.map(({ orderId }) => orderId).sort()).toEqual(truth.kept().sort());
      }
      await Promise.all(both.map((shared) => shared.close()));
    }),
    { numRuns: 60 },
  );
});

interface Signed {
  orderId: string;
  group: number;
  amount: bigint;
  deadline: number;
}

const DEPTH = 2;

const move = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('quote' as const),
      by: fc.nat(2),
      group: fc.nat(6),
      amount: fc.bigInt(1n, 10n ** 17n),
      life: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('mine' as const),
      takes: fc.array(fc.nat(30), { maxLength: 3 }),
      deposit: fc.bigInt(0n, 10n ** 16n),
      seconds: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('follow' as const), by: fc.nat(2), lag: fc.nat(3) }) },
);

test('law: a taker that accepts every quote of three replicas is paid, however stale each replica is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 20, maxLength: 80 }), async (moves) => {
      const nodes = await replicas(3);
      const chain = [{ balance: 3n * 10n ** 17n, time: 0, executed: [] as Signed[] }];
      const head = () => chain.at(-1) as (typeof chain)[number];
      const followed = [0, 0, 0];
      const signed: Signed[] = [];
      const used = new Set<number>();
      let serialOrder = 0;

      const live = () => signed.filter(({ group, deadline }) => !used.has(group) && head().time <= deadline);
      const follow = async (by: number, to: number) => {
        const from = followed[by] as number;
        if (to < from) return;
        const final = Math.max(0, to - DEPTH);
        const before = Math.max(-1, from - DEPTH);
        const told = report({
          block: BigInt(final),
          time: chain[to]?.time ?? 0,
          rooms: [{ bucket: '1:t', room: chain[final]?.balance ?? 0n }],
          kept: chain
            .slice(final + 1, to + 1)
            .flatMap(({ executed }) => executed)
            .map(({ orderId, group, amount }) => ({
              orderId,
              group: `g${group}`,
              clockChainId: 1,
              bucket: '1:t',
              amount,
            })),
          ended: chain
            .slice(before + 1, final + 1)
            .flatMap(({ executed }) => executed.map(({ orderId }) => orderId)),
          used: chain
            .slice(before + 1, final + 1)
            .flatMap(({ executed }) =>
              executed.map(({ orderId, group }) => ({ group: `g${group}`, winner: orderId })),
            ),
        });
        expect(await (nodes[by] as SharedInventory).report(told)).toBeDefined();
        followed[by] = to;
      };
      await follow(0, 0);

      for (const each of moves) {
        if (each.do === 'quote') {
          // A replica that is behind dates its quotes by what it believes to be now; nonces that it has not
          // seen used are asked for again.
          const deadline = (chain[followed[each.by] as number]?.time ?? 0) + each.life;
          const orderId = `o${(serialOrder += 1)}`;
          const said = await (nodes[each.by] as SharedInventory).reserve({
            group: `g${each.group}`,
            clockChainId: 1,
            promises: [{ orderId, bucket: '1:t', amount: each.amount, endsAt: deadline + 1, caps: [] }],
          });
          if (said?.[0]?.held === true)
            signed.push({ orderId, group: each.group, amount: each.amount, deadline });
        } else if (each.do === 'mine') {
          let { balance } = head();
          const executed: Signed[] = [];
          const time = head().time + each.seconds;
          for (const pick of each.takes) {
            const open = live().filter(({ deadline }) => time <= deadline);
            const taken = open[pick % Math.max(1, open.length)];
            if (taken === undefined) continue;
            // The contract would refuse what is not there.
            expect(balance).toBeGreaterThanOrEqual(taken.amount);
            used.add(taken.group);
            executed.push(taken);
            balance -= taken.amount;
          }
          chain.push({ balance: balance + each.deposit, time, executed });
        } else await follow(each.by, Math.max(followed[each.by] as number, chain.length - 1 - each.lag));
        const worst = new Map<number, bigint>();
        for (const { group, amount } of live())
          worst.set(group, amount > (worst.get(group) ?? 0n) ? amount : (worst.get(group) ?? 0n));
        expect([...worst.values()].reduce((sum, amount) => sum + amount, 0n)).toBeLessThanOrEqual(
          head().balance,
        );
      }
      await Promise.all(nodes.map((shared) => shared.close()));
    }),
    { numRuns: 60 },
  );
});

test('of two concurrent requests for the last unit, one succeeds', async () => {
  const both = (await replicas(2)) as [SharedInventory, SharedInventory];
  await both[0].report(report({ rooms: [{ bucket: '1:t', room: 100n }] }));
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, at) => (both[at % 2] as SharedInventory).reserve(one(`o${at}`, 1n))),
  );
  expect(answers.filter((said) => said?.[0]?.held === true)).toHaveLength(100);
  expect(answers.filter((said) => said?.[0]?.held === false)).toHaveLength(100);
});

test('a cap counts over all replicas until a quote is accepted; paid amounts still count', async () => {
  const [a, b] = (await replicas(2)) as [SharedInventory, SharedInventory];
  await a.report(report({ rooms: [{ bucket: '1:t', room: 100n }] }));
  const capped = (orderId: string) => ({
    ...one(orderId, 10n),
    promises: [
      {
        orderId,
        bucket: '1:t',
        amount: 10n,
        endsAt: 1_000,
        caps: [{ key: 't 0xtaker', amount: 1n, most: 2n }],
      },
    ],
  });
  expect(await a.reserve(capped('o1'))).toEqual([{ held: true }]);
  expect(await b.reserve(capped('o2'))).toEqual([{ held: true }]);
  expect(await a.reserve(capped('o3'))).toEqual([{ held: false, why: 'full', key: 't 0xtaker', room: 0n }]);
  expect(await b.report(report({ unknownOrders: ['o1', 'nobody'] }))).toMatchObject({ known: ['o1'] });
  expect(await a.reserve(capped('o3'))).toEqual([{ held: true }]);
  expect(await a.sums()).toEqual(
    new Map([
      ['1:t', 30n],
      ['t 0xtaker', 2n],
    ]),
  );
});

test('an emptied Redis is detected at the next request and starts with a quarantine', async () => {
  const [a, b] = (await replicas(2)) as [SharedInventory, SharedInventory];
  await a.report(report({ rooms: [{ bucket: '1:t', room: 100n }] }));
  expect(await a.reserve(one('o1', 60n))).toEqual([{ held: true }]);
  redis.flush();
  expect(await b.reserve(one('o2', 60n))).toBeUndefined();
  expect(b.state().state).toBe('forgotten');
  expect(await b.report(report({ rooms: [{ bucket: '1:t', room: 100n }] }))).toBeUndefined();
  // The other has not asked since: it is not fooled by the new memory either.
  const { epoch, until } = await b.join('1', new Map([[1, 77]]));
  expect(until).toEqual(new Map([[1, 77]]));
  expect(await a.reserve(one('o3', 60n))).toBeUndefined();
  expect(await a.join('1', new Map([[1, 99]]))).toEqual({ epoch, until: new Map([[1, 77]]) });
  // Another generation of the LP has promised elsewhere meanwhile.
  expect((await a.join('2', new Map([[1, 99]]))).epoch).not.toBe(epoch);
});

test('a restarted Redis counts as emptied, even if it kept its data', async () => {
  const own = await startRedis();
  const shared = createSharedInventory(
    { clock: systemClock, random: systemRandom, log: silentLog, metrics: silentMetrics },
    { url: own.url, name: 'restarted', timeoutMs: 10_000 },
  );
  open.push(shared);
  const before = await joined(shared, '1', new Map([[1, 5]]));
  await own.stop();
  await expect.poll(() => shared.state().state).toBe('unreachable');
  expect(await shared.reserve(one('o1', 1n))).toBeUndefined();
  await expect(shared.join('1', new Map())).rejects.toMatchObject({ code: 'redis_unavailable' });
  const again = await startRedis({ port: own.port });
  try {
    const after = await joined(shared, '1', new Map([[1, 6]]));
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.until).toEqual(new Map([[1, 6]]));
  } finally {
    await shared.close();
    await again.stop();
  }
});
