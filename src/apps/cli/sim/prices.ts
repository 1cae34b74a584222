/** Reads recorded exchange messages as one price per second. */

import { midpoint, parseDecimal, type Rational, toNumber } from '../../../pricing/rational.ts';
import { readMessage } from '../../../adapters/feeds/book-ticker.ts';
import { createSequence } from '../../../adapters/feeds/format.ts';
import { readRecording } from '../../../adapters/feeds/recording.ts';
import { badRequest } from '../../bad-request.ts';

const LONGEST_GAP_SECONDS = 86_400;

/**
 * One price per second, the last one received; gaps repeat it. Throws `RequestError` for less than a
 * minute and for gaps of more than a day.
 */
export async function readPrices(path: string) {
  const sequence = createSequence();
  const prices: number[] = [];
  let symbol: string | undefined;
  let startMs = 0;
  let last = 0;
  let second = 0;
  for await (const { atMs, text } of readRecording(path)) {
    if (atMs === undefined) continue;
    const message = readMessage(text);
    if (message.kind !== 'ticker') continue;
    const { ticker } = message;
    symbol ??= ticker.symbol;
    if (ticker.symbol !== symbol || sequence.take(ticker.symbol, ticker.update) !== undefined) continue;
    if (last === 0) [startMs, second] = [Math.floor(atMs), Math.floor(atMs / 1000)];
    if (atMs / 1000 - second > LONGEST_GAP_SECONDS)
      throw badRequest(
        `${path} has a line of ${new Date(atMs).toISOString()} after one of ${new Date(second * 1000).toISOString()}: gaps of more than a day cannot be filled. Remove what does not belong to the recording.`,
      );
    for (; second < Math.floor(atMs / 1000); second++) prices.push(last);
    last = toNumber(midpoint(parseDecimal(ticker.bid) as Rational, parseDecimal(ticker.ask) as Rational));
  }
  if (last > 0) prices.push(last);
  if (symbol === undefined || prices.length < 60)
    throw badRequest(
      `${path} holds ${prices.length} seconds of top-of-book prices; at least 60 are needed. See: firmquote feed replay ${path}`,
    );
  return { symbol, startMs, prices };
}
