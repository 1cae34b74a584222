/** Prices asked for over HTTP, against a real server that is slow, wrong, huge, or gone. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Feed, FeedPrice, FeedTrouble } from '../../ports/feed.ts';
import { systemClock } from '../system/clock.ts';
import { createHttpFeed, type HttpFeedOptions } from './http.ts';

let server: Server;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let asked: string[];
let feed: Feed | undefined;
let quotes: FeedPrice[];
let troubles: FeedTrouble[];
let attempts: number[];

beforeEach(async () => {
  [asked, quotes, troubles, attempts] = [[], [], [], []];
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  feed?.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const json =
  (text: string, headers: Record<string, string> = {}) =>
  (_: IncomingMessage, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
const COINBASE_REST = (bid: string, time = '2026-11-21T17:00:31.886136Z') =>
  `{"ask":"2500.11","bid":"${bid}","volume":"98123.5","trade_id":700,"price":"2500.10","size":"0.0048","time":"${time}","rfq_volume":"12.1"}`;
const KRAKEN_REST =
  '{"error":[],"result":{"XETHZUSD":{"a":["2500.20000","1","1.000"],"b":["2500.10000","2","2.000"],"c":["2500.15000","0.01"],"v":["1","2"],"p":["1","2"],"t":[1,2],"l":["1","2"],"h":["1","2"],"o":"2490.1"}}}';

function start(options: Partial<HttpFeedOptions> = {}): void {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/products/{symbol}/ticker?key=s3cr3t`;
  const backoff = (attempt: number) => {
    attempts.push(attempt);
    return 10;
  };
  feed = createHttpFeed(
    { clock: systemClock, backoff },
    {
      url,
      symbols: ['ETH-USD'],
      source: 'rest',
      bid: 'bid',
      ask: 'ask',
      everyMs: 20,
      timeoutMs: 2_500,
      ...options,
    },
  );
  feed.start({ quote: (quote) => quotes.push(quote), trouble: (trouble) => troubles.push(trouble) });
}
const told = (count: number) =>
  vi.waitFor(
    () =>
      expect(
        quotes.length + troubles.filter(({ kind }) => kind !== 'connected').length,
      ).toBeGreaterThanOrEqual(count),
    { timeout: 40_000, interval: 5 },
  );

test("Coinbase Exchange's ticker: keeps texts, uses the exchange's time, polls again", async () => {
  answer = json(COINBASE_REST('2500.10'));
  const before = Date.now();
  start({ time: 'time' });
  await told(3);
  expect(asked[0]).toBe('/products/ETH-USD/ticker?key=s3cr3t');
  expect(quotes[0]).toEqual({
    source: 'rest',
    symbol: 'ETH-USD',
    bid: '2500.10',
    ask: '2500.11',
    exchangeTimeMs: Date.parse('2026-11-21T17:00:31.886Z'),
    receivedMs: expect.any(Number),
    sequence: null,
  });
  expect(quotes[0]?.receivedMs).toBeGreaterThanOrEqual(before);
  expect(troubles).toEqual([{ kind: 'connected' }]);
});

test("Kraken's ticker names the pair differently: takes the only member of the result", async () => {
  answer = json(KRAKEN_REST);
  start({ bid: 'result.*.b.0', ask: 'result.*.a.0', symbols: ['ETHUSD'] });
  await told(1);
  expect(quotes[0]).toMatchObject({ bid: '2500.10000', ask: '2500.20000', exchangeTimeMs: null });
});

test('reads bare numbers as text, accepts one price for both sides, and detects the unit of epochs', async () => {
  answer = json('{"data":[{"price":2500.1000000000000001,"ts":1795280431886123}]}');
  start({ bid: 'data.0.price', ask: 'data.0.price', time: 'data.0.ts' });
  await told(1);
  expect(quotes[0]).toMatchObject({
    bid: '2500.1000000000000001',
    ask: '2500.1000000000000001',
    exchangeTimeMs: 1_795_280_431_886,
  });
});

test.each([
  ['1.2345678901234567e-05', '0.000012345678901234567'],
  ['"0.1234567890123456789"', '0.1234567890123456789'],
  ['2.5e-007', '0.00000025'],
  ['"7.1E-9"', '0.0000000071'],
  ['"2.19E+0000002"', '219'],
  [`0.00000000${'123456789'.repeat(7)}`, `0.00000000${'123456789'.repeat(7)}`],
])('reads %s with all its digits', async (written, plain) => {
  answer = json(`{"price":${written}}`);
  start({ bid: 'price', ask: 'price' });
  await told(1);
  expect(quotes[0]).toMatchObject({ bid: plain, ask: plain });
});

test('a price is as old as its request or its time in a cache', async () => {
  answer = (request, response) =>
    void setTimeout(() => json(COINBASE_REST('2500.10'), { age: '3' })(request, response), 100);
  start();
  await told(1);
  const { receivedMs } = quotes[0] as FeedPrice;
  expect(Date.now() - receivedMs).toBeGreaterThanOrEqual(3_095);
});

test('a symbol cannot change the rest of the URL', async () => {
  answer = json(COINBASE_REST('1'));
  start({ symbols: ['../secret?x=1&y'] });
  await told(1);
  expect(asked[0]).toBe('/products/..%2Fsecret%3Fx%3D1%26y/ticker?key=s3cr3t');
});

test('gives up slow answers, and sends one request at a time', async () => {
  // Counted where they are asked: the server learns of an end after the next request may have come.
  let open = 0;
  let most = 0;
  const real = globalThis.fetch;
  const ask = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...question) => {
    most = Math.max(most, ++open);
    return real(...question).finally(() => (open -= 1));
  });
  answer = () => {};
  start({ timeoutMs: 60 });
  await told(3);
  ask.mockRestore();
  expect(troubles[0]).toEqual({
    kind: 'disconnected',
    detail: 'ETH-USD: no answer within 60 ms',
    retryInMs: expect.any(Number),
  });
  expect(most).toBe(1);
  expect(attempts.slice(0, 3)).toEqual([0, 1, 2]);
});

test('an answer that trickles in is as slow as none', async () => {
  answer = (_, response) => {
    response.writeHead(200);
    const drip = setInterval(() => response.write(' '), 10);
    response.on('close', () => clearInterval(drip));
  };
  start({ timeoutMs: 60 });
  await told(1);
  expect(troubles[0]).toMatchObject({ kind: 'disconnected', detail: 'ETH-USD: no answer within 60 ms' });
});

test('errors, redirects and endless bodies are failures; after a success the pauses are short again', async () => {
  let sent = 0;
  const answers = [
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(500).end('{"bid":"1","ask":"2"}'),
    (_: IncomingMessage, response: ServerResponse) =>
      response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(200);
      const flood = () => {
        while (sent < 50_000_000 && response.write('x'.repeat(65_536))) sent += 65_536;
        response.once('drain', flood);
      };
      flood();
    },
    json(COINBASE_REST('2500.10')),
    (_: IncomingMessage, response: ServerResponse) => response.writeHead(502).end(),
  ];
  answer = (request, response) => answers[Math.min(asked.length, answers.length) - 1]?.(request, response);
  start();
  await vi.waitFor(() => expect(asked.length).toBeGreaterThanOrEqual(6), { timeout: 40_000 });
  const details = troubles.map((each) => (each.kind === 'disconnected' ? each.detail : each.kind));
  expect(details.slice(0, 5)).toEqual([
    'ETH-USD: status 500',
    'ETH-USD: no connection',
    'ETH-USD: more than 262144 bytes',
    'connected',
    'ETH-USD: status 502',
  ]);
  expect(attempts.slice(0, 4)).toEqual([0, 1, 2, 0]);
  expect(quotes[0]?.bid).toBe('2500.10');
  expect(sent).toBeLessThan(20_000_000);
});

test.each([
  ['garbage', '<html>', 'malformed'],
  ['nothing', '', 'malformed'],
  ['no such path', '{"ask":"1"}', 'malformed'],
  ['a crossed book', '{"bid":"3","ask":"2"}', 'crossed'],
  ['an empty book', '{"bid":"0","ask":"2"}', 'empty'],
  ['a zero with an exponent', '{"bid":0e-9,"ask":"2"}', 'empty'],
  ['a price below 1e-18', '{"bid":"9.9e-19","ask":"2"}', 'out_of_range'],
  ['a price from 1e18 on', '{"bid":"2","ask":1E18}', 'out_of_range'],
  ['more digits than anybody means', `{"bid":"0.${'1'.repeat(200)}","ask":"2"}`, 'malformed'],
  ['an exponent of three digits', '{"bid":"1e-100","ask":"2"}', 'malformed'],
  ['a comma', '{"bid":"1,5","ask":"2"}', 'malformed'],
  ['a negative price', '{"bid":"-1","ask":"2"}', 'malformed'],
  ['something inherited', '{"ask":"1","bid":null,"__proto__":{"bid":"1"}}', 'malformed'],
])('%s is refused', async (_, text, why) => {
  answer = json(text);
  start();
  await told(1);
  expect(troubles.slice(0, 2)).toEqual([
    { kind: 'connected' },
    { kind: 'refused', why, symbol: 'ETH-USD', detail: expect.any(String) },
  ]);
  expect(quotes).toEqual([]);
});

test('refuses an answer older than the last, and one without its configured timestamp', async () => {
  const times = ['2026-11-21T17:00:05Z', '2026-11-21T17:00:04Z', 'soon', '2026-11-21T17:00:05Z'];
  answer = (request, response) =>
    json(COINBASE_REST('2500.10', times[Math.min(asked.length, 4) - 1]))(request, response);
  start({ time: 'time' });
  await told(4);
  expect(troubles.flatMap((each) => (each.kind === 'refused' ? [each.why] : []))).toEqual([
    'out_of_order',
    'malformed',
  ]);
});

test('unreachable and then stopped: logs no URL, and sends no further request', async () => {
  start({ url: 'http://127.0.0.1:9/s3cr3t' });
  await told(2);
  feed?.stop();
  expect(JSON.stringify(troubles)).not.toContain('s3cr3t');
  const count = troubles.length;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(troubles).toHaveLength(count);
});
