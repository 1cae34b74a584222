/**
 * The streams: what a connection, a client or a whole replica misses comes again, in the order of the
 * database; prices are indicative, capped and aged (A39-A42, F36).
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { assetId } from '../../../src/domain/asset.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import type { Bytes32 } from '../../../src/domain/hex.ts';
import {
  type PriceEventFrame,
  zOrderEvent,
  zPriceEvent,
  zSolverEvent,
} from '../../../src/protocol/api/events.ts';
import { createEventTail } from '../../../src/venue/stream/event-tail.ts';
import { together } from '../../../src/venue/stream/levels-board.ts';
import type { Metrics } from '../../../src/ports/metrics.ts';
import { account } from '../../support/devnet.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { makeTrade } from '../../support/trade.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../../support/venue.ts';

let v: TestVenue;
let key: string;
const taker = account(31);
const lps = [{ account: account(32) }];
/** Why the venue closed a stream. */
const dropped: string[] = [];
const metrics: Metrics = {
  ...silentMetrics,
  counter: (name) => ({
    add: (labels) =>
      void (name === 'firmquote_venue_stream_dropped_total' && dropped.push(labels?.['why'] ?? '')),
    remove() {},
  }),
};

beforeAll(async () => {
  v = await startTestVenue({
    metrics,
    sockets: { maxBufferedBytes: 64 * 1024, maxFramesPerSecond: 100_000 },
    levels: { maxAgeMs: 1_500, maxMarkets: 2, maxPerSecond: 100 },
  });
  key = await v.key('service');
});
afterAll(() => v.stop());

interface Stream {
  frames: Json[];
  socket: WebSocket;
  say(frame: object): void;
  events(): Json[];
}

async function listen(url: string, apiKey = key): Promise<Stream> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { 'X-API-Key': apiKey },
  });
  const frames: Json[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    frames,
    socket,
    say: (frame) => socket.send(JSON.stringify(frame)),
    events: () => frames.filter((frame) => !frame['op']),
  };
}

/** An order of this workspace, accepted as a submission would be. */
async function accepted(workspaceId = 'w1'): Promise<Bytes32> {
  const trade = { ...makeTrade({ origin: v.chain, taker, lps }), workspaceId };
  const { kind } = await v.store.accept(trade, '{}', null);
  if (kind !== 'accepted') throw new Error(kind);
  return trade.orderId;
}

async function failed(orderId: Bytes32): Promise<void> {
  const [claim] = await v.store.claim([orderId], `w-${orderId}`, 10_000);
  const record = await v.store.order(orderId);
  if (!claim || !record) throw new Error('not claimed');
  const outcome = { status: 'failed', final: true, event: 'order.failed', atMs: Date.now() } as const;
  if (
    !(await v.store.append(
      claim,
      record,
      [{ kind: 'failed', failure: { code: 'not_opened', message: 'test' } }],
      outcome,
    ))
  )
    throw new Error('not appended');
}

const shortly = ({ orderId, seq, type }: Json | { orderId: string; seq: number; type: string }) =>
  `${String(orderId)} ${String(seq)} ${String(type)}`;
/** What the database says happened in a workspace, in its order. */
const written = async (workspaceId = 'w1', after = 0) =>
  (await v.store.placeEvents(), await v.store.eventsAfter(after, 10_000, { workspaceId, mode: 'test' })).map(
    (event) => shortly(event as never),
  );

describe('orders', () => {
  test('a subscriber that joins during a read gets the later events exactly once', async () => {
    let listening = false;
    const told: { place: number; known: boolean }[] = [];
    const store: TestVenue['store'] = {
      ...v.store,
      ordersWith: (ids) => {
        // While the order is read that somebody else waits for.
        if (ids.length > 0) listening = true;
        return v.store.ordersWith(ids);
      },
    };
    // It looks by itself every two seconds: both events at once.
    const tail = createEventTail({
      store,
      bus: { ...v.bus, subscribe: async () => async () => {} },
      clock: systemClock,
      log: silentLog,
    });
    let waitedFor: Bytes32 | undefined;
    tail.listen({
      wants: ({ orderId }) => listening || orderId === waitedFor,
      tell: ({ place }, record) => void told.push({ place, known: record !== undefined }),
    });
    await tail.start();
    const before = tail.place();
    waitedFor = await accepted();
    await accepted();
    await until(() => told.length === 2);
    await tail.stop();
    expect(told).toEqual([
      { place: before + 1, known: true },
      { place: before + 2, known: true },
    ]);
  });

  test('every event once, in database order, whoever wrote it', async () => {
    const stream = await listen(v.url);
    stream.say({ op: 'subscribe', topics: ['orders'], id: 1 });
    await until(() => stream.frames.length > 0);
    const start = Number(stream.frames[0]?.['cursor']);
    const ids = await Promise.all(Array.from({ length: 20 }, () => accepted()));
    await Promise.all(ids.map(failed));
    await accepted('elsewhere');
    await until(() => stream.events().length >= 40);
    expect(stream.events().map(shortly)).toEqual(await written('w1', start));
    for (const event of stream.events()) zOrderEvent.strict().parse(event);
    const cursors = stream.events().map((event) => Number(event['cursor']));
    expect(cursors).toEqual([...cursors].sort((a, b) => a - b));
    stream.socket.close();
  });

  test('worker and replica killed: the events received equal the events stored', async () => {
    const heard: string[] = [];
    let cursor = String(await v.store.placeEvents());
    const from = Number(cursor);
    let going = true;
    const flow = (async () => {
      while (going) {
        const id = await accepted();
        if (Math.random() < 0.5) await failed(id);
      }
    })();
    let other = await v.replica();
    for (let round = 0; round < 8; round++) {
      const url = round % 2 === 0 ? v.url : other.url;
      const stream = await listen(url);
      stream.say({ op: 'subscribe', topics: ['orders'], since: cursor });
      await until(() => stream.events().length >= 10);
      if (round % 2 === 0) stream.socket.terminate();
      else {
        // The whole replica goes while it is talking.
        await other.stop();
        other = await v.replica();
      }
      // A client that handled only a part of what had arrived.
      const handled = stream.events().slice(0, 5 + round);
      heard.push(...handled.map(shortly));
      cursor = String(handled.at(-1)?.['cursor']);
    }
    going = false;
    await flow;
    const last = await listen(other.url);
    last.say({ op: 'subscribe', topics: ['orders'], since: cursor });
    const all = await written('w1', from);
    await until(() => heard.length + last.events().length >= all.length);
    expect([...heard, ...last.events().map(shortly)]).toEqual(all);
    last.socket.close();
    await other.stop();
  });

  test('one order: past events, then new ones, each once', async () => {
    const id = await accepted();
    const early = await listen(v.url);
    early.say({ op: 'subscribe', topics: [`orders:${id}`] });
    await until(() => early.events().length === 1);
    const racing = await listen(v.url);
    racing.say({ op: 'subscribe', topics: [`orders:${id}`, 'orders'] });
    await Promise.all([failed(id), until(() => racing.frames.length > 0)]);
    const own = (stream: Stream) =>
      stream.events().filter((event) => event['topic'] === (`orders:${id}` as never));
    await until(() => own(early).length === 2 && own(racing).length === 2);
    expect(own(early).map(({ seq, type }) => [seq, type])).toEqual([
      [1, 'order.created'],
      [2, 'order.failed'],
    ]);
    expect(own(racing)).toEqual(own(early));
    expect(own(early)[1]?.['data']).toEqual((await v.call('GET', `/api/v1/rfq/orders/${id}`, { key })).json);
    for (const { socket } of [early, racing]) socket.close();
  });

  test('from the beginning; and invalid cursors', async () => {
    const stream = await listen(v.url);
    stream.say({ op: 'subscribe', topics: ['orders'], since: '0', id: 'all' });
    const all = await written();
    await until(() => stream.events().length >= all.length);
    expect(stream.events().map(shortly)).toEqual(all);
    for (const [frame, code] of [
      [{ op: 'subscribe', topics: ['orders'], since: '999999999999' }, 'bad_request'],
      [{ op: 'subscribe', topics: ['orders'], since: '-1' }, 'bad_request'],
      [{ op: 'subscribe', topics: ['solvers'], since: '1' }, 'bad_request'],
      [{ op: 'subscribe', topics: ['orders'], since: 1 }, 'bad_request'],
    ] as const) {
      const before = stream.frames.length;
      stream.say(frame);
      await until(() => stream.frames.length > before);
      expect(stream.frames.at(-1)).toMatchObject({ op: 'error', error: { code } });
    }
    stream.socket.close();
  });

  test('another workspace and the other mode receive nothing', async () => {
    const [foreign, live] = await Promise.all([
      listen(v.url, await v.key('service', { workspaceId: 'elsewhere' })),
      listen(v.url, await v.key('service', { mode: 'live' })),
    ]);
    for (const stream of [foreign, live]) stream.say({ op: 'subscribe', topics: ['orders'], since: '0' });
    const theirs = await written('elsewhere');
    await until(() => foreign.events().length >= theirs.length && live.frames.length > 0);
    const id = await accepted();
    const mark = await accepted('elsewhere');
    await until(() => foreign.events().some((event) => event['orderId'] === (mark as never)));
    expect(foreign.events().map(shortly)).toEqual(await written('elsewhere'));
    expect(live.events()).toEqual([]);
    foreign.say({ op: 'subscribe', topics: [`orders:${id}`] });
    await until(() => foreign.frames.at(-1)?.['op']);
    expect(foreign.frames.at(-1)).toEqual({
      op: 'error',
      error: { code: 'not_found', message: 'No such order.' },
      id: null,
    });
    for (const { socket } of [foreign, live]) socket.close();
  });

  test('a reader that stops reading is closed with 1013 and loses nothing', async () => {
    const slow = await listen(v.url);
    const since = String(await v.store.placeEvents());
    slow.say({ op: 'subscribe', topics: ['orders'] });
    await until(() => slow.frames.length === 1);
    await accepted();
    await until(() => slow.events().length === 1);
    slow.socket.pause();
    const closed = new Promise<number>((resolve) => slow.socket.on('close', resolve));
    const witness = await listen(v.url);
    witness.say({ op: 'subscribe', topics: ['orders'], since });
    // Answers that nobody reads: past what both kernels take between them, and then the venue's own limit.
    dropped.length = 0;
    await until(async () => {
      for (let n = 0; n < 2_000; n++)
        slow.socket.send(
          '{"op":"subscribe","topics":["no topic of ours, and too much is said about it"],"id":"a long name, for a long answer, so that buffers fill"}',
        );
      await accepted();
      return dropped.length > 0;
    });
    expect(dropped).toEqual(['slow']);
    slow.socket.resume();
    expect(await closed).toBe(1013);
    expect(witness.socket.readyState).toBe(WebSocket.OPEN);
    const seen = slow.events();
    const again = await listen(v.url);
    again.say({ op: 'subscribe', topics: ['orders'], since: String(seen.at(-1)?.['cursor']) });
    const all = await written('w1', Number(since));
    await until(
      () => seen.length + again.events().length >= all.length && witness.events().length >= all.length,
    );
    expect([...seen, ...again.events()].map(shortly)).toEqual(all);
    expect(witness.events().map(shortly)).toEqual(all);
    for (const { socket } of [witness, again]) socket.close();
  });
});

describe('solvers', () => {
  test('changes reach the workspaces that may trade with the solver', async () => {
    await v.workspace('picky', { eligibleSolvers: ['lp-other'] });
    const [all, picky] = await Promise.all([
      listen(v.url),
      listen(v.url, await v.key('service', { workspaceId: 'picky' })),
    ]);
    for (const stream of [all, picky]) stream.say({ op: 'subscribe', topics: ['solvers'] });
    await until(() => all.frames.length > 0 && picky.frames.length > 0);
    const solver = await v.solver(7, () => undefined);
    const other = await v.solver(8, () => undefined, { id: 'lp-other' });
    solver.say({ type: 'status', status: 'standby', note: 'counting' });
    await until(() =>
      all.events().some((event) => event['data']?.['eligibilityNote'] === ('counting' as never)),
    );
    for (const event of all.events()) zSolverEvent.strict().parse(event);
    await other.stop();
    await until(() => picky.events().some((event) => event['data']?.['status'] === ('offline' as never)));
    expect(new Set(picky.events().map((event) => event['data']?.['id']))).toEqual(new Set(['lp-other']));
    for (const { socket } of [all, picky]) socket.close();
  });
});

describe('prices', () => {
  const TOPIC = 'prices:chain1-chain1:USDC-WETH';
  const usdc = () => assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
  const weth = () => assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });
  const told = (stream: Stream) =>
    stream.events().map((event) => zPriceEvent.strict().parse(event)) as PriceEventFrame[];

  test('two sides from two solvers, conflated, aged, dropped when stale or when their solver leaves', async () => {
    const [one, two] = [await v.solver(11, () => undefined), await v.solver(12, () => undefined)];
    const stream = await listen(v.url);
    stream.say({ op: 'subscribe', topics: [TOPIC], id: 5 });
    await until(() => told0(stream).length === 1);
    expect(stream.frames[0]).toEqual({ op: 'subscribed', topics: [TOPIC], id: 5 });
    expect(told(stream)[0]?.data).toMatchObject({
      firm: false,
      bids: [],
      asks: [],
      solvers: 0,
      asOf: null,
      ageMs: null,
      input: { asset: usdc(), symbol: 'USDC', decimals: 6 },
      output: { asset: weth(), symbol: 'WETH', decimals: 18 },
    });

    let going = true;
    const say = (
      solver: typeof one,
      input: string,
      output: string,
      levels: [string, string][],
      atMs = Date.now(),
    ) => solver.say(JSON.stringify({ type: 'levels', input, output, levels, atMs }));
    const speak = () => {
      say(one, usdc(), weth(), [
        ['2500000000', '1000000000000000000'],
        ['5000000000', '1990000000000000000'],
      ]);
      say(two, usdc(), weth(), [['2500000000', '990000000000000000']]);
      say(one, weth(), usdc(), [['1000000000000000000', '2490000000']]);
    };
    const startedMs = performance.now();
    const flood = (async () => {
      while (going) {
        speak();
        await new Promise((done) => setTimeout(done, 25));
      }
    })();
    await until(
      () =>
        told(stream).filter(
          ({ data }) => data.solvers === 2 && data.asks.length === 1 && data.bids.length >= 2,
        ).length >= 4,
    );
    const elapsedMs = performance.now() - startedMs;
    const { data } = told(stream).at(-1) as PriceEventFrame;
    // 7,500 needs both: 5,000 of the first and 2,500 of the second.
    expect(data.bids).toEqual([
      { give: '2500000000', get: '1000000000000000000', price: '0.0004' },
      {
        give: '5000000000',
        get: expect.stringMatching(/^1990000000000000000$/) as string,
        price: '0.000398',
      },
      {
        give: '7500000000',
        get: expect.stringMatching(/^29[78]\d+$/) as string,
        price: expect.stringMatching(/^0\.00039\d+$/) as string,
      },
    ]);
    expect(data.asks).toEqual([
      {
        give: '1000000000000000000',
        get: '2490000000',
        price: expect.stringMatching(/^0\.000401606\d*$/) as string,
      },
    ]);
    expect(data.ageMs).toBeGreaterThanOrEqual(0);
    // The solvers sent far more updates than the stream passes on: the first, then at most five a second.
    expect(told(stream).length).toBeLessThanOrEqual(Math.ceil(elapsedMs / 200) + 2);

    // A workspace that trades with one of them sees one of them.
    await v.workspace('only-two', { eligibleSolvers: ['lp-12'] });
    const picky = await listen(v.url, await v.key('service', { workspaceId: 'only-two' }));
    picky.say({ op: 'subscribe', topics: [TOPIC] });
    await until(() => told0(picky).length >= 1);
    expect(told(picky)[0]?.data).toMatchObject({
      solvers: 1,
      bids: [{ get: '990000000000000000' }],
      asks: [],
    });

    // Its solver says standby: gone at once, though its ladder is fresh.
    one.say({ type: 'status', status: 'standby', note: null });
    await until(() => told(stream).at(-1)?.data.solvers === 1);
    going = false;
    await flood;
    // Nobody speaks any more: what is old is not shown.
    await until(() => told(stream).at(-1)?.data.solvers === 0);
    expect(told(stream).at(-1)?.data).toMatchObject({ bids: [], asks: [], asOf: null });
    for (const { socket } of [stream, picky]) socket.close();
    await Promise.all([one.stop(), two.stop()]);
  });

  test('invalid levels are dropped, and protocol violations count against the solver', async () => {
    const solver = await v.solver(13, () => undefined);
    const stream = await listen(v.url);
    stream.say({ op: 'subscribe', topics: [TOPIC] });
    await until(() => told0(stream).length === 1);
    const levels = (more: object) =>
      solver.say(
        JSON.stringify({
          type: 'levels',
          input: usdc(),
          output: weth(),
          levels: [['1', '1']],
          atMs: Date.now(),
          ...more,
        }),
      );
    levels({ atMs: Date.now() - 60_000 });
    levels({ output: `eip155:${v.chain.chain.id}/erc20:0x${'ab'.repeat(20)}` });
    levels({ output: usdc() });
    const watched = () => v.venue.roster.entry('lp-13')?.breaker.underWatch(Date.now());
    expect(watched()).toBeFalsy();
    levels({
      levels: [
        ['2', '2'],
        ['1', '3'],
      ],
    });
    levels({
      levels: [
        ['1', '2'],
        ['2', '1'],
      ],
    });
    levels({ levels: Array.from({ length: 33 }, (_, n) => [String(n + 1), String(n + 1)]) });
    levels({ levels: [['-1', '1']] });
    levels({ firm: true });
    for (let n = 0; n < 3; n++) levels({ levels: 'none' });
    // So much nonsense: the breaker opens.
    await until(() => v.venue.roster.entry('lp-13')?.status === 'standby');
    expect(told(stream).every(({ data }) => data.solvers === 0)).toBe(true);
    stream.socket.close();
    await solver.stop();
  });

  test('unknown markets', async () => {
    const stream = await listen(v.url);
    for (const [topic, code] of [
      ['prices:chain1-chain9:USDC-WETH', 'not_found'],
      ['prices:chain1-chain1:USDC-DOGE', 'not_found'],
      ['prices:chain1-chain1:USDC-USDC', 'not_found'],
      ['prices:chain1-chain1:*', 'bad_request'],
      ['prices:*:USDC-WETH', 'bad_request'],
      ['prices:chain1-chain1', 'bad_request'],
    ]) {
      const before = stream.frames.length;
      stream.say({ op: 'subscribe', topics: [topic] });
      await until(() => stream.frames.length > before);
      expect([topic, stream.frames.at(-1)?.['error']?.['code']]).toEqual([topic, code]);
    }
    // A sandbox chain is nothing that a live key knows.
    const live = await listen(v.url, await v.key('service', { mode: 'live' }));
    live.say({ op: 'subscribe', topics: [TOPIC] });
    await until(() => live.frames.length > 0);
    expect(live.frames[0]).toMatchObject({ op: 'error', error: { code: 'not_found' } });
    for (const { socket } of [stream, live]) socket.close();
  });

  test('merged ladders', () => {
    const offer = (solverId: string, ladder: [bigint, bigint][]) => ({ solverId, ladder, atMs: 0 });
    expect(together([], 4)).toEqual([]);
    // Alone: the best of each size. Together: 100 of both where an order may be split, and never where it may
    // not.
    const both = [
      offer('a', [
        [50n, 50n],
        [100n, 90n],
      ]),
      offer('b', [[100n, 95n]]),
    ];
    expect(together(both, 1)).toEqual([
      [50n, 50n],
      [100n, 95n],
    ]);
    expect(together(both, 4)).toEqual([
      [50n, 50n],
      [100n, 97n],
      [200n, 185n],
    ]);
    expect(
      together(
        Array.from({ length: 40 }, (_, n) => offer(`s${n}`, [[BigInt(n + 1), BigInt(n + 1)]])),
        1,
      ),
    ).toHaveLength(8);
  });
});

const told0 = (stream: Stream): Json[] => stream.events();
