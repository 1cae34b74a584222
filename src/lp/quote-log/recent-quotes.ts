/** Keeps the last quotes and declines by reference, so that an operator can ask why each was answered so. */

import { LRUCache } from 'lru-cache';
import type { Decline } from '../../domain/decline.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { type DeclineRecord, explainDecline, explainQuote, type Explanation } from './explain.ts';
import type { QuoteRecord } from './quote-events.ts';

export interface RecentAnswers {
  quotes: readonly QuoteRecord[];
  /** Order ids of the accepted ones among them. */
  accepted: { has(orderId: string): boolean };
  declines: readonly DeclineRecord[];
}

export interface RecentQuotes {
  quoted(record: QuoteRecord): void;
  declined(
    rfq: Rfq,
    route: QuoteRoute | undefined,
    decline: Decline,
    atMs: number,
    inputs?: PriceInputs | undefined,
  ): void;
  accepted(orderId: string): void;
  quote(orderId: string): QuoteRecord | undefined;
  since(sinceMs: number): RecentAnswers;
  /** Explains the answers that have this order id, quote id or request id. */
  explain(id: string): Explanation[];
}

export function createRecentQuotes({ keep }: { keep: number }): RecentQuotes {
  const quotes = new LRUCache<string, QuoteRecord>({ max: keep });
  const accepted = new LRUCache<string, true>({ max: keep });
  const declines = new LRUCache<number, DeclineRecord>({ max: keep });
  let declineCount = 0;

  return {
    quoted(record) {
      quotes.set(record.orderId, record);
    },
    // A request itself is large; an explanation needs only these parts of it.
    declined({ rfqId, taker, side, amount, input, output }, route, decline, atMs, inputs) {
      const rfq = { rfqId, taker, side, amount, input, output };
      declines.set(declineCount++, { rfq, route, decline, atMs, inputs });
    },
    accepted(orderId) {
      accepted.set(orderId, true);
    },
    quote: (orderId) => quotes.peek(orderId),
    since: (sinceMs) => ({
      quotes: [...quotes.values()].filter(({ atMs }) => atMs >= sinceMs),
      accepted,
      declines: [...declines.values()].filter(({ atMs }) => atMs >= sinceMs),
    }),
    explain: (id) => [
      ...[...quotes.values()]
        .filter(({ orderId, quoteId, rfqId }) => orderId === id || quoteId === id || rfqId === id)
        .map(explainQuote),
      ...[...declines.values()].filter(({ rfq }) => rfq.rfqId === id).map(explainDecline),
    ],
  };
}
