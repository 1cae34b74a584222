/** Servers that ask to wait, over HTTP and WebSocket: what their answers mean, and that feeds do wait. */

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { createManualClock, type ManualClock } from '../../../test/support/manual-clock.ts';
import type { Feed, FeedTrouble, FeedWaitReason } from '../../ports/feed.ts';
import { BINANCE } from './binance.ts';
import { COINBASE } from './coinbase.ts';
import type { Format } from './format.ts';
import { createHttpFeed } from './http.ts';
import { KRAKEN } from './kraken.ts';
import { createSocketFeed } from './socket.ts';
import { createWaits, quotation, readRefusal, type Waits } from './waits.ts';

const NOW_MS = Date.parse('2026-11-21T17:00:00Z');

describe('what an answer asks for', () => {
  const read = (status: number, body: string, headers: Record<string, string> = {}) =>
    readRefusal({ status, body, header: (name) => headers[name] }, NOW_MS);

  test.each<[string, ReturnType<typeof read>, FeedWaitReason | undefined, number | undefined]>([
    ['429 and seconds', read(429, '', { 'retry-after': '120' }), 'rate_limited', 120_000],
    ['418 and seconds', read(418, '', { 'retry-after': '3600' }), 'banned', 3_600_000],
    ['429 alone', read(429, ''), 'rate_limited', undefined],
    [
      '429 and a date',
      read(429, '', { 'retry-after': 'Sat, 21 Nov 2026 17:02:00 GMT' }),
      'rate_limited',
      120_000,
    ],
    [
      "a date, by the server's clock that is an hour ahead",
      read(429, '', {
        'retry-after': 'Sat, 21 Nov 2026 18:00:30 GMT',
        date: 'Sat, 21 Nov 2026 18:00:00 GMT',
      }),
      'rate_limited',
      30_000,
    ],
    [
      'a date that is over',
      read(429, '', { 'retry-after': 'Sat, 21 Nov 2026 16:00:00 GMT' }),
      'rate_limited',
      undefined,
    ],
    ['nonsense in the header', read(429, '', { 'retry-after': 'soon' }), 'rate_limited', undefined],
    ['maintenance', read(503, '<h1>Back soon</h1>', { 'retry-after': '60' }), 'unavailable', 60_000],
    ['503 alone', read(503, 'Service Unavailable'), undefined, undefined],
    ['Kraken', read(200, '{"error":["EGeneral:Too many requests"]}'), 'rate_limited', undefined],
    ['Kraken', read(200, '{"error":["EAPI:Rate limit exceeded"],"result":{}}'), 'rate_limited', undefined],
    [
      'Kraken, until a second',
      read(200, `{"error":["EService: Throttled: ${NOW_MS / 1_000 + 45}"]}`),
      'rate_limited',
      45_000,
    ],
    ['Kraken, another error', read(200, '{"error":["EQuery:Unknown asset pair"]}'), undefined, undefined],
    [
      'Binance, until a millisecond',
      read(
        418,
        `{"code":-1003,"msg":"Way too many requests; IP banned until ${NOW_MS + 7_000}. Please use the websocket."}`,
      ),
      'banned',
      7_000,
    ],
    [
      'Binance, the header before the words',
      read(
        429,
        `{"code":-1003,"msg":"Way too much request weight used; IP banned until ${NOW_MS + 7_000}."}`,
        { 'retry-after': '9' },
      ),
      'banned',
      9_000,
    ],
    [
      'Bybit',
      read(200, '{"retCode":10006,"retMsg":"Too many visits!","result":{}}'),
      'rate_limited',
      undefined,
    ],
    ['KuCoin', read(200, '{"code":"429000","msg":"Too Many Requests"}'), 'rate_limited', undefined],
    [
      'Gate',
      read(429, '{"label":"TOO_MANY_REQUESTS","message":"Request Rate limit Exceeded"}'),
      'rate_limited',
      undefined,
    ],
    ['Bitfinex', read(429, '["error",11010,"ratelimit: error"]'), 'rate_limited', undefined],
    ['OKX', read(200, '{"code":"50011","msg":"Requests too frequent."}'), 'rate_limited', undefined],
    [
      '403 of a firewall',
      read(403, '<p>Your IP address has been temporarily blocked.</p>'),
      'banned',
      undefined,
    ],
    [
      'a time in words',
      read(429, '{"code":429,"message":"Rate limit. Retry in 300 seconds."}'),
      'rate_limited',
      300_000,
    ],
    ['an order book', read(200, '{"bids":[["1","2"]],"asks":[["3","4"]]}'), undefined, undefined],
  ])('%s', (_, refusal, reason, forMs) => {
    expect([refusal?.reason, refusal?.forMs]).toEqual([reason, forMs]);
  });
  test('never throws, and never asks to wait for less than nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.string(), fc.string(), (status, body, header) => {
        const refusal = readRefusal({ status, body, header: () => header }, NOW_MS);
        return refusal?.forMs === undefined || refusal.forMs > 0;
      }),
    );
  });
  test('the log quotes texts, and neither addresses nor what may be a key', () => {
    expect(quotation('{"error":["EGeneral:Too many requests"],"n":1}')).toBe('EGeneral:Too many requests');
    expect(quotation('<html><style>p{}</style><p>Too many\n requests</p></html>')).toBe('Too many requests');
    expect(quotation('no key=s3cr3t at https://a.example/s3cr3t, 0123456789abcdef0123456789')).toBe(
      'no … at … …',
    );
    expect(quotation('x'.repeat(5))).toBe('xxxxx');
    expect(quotation('a '.repeat(500)).length).toBeLessThanOrEqual(120);
    expect(quotation('<p>Slow</p><script>if (a<b) s3cr3t()</script> <b>down')).toBe('Slow down');
    expect(quotation('<p>Slow</p><style>p{}')).toBe('Slow');
    // A text that ends within a word ends without that word: it may be the start of a key.
    expect(quotation(`${' '.repeat(4_090)}a s3cr3t=1`)).toBe('a …');
  });
  test.each(['<', '<style', '<style>', '</script', '/', '=', '@', 'a-', 'a '])(
    'of 256 KB of "%s" the log quotes little, and nothing after the first 4 KB is read',
    (part) => {
      const most = 256 * 1024;
      const body = part.repeat(Math.ceil(most / part.length)).slice(0, most);
      for (const text of [body, JSON.stringify({ error: `error ${body}` }), JSON.stringify([body])]) {
        expect(quotation(text).length).toBeLessThanOrEqual(120);
        expect(quotation(`${text.slice(0, 5_000)} the end`)).not.toContain('end');
      }
      expect(quotation(`${' '.repeat(8_192)}the end`)).toBe('…');
    },
  );
});

describe('how long', () => {
  const [A, B] = ['https://a.example/x', 'https://b.example/x'];
  const limited = (forMs?: number) => ({ reason: 'rate_limited' as const, forMs });

  test('as the server says, up to three days; else twice as long each time, up to five minutes', () => {
    const clock = createManualClock();
    const waits = createWaits(clock);
    expect(waits.told(A, limited(120_000))).toBe(120_000);
    expect(waits.left(`${A}/other`)).toEqual({ reason: 'rate_limited', ms: 120_000 });
    expect(waits.left(B)).toBeUndefined();
    expect(waits.told(B, limited(30 * 86_400_000))).toBe(3 * 86_400_000);
    clock.advance(120_000);
    expect(waits.left(A)).toBeUndefined();
    const own: number[] = [];
    for (let time = 0; time < 9; time++) {
      own.push(waits.told(A, limited()));
      clock.advance(own.at(-1) ?? 0);
    }
    expect(own).toEqual([10, 20, 40, 80, 160, 300, 300, 300, 300].map((seconds) => seconds * 1_000));
    clock.advance(60_001);
    expect(waits.told(A, limited())).toBe(5_000);
  });
  test('answers to questions that were under way make it no longer, and never shorter', () => {
    const clock = createManualClock();
    const waits = createWaits(clock);
    for (let answer = 0; answer < 5; answer++) expect(waits.told(A, limited())).toBe(5_000);
    expect(waits.told(A, limited(60_000))).toBe(60_000);
    expect(waits.told(A, limited(1_000))).toBe(60_000);
    expect(waits.told(A, limited())).toBe(60_000);
  });
});

let server: Server;
let sockets: WebSocketServer;
let clock: ManualClock;
let waits: Waits;
let feeds: Feed[];
let troubles: FeedTrouble[];
/** Paths of requests and handshakes. */
let asked: string[];
let prices: number;
let answer: (response: ServerResponse) => void;
/** The answer to the next handshake; undefined: a connection. */
let handshake: string | undefined;

beforeEach(async () => {
  clock = createManualClock();
  waits = createWaits(clock);
  [feeds, troubles, asked, prices, handshake] = [[], [], [], 0, undefined];
  sockets = new WebSocketServer({ noServer: true });
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(response);
  });
  server.on('upgrade', (request, socket: Duplex, head) => {
    asked.push(request.url ?? '');
    if (handshake !== undefined) socket.end(handshake);
    else sockets.handleUpgrade(request, socket, head, (open) => sockets.emit('connection', open));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const feed of feeds) feed.stop();
  for (const socket of sockets.clients) socket.terminate();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
const port = () => (server.address() as AddressInfo).port;
const listen = (feed: Feed): void => {
  feeds.push(feed);
  feed.start({ quote: () => (prices += 1), trouble: (trouble) => troubles.push(trouble) });
};
const poll = (symbols: string[]): void =>
  listen(
    createHttpFeed(
      { clock, backoff: () => 10, waits },
      { url: `http://127.0.0.1:${port()}/{symbol}`, symbols, source: 'rest', bid: 'b', ask: 'a' },
    ),
  );
const connect = (format: Format): void =>
  listen(
    createSocketFeed(
      { clock, backoff: () => 10, waits },
      { url: `ws://127.0.0.1:${port()}`, symbols: ['ETHUSD'], source: 'stream', format },
    ),
  );
const lost = () => troubles.filter((trouble) => trouble.kind === 'disconnected');
const soon = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 5 });
const says =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(status, headers).end(body);
const PRICE = says(200, '{"b":"1","a":"2"}');

describe('a feed over HTTP', () => {
  test.each<[string, (response: ServerResponse) => void, FeedWaitReason, number, string]>([
    [
      'Kraken',
      says(200, '{"error":["EGeneral:Too many requests"]}'),
      'rate_limited',
      5_000,
      '"EGeneral:Too many requests"',
    ],
    [
      '429',
      says(429, 'slow down', { 'retry-after': '120' }),
      'rate_limited',
      120_000,
      'status 429, "slow down"',
    ],
    ['418', says(418, '', { 'retry-after': '3600' }), 'banned', 3_600_000, 'status 418'],
    ['maintenance', says(503, '', { 'retry-after': '600' }), 'unavailable', 600_000, 'status 503'],
    [
      'a page with status 200',
      says(200, '<p>Rate limit exceeded</p>'),
      'rate_limited',
      5_000,
      '"Rate limit exceeded"',
    ],
  ])('%s: asks no more before its time, and names the reason', async (_, refusal, reason, waitMs, said) => {
    answer = refusal;
    poll(['ETH-USD']);
    await soon(() => expect(troubles).toHaveLength(1));
    expect(troubles[0]).toEqual({
      ...{ kind: 'disconnected', detail: `ETH-USD: ${said}`, retryInMs: waitMs, reason },
    });
    expect(clock.pending()).toEqual([waitMs]);
    answer = PRICE;
    clock.advance(waitMs);
    await soon(() => expect(prices).toBe(1));
    expect(asked).toHaveLength(2);
  });

  test('all symbols of the server wait, also those of a feed that is made meanwhile', async () => {
    answer = (response) => (asked.length === 1 ? PRICE(response) : says(429, '')(response));
    poll(['ETH-USD']);
    await soon(() => expect(prices).toBe(1));
    poll(['BTC-USD']);
    await soon(() => expect(lost()).toHaveLength(1));
    clock.advance(1_000);
    poll(['LINK-USD']);
    connect(KRAKEN);
    expect(lost()).toHaveLength(4);
    expect(new Set(lost().map(({ reason }) => reason))).toEqual(new Set(['rate_limited']));
    expect(clock.pending()).toEqual([4_000, 4_000, 4_000, 4_000]);
    expect(asked).toEqual(['/ETH-USD', '/BTC-USD']);
  });

  test('answers without a price are asked for less and less often', async () => {
    answer = says(200, '{"error":["EQuery:Unknown asset pair"]}');
    const pauses: number[] = [];
    listen(
      createHttpFeed(
        { clock, backoff: (attempt) => 1_500 * (attempt + 1), waits },
        { url: `http://127.0.0.1:${port()}/`, symbols: ['X'], source: 'rest', bid: 'b', ask: 'a' },
      ),
    );
    for (let time = 1; time <= 3; time++) {
      await soon(() => expect(troubles.filter(({ kind }) => kind === 'refused')).toHaveLength(time));
      pauses.push(clock.pending()[0] ?? 0);
      clock.advance(pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([1_500, 3_000, 4_500]);
    expect(troubles[1]).toMatchObject({ detail: 'no price at the paths: "EQuery:Unknown asset pair"' });
  });
});

describe('a feed over WebSocket', () => {
  const refusedWith = (status: string, headers: string, body = '') =>
    `HTTP/1.1 ${status}\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`;

  test.each<[string, string, FeedWaitReason, number]>([
    ['429', refusedWith('429 Too Many Requests', 'retry-after: 120\r\n'), 'rate_limited', 120_000],
    ['418', refusedWith('418 I am a teapot', 'retry-after: 3600\r\n'), 'banned', 3_600_000],
    ['words', refusedWith('403 Forbidden', '', 'Your IP is blocked, retry in 90 seconds'), 'banned', 90_000],
    ['an answer that never ends', 'HTTP/1.1 429 No\r\ncontent-length: 999\r\n\r\n', 'rate_limited', 5_000],
  ])('a refused handshake, %s: connects no more before its time', async (_, refusal, reason, waitMs) => {
    handshake = refusal;
    connect(KRAKEN);
    await soon(() => expect(asked).toHaveLength(1));
    // Whatever the body does, its words are not waited for longer than a second.
    await soon(() => {
      if (lost().length === 0) clock.advance(100);
      expect(lost()).toHaveLength(1);
    });
    expect(lost()[0]).toMatchObject({ retryInMs: waitMs, reason });
    expect(clock.pending()).toEqual([waitMs]);
    handshake = undefined;
    clock.advance(waitMs);
    await soon(() => expect(troubles.at(-1)).toEqual({ kind: 'connected' }));
    expect(asked).toHaveLength(2);
  });

  test.each<[string, Format, string]>([
    ['Kraken', KRAKEN, '{"error":"Exceeded msg rate","method":"subscribe","success":false}'],
    ['Binance', BINANCE, '{"error":{"code":-1003,"msg":"Too many requests; current limit is 300."},"id":1}'],
    ['Coinbase', COINBASE, '{"type":"error","message":"Failed to subscribe","reason":"rate limit exceeded"}'],
  ])('%s refuses in a message: waits, and does not blame the symbol', async (_, format, message) => {
    sockets.on('connection', (socket) => socket.send(message));
    connect(format);
    await soon(() => expect(lost()).toHaveLength(1));
    expect(lost()[0]).toMatchObject({ reason: 'rate_limited', retryInMs: 5_000 });
    expect(troubles.map(({ kind }) => kind)).toEqual(['connected', 'disconnected']);
    expect(clock.pending()).toEqual([5_000]);
  });

  test('a close that says why: waits, and the log has the words', async () => {
    sockets.on('connection', (socket) => socket.close(1008, 'Too many connections from this IP'));
    connect(KRAKEN);
    await soon(() => expect(lost()).toHaveLength(1));
    expect(lost()[0]).toEqual({
      kind: 'disconnected',
      detail: 'closed with 1008: "Too many connections from this IP"',
      retryInMs: 5_000,
      reason: 'rate_limited',
    });
  });

  test('a close for another reason is followed by another attempt at once', async () => {
    sockets.on('connection', (socket) => socket.close(1001, 'restarting'));
    connect(KRAKEN);
    await soon(() => expect(lost()).toHaveLength(1));
    expect(lost()[0]).toEqual({
      kind: 'disconnected',
      detail: 'closed with 1001: "restarting"',
      retryInMs: 10,
    });
  });
});
