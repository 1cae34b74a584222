import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test, vi } from 'vitest';
import type { Clock } from '../../ports/clock.ts';
import type { FeedPrice, FeedTrouble } from '../../ports/feed.ts';
import { createConstantFeed } from './constant.ts';
import { createFileFeed } from './file.ts';
import { replayFeed } from './replay.ts';

const folder = mkdtempSync(join(tmpdir(), 'firmquote-feed-'));
afterAll(() => rmSync(folder, { recursive: true }));

const START = 1_700_000_000_000;
const line = (afterMs: number, message: object | string) =>
  `${START + afterMs}000000 ${typeof message === 'string' ? message : JSON.stringify(message)}`;
const ticker = (u: number, b: string, a: string, s = 'ETHUSDT') => ({
  stream: `${s.toLowerCase()}@bookTicker`,
  data: { u, s, b, B: '1.0', a, A: '1.0' },
});
const depth = (U: number, u: number, E = START) => ({
  stream: 'ethusdt@depth@100ms',
  data: { e: 'depthUpdate', E, s: 'ETHUSDT', U, u, b: [], a: [] },
});
const trade = (t: number) => ({
  stream: 'ethusdt@trade',
  data: { e: 'trade', E: START + 2_000, s: 'ETHUSDT', t, p: '2500.00', q: '1.0' },
});

/** A bad day, in five seconds. */
const STORY = [
  line(0, ticker(10, '2500.00', '2500.01')),
  line(100, depth(8, 12, START + 50)),
  line(200, ticker(14, '2500.10', '2500.13')),
  line(250, depth(13, 15)),
  line(300, trade(70)),
  line(350, trade(71)),
  line(400, ticker(14, '2500.10', '2500.13')),
  line(500, depth(19, 22)),
  line(600, ticker(13, '2499.00', '2499.01')),
  line(700, ticker(23, '2500.20', '2500.19')),
  line(800, ticker(24, '0.00000000', '2500.19')),
  line(900, trade(75)),
  line(950, '{"broken'),
  'not a line at all',
  line(3_400, ticker(30, '2502.00', '2502.01')),
  line(3_500, ticker(1, '60000.0', '60000.5', 'BTCUSDT')),
  line(5_000, { lastUpdateId: 31, bids: [], asks: [] }),
];

async function report(name: string, lines: string[], options = {}) {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(lines.join('\n')) : `${lines.join('\r\n')}\n`);
  const out: string[] = [];
  const summary = await replayFeed(path, options, (text) => out.push(text));
  return { out, summary };
}

test('prints mids, gaps and stale periods; the last line is the summary as JSON', async () => {
  const { out, summary } = await report('story.jsonl.gz', STORY);
  expect(out.slice(0, -1)).toMatchInlineSnapshot(`
    [
      "mid     2023-11-14T22:13:20.000Z ETHUSDT 2500.005 (2500.00 / 2500.01)",
      "refused 2023-11-14T22:13:20.400Z ETHUSDT duplicate",
      "gap     2023-11-14T22:13:20.500Z ETHUSDT depthUpdate: 3 missing after 15",
      "refused 2023-11-14T22:13:20.600Z ETHUSDT out_of_order",
      "refused 2023-11-14T22:13:20.700Z ETHUSDT crossed",
      "refused 2023-11-14T22:13:20.800Z ETHUSDT empty",
      "gap     2023-11-14T22:13:20.900Z ETHUSDT trade: 3 missing after 71",
      "refused 2023-11-14T22:13:20.950Z - malformed",
      "refused 2023-11-14T22:13:20.950Z - malformed",
      "gap     2023-11-14T22:13:20.200Z to 2023-11-14T22:13:23.400Z ETHUSDT top of book silent for 3.200 s",
      "stale   2023-11-14T22:13:22.200Z to 2023-11-14T22:13:23.400Z ETHUSDT 1.200 s too old",
      "mid     2023-11-14T22:13:23.400Z ETHUSDT 2502.005 (2502.00 / 2502.01)",
      "mid     2023-11-14T22:13:23.500Z BTCUSDT 60000.25 (60000.0 / 60000.5)",
      "gap     2023-11-14T22:13:23.400Z to 2023-11-14T22:13:25.000Z ETHUSDT top of book silent for 1.600 s",
      "gap     2023-11-14T22:13:23.500Z to 2023-11-14T22:13:25.000Z BTCUSDT top of book silent for 1.500 s",
    ]
  `);
  expect(JSON.parse(out.at(-1) ?? '')).toEqual(summary);
  expect(summary).toMatchInlineSnapshot(`
    {
      "clockSteps": 0,
      "gaps": 5,
      "lines": 17,
      "missing": 6,
      "offsetMs": -1700,
      "other": 7,
      "quotes": 4,
      "refused": {
        "closed": 0,
        "crossed": 1,
        "duplicate": 1,
        "empty": 1,
        "future": 0,
        "malformed": 2,
        "out_of_order": 1,
        "out_of_range": 0,
        "unknown_symbol": 0,
      },
      "seconds": 5,
      "staleMs": 1200,
      "staleSpells": 1,
      "symbols": [
        {
          "firstMid": "2500.005",
          "highMid": "2502.005",
          "largestStep": 16,
          "lastMid": "2502.005",
          "longestSilenceMs": 3200,
          "lowMid": "2500.005",
          "missing": 6,
          "quotes": 3,
          "sequenceGaps": 2,
          "sigma": 0.5716,
          "silentGaps": 2,
          "staleMs": 1200,
          "staleSpells": 1,
          "symbol": "ETHUSDT",
        },
        {
          "firstMid": "60000.25",
          "highMid": "60000.25",
          "largestStep": 0,
          "lastMid": "60000.25",
          "longestSilenceMs": 1500,
          "lowMid": "60000.25",
          "missing": 0,
          "quotes": 1,
          "sequenceGaps": 0,
          "sigma": 0,
          "silentGaps": 1,
          "staleMs": 0,
          "staleSpells": 0,
          "symbol": "BTCUSDT",
        },
      ],
    }
  `);
});

test('reads plain text with CRLF alike', async () => {
  expect((await report('story.jsonl', STORY)).summary).toEqual(
    (await report('again.jsonl.gz', STORY)).summary,
  );
});

test('prints every mid of one symbol, with another limit for staleness', async () => {
  const { out, summary } = await report('one.jsonl', STORY, {
    everyMs: 0,
    maxAgeMs: 3_500,
    symbol: 'ethusdt',
  });
  expect(out.filter((text) => text.startsWith('mid'))).toHaveLength(3);
  expect(summary.symbols.map(({ symbol }) => symbol)).toEqual(['ETHUSDT']);
  expect(summary.staleSpells).toBe(0);
});

test('a clock that was set back is reported, and the recording continues on the new clock', async () => {
  const { out, summary } = await report('step.jsonl', [
    line(3_600_000, ticker(1, '2500.00', '2500.01')),
    line(3_601_000, ticker(2, '2501.00', '2501.01')),
    line(3_600_900, ticker(3, '2501.50', '2501.51')),
    line(0, ticker(4, '2502.00', '2502.01')),
    line(3_000, ticker(5, '2503.00', '2503.01')),
  ]);
  expect(out.slice(0, -1)).toEqual([
    'mid     2023-11-14T23:13:20.000Z ETHUSDT 2500.005 (2500.00 / 2500.01)',
    'mid     2023-11-14T23:13:21.000Z ETHUSDT 2501.005 (2501.00 / 2501.01)',
    'clock   2023-11-14T23:13:21.000Z set back to 2023-11-14T22:13:20.000Z',
    'mid     2023-11-14T22:13:20.000Z ETHUSDT 2502.005 (2502.00 / 2502.01)',
    'gap     2023-11-14T22:13:20.000Z to 2023-11-14T22:13:23.000Z ETHUSDT top of book silent for 3.000 s',
    'stale   2023-11-14T22:13:22.000Z to 2023-11-14T22:13:23.000Z ETHUSDT 1.000 s too old',
    'mid     2023-11-14T22:13:23.000Z ETHUSDT 2503.005 (2503.00 / 2503.01)',
  ]);
  expect(summary).toMatchObject({ clockSteps: 1, seconds: 4, quotes: 5 });
});

test('recordings of Coinbase and Kraken are read like those of Binance', async () => {
  const coinbase = (sequence: number, best_bid: string, best_ask: string) => ({
    type: 'ticker',
    sequence,
    product_id: 'ETH-USD',
    best_bid,
    best_ask,
  });
  const { summary } = await report('coinbase.jsonl', [
    line(0, { type: 'subscriptions', channels: [] }),
    line(100, coinbase(5, '2500.00', '2500.02')),
    line(600, coinbase(4, '2400.00', '2400.02')),
    line(700, coinbase(6, '2500.10', '2500.12')),
  ]);
  expect(summary).toMatchObject({ quotes: 2, other: 1, refused: { out_of_order: 1 } });
  expect(summary.symbols[0]).toMatchObject({ symbol: 'ETH-USD', firstMid: '2500.01', lastMid: '2500.11' });
  const kraken = (bid: string, ask: string) =>
    `{"channel":"ticker","type":"update","data":[{"symbol":"ETH/USD","bid":${bid},"bid_qty":1.0,"ask":${ask},"ask_qty":2.0}]}`;
  const other = await report('kraken.jsonl', [
    line(0, '{"channel":"status","data":[{"system":"online"}]}'),
    line(100, kraken('2500.00', '2500.02')),
    line(700, kraken('2500.10', '2500.12')),
  ]);
  expect(other.summary.symbols[0]).toMatchObject({ symbol: 'ETH/USD', quotes: 2, lastMid: '2500.11' });
});

test('an empty file', async () => {
  const { out, summary } = await report('empty.jsonl', []);
  expect(out).toHaveLength(1);
  expect(summary).toMatchObject({ lines: 0, quotes: 0, seconds: 0, symbols: [] });
});

test('error: a missing or truncated file', async () => {
  await expect(replayFeed(join(folder, 'nowhere'), {}, () => {})).rejects.toMatchObject({
    code: 'recording',
  });
  const path = join(folder, 'cut.jsonl.gz');
  writeFileSync(
    path,
    gzipSync(
      Array.from({ length: 5_000 }, (_, at) => line(at, ticker(at, `${at}.${at}1`, `${at}.${at}2`))).join(
        '\n',
      ),
    ).subarray(0, -500),
  );
  await expect(replayFeed(path, {}, () => {})).rejects.toMatchObject({ code: 'recording' });
});

const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

test('a recording played as a feed: the same quotes, at our time', async () => {
  const path = join(folder, 'played.jsonl');
  writeFileSync(path, STORY.join('\n'));
  const [quotes, troubles]: [FeedPrice[], FeedTrouble[]] = [[], []];
  const feed = createFileFeed({ clock }, { path, speed: 50 });
  const before = Date.now();
  feed.start({ quote: (quote) => quotes.push(quote), trouble: (trouble) => troubles.push(trouble) });
  await vi.waitFor(
    () =>
      expect(troubles.at(-1)).toEqual({ kind: 'disconnected', detail: 'end of recording', retryInMs: null }),
    { timeout: 40_000 },
  );
  expect(quotes.map(({ symbol, bid }) => `${symbol} ${bid}`)).toEqual([
    'ETHUSDT 2500.00',
    'ETHUSDT 2500.10',
    'ETHUSDT 2502.00',
    'BTCUSDT 60000.0',
  ]);
  expect((quotes.at(-1)?.receivedMs ?? 0) - before).toBeGreaterThanOrEqual(65);
  expect(troubles.flatMap((each) => (each.kind === 'refused' ? [each.why] : []))).toEqual([
    'duplicate',
    'out_of_order',
    'crossed',
    'empty',
    'malformed',
    'malformed',
  ]);
});

test('a recording in a loop, stopped', async () => {
  const path = join(folder, 'loop.jsonl');
  writeFileSync(path, line(0, ticker(1, '1', '2')));
  const quotes: FeedPrice[] = [];
  const feed = createFileFeed({ clock }, { path, loop: true });
  feed.start({ quote: (quote) => quotes.push(quote) });
  await vi.waitFor(() => expect(quotes.length).toBeGreaterThan(1), { timeout: 40_000 });
  feed.stop();
  const count = quotes.length;
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(quotes).toHaveLength(count);
});

test('a constant price is repeated', async () => {
  const quotes: FeedPrice[] = [];
  const feed = createConstantFeed({ clock }, { prices: { USD: '1' }, everyMs: 10 });
  feed.start({ quote: (quote) => quotes.push(quote) });
  await vi.waitFor(() => expect(quotes.length).toBeGreaterThan(2), { timeout: 40_000 });
  feed.stop();
  expect(quotes[0]).toMatchObject({ source: 'constant', symbol: 'USD', bid: '1', ask: '1', sequence: 1 });
  expect(() => createConstantFeed({ clock }, { prices: { USD: '0' } })).toThrow('positive decimal');
});
