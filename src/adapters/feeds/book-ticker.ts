/**
 * Reads Binance's bookTicker messages, alone or wrapped as `{"stream":…,"data":…}`. `u` rises with every
 * change, so jumps are normal. Repeats and steps back are refused.
 */

import type { FeedRefusal } from '../../ports/feed.ts';
import { isRecord, isShortText, readBook } from './format.ts';

interface BookTicker {
  symbol: string;
  bid: string;
  ask: string;
  update: number;
}

/** Binance says neither the time nor whether its market is open. */
type BookTickerRefusal = Exclude<FeedRefusal, 'closed' | 'future'>;

type BookTickerMessage =
  | { kind: 'ticker'; ticker: BookTicker }
  | { kind: 'refused'; why: BookTickerRefusal; symbol: string | null }
  | { kind: 'other'; data: Record<string, unknown> };

/** Never throws. */
export function readMessage(text: string): BookTickerMessage {
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

function readTicker(data: Record<string, unknown>): BookTickerMessage {
  const { u: update, s: symbol, b: bid, a: ask, B: bidSize, A: askSize } = data;
  const named = isShortText(symbol) ? symbol : null;
  const refuse = (why: BookTickerRefusal): BookTickerMessage => ({ kind: 'refused', why, symbol: named });
  if (named === null || typeof update !== 'number' || !Number.isSafeInteger(update) || update < 0)
    return refuse('malformed');
  const book = readBook(bid, ask, [bidSize, askSize]);
  return typeof book === 'string'
    ? refuse(book)
    : { kind: 'ticker', ticker: { symbol: named, ...book, update } };
}

/** Diff-depth messages also have `u`, `b` and `a`, but name their event. */
const looksLikeTicker = (data: Record<string, unknown>): boolean =>
  data['e'] === undefined && 'u' in data && 's' in data;
