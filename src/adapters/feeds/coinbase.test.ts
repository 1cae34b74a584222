/** Coinbase Exchange's messages, field by field as its feed sends them, through a real socket. */

import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startExchange, type TestExchange } from '../../../test/support/exchange.ts';
import { COINBASE } from './coinbase.ts';

let exchange: TestExchange;
beforeEach(async () => {
  exchange = await startExchange();
  exchange.start({ format: COINBASE, source: 'coinbase', symbols: ['ETH-USD', 'BTC-USD'] });
  await exchange.connected(1);
});
afterEach(() => exchange.close());

const ticker = (sequence: number, best_bid: string, best_ask: string, more: object = {}) => ({
  ...{
    type: 'ticker',
    sequence,
    product_id: 'ETH-USD',
    price: best_ask,
    open_24h: '2481.1',
    volume_24h: '98123.55012817',
    low_24h: '2466.02',
    high_24h: '2530',
    volume_30d: '3351123.11574212',
  },
  ...{
    best_bid,
    best_bid_size: '0.41000000',
    best_ask,
    best_ask_size: '3.25158121',
    side: 'buy',
    time: '2026-11-21T17:00:31.886136Z',
    trade_id: 700,
    last_size: '0.00481191',
    ...more,
  },
});
const heartbeat = (last_trade_id: number, sequence = 90) => ({
  type: 'heartbeat',
  last_trade_id,
  product_id: 'ETH-USD',
  sequence,
  time: '2026-11-21T17:00:32.000000Z',
});

test("subscribes each product separately and keeps texts, with the exchange's time", async () => {
  exchange.say(
    { type: 'subscriptions', channels: [{ name: 'ticker', product_ids: ['ETH-USD'], account_ids: null }] },
    ticker(106_614_625_991, '2500.10', '2500.11'),
  );
  await exchange.told(1);
  await exchange.asked(2);
  expect(exchange.heard).toEqual([
    { type: 'subscribe', product_ids: ['ETH-USD'], channels: ['ticker', 'heartbeat'] },
    { type: 'subscribe', product_ids: ['BTC-USD'], channels: ['ticker', 'heartbeat'] },
  ]);
  const time = Date.parse('2026-11-21T17:00:31.886Z');
  expect(exchange.quotes).toEqual([
    {
      source: 'coinbase',
      symbol: 'ETH-USD',
      bid: '2500.10',
      ask: '2500.11',
      exchangeTimeMs: time,
      receivedMs: expect.any(Number),
      sequence: 106_614_625_991,
    },
  ]);
});

test('jumps of the sequence are normal; refuses repeats, steps back, and crossed, locked, empty and unreadable books', async () => {
  exchange.say(
    ticker(10, '1', '2'),
    ticker(10, '1', '2'),
    ticker(500, '1', '3'),
    ticker(499, '1', '2'),
    ticker(501, '3', '2'),
    ticker(502, '2', '2'),
    ticker(503, '0', '2'),
  );
  exchange.say(
    ticker(504, '1', '2', { best_ask_size: '0.00000000' }),
    ticker(505, '1', '2', { time: 'yesterday' }),
    ticker(506, '1e3x', '2'),
    ticker(507, '-1', '2'),
    ticker(1.5, '1', '2'),
  );
  exchange.say(
    { ...ticker(508, '1', '2'), product_id: 'DOGE-USD' },
    '{"type":"ticker"',
    '[]',
    { type: 7 },
    { type: 'ticker' },
    ticker(600, '1', '4'),
  );
  await exchange.told(18);
  expect(exchange.quotes.map(({ sequence }) => sequence)).toEqual([10, 500, 600]);
  expect(exchange.refusals()).toEqual([
    'duplicate',
    'out_of_order',
    'crossed',
    'crossed',
    'empty',
    'empty',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
    'unknown_symbol',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
  ]);
});

test('each product has its own sequence', async () => {
  exchange.say(ticker(10, '1', '2'), ticker(4, '60000', '60001', { product_id: 'BTC-USD' }));
  await exchange.told(2);
  expect(exchange.quotes.map(({ symbol }) => symbol)).toEqual(['ETH-USD', 'BTC-USD']);
});

test('a trade in two heartbeats and no ticker is a gap: reconnects and subscribes again', async () => {
  exchange.say(
    ticker(10, '1', '2', { trade_id: 700 }),
    heartbeat(700),
    heartbeat(702),
    ticker(20, '1', '3', { trade_id: 702 }),
    heartbeat(703),
    heartbeat(703),
  );
  await exchange.connected(2);
  expect(exchange.troubles.slice(0, 3).map(({ kind }) => kind)).toEqual(['connected', 'gap', 'disconnected']);
  expect(exchange.troubles[1]).toEqual({ kind: 'gap', symbol: 'ETH-USD' });
  exchange.say(ticker(25, '1', '4', { trade_id: 703 }));
  await exchange.told(3);
  await exchange.asked(4);
});

test('heartbeats that agree, or precede the first ticker, prove no gap', async () => {
  exchange.say(
    heartbeat(690),
    heartbeat(691),
    ticker(10, '1', '2', { trade_id: 700 }),
    heartbeat(700),
    heartbeat(700),
    heartbeat(700),
    { type: 'heartbeat' },
  );
  await exchange.told(2);
  expect(exchange.sockets).toHaveLength(1);
  expect(exchange.refusals()).toEqual(['malformed']);
});

test('heartbeats keep a quiet connection; without them it is replaced', async () => {
  exchange.start({ format: COINBASE, silentMs: 2_000, pingMs: 1_000 });
  await exchange.connected(2);
  const beats = setInterval(() => exchange.say(heartbeat(1)), 30);
  await new Promise((resolve) => setTimeout(resolve, 2_600));
  expect(exchange.sockets).toHaveLength(2);
  clearInterval(beats);
  await exchange.connected(3);
  expect(exchange.troubles.map(({ kind }) => kind)).toContain('silent');
});

test('logs a product that does not exist, for the operator to correct', async () => {
  exchange.say(
    { type: 'error', message: 'Failed to subscribe', reason: 'ETH-XYZ is not a valid product' },
    ticker(10, '1', '2'),
  );
  await exchange.told(1);
  expect(exchange.troubles.at(-1)).toEqual({
    kind: 'rejected',
    symbol: null,
    detail: 'Failed to subscribe: ETH-XYZ is not a valid product',
  });
});

test('never throws', () => {
  const json = fc.jsonValue().map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        json,
        fc
          .jsonValue()
          .map((value) =>
            JSON.stringify({ type: 'ticker', product_id: value, sequence: value, best_bid: value }),
          ),
      ),
      (text) => Array.isArray(COINBASE.reader(Date.now)(text)),
    ),
  );
});
