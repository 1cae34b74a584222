import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedQuote, FeedTrouble } from '../../ports/feed.ts';
import { type BinanceFeedOptions, createBinanceFeed } from './binance.ts';

/** The machine's clock; the wait before a reconnect is what the test hands in. */
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

let server: WebSocketServer;
let feed: Feed | undefined;
let sockets: WebSocket[];
let paths: string[];
let quotes: FeedQuote[];
let troubles: FeedTrouble[];
let attempts: number[];

beforeEach(async () => {
  [sockets, paths, quotes, troubles, attempts] = [[], [], [], [], []];
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket, request) => {
    sockets.push(socket);
    paths.push(request.url ?? '');
  });
});
afterEach(async () => {
  feed?.stop();
  feed = undefined;
  for (const socket of sockets) socket.terminate();
  await new Promise((resolve) => server.close(resolve));
});

function start(options: Partial<BinanceFeedOptions> = {}): void {
  const url = options.url ?? `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backoff = (attempt: number) => {
    attempts.push(attempt);
    return 5;
  };
  feed = createBinanceFeed({ clock, backoff }, { symbols: ['ethusdt', 'BTCUSDT'], silentMs: 2_000, pingMs: 500, ...options, url });
  feed.start({ quote: (quote) => quotes.push(quote), trouble: (trouble) => troubles.push(trouble) });
}
const connected = (count: number) => vi.waitFor(() => expect(sockets).toHaveLength(count), { timeout: 3_000, interval: 5 });
const heard = (count: number) => vi.waitFor(() => expect(quotes.length + troubles.filter(({ kind }) => kind === 'refused').length).toBe(count), { timeout: 3_000, interval: 5 });
const message = (u: number, b: string, a: string, s = 'ETHUSDT') => JSON.stringify({ stream: `${s.toLowerCase()}@bookTicker`, data: { u, s, b, B: '1.5', a, A: '2.5' } });
const say = (...texts: string[]) => {
  for (const text of texts) sockets.at(-1)?.send(text);
};

test('asks for its symbols in one combined stream and passes texts through untouched', async () => {
  start();
  await connected(1);
  expect(paths).toEqual(['/stream?streams=ethusdt@bookTicker/btcusdt@bookTicker']);
  const before = Date.now();
  say(message(7, '2500.10000000', '2500.11000000'), message(3, '60000.1', '60000.2', 'BTCUSDT'));
  await heard(2);
  expect(quotes[0]).toEqual({ source: 'binance', symbol: 'ETHUSDT', bid: '2500.10000000', ask: '2500.11000000', exchangeTimeMs: null, receivedMs: expect.any(Number), sequence: 7 });
  expect(quotes[0]?.receivedMs).toBeGreaterThanOrEqual(before);
  expect(quotes[1]?.symbol).toBe('BTCUSDT');
});

test('a jump of the update id is a quote; duplicates, steps back, crossed and empty books, noise and strangers are refused', async () => {
  start();
  await connected(1);
  say(message(10, '1', '2'), message(10, '1', '2'), message(5_000, '1', '3'), message(4_999, '1', '2'), message(5_001, '3', '2'), message(5_002, '0', '2'));
  say('{not json', message(1, '1', '2', 'DOGEUSDT'), JSON.stringify({ result: null, id: 1 }));
  sockets[0]?.send(Buffer.from([1, 2, 3]));
  say(message(5_003, '1', '4'));
  await heard(10);
  expect(quotes.map(({ sequence }) => sequence)).toEqual([10, 5_000, 5_003]);
  expect(troubles.filter(({ kind }) => kind === 'refused').map((each) => (each.kind === 'refused' ? each.why : ''))).toEqual(['duplicate', 'out_of_order', 'crossed', 'empty', 'malformed', 'unknown_symbol', 'malformed']);
});

test('reconnects when the exchange hangs up, and may then start counting anew', async () => {
  start();
  await connected(1);
  say(message(10, '1', '2'));
  await heard(1);
  sockets[0]?.close(1001);
  await connected(2);
  say(message(4, '1', '3'));
  await heard(2);
  expect(quotes.map(({ sequence }) => sequence)).toEqual([10, 4]);
  expect(attempts).toEqual([0]);
  expect(troubles.map(({ kind }) => kind)).toEqual(['connected', 'disconnected', 'connected']);
});

test('attempts count up while no price comes through', async () => {
  start();
  for (const attempt of [1, 2, 3]) {
    await connected(attempt);
    sockets.at(-1)?.terminate();
  }
  await connected(4);
  expect(attempts).toEqual([0, 1, 2]);
});

test('silence: a connection without data is replaced, although it answers pings', async () => {
  start({ silentMs: 120, pingMs: 30 });
  await connected(2);
  expect(troubles.slice(0, 3).map(({ kind }) => kind)).toEqual(['connected', 'silent', 'disconnected']);
});

test('half open: no answer to a ping, and the connection is replaced', async () => {
  await new Promise((resolve) => server.close(resolve));
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => sockets.push(socket));
  start({ silentMs: 10_000, pingMs: 30 });
  await connected(2);
  expect(troubles).toContainEqual({ kind: 'disconnected', detail: 'no pong', retryInMs: 5 });
});

test('nobody at home: keeps trying, and stop ends it', async () => {
  start({ url: 'ws://127.0.0.1:9' });
  await vi.waitFor(() => expect(attempts.length).toBeGreaterThan(2));
  feed?.stop();
  const count = attempts.length;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(attempts).toHaveLength(count);
});

test('after stop nothing is delivered', async () => {
  start();
  await connected(1);
  feed?.stop();
  say(message(10, '1', '2'));
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(quotes).toEqual([]);
});

test('a frame beyond the limit ends the connection instead of filling memory', async () => {
  start();
  await connected(1);
  say('x'.repeat(70_000));
  await connected(2);
  expect(troubles).toContainEqual({ kind: 'disconnected', detail: expect.stringContaining('closed'), retryInMs: 5 });
});
