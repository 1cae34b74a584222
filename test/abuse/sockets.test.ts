/**
 * The public WebSocket under abuse: who may open one, what a frame may be, how many and how fast, and who is
 * shown out.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { assetId } from '../../src/domain/asset.ts';
import { account } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let orderId: string;
const metrics = createMetrics();

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_441],
    sockets: { pingEveryMs: 1_500, maxPerKey: 8, maxFramesPerSecond: 2_000, maxBufferedBytes: 64 * 1024 },
    http: { maxSocketsPerAddress: 24 },
    metrics,
  });
  await v.workspace('w2');
  key = await v.key('service');
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }));
  const taker = account(8_100);
  await v.chain.fund(taker.address, 10_000n);
  const { chain, usdc, weth } = v.chain;
  const post = async (path: string, body: unknown): Promise<Json> =>
    (await v.call('POST', path, { key, body })).json;
  const quote = (
    await post('/api/v1/rfq/quotes', {
      taker: taker.address,
      input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
      output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
    })
  )['quotes']?.[0] as Json;
  orderId = (
    await post(
      '/api/v1/rfq/orders',
      await signPlan(taker, quote, await post('/api/v1/rfq/orders/preflight', { quoteResponse: quote })),
    )
  )['id'] as unknown as string;
});
afterAll(() => v.stop());

/** Streams that the venue closed for reading too slowly. */
const dropped = async (): Promise<string> =>
  /stream_dropped_total\{why="slow"\} (\d+)/.exec(await metrics.text())?.[1] ?? '0';
const dial = (headers: Record<string, string>, path = '/api/v1/ws') =>
  new WebSocket(v.url.replace('http', 'ws') + path, { headers });
const refused = (socket: WebSocket) =>
  new Promise<number>((resolve, reject) => {
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('open', () => reject(new Error('let in')));
    socket.on('error', () => {});
  });
const opened = (socket: WebSocket) =>
  new Promise<WebSocket>((resolve, reject) => socket.on('open', () => resolve(socket)).on('error', reject));
const closedWith = (socket: WebSocket) =>
  new Promise<number>((resolve) => socket.on('close', resolve).on('error', () => {}));
const answerTo = (socket: WebSocket, text: string) =>
  new Promise<Json>((resolve) => {
    socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString()) as Json));
    socket.send(text);
  });

describe('sockets', () => {
  test('A39: refused before the WebSocket upgrade', async () => {
    expect(await refused(dial({}))).toBe(401);
    expect(await refused(dial({ 'X-API-Key': 'fq_test_nope' }))).toBe(401);
    expect(await refused(dial({ 'X-API-Key': key, Origin: 'https://example.com' }))).toBe(401);
    expect(await refused(dial({}, `/api/v1/ws?key=${key}`))).toBe(400);
    expect(await refused(dial({ 'X-API-Key': key }, '/api/v1/other'))).toBe(404);
    expect(await refused(dial({ 'X-API-Key': key }, '/api/v1/solver/ws'))).toBe(403);
    expect(await refused(dial({ 'X-API-Key': await v.key('solver', { solverId: 'lp-1' }) }))).toBe(403);
  });

  test('A40: invalid frames and unknown topics', async () => {
    const socket = await opened(dial({ 'X-API-Key': key }));
    expect(await answerTo(socket, 'hello')).toMatchObject({
      op: 'error',
      error: { code: 'bad_request' },
      id: null,
    });
    expect(await answerTo(socket, '{"op":"subscribe","topics":["orders:*"],"id":"a"}')).toMatchObject({
      op: 'error',
      error: { code: 'bad_request' },
      id: 'a',
    });
    expect(
      await answerTo(socket, `{"op":"subscribe","topics":["orders:0x${'12'.repeat(32)}"],"id":1}`),
    ).toMatchObject({ op: 'error', error: { code: 'not_found' }, id: 1 });
    expect(
      await answerTo(
        socket,
        JSON.stringify({ op: 'subscribe', topics: Array.from({ length: 101 }, () => 'orders') }),
      ),
    ).toMatchObject({ op: 'error' });
    expect(
      await answerTo(socket, JSON.stringify({ op: 'subscribe', topics: ['orders', 'solvers'] })),
    ).toMatchObject({ op: 'subscribed', topics: ['orders', 'solvers'], id: null });
    expect(await answerTo(socket, JSON.stringify({ op: 'unsubscribe', topics: ['orders'], id: 2 }))).toEqual({
      op: 'unsubscribed',
      topics: ['orders'],
      id: 2,
    });
    socket.close();
  });

  test('A40, A41: frames that are too large, binary, too many or too fragmented', async () => {
    const big = await opened(dial({ 'X-API-Key': key }));
    big.send('x'.repeat(16 * 1024 + 1));
    expect(await closedWith(big)).toBe(1009);
    const binary = await opened(dial({ 'X-API-Key': key }));
    binary.send(Buffer.from([1, 2, 3]));
    expect(await closedWith(binary)).toBe(1003);
    const flood = await opened(dial({ 'X-API-Key': key }));
    for (let n = 0; n < 10_000 && flood.readyState === flood.OPEN; n++) flood.send('{}');
    expect(await closedWith(flood)).toBe(1008);
    const crumbs = await opened(dial({ 'X-API-Key': key }));
    for (let n = 0; n < 100; n++) crumbs.send('x', { fin: false });
    expect([1008, 1009, 1006, 1002]).toContain(await closedWith(crumbs));
  });

  test('A42: a client that answers no ping is disconnected, and sockets per key are limited', async () => {
    const sleepy = await opened(dial({ 'X-API-Key': key }));
    (
      sleepy as unknown as { _receiver: { removeAllListeners(event: string): void } }
    )._receiver.removeAllListeners('ping');
    expect(await closedWith(sleepy)).toBe(1006);
    const other = await v.key('service');
    const eight = await Promise.all(Array.from({ length: 8 }, () => opened(dial({ 'X-API-Key': other }))));
    expect(await refused(dial({ 'X-API-Key': other }))).toBe(429);
    for (const socket of eight) socket.terminate();
    await until(() =>
      opened(dial({ 'X-API-Key': other })).then(
        (socket) => (socket.terminate(), true),
        () => false,
      ),
    );
  });

  test('A40: another workspace’s order is unknown, and ten thousand topics or a topic of one megabyte are refused', async () => {
    const foreign = await v.key('service', { workspaceId: 'w2' });
    const unknown = `0x${'12'.repeat(32)}`;
    const subscribed = async (as: string, orderId: string) => {
      const socket = await opened(dial({ 'X-API-Key': as }));
      const answer = await answerTo(
        socket,
        JSON.stringify({ op: 'subscribe', topics: [`orders:${orderId}`] }),
      );
      socket.terminate();
      return JSON.stringify(answer);
    };
    expect(await subscribed(key, orderId)).toContain('subscribed');
    expect(await subscribed(foreign, orderId)).toBe(await subscribed(foreign, unknown));
    for (const topics of [
      Array.from({ length: 10_000 }, (_, n) => `orders:${n}`),
      ['x'.repeat(1024 * 1024)],
    ]) {
      const socket = await opened(dial({ 'X-API-Key': key }));
      socket.send(JSON.stringify({ op: 'subscribe', topics }));
      expect(await closedWith(socket)).toBe(1009);
    }
  });

  test('A41: floods of pings or unsolicited pongs close the socket', async () => {
    for (const kind of ['ping', 'pong'] as const) {
      const socket = await opened(dial({ 'X-API-Key': key }));
      const closed = closedWith(socket);
      const flood = setInterval(() => {
        for (let n = 0; n < 200 && socket.readyState === socket.OPEN; n++) socket[kind]();
      }, 1);
      expect(await closed).toBe(1008);
      clearInterval(flood);
    }
  });

  test('A41: a client that sends and never reads is closed when its output queue is full', async () => {
    const frame = JSON.stringify({
      op: 'unsubscribe',
      topics: Array.from({ length: 80 }, () => 'x'.repeat(190)),
    });
    const before = await dropped();
    // Each frame is answered with as much; what the kernel holds for the reader is soon full. One that is
    // late to that is let go for its silence instead.
    for (let round = 0; round < 20 && (await dropped()) === before; round++) {
      const socket = await opened(dial({ 'X-API-Key': key }));
      socket.pause();
      for (let n = 0; n < 1_500; n++) socket.send(frame);
      await Promise.race([
        closedWith(socket),
        until(async () => (await dropped()) !== before),
        new Promise((done) => setTimeout(done, 2_000)),
      ]);
      socket.terminate();
    }
    expect(await dropped()).not.toBe(before);
  });

  test('A42: sockets per address are limited, whatever the keys', async () => {
    const keys = await Promise.all(Array.from({ length: 4 }, () => v.key('service')));
    const sockets: WebSocket[] = [];
    let last = 0;
    for (let n = 0; n < 40 && last === 0; n++) {
      const socket = dial({ 'X-API-Key': keys[n % 4] as string });
      last = await Promise.race([
        refused(socket).catch(() => 0),
        opened(socket).then(
          () => 0,
          () => 0,
        ),
      ]);
      sockets.push(socket);
    }
    expect([last, sockets.length > 16]).toEqual([429, true]);
    for (const socket of sockets) socket.terminate();
  });
});
