/** What differs between exchanges: address, subscription, and message format. */

import { compare, parseDecimal } from '../../pricing/rational.ts';
import type { FeedQuote, FeedTrouble } from '../../ports/feed.ts';

export interface Format {
  canonical(symbol: string): string;
  address(url: string, symbols: readonly string[]): string;
  greeting(symbols: readonly string[]): readonly string[];
  /** One reader per connection, because a new connection may restart its sequence. */
  reader(): FrameReader;
}

/** Empty for heartbeats and acknowledgements. Never throws. */
export type FrameReader = (text: string) => readonly FeedEvent[];

export type FeedEvent =
  | ({ kind: 'quote' } & Pick<FeedQuote, 'symbol' | 'bid' | 'ask' | 'exchangeTimeMs' | 'sequence'>)
  | Extract<FeedTrouble, { kind: 'refused' | 'gap' | 'rejected' }>
  /** Messages may be missing: connect again. */
  | { kind: 'resync'; detail: string };

export type QuoteRefusal = Extract<FeedTrouble, { kind: 'refused' }>['why'];

export const MAX_MESSAGE_BYTES = 64 * 1024;

export const NOTHING: readonly FeedEvent[] = [];

export const refused = (
  why: QuoteRefusal,
  symbol: string | null,
): Extract<FeedEvent, { kind: 'refused' }> => ({ kind: 'refused', why, symbol });

const LONGEST_TEXT = 40;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT;

/** Sizes are checked where the exchange sends them. */
export function wrongBook(
  bid: unknown,
  ask: unknown,
  sizes: readonly unknown[],
): 'malformed' | 'empty' | 'crossed' | undefined {
  if (!isShortText(bid) || !isShortText(ask)) return 'malformed';
  const [bidPrice, askPrice, ...amounts] = [bid, ask, ...sizes].map((text) =>
    isShortText(text) ? parseDecimal(text) : undefined,
  );
  if (!bidPrice || !askPrice || amounts.some((amount) => amount === undefined)) return 'malformed';
  if (bidPrice.num === 0n || askPrice.num === 0n || amounts.some((amount) => amount?.num === 0n))
    return 'empty';
  // An exchange matches its own orders, so even a locked book is a mix of two states.
  return compare(bidPrice, askPrice) >= 0 ? 'crossed' : undefined;
}

export function createSequence() {
  const newest = new Map<string, number>();
  return {
    /** Why the update is refused; undefined when it is the newest. */
    take(symbol: string, update: number): 'duplicate' | 'out_of_order' | undefined {
      const last = newest.get(symbol);
      if (last !== undefined && update <= last) return update === last ? 'duplicate' : 'out_of_order';
      newest.set(symbol, update);
      return undefined;
    },
  };
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Of "2026-09-24T03:54:18.054886Z"; undefined for anything else. */
export function microsOf(text: unknown): number | undefined {
  const match = typeof text === 'string' && text.length <= LONGEST_TEXT ? TIME.exec(text) : null;
  if (match === null) return undefined;
  const seconds = Date.parse(`${match[1]}${match[3]}`);
  return Number.isFinite(seconds) && seconds > 0
    ? seconds * 1_000 + Number((match[2] ?? '').padEnd(6, '0').slice(0, 6))
    : undefined;
}
