/**
 * Coinbase's `ticker` and `heartbeat` channels. `sequence` counts all events of a product, so jumps are
 * normal; repeats and steps back are refused. A trade without a ticker by the next heartbeat is a lost
 * message.
 */

import {
  among,
  createSequence,
  type Format,
  type FeedEvent,
  isFuture,
  isRecord,
  isShortText,
  microsOf,
  NOTHING,
  readBook,
  refused,
} from './format.ts';

export const COINBASE: Format = {
  canonical: (symbol) => symbol.toUpperCase(),
  address: (url) => url,
  // A product that does not exist fails its whole message.
  greeting: (symbols) =>
    symbols.map((symbol) =>
      JSON.stringify({ type: 'subscribe', product_ids: [symbol], channels: ['ticker', 'heartbeat'] }),
    ),
  reader(nowMs, symbols) {
    const isKnown = among(symbols);
    const sequence = createSequence();
    const trades = new Map<string, number>();
    const named = new Map<string, number>();

    function ticker({
      product_id: symbol,
      sequence: number,
      best_bid: bid,
      best_ask: ask,
      best_bid_size: bidSize,
      best_ask_size: askSize,
      time,
      trade_id: trade,
    }: Record<string, unknown>): FeedEvent {
      if (!isShortText(symbol)) return refused('malformed', null);
      if (!isKnown(symbol)) return refused('unknown_symbol', symbol);
      const book = readBook(
        bid,
        ask,
        [bidSize, askSize].filter((size) => size !== undefined),
      );
      const micros = microsOf(time);
      if (typeof book === 'string') return refused(book, symbol);
      if (!isCount(number) || (time !== undefined && micros === undefined))
        return refused('malformed', symbol);
      // Before the sequence is taken, which a wrong message must not move.
      if (micros !== undefined && isFuture(micros / 1_000, nowMs())) return refused('future', symbol);
      const late = sequence.take(symbol, number);
      if (late !== undefined) return refused(late, symbol);
      if (isCount(trade)) trades.set(symbol, trade);
      return {
        kind: 'quote',
        symbol,
        ...book,
        exchangeTimeMs: micros === undefined ? null : Math.floor(micros / 1_000),
        sequence: number,
      };
    }

    function heartbeat({
      product_id: symbol,
      last_trade_id: last,
    }: Record<string, unknown>): readonly FeedEvent[] {
      if (!isShortText(symbol) || !isCount(last)) return [refused('malformed', null)];
      if (!isKnown(symbol)) return [refused('unknown_symbol', symbol)];
      const [seen, before] = [trades.get(symbol), named.get(symbol)];
      named.set(symbol, last);
      if (seen === undefined || before === undefined || before <= seen) return NOTHING;
      return [
        { kind: 'gap', symbol },
        { kind: 'resync', detail: `a ticker of ${symbol} is missing` },
      ];
    }

    return (text) => {
      const json = parse(text);
      if (!isRecord(json)) return [refused('malformed', null)];
      switch (json['type']) {
        case 'ticker':
          return [ticker(json)];
        case 'heartbeat':
          return heartbeat(json);
        case 'error':
          return [
            {
              kind: 'rejected',
              symbol: null,
              detail: [json['message'], json['reason']]
                .filter((part) => typeof part === 'string')
                .join(': ')
                .slice(0, 200),
            },
          ];
        default:
          return typeof json['type'] === 'string' ? NOTHING : [refused('malformed', null)];
      }
    };
  },
};

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
