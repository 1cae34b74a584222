/** Counts what was quoted: value and spread of each request, by its first tenor. */

import type { LpMetrics } from '../metrics.ts';
import type { QuoteEventListener } from '../quote-log/quote-events.ts';

export function createQuoteMetrics({
  quotedUsd,
  spreadBps,
}: Pick<LpMetrics, 'quotedUsd' | 'spreadBps'>): QuoteEventListener {
  let lastRfq = '';
  return {
    quoted({ rfqId, route, priced }) {
      // The tenors of one request come one after the other.
      if (rfqId === lastRfq) return;
      lastRfq = rfqId;
      const labels = { pair: route.pairName };
      quotedUsd.add(labels, Number(priced.notional) / 1e6);
      spreadBps.observe(priced.terms.D, labels);
    },
  };
}
