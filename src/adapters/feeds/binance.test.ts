/** Binance's stream through a real socket, and the connection that all formats share. */

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startExchange, type TestExchange } from '../../../test/support/exchange.ts';
import { BINANCE } from './binance.ts';
import type { SocketFeedOptions } from './socket.ts';

let exchange: TestExchange;
beforeEach(async () => {
  exchange = await startExchange();
});
afterEach(() => exchange.close());

const start = (options: Partial<SocketFeedOptions> = {}) =>
  exchange.start({ format: BINANCE, source: 'binance', symbols: ['ethusdt', 'BTCUSDT'], ...options });
const message = (u: number, b: string, a: string, s = 'ETHUSDT') => ({
  stream: `${s.toLowerCase()}@bookTicker`,
  data: { u, s, b, B: '1.5', a, A: '2.5' },
});

test('subscribes its symbols in one combined stream, keeps texts, and answers with the requested spelling', async () => {
  start();
  await exchange.connected(1);
  expect(exchange.paths).toEqual(['/stream?streams=ethusdt@bookTicker/btcusdt@bookTicker']);
  const before = Date.now();
  exchange.say(message(7, '2500.10000000', '2500.11000000'), message(3, '60000.1', '60000.2', 'BTCUSDT'));
  await exchange.told(2);
  const [first, second] = exchange.quotes;
  expect(first).toEqual({
    source: 'binance',
    symbol: 'ethusdt',
    bid: '2500.10000000',
    ask: '2500.11000000',
    exchangeTimeMs: null,
    receivedMs: expect.any(Number),
    sequence: 7,
  });
  expect(first?.receivedMs).toBeGreaterThanOrEqual(before);
  expect(second?.symbol).toBe('BTCUSDT');
  expect(exchange.heard).toEqual([]);
});

test('a jump of the update id is a quote; duplicates, steps back, crossed and empty books, noise and unknown symbols are refused', async () => {
  start();
  await exchange.connected(1);
  exchange.say(
    message(10, '1', '2'),
    message(10, '1', '2'),
    message(5_000, '1', '3'),
    message(4_999, '1', '2'),
    message(5_001, '3', '2'),
    message(5_002, '0', '2'),
  );
  exchange.say(
    '{not json',
    message(1, '1', '2', 'DOGEUSDT'),
    { result: null, id: 1 },
    Buffer.from([1, 2, 3]),
    message(5_003, '1', '4'),
  );
  await exchange.told(10);
  expect(exchange.quotes.map(({ sequence }) => sequence)).toEqual([10, 5_000, 5_003]);
  expect(exchange.refusals()).toEqual([
    'duplicate',
    'out_of_order',
    'crossed',
    'empty',
    'malformed',
    'unknown_symbol',
    'malformed',
  ]);
});

test('reconnects when the exchange closes, and then accepts lower update ids', async () => {
  start();
  await exchange.connected(1);
  exchange.say(message(10, '1', '2'));
  await exchange.told(1);
  exchange.sockets[0]?.close(1001);
  await exchange.connected(2);
  exchange.say(message(4, '1', '3'));
  await exchange.told(2);
  expect(exchange.quotes.map(({ sequence }) => sequence)).toEqual([10, 4]);
  expect(exchange.attempts).toEqual([0]);
  expect(exchange.troubles.map(({ kind }) => kind)).toEqual(['connected', 'disconnected', 'connected']);
});

test('attempts count up while connections end early, even if each brings a price', async () => {
  start();
  for (const attempt of [1, 2, 3]) {
    await exchange.connected(attempt);
    exchange.say(message(attempt, '1', '2'));
    await exchange.told(attempt);
    exchange.sockets.at(-1)?.terminate();
  }
  await exchange.connected(4);
  expect(exchange.attempts).toEqual([0, 1, 2]);
});

test('replaces a connection without data, although it answers pings', async () => {
  start({ silentMs: 1_200, pingMs: 500 });
  await exchange.connected(2);
  expect(exchange.troubles.slice(0, 3).map(({ kind }) => kind)).toEqual([
    'connected',
    'silent',
    'disconnected',
  ]);
});

test('replaces a connection that sends messages without prices', async () => {
  start({ quietMs: 150, pingMs: 5_000 });
  await exchange.connected(1);
  const chatter = setInterval(() => exchange.say({ result: null }), 20);
  await exchange.connected(2);
  clearInterval(chatter);
  expect(exchange.troubles).toContainEqual({ kind: 'disconnected', detail: 'no prices', retryInMs: 5 });
});

test('replaces a half-open connection after an unanswered ping', async () => {
  await exchange.close();
  exchange = await startExchange({ autoPong: false });
  start({ silentMs: 10_000, pingMs: 30 });
  await exchange.connected(2);
  expect(exchange.troubles).toContainEqual({ kind: 'disconnected', detail: 'no pong', retryInMs: 5 });
});

test('keeps trying while the exchange is unreachable, until stop', async () => {
  const feed = start({ url: 'ws://127.0.0.1:9' });
  await vi.waitFor(() => expect(exchange.attempts.length).toBeGreaterThan(2), { timeout: 40_000 });
  feed.stop();
  const count = exchange.attempts.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(exchange.attempts).toHaveLength(count);
});

test('delivers nothing after stop', async () => {
  const feed = start();
  await exchange.connected(1);
  feed.stop();
  exchange.say(message(10, '1', '2'));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(exchange.quotes).toEqual([]);
});

test('a frame beyond the limit closes the connection', async () => {
  start();
  await exchange.connected(1);
  exchange.say('x'.repeat(70_000));
  await exchange.connected(2);
  expect(exchange.troubles).toContainEqual({
    kind: 'disconnected',
    detail: expect.stringContaining('closed'),
    retryInMs: 5,
  });
});
