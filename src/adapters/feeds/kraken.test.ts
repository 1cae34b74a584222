/** Kraken's WebSocket v2 messages, as text because their numbers are bare, through a real socket. */

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startExchange, type TestExchange } from '../../../test/support/exchange.ts';
import { decimalText, parseLossless } from './json.ts';
import { KRAKEN } from './kraken.ts';

let exchange: TestExchange;
beforeEach(async () => {
  exchange = await startExchange();
  exchange.start({ format: KRAKEN, source: 'kraken', symbols: ['ETH/USD', 'USDC/USD'] });
  await exchange.connected(1);
});
afterEach(() => exchange.close());

const item = ({
  symbol = 'ETH/USD',
  bid = '2500.10',
  ask = '2500.20',
  bidQty = '1.50000000',
  askQty = '0.00100000',
  at = '00.100000',
}) =>
  `{"symbol":"${symbol}","bid":${bid},"bid_qty":${bidQty},"ask":${ask},"ask_qty":${askQty},"last":2500.15,"volume":10382.93021112,"vwap":2496.01,"low":2466.00,"high":2530.00,"change":12.50,"change_pct":0.50,"trades":38144,"timestamp":"2026-11-21T17:00:${at}Z"}`;
const ticker = (...items: Parameters<typeof item>[0][]) =>
  `{"channel":"ticker","type":"update","data":[${items.map(item).join(',')}]}`;
const STATUS = (system: string) =>
  `{"channel":"status","type":"update","data":[{"version":"2.0.10","system":"${system}","api_version":"v2","connection_id":9471984923908980762}]}`;

test('subscribes all symbols in one message and reads bare numbers as text', async () => {
  exchange.say(
    STATUS('online'),
    '{"method":"subscribe","result":{"channel":"ticker","event_trigger":"bbo","snapshot":true,"symbol":"ETH/USD"},"success":true,"time_in":"2026-11-21T17:00:00.000001Z","time_out":"2026-11-21T17:00:00.000002Z"}',
  );
  exchange.say(
    ticker(
      { bid: '2500.10', ask: '2500.20' },
      { symbol: 'USDC/USD', bid: '0.99980', ask: '0.99981', at: '18.054886' },
    ),
    '{"channel":"heartbeat"}',
  );
  await exchange.told(2);
  await exchange.asked(1);
  expect(exchange.heard).toEqual([
    {
      method: 'subscribe',
      params: { channel: 'ticker', symbol: ['ETH/USD', 'USDC/USD'], event_trigger: 'bbo', snapshot: true },
    },
  ]);
  const micros = Date.parse('2026-11-21T17:00:18.054Z') * 1_000 + 886;
  expect(exchange.quotes[0]).toMatchObject({ symbol: 'ETH/USD', bid: '2500.10', ask: '2500.20' });
  expect(exchange.quotes[1]).toEqual({
    source: 'kraken',
    symbol: 'USDC/USD',
    bid: '0.99980',
    ask: '0.99981',
    exchangeTimeMs: Math.floor(micros / 1_000),
    receivedMs: expect.any(Number),
    sequence: micros,
  });
});

test('orders by time: refuses repeats and steps back, accepts two prices of one microsecond', async () => {
  exchange.say(
    ticker({ at: '01.000001' }),
    ticker({ at: '01.000001' }),
    ticker({ at: '01.000001', bid: '2500.11' }),
    ticker({ at: '01.000000' }),
    ticker({ at: '01.000002' }),
    ticker({ symbol: 'USDC/USD', at: '00.5', bid: '0.9', ask: '1' }),
  );
  await exchange.told(6);
  expect(exchange.refusals()).toEqual(['duplicate', 'out_of_order']);
  expect(exchange.quotes.map(({ bid }) => bid)).toEqual(['2500.10', '2500.11', '2500.10', '0.9']);
});

test('refuses crossed, locked, empty and unreadable books, and unknown symbols', async () => {
  exchange.say(
    ticker({ bid: '2500.3' }),
    ticker({ bid: '2500.20' }),
    ticker({ bid: '0' }),
    ticker({ askQty: '0.00000000' }),
    ticker({ bid: '-1' }),
    ticker({ bid: 'null' }),
    ticker({ bid: '"x"' }),
    ticker({ symbol: 'DOGE/USD' }),
  );
  exchange.say(
    '{"channel":"ticker","type":"update","data":[]}',
    '{"channel":"ticker"}',
    '{"channel":"ticker","data":[7]}',
    'nonsense',
    '[]',
    '{}',
    ticker({ at: '99.9' }),
    ticker({ at: '05' }),
  );
  await exchange.told(16);
  expect(exchange.refusals()).toEqual([
    'crossed',
    'crossed',
    'empty',
    'empty',
    'malformed',
    'malformed',
    'malformed',
    'unknown_symbol',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
    'malformed',
  ]);
  expect(exchange.quotes).toHaveLength(1);
});

test('a market that does not match orders has no price', async () => {
  exchange.say(
    ticker({ at: '01' }),
    STATUS('maintenance'),
    ticker({ at: '02' }),
    STATUS('cancel_only'),
    ticker({ at: '03' }),
    STATUS('limit_only'),
    ticker({ at: '04' }),
    STATUS('online'),
    ticker({ at: '05' }),
  );
  await exchange.told(5);
  expect(exchange.refusals()).toEqual(['closed', 'closed']);
  expect(exchange.quotes).toHaveLength(3);
});

test('heartbeats keep the connection of a quiet market; without them it is replaced', async () => {
  exchange.start({ format: KRAKEN, symbols: ['ETH/USD'], silentMs: 2_000, pingMs: 1_000 });
  await exchange.connected(2);
  const beats = setInterval(() => exchange.say('{"channel":"heartbeat"}'), 30);
  await new Promise((resolve) => setTimeout(resolve, 2_600));
  expect(exchange.sockets).toHaveLength(2);
  clearInterval(beats);
  await exchange.connected(3);
});

test('subscribes again after a reconnect, and accepts an older snapshot', async () => {
  exchange.say(ticker({ at: '09' }));
  await exchange.told(1);
  exchange.sockets[0]?.close(1012);
  await exchange.connected(2);
  exchange.say(ticker({ at: '08' }).replace('update', 'snapshot'));
  await exchange.told(2);
  await exchange.asked(2);
  // The book as it is now, whenever it changed last.
  expect(exchange.quotes.map(({ exchangeTimeMs }) => exchangeTimeMs)).toEqual([
    Date.parse('2026-11-21T17:00:09Z'),
    null,
  ]);
});

test('logs a symbol that the exchange does not have, for the operator to correct', async () => {
  exchange.say(
    '{"error":"Currency pair not supported NOPE/USD","method":"subscribe","success":false,"symbol":"NOPE/USD","time_in":"2026-11-21T17:00:00.0Z","time_out":"2026-11-21T17:00:00.1Z"}',
    ticker({}),
  );
  await exchange.told(1);
  expect(exchange.troubles.at(-1)).toEqual({
    kind: 'rejected',
    symbol: 'NOPE/USD',
    detail: 'Currency pair not supported NOPE/USD',
  });
});

describe('lossless JSON', () => {
  test('keeps numbers as text wherever they stand, and leaves text with digits alone', () => {
    expect(
      parseLossless(
        '{"a":1.10,"b":[-2e-7,0.000000000000000000123456789],"c":"7 \\" 8, 9","d":true,"e":null}',
      ),
    ).toEqual({ a: '1.10', b: ['-2e-7', '0.000000000000000000123456789'], c: '7 " 8, 9', d: true, e: null });
  });
  test('equals JSON.parse except for numbers', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const asText = (part: unknown): unknown =>
          typeof part === 'number'
            ? JSON.stringify(part)
            : Array.isArray(part)
              ? part.map(asText)
              : typeof part === 'object' && part !== null
                ? Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, asText(inner)]))
                : part;
        expect(parseLossless(JSON.stringify(value))).toEqual(asText(JSON.parse(JSON.stringify(value))));
      }),
    );
  });
  test('refuses invalid JSON, in linear time', () => {
    expect(['', '{', '{"a":1.}', '{"a":--1}', '"\\', '1 2', '{"a":"1}'].map(parseLossless)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    // Quadratic, this would outlast the test by hours.
    expect(parseLossless(`"${'\\"'.repeat(2_000_000)}`)).toBeUndefined();
  });
  test.each([
    ['1.50', '1.50'],
    ['0.00001', '0.00001'],
    ['1e-5', '0.00001'],
    ['1.5E-7', '0.00000015'],
    ['12.345e2', '1234.5'],
    ['12.3e4', '123000'],
    ['5e0', '5'],
    ['0e5', '0'],
    ['2.5e-007', '0.00000025'],
    ['1.2345678901234567e-05', '0.000012345678901234567'],
    ['1.5E+0002', '150'],
    ['-1', undefined],
    ['1e999', undefined],
    ['', undefined],
    ['1.', undefined],
  ])('%s without an exponent is %s', (text, plain) => expect(decimalText(text)).toBe(plain));
});

test('never throws', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc
          .jsonValue()
          .map((value) =>
            JSON.stringify({ channel: 'ticker', data: [{ symbol: value, bid: value, ask: value }] }),
          ),
      ),
      (text) => Array.isArray(KRAKEN.reader(Date.now)(text)),
    ),
  );
});
