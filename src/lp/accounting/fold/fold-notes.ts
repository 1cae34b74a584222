/** Folds the notes of this process: acceptances, fills that are not final, marks and adjustments. */

import type { StoredExplanation } from '../../../ports/stores/accounting-store.ts';
import { explainQuote } from '../../quote-log/explain.ts';
import type { QuoteRecord } from '../../quote-log/quote-events.ts';
import { idOf } from '../ledger/facts.ts';
import { type Folding, type Note, ownerMoves, putTrade, tradeOfId } from './folding.ts';

export const explanationOf = (record: QuoteRecord): StoredExplanation => ({
  orderId: record.orderId,
  quoteId: record.quoteId,
  rfqId: record.rfqId,
  atMs: record.atMs,
  explanation: explainQuote(record),
});

export function foldNote(folding: Folding, made: Note): void {
  const { held, pass, batch } = folding;
  const { journal } = held;
  switch (made.kind) {
    case 'accepted': {
      if (tradeOfId(folding, made.trade.orderId) !== undefined) break;
      putTrade(folding, made.trade);
      if (made.record !== undefined) batch.explanations.push(explanationOf(made.record));
      break;
    }
    case 'filled':
      if (
        !pass.known.has(idOf.fill(made.exchange.orderId, made.place)) &&
        !pass.known.has(idOf.sent(made.exchange.orderId, made.place))
      )
        batch.entries.push(...journal.filled(made.exchange, made.place));
      break;
    case 'unfilled':
      batch.entries.push(...journal.unfilled(made.orderId, made.was, made.atMs));
      break;
    case 'failed': {
      const trade = tradeOfId(folding, made.orderId);
      // A filled trade ends by chain facts only.
      if (trade !== undefined && trade.stage === 'accepted' && !trade.counted)
        putTrade(folding, { ...trade, stage: 'failed' });
      break;
    }
    case 'adjusted': {
      const { money } = made;
      const posted = journal.adjusted(money, made.block, made.atMs);
      batch.entries.push(...posted);
      // A surplus or loss that no trade explains counts like the owner's money.
      if (money.token !== 'native' && posted.length > 0)
        ownerMoves(folding, { ...money, token: money.token });
      break;
    }
    case 'mark': {
      const trade = tradeOfId(folding, made.orderId);
      if (trade !== undefined)
        putTrade(folding, { ...trade, marks: { ...trade.marks, [made.horizon]: made.mark } });
      break;
    }
  }
}
