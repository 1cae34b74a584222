/**
 * The exchanges whose WebSockets make prices. The kinds of the configuration, what can be recorded, and the
 * feeds that `lp init` writes all follow from this table.
 */

import { BINANCE } from './binance.ts';
import { COINBASE } from './coinbase.ts';
import type { Format } from './format.ts';
import { KRAKEN } from './kraken.ts';

interface Exchange {
  format: Format;
  /** The public address, which a configuration may replace. */
  url: string;
  /** The text between base and quote in a symbol. */
  separator: string;
  /** The dollar in which most assets trade there. */
  dollar: string;
}

export const EXCHANGE_SOCKETS = {
  binance: { format: BINANCE, url: 'wss://stream.binance.com:9443', separator: '', dollar: 'USDC' },
  coinbase: { format: COINBASE, url: 'wss://ws-feed.exchange.coinbase.com', separator: '-', dollar: 'USD' },
  kraken: { format: KRAKEN, url: 'wss://ws.kraken.com/v2', separator: '/', dollar: 'USD' },
} as const satisfies Record<string, Exchange>;

export type ExchangeKind = keyof typeof EXCHANGE_SOCKETS;

export const EXCHANGE_KINDS = Object.keys(EXCHANGE_SOCKETS) as [ExchangeKind, ...ExchangeKind[]];

export const symbolAt = (kind: ExchangeKind, { base, quote }: { base: string; quote: string }): string =>
  `${base}${EXCHANGE_SOCKETS[kind].separator}${quote}`;

/** The format in which the message is a price; undefined: in none. A recording does not name its exchange. */
export const formatOf = (text: string): Format | undefined =>
  Object.values(EXCHANGE_SOCKETS)
    .map(({ format }) => format)
    .find((format) =>
      format
        .reader(() => Number.POSITIVE_INFINITY)(text)
        .some(({ kind }) => kind === 'quote'),
    );
