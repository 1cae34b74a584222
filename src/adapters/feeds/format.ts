/**
 * What differs between exchanges: where to connect, what to ask for, and how to read what comes. Everything
 * else is in socket.ts.
 */

import { compare, parseDecimal } from '../../pricing/rational.ts';
import type { FeedQuote, FeedTrouble } from '../../ports/feed.ts';

export interface Format {
  /** A symbol as the exchange writes it. */
  canonical(symbol: string): string;
  /** Where to connect for these symbols. */
  address(url: string, symbols: readonly string[]): string;
  /** What to say once connected, in this order. */
  greeting(symbols: readonly string[]): readonly string[];
  /**
   * A reader with a memory of its own: one for each connection, because a new one may start counting anew.
   */
  reader(): Reader;
}

/** What one frame said: nothing for heartbeats and acknowledgements. Never throws, whatever arrives. */
export type Reader = (text: string) => readonly Heard[];

export type Heard =
  | ({ kind: 'quote' } & Pick<FeedQuote, 'symbol' | 'bid' | 'ask' | 'exchangeTimeMs' | 'sequence'>)
  | Extract<FeedTrouble, { kind: 'refused' | 'gap' | 'rejected' }>
  /** What we hold can no longer be trusted to be the newest: connect anew. */
  | { kind: 'resync'; detail: string };

export type Refusal = Extract<FeedTrouble, { kind: 'refused' }>['why'];

/** Longer than any top of book; what is longer is not read at all. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

export const NOTHING: readonly Heard[] = [];

export const refused = (why: Refusal, symbol: string | null): Extract<Heard, { kind: 'refused' }> => ({
  kind: 'refused',
  why,
  symbol,
});

const LONGEST_TEXT = 40;

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT;

/** Why these texts are no top of book; undefined: they are one. Sizes count where the exchange gives them. */
export function wrongBook(
  bid: unknown,
  ask: unknown,
  sizes: readonly unknown[],
): 'malformed' | 'empty' | 'crossed' | undefined {
  if (!isText(bid) || !isText(ask)) return 'malformed';
  const [bidPrice, askPrice, ...amounts] = [bid, ask, ...sizes].map((text) =>
    isText(text) ? parseDecimal(text) : undefined,
  );
  if (!bidPrice || !askPrice || amounts.some((amount) => amount === undefined)) return 'malformed';
  if (bidPrice.num === 0n || askPrice.num === 0n || amounts.some((amount) => amount?.num === 0n))
    return 'empty';
  // One exchange matches its own orders: even a locked book means that we see a mixture of two moments.
  return compare(bidPrice, askPrice) >= 0 ? 'crossed' : undefined;
}

/** Keeps each symbol's updates in order. */
export interface Sequence {
  /** Why this update comes too late, or undefined and it is the newest now. */
  take(symbol: string, update: number): 'duplicate' | 'out_of_order' | undefined;
}

export function createSequence(): Sequence {
  const newest = new Map<string, number>();
  return {
    take(symbol, update) {
      const last = newest.get(symbol);
      if (last !== undefined && update <= last) return update === last ? 'duplicate' : 'out_of_order';
      newest.set(symbol, update);
      return undefined;
    },
  };
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Microseconds since 1970 of a time such as "2026-09-24T03:54:18.054886Z"; undefined for anything else. */
export function microsOf(text: unknown): number | undefined {
  const match = typeof text === 'string' && text.length <= LONGEST_TEXT ? TIME.exec(text) : null;
  if (match === null) return undefined;
  const seconds = Date.parse(`${match[1]}${match[3]}`);
  return Number.isFinite(seconds) && seconds > 0
    ? seconds * 1_000 + Number((match[2] ?? '').padEnd(6, '0').slice(0, 6))
    : undefined;
}
