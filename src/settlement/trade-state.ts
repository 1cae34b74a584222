/** The part of a trade that its facts change. */

import type { RecordedFact } from '../domain/fact.ts';
import type { Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';
import { foldCredits, type LedgerCredit } from './deferred.ts';
import { foldFacts, lpReceived, type OrderStage } from './lifecycle.ts';

export interface TradeState {
  stage: OrderStage;
  failureCode: string | null;
  /** All outputs, base units; null until every output is filled. */
  delivered: string | null;
  /** It opened or settled the order; before that, the latest that tries to. */
  submitTx: Hex | null;
  fillTx: Hex | null;
  finaliseTx: Hex | null;
  refundTx: Hex | null;
  /** The last output was seen delivered at depth; Unix ms. */
  filledAtMs: number | null;
  /** Settled at depth; Unix ms. */
  settledAtMs: number | null;
  credits: LedgerCredit[];
}

export function tradeState(order: StandardOrder, facts: readonly RecordedFact[]): TradeState {
  const progress = foldFacts(
    order,
    facts.map(({ fact }) => fact),
  );
  const seenAt = (which: (fact: RecordedFact['fact']) => boolean) =>
    facts.find(({ fact }) => which(fact))?.recordedAtMs ?? null;
  const delivered = lpReceived(progress)?.toString() ?? null;
  const sent = progress.sent.findLast(({ step }) => step !== 'refund');
  const settled = progress.stage === 'settled';
  return {
    stage: progress.stage,
    failureCode: progress.failure?.code ?? null,
    delivered,
    submitTx: progress.opened?.txHash ?? sent?.txHash ?? null,
    fillTx: progress.fills.find(Boolean)?.evidence.txHash ?? null,
    finaliseTx: settled ? (progress.finalised?.txHash ?? null) : null,
    refundTx: progress.refunded?.txHash ?? null,
    filledAtMs:
      delivered === null
        ? null
        : facts.reduce<number | null>(
            (last, { fact, recordedAtMs }) => (fact.kind === 'filled' ? recordedAtMs : last),
            null,
          ),
    settledAtMs: settled ? seenAt(({ kind }) => kind === 'finalised') : null,
    credits: foldCredits(facts.map(({ fact }) => fact)),
  };
}
