/** Reads recorded exchange messages as one price per second. */

import { midpoint, parseDecimal, type Rational, toNumber } from '../../../pricing/rational.ts';
import type { FrameReader } from '../../../adapters/feeds/format.ts';
import { formatOf } from '../../../adapters/feeds/formats.ts';
import { isClockStep, readRecording } from '../../../adapters/feeds/recording.ts';
import { badRequest } from '../../wiring/bad-request.ts';

const LONGEST_GAP_SECONDS = 86_400;

interface RecordedPrices {
  symbol: string;
  startMs: number;
  /** One price per second, the last one received; gaps repeat it. */
  prices: number[];
}

/**
 * Reads every symbol of a recording, in the order of appearance. Throws `RequestError` when the times of the
 * recording cannot be trusted.
 */
async function readSymbols(path: string): Promise<RecordedPrices[]> {
  const symbols = new Map<string, RecordedPrices & { last: number }>();
  let read: FrameReader | undefined;
  let nowMs = 0;
  const second = () => Math.floor(nowMs / 1000);
  const fill = (each: RecordedPrices & { last: number }) => {
    const from = Math.floor(each.startMs / 1000);
    while (from + each.prices.length < second()) each.prices.push(each.last);
  };

  for await (const { atMs, text } of readRecording(path)) {
    if (atMs === undefined) continue;
    refuseWrongTimes(path, nowMs, atMs);
    nowMs = Math.max(nowMs, atMs);
    read ??= formatOf(text)?.reader(() => nowMs);
    for (const event of read?.(text) ?? []) {
      if (event.kind !== 'quote') continue;
      const { symbol, bid, ask } = event;
      const mid = toNumber(midpoint(parseDecimal(bid) as Rational, parseDecimal(ask) as Rational));
      const known = symbols.get(symbol);
      if (known === undefined) {
        symbols.set(symbol, { symbol, startMs: Math.floor(nowMs), prices: [], last: mid });
      } else {
        fill(known);
        known.last = mid;
      }
    }
  }
  return [...symbols.values()].map((each) => {
    fill(each);
    const { symbol, startMs, prices, last } = each;
    return { symbol, startMs, prices: [...prices, last] };
  });
}

function refuseWrongTimes(path: string, beforeMs: number, atMs: number): void {
  if (beforeMs === 0) return;
  const order = `${path} has a line of ${new Date(atMs).toISOString()} after one of ${new Date(beforeMs).toISOString()}`;
  if (isClockStep(beforeMs, atMs))
    throw badRequest(
      `${order}: the clock of the recorder was set back, or two recordings were joined in the wrong order. Nobody can tell which price belongs to which second. Split the file there and replay each part.`,
    );
  if (atMs - beforeMs > LONGEST_GAP_SECONDS * 1000)
    throw badRequest(
      `${order}: gaps of more than a day cannot be filled. Remove what does not belong to the recording.`,
    );
}

/**
 * Reads one symbol of a recording: `FILE` for its first, `FILE#SYMBOL` for another. Throws `RequestError`
 * when the symbol is missing or its prices are shorter than `leastSeconds`.
 */
export async function readRecordedPrices(source: string, leastSeconds: number): Promise<RecordedPrices> {
  const [, path = source, symbol] = /^(.+)#([^#/]+)$/.exec(source) ?? [];
  const symbols = await readSymbols(path);
  const found = symbol === undefined ? symbols[0] : symbols.find((each) => each.symbol === symbol);
  if (found === undefined && symbol !== undefined)
    throw badRequest(
      `${path} has no prices of ${symbol}. It has: ${symbols.map((each) => each.symbol).join(', ') || 'none'}.`,
    );
  if (found === undefined || found.prices.length < leastSeconds)
    throw badRequest(
      `${source} holds ${found?.prices.length ?? 0} seconds of top-of-book prices; at least ${leastSeconds} are needed. See: firmquote feed replay ${path}`,
    );
  return found;
}

/** Cuts recordings to the seconds that all of them have. Throws `RequestError` when there are too few. */
export function overlapOf(recordings: readonly RecordedPrices[], leastSeconds: number): RecordedPrices[] {
  const firstSecond = ({ startMs }: RecordedPrices) => Math.floor(startMs / 1000);
  const from = Math.max(...recordings.map(firstSecond));
  const until = Math.min(...recordings.map((each) => firstSecond(each) + each.prices.length));
  if (until - from < leastSeconds)
    throw badRequest(
      `The recordings of ${recordings.map(({ symbol }) => symbol).join(' and ')} have ${Math.max(until - from, 0)} seconds in common; at least ${leastSeconds} are needed. Record them at the same time.`,
    );
  return recordings.map((each) => ({
    ...each,
    startMs: Math.max(...recordings.map(({ startMs }) => startMs)),
    prices: each.prices.slice(from - firstSecond(each), until - firstSecond(each)),
  }));
}
