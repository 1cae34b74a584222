/**
 * Reads an exchange's bookTicker stream as Binance writes it: `{"u":…,"s":…,"b":…,"B":…,"a":…,"A":…}`, alone or wrapped as
 * `{"stream":…,"data":…}`. The live feed and the replay of recordings read through this one door.
 *
 * `u` rises with every change of the order book, but a message comes only when the top changes: a jump of `u` is normal
 * and proves nothing. A repeat or a step back is refused, and a repeat does not make the price any younger.
 */

import type { FeedTrouble } from '../../ports/feed.ts';
import { compare, parseDecimal } from '../../pricing/rational.ts';

export interface Ticker {
  symbol: string;
  bid: string;
  ask: string;
  update: number;
}

export type Refusal = Exclude<Extract<FeedTrouble, { kind: 'refused' }>['why'], 'closed'>;

/** `other`: a message of another stream, or an answer to a command; `data` is its payload. */
export type Message = { kind: 'ticker'; ticker: Ticker } | { kind: 'refused'; why: Refusal; symbol: string | null } | { kind: 'other'; data: Record<string, unknown> };

/** Longer than any top of book; what is longer is not read at all. */
export const MAX_MESSAGE_BYTES = 64 * 1024;

const LONGEST_TEXT = 40;

/** Splits a frame into a ticker, a refusal, or something else. Never throws, whatever arrives. */
export function readMessage(text: string): Message {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'refused', why: 'malformed', symbol: null };
  }
  if (!isRecord(json)) return { kind: 'refused', why: 'malformed', symbol: null };
  const wrapped = typeof json['stream'] === 'string';
  const data = wrapped ? json['data'] : json;
  if (!isRecord(data)) return { kind: 'refused', why: 'malformed', symbol: null };
  const claims = wrapped ? (json['stream'] as string).endsWith('@bookTicker') : looksLikeTicker(data);
  return claims ? readTicker(data) : { kind: 'other', data };
}

function readTicker(data: Record<string, unknown>): Message {
  const { u: update, s: symbol, b: bid, a: ask, B: bidSize, A: askSize } = data;
  const named = typeof symbol === 'string' && symbol.length <= LONGEST_TEXT ? symbol : null;
  const refuse = (why: Refusal): Message => ({ kind: 'refused', why, symbol: named });
  if (named === null || !isText(bid) || !isText(ask) || !isText(bidSize) || !isText(askSize)) return refuse('malformed');
  if (typeof update !== 'number' || !Number.isSafeInteger(update) || update < 0) return refuse('malformed');
  const [bidPrice, askPrice, bidAmount, askAmount] = [parseDecimal(bid), parseDecimal(ask), parseDecimal(bidSize), parseDecimal(askSize)];
  if (!bidPrice || !askPrice || !bidAmount || !askAmount) return refuse('malformed');
  if (bidPrice.num === 0n || askPrice.num === 0n || bidAmount.num === 0n || askAmount.num === 0n) return refuse('empty');
  // One exchange matches its own orders: even a locked book means that we see a mixture of two moments.
  if (compare(bidPrice, askPrice) >= 0) return refuse('crossed');
  return { kind: 'ticker', ticker: { symbol: named, bid, ask, update } };
}

/** Keeps each symbol's updates in order. One for each connection: a new one may start counting anew. */
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

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_TEXT;
/** Diff depth also has `u`, `b` and `a`, but names its event; a ticker of the spot market does not. */
const looksLikeTicker = (data: Record<string, unknown>): boolean => data['e'] === undefined && 'u' in data && 's' in data;
