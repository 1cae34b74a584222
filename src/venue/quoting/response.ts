/** The answer to a quote request, in both namespaces: its id, its JSON text, and its metrics. */

import { toIso } from '../../domain/time.ts';
import { requestSpan } from '../../ports/tracer.ts';
import { type ProductUnavailable, UNAVAILABLE_CODES } from '../../protocol/api/quote.ts';
import type { VenueDeps } from '../deps.ts';

/** `quotes`: sealed candidates as JSON texts, best first. */
export interface QuoteOutcome {
  quotes: readonly string[];
  productUnavailable: ProductUnavailable | null;
}

interface QuoteResponse {
  requestId: string;
  startedMs: number;
}

export interface QuoteResponder {
  begin(): { requestId: string; startedMs: number };
  /** Returns the response body as JSON text. */
  finish(response: QuoteResponse, outcome: QuoteOutcome): string;
}

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 1];

export function createQuoteResponder({
  clock,
  random,
  metrics,
  tracer,
}: Pick<VenueDeps, 'clock' | 'random' | 'metrics' | 'tracer'>): QuoteResponder {
  const requests = metrics.counter('firmquote_venue_quote_requests_total', 'Quote requests', {
    result: ['quoted', ...UNAVAILABLE_CODES],
  });
  const seconds = metrics.histogram(
    'firmquote_venue_quote_seconds',
    'Time to answer a quote request',
    SECONDS,
  );
  return {
    begin: () => ({ requestId: random.bytes32().slice(2, 34), startedMs: clock.monotonicMs() }),
    finish({ requestId, startedMs }: QuoteResponse, { quotes, productUnavailable }: QuoteOutcome) {
      const tookMs = clock.monotonicMs() - startedMs;
      const result = productUnavailable?.code ?? 'quoted';
      seconds.observe(tookMs / 1000);
      requests.add({ result });
      const endMs = clock.nowMs();
      tracer?.record({
        name: 'quote request',
        ids: requestSpan(requestId),
        ...{ startMs: endMs - tookMs, endMs },
        attributes: { 'firmquote.result': result, 'firmquote.candidates': quotes.length },
        failed: productUnavailable?.message,
      });
      return `{"requestId":"${requestId}","createdAt":"${toIso(clock.nowMs())}","quotes":[${quotes.join(',')}],"productUnavailable":${JSON.stringify(productUnavailable)}}`;
    },
  };
}

export const noQuotes = (productUnavailable: ProductUnavailable): QuoteOutcome => ({
  quotes: [],
  productUnavailable,
});
