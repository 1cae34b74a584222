/** Price feeds: the best bid and ask of a symbol as the exchange published them, with their age. */

/**
 * One top of book. Prices are the source's decimal texts, so no float comes between the exchange and the
 * price.
 */
export interface FeedQuote {
  /** Name of the feed, such as "binance". */
  source: string;
  /** The source's symbol, such as "ETHUSDT". */
  symbol: string;
  /** Adapters guarantee bid > 0 and bid <= ask. */
  bid: string;
  ask: string;
  /** Unix ms of the exchange; null when it sends none (Binance spot bookTicker). */
  exchangeTimeMs: number | null;
  /**
   * Unix ms of our clock at arrival; for polled prices, at the request. A price is never younger than this.
   */
  receivedMs: number;
  /** Increases with every quote of a symbol; null when the source has none. */
  sequence: number | null;
}

/** A price used to check a mid but never as one, because it is too slow or too easily manipulated. */
export interface ReferencePrice {
  source: string;
  symbol: string;
  /** Decimal text, quote tokens per whole base token. */
  price: string;
  /** Unix ms to which the price applies. */
  atMs: number;
}

/** Feed problems that an operator should see. */
export type FeedTrouble =
  | { kind: 'connected' }
  | { kind: 'disconnected'; detail: string; retryInMs: number | null }
  /** No message arrived for so long that the connection was replaced. */
  | { kind: 'silent'; forMs: number }
  /** The source's sequence shows a missed message. The last price stays until it is too old. */
  | { kind: 'gap'; symbol: string }
  /** The source does not serve this symbol: the configuration must be corrected. */
  | { kind: 'rejected'; symbol: string | null; detail: string }
  /**
   * A message was refused: unreadable, crossed, empty, out of order, or of a closed market. The last price
   * stays.
   */
  | {
      kind: 'refused';
      why: 'malformed' | 'crossed' | 'empty' | 'out_of_order' | 'duplicate' | 'unknown_symbol' | 'closed';
      symbol: string | null;
    };

export interface FeedListener {
  quote(quote: FeedQuote): void;
  /** Called by feeds that provide reference prices only; they never call `quote`. */
  reference?(reference: ReferencePrice): void;
  trouble?(trouble: FeedTrouble): void;
}

export interface Feed {
  readonly source: string;
  /** Starts delivering and returns immediately. Call once per feed. */
  start(listener: FeedListener): void;
  /** Ends delivery and frees sockets and timers. */
  stop(): void;
}

/** Whether a rollup's sequencer is up, by the chain's uptime feed. */
export interface Sequencer {
  readonly chainId: number;
  /** Down, recently restarted and unknown all count as not up. `sinceMs` is Unix ms. */
  state(): { up: true; sinceMs: number } | { up: false; sinceMs: number; detail: string };
  start(): void;
  stop(): void;
}
