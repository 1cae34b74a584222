/** Price feeds: best bid and ask as the exchange published them, with their age. */

/** One top of book. Prices are the source's decimal texts, so none passes through a float. */
export interface FeedPrice {
  source: string;
  symbol: string;
  /** bid > 0 and bid <= ask. */
  bid: string;
  ask: string;
  /** Unix ms of the exchange; null when it sends none. */
  exchangeTimeMs: number | null;
  /** Unix ms of our clock at arrival, or of the request when polled. */
  receivedMs: number;
  /** The source's number of this quote; rises until the source starts again. null when it has none. */
  sequence: number | null;
}

/** Checks a mid but never becomes one: it is too slow or too easily manipulated. */
export interface ReferencePrice {
  source: string;
  symbol: string;
  /** Quote tokens per whole base token. */
  price: string;
  atMs: number;
}

export type FeedTrouble =
  | { kind: 'connected' }
  /** `reason`: the source asked to wait, so the next attempt is that far away. */
  | { kind: 'disconnected'; detail: string; retryInMs: number | null; reason?: FeedWaitReason }
  /** The connection was replaced for lack of messages. */
  | { kind: 'silent'; forMs: number }
  /** A message was missed. The last price stays until it is too old. */
  | { kind: 'gap'; symbol: string }
  /** The source does not serve this symbol: correct the configuration. */
  | { kind: 'rejected'; symbol: string | null; detail: string }
  /** A message was refused. The last price stays. `detail` quotes what could not be read. */
  | { kind: 'refused'; why: FeedRefusal; symbol: string | null; detail?: string };

/** The reasons for which a source asks the LP to wait. */
export const FEED_WAIT_REASONS = ['rate_limited', 'banned', 'unavailable'] as const;
export type FeedWaitReason = (typeof FEED_WAIT_REASONS)[number];

export const FEED_REFUSALS = [
  'malformed',
  /** Below 1e-18 or from 1e18 on: more than prices are calculated with. */
  'out_of_range',
  'crossed',
  'empty',
  'out_of_order',
  'duplicate',
  /** Dated ahead of our clock by more than the allowed skew. */
  'future',
  'unknown_symbol',
  'closed',
] as const;
export type FeedRefusal = (typeof FEED_REFUSALS)[number];

export interface FeedListener {
  quote(quote: FeedPrice): void;
  reference?(reference: ReferencePrice): void;
  trouble?(trouble: FeedTrouble): void;
}

export interface Feed {
  readonly source: string;
  /** Returns immediately. Call once. */
  start(listener: FeedListener): void;
  stop(): void;
}

export interface Sequencer {
  readonly chainId: number;
  /** Down, recently restarted and unknown count as not up. `sinceMs` is Unix ms. */
  state(): { up: true; sinceMs: number } | { up: false; sinceMs: number; detail: string };
  start(): void;
  stop(): void;
}
