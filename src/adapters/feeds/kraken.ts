/**
 * Kraken's `ticker` channel, WebSocket v2. Without a sequence, the exchange's time keeps the order. A
 * snapshot is dated by its arrival; in a quiet market only snapshots prove that the book stands.
 */

import {
  among,
  createTimeOrder,
  type Format,
  type FeedEvent,
  isRecord,
  isShortText,
  microsOf,
  NOTHING,
  readBook,
  refused,
} from './format.ts';
import { parseLossless } from './json.ts';

const MATCHING = new Set(['online', 'limit_only']);

export const KRAKEN: Format = {
  canonical: (symbol) => symbol.toUpperCase(),
  address: (url) => url,
  greeting: (symbols) => [
    JSON.stringify({
      method: 'subscribe',
      params: { channel: 'ticker', symbol: symbols, event_trigger: 'bbo', snapshot: true },
    }),
  ],
  reader(nowMs, symbols) {
    const isKnown = among(symbols);
    const order = createTimeOrder(nowMs);
    const newest = new Map<string, { micros: number; bid: string; ask: string }>();
    let matching = true;

    function ticker(data: unknown, snapshot: boolean): FeedEvent {
      if (!isRecord(data) || !isShortText(data['symbol'])) return refused('malformed', null);
      const { symbol } = data;
      if (!isKnown(symbol)) return refused('unknown_symbol', symbol);
      const book = readBook(data['bid'], data['ask'], [data['bid_qty'], data['ask_qty']]);
      if (typeof book === 'string') return refused(book, symbol);
      const { bid, ask } = book;
      const micros = microsOf(data['timestamp']);
      if (data['timestamp'] !== undefined && micros === undefined) return refused('malformed', symbol);
      if (!matching) return refused('closed', symbol);
      if (micros !== undefined) {
        const last = newest.get(symbol);
        if (micros === last?.micros && bid === last.bid && ask === last.ask)
          return refused('duplicate', symbol);
        const late = order.take(symbol, micros / 1_000);
        if (late !== undefined) return refused(late, symbol);
        newest.set(symbol, { micros, bid, ask });
      }
      return {
        kind: 'quote',
        symbol,
        bid,
        ask,
        exchangeTimeMs: micros === undefined || snapshot ? null : Math.floor(micros / 1_000),
        sequence: micros ?? null,
      };
    }

    return (text) => {
      const json = parseLossless(text);
      if (!isRecord(json)) return [refused('malformed', null)];
      const { channel, method, data } = json;
      if (channel === 'ticker')
        return Array.isArray(data) && data.length > 0
          ? data.map((item) => ticker(item, json['type'] === 'snapshot'))
          : [refused('malformed', null)];
      if (channel === 'status') {
        const system = Array.isArray(data) && isRecord(data[0]) ? data[0]['system'] : undefined;
        if (typeof system === 'string') matching = MATCHING.has(system);
        return NOTHING;
      }
      if (method === 'subscribe' && json['success'] === false) {
        return [
          {
            kind: 'rejected',
            symbol: isShortText(json['symbol']) ? json['symbol'] : null,
            detail:
              typeof json['error'] === 'string' ? json['error'].slice(0, 200) : 'refused without a reason',
          },
        ];
      }
      return typeof channel === 'string' || typeof method === 'string' || typeof json['error'] === 'string'
        ? NOTHING
        : [refused('malformed', null)];
    };
  },
};
