/**
 * Prices from outside: a feed pushes the best bid and ask of a symbol as the exchange wrote them, with what
 * it knows of their age.
 */

/**
 * One top of book. Texts are the source's own decimals, so that no float ever stands between the exchange and
 * the price.
 */
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
  /**
   * When it reached us, by our clock; of something asked for: when we asked. A price is never younger than
   * this.
   */
  receivedMs: number;
  /** Rises with every quote of a symbol; null when the source has none. */
  sequence: number | null;
}

/** A price that may check others and never be one: too slow to quote from, or too easily moved. */
export interface ReferencePrice {
  source: string;
  symbol: string;
  /** Decimal text, whole quote tokens for one whole base token. */
  price: string;
  /** When it was true. */
  atMs: number;
}

/** Something between the feed and its source that an operator should see. */
export type FeedTrouble =
  | { kind: 'connected' }
  | { kind: 'disconnected'; detail: string; retryInMs: number | null }
  /** Nothing arrived for so long that the connection is presumed dead and is replaced. */
  | { kind: 'silent'; forMs: number }
  /**
   * The source proves that something was sent which did not arrive. The price before it stands until it is
   * too old.
   */
  | { kind: 'gap'; symbol: string }
  /** The source does not serve this symbol: somebody has to correct the configuration. */
  | { kind: 'rejected'; symbol: string | null; detail: string }
  /**
   * Refused: unreadable, crossed, empty, older than what we have, or of a market that is not trading. The
   * price before it stands.
   */
  | {
      kind: 'refused';
      why: 'malformed' | 'crossed' | 'empty' | 'out_of_order' | 'duplicate' | 'unknown_symbol' | 'closed';
      symbol: string | null;
    };

export interface FeedListener {
  quote(quote: FeedQuote): void;
  /** Feeds that only check others call this and never `quote`. */
  reference?(reference: ReferencePrice): void;
  trouble?(trouble: FeedTrouble): void;
}

export interface Feed {
  readonly source: string;
  /** Starts delivering; returns at once. A feed is started once. */
  start(listener: FeedListener): void;
  /** Delivers nothing after this; frees sockets and timers. */
  stop(): void;
}

/** Whether a rollup's sequencer lets people act on that chain, by the chain's own uptime feed. */
export interface Sequencer {
  readonly chainId: number;
  /** Down, just come back, or unknown are all not `up`. */
  state(): { up: true; sinceMs: number } | { up: false; sinceMs: number; detail: string };
  start(): void;
  stop(): void;
}
