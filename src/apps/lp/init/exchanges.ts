/** The feeds that `lp init` writes. */

import { EXCHANGE_KINDS, type ExchangeKind } from '../../../adapters/feeds/formats.ts';

const polled = (url: string, bid: string, ask: string, time: string | null) => ({
  kind: 'http',
  url,
  bid,
  ask,
  time,
  everyMs: 2_000,
});

/** Several exchanges make prices, so that one may fail. The others, polled, check them and watch pegs. */
export const EXCHANGES = {
  ...(Object.fromEntries(EXCHANGE_KINDS.map((kind) => [kind, { kind }])) as {
    [kind in ExchangeKind]: { kind: kind };
  }),
  'kraken-rest': polled(
    'https://api.kraken.com/0/public/Ticker?pair={symbol}',
    'result.*.b.0',
    'result.*.a.0',
    null,
  ),
  'coinbase-rest': polled('https://api.exchange.coinbase.com/products/{symbol}/ticker', 'bid', 'ask', 'time'),
  bitstamp: polled('https://www.bitstamp.net/api/v2/ticker/{symbol}/', 'bid', 'ask', 'timestamp'),
};
