/** Declares what differs between exchanges: address, subscription, and message format. */

import { ten } from '../../domain/amount.ts';
import { compare, parseDecimal, type Rational } from '../../pricing/rational.ts';
import type { FeedPrice, FeedRefusal, FeedTrouble } from '../../ports/feed.ts';
import { decimalText } from './json.ts';

export interface Format {
  canonical(symbol: string): string;
  address(url: string, symbols: readonly string[]): string;
  greeting(symbols: readonly string[]): readonly string[];
  /**
   * Makes a reader for one connection, because a new connection may restart its sequence. `nowMs` gives the
   * Unix ms at which the message arrived. Other symbols are refused and not remembered; without a list, none
   * is.
   */
  reader(nowMs: () => number, symbols?: readonly string[]): FrameReader;
}

/** Reads one message; returns no events for heartbeats and acknowledgements. Never throws. */
export type FrameReader = (text: string) => readonly FeedEvent[];

export type FeedEvent =
  | ({ kind: 'quote' } & Pick<FeedPrice, 'symbol' | 'bid' | 'ask' | 'exchangeTimeMs' | 'sequence'>)
  | Extract<FeedTrouble, { kind: 'refused' | 'gap' | 'rejected' }>
  /** Messages may be missing: connect again. */
  | { kind: 'resync'; detail: string };

/**
 * The most that an exchange's clock or a block's time may be ahead of ours. A price counts from its arrival
 * at the latest, so a stamp within this limit does not make it younger.
 */
const MAX_AHEAD_MS = 5_000;

export const MAX_MESSAGE_BYTES = 64 * 1024;

export const NOTHING: readonly FeedEvent[] = [];

export const refused = (
  why: FeedRefusal,
  symbol: string | null,
): Extract<FeedEvent, { kind: 'refused' }> => ({ kind: 'refused', why, symbol });

const LONGEST_TEXT = 40;

/** Returns a predicate that is true for symbols that may be remembered. */
export const among = (symbols: readonly string[] | undefined): ((symbol: string) => boolean) => {
  const known = symbols && new Set(symbols);
  return (symbol) => known === undefined || known.has(symbol);
};

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isShortText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT;

/** 78 digits on both sides of the point. */
const LONGEST_NUMBER = 160;

/** A number as text, however it is written; undefined for everything else. */
const plainNumber = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= LONGEST_NUMBER ? decimalText(value) : undefined;

/** Bid and ask as plain decimal texts with all their digits. */
export interface Book {
  bid: string;
  ask: string;
}

type BookRefusal = 'malformed' | 'out_of_range' | 'empty' | 'crossed';

/**
 * Reads prices that are texts such as "2500.10" or "2.5e-7"; sizes are checked where the exchange sends them.
 * The market rounds a bid down and an ask up to 1e-18, so a bid below that is no price. Returns why the book
 * is refused.
 */
export function readBook(bid: unknown, ask: unknown, sizes: readonly unknown[]): Book | BookRefusal {
  const [bidText, askText] = [plainNumber(bid), plainNumber(ask)];
  if (bidText === undefined || askText === undefined) return 'malformed';
  const [bidPrice, askPrice] = [parseDecimal(bidText), parseDecimal(askText)];
  const amounts = sizes.map((size) => parseDecimal(plainNumber(size) ?? ''));
  if (!bidPrice || !askPrice || amounts.some((amount) => amount === undefined)) return 'malformed';
  if (bidPrice.num === 0n || askPrice.num === 0n || amounts.some((amount) => amount?.num === 0n))
    return 'empty';
  if (!isInRange(bidPrice) || !isInRange(askPrice)) return 'out_of_range';
  // An exchange matches its own orders, so even a locked book is a mix of two states.
  return compare(bidPrice, askPrice) >= 0 ? 'crossed' : { bid: bidText, ask: askText };
}

/** The market calculates in 1e-18 of a quote token; no asset costs 1e18 tokens. */
const isInRange = ({ num, den }: Rational): boolean => num * ten(18) >= den && num < den * ten(18);

/** Reads prices like `readBook`, for a source that may say one price for both sides. */
export function readPrices(bid: unknown, ask: unknown): Book | BookRefusal {
  const book = readBook(bid, ask, []);
  return book === 'crossed' && bid === ask
    ? { bid: plainNumber(bid) ?? '', ask: plainNumber(ask) ?? '' }
    : book;
}

/**
 * Orders the updates of each symbol by their number. A single step back is a late message. A second one that
 * rises above the first means that the source started again, or that the highest number was wrong.
 */
interface Sequence {
  /** Returns the reason to refuse the update; undefined when it is the newest. */
  take(symbol: string, update: number): 'duplicate' | 'out_of_order' | undefined;
}

export function createSequence(): Sequence {
  const newest = new Map<string, { update: number; behind: number | undefined }>();
  return {
    take(symbol, update) {
      const last = newest.get(symbol);
      if (update === last?.update) return 'duplicate';
      if (last === undefined || update > (last.behind ?? last.update)) {
        newest.set(symbol, { update, behind: undefined });
        return undefined;
      }
      last.behind = update;
      return 'out_of_order';
    },
  };
}

export const isFuture = (stampMs: number, nowMs: number): boolean => stampMs > nowMs + MAX_AHEAD_MS;

/** Orders the prices of each symbol by the exchange's time. */
export interface TimeOrder {
  /** Returns the reason to refuse the price; undefined when it is the newest. */
  take(symbol: string, stampMs: number): 'future' | 'out_of_order' | undefined;
}

export function createTimeOrder(nowMs: () => number): TimeOrder {
  const newest = new Map<string, number>();
  return {
    take(symbol, stampMs) {
      const now = nowMs();
      if (isFuture(stampMs, now)) return 'future';
      const last = newest.get(symbol);
      // A last time after now means that our own clock was set back: it orders nothing.
      if (last !== undefined && last <= now && stampMs < last) return 'out_of_order';
      newest.set(symbol, Math.min(stampMs, now));
      return undefined;
    },
  };
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Parses a time such as "2026-09-24T03:54:18.054886Z" to microseconds; undefined for anything else. */
export function microsOf(text: unknown): number | undefined {
  const match = typeof text === 'string' && text.length <= LONGEST_TEXT ? TIME.exec(text) : null;
  if (match === null) return undefined;
  const seconds = Date.parse(`${match[1]}${match[3]}`);
  return Number.isFinite(seconds) && seconds > 0
    ? seconds * 1_000 + Number((match[2] ?? '').padEnd(6, '0').slice(0, 6))
    : undefined;
}
