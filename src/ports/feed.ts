/** Prices from outside: a feed pushes the best bid and ask of a symbol as the exchange wrote them, with what it knows of their age. */

/** One top of book. Texts are the source's own decimals, so that no float ever stands between the exchange and the price. */
export interface FeedQuote {
  /** Which feed said so, such as "binance". */
  source: string;
  /** As the source names it, such as "ETHUSDT". */
  symbol: string;
  /** bid > 0 and bid <= ask: an adapter refuses the rest. */
  bid: string;
  ask: string;
  /** When the exchange says it happened; null when it does not say (Binance spot bookTicker does not). */
  exchangeTimeMs: number | null;
  /** When it reached us, by our clock. Age is counted from here: an exchange's clock may run ahead of ours. */
  receivedMs: number;
  /** Rises with every quote of a symbol; null when the source has none. */
  sequence: number | null;
}

/** Something between the feed and its source that an operator should see. */
export type FeedTrouble =
  | { kind: 'connected' }
  | { kind: 'disconnected'; detail: string; retryInMs: number | null }
  /** Nothing arrived for so long that the connection is presumed dead and is replaced. */
  | { kind: 'silent'; forMs: number }
  /** Refused: unreadable, crossed, empty, or older than what we have. The price before it stands. */
  | { kind: 'refused'; why: 'malformed' | 'crossed' | 'empty' | 'out_of_order' | 'duplicate' | 'unknown_symbol'; symbol: string | null };

export interface FeedListener {
  quote(quote: FeedQuote): void;
  trouble?(trouble: FeedTrouble): void;
}

export interface Feed {
  readonly source: string;
  /** Starts delivering; returns at once. A feed is started once. */
  start(listener: FeedListener): void;
  /** Delivers nothing after this; frees sockets and timers. */
  stop(): void;
}
