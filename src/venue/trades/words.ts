/** The status of a trade in words. */

import type { FailureCode } from '../../domain/fact.ts';
import { toIso } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { TradeRow } from '../../ports/stores/trades.ts';
import type { TradeDossier } from '../../protocol/api/trades/dossier.ts';
import type { TradeItem } from '../../protocol/api/trades/trades.ts';
import type { DeferredSettlement } from '../../settlement/deferred.ts';
import { firstSentence, refundedMessage } from '../orders/status.ts';
import { isFinal, type Progress, type OrderStage, STAGES } from '../../settlement/lifecycle.ts';

type State = TradeItem['lifecycleStatus']['primary'];

const labelled = (key: string, label: string, tone: State['tone'] = 'neutral'): State => ({
  key,
  label,
  tone,
});

const PRIMARY: Record<OrderStage, Omit<State, 'key'>> = {
  awaiting_escrow: { label: 'Awaiting escrow', tone: 'neutral' },
  escrowed: { label: 'Input in escrow', tone: 'info' },
  delivered: { label: 'Delivered', tone: 'info' },
  proven: { label: 'Delivery proven', tone: 'info' },
  settled: { label: 'Settled', tone: 'success' },
  refund_pending: { label: 'Refund pending', tone: 'warning' },
  refunded: { label: 'Refunded', tone: 'warning' },
  failed: { label: 'Failed', tone: 'danger' },
};
export function lifecycleStatus(
  { terms, state }: TradeRow,
  deferred: DeferredSettlement | null,
): TradeItem['lifecycleStatus'] {
  const { stage } = state;
  return {
    flowKind: terms.orderKind.startsWith('route')
      ? 'route'
      : terms.orderKind === 'rfq_split'
        ? 'split'
        : terms.sourceChainId === terms.destChainId
          ? 'same_chain'
          : 'cross_chain',
    primary: { key: stage, ...PRIMARY[stage] },
    execution: executionOf(stage, state.delivered !== null, state.submitTx !== null),
    settlement: settlementOf(stage, state.delivered !== null),
    withdrawal: withdrawalOf(deferred),
    isTerminal: isFinal(stage),
    rank: STAGES.indexOf(stage),
    rawStatus: stage,
    rawDeferredStatus: deferred?.stage ?? null,
  };
}

function executionOf(stage: OrderStage, delivered: boolean, submitted: boolean): State {
  if (delivered) return labelled('filled', 'Filled', 'success');
  if (stage === 'failed' || stage === 'refund_pending' || stage === 'refunded')
    return labelled('failed', 'Not filled', 'danger');
  return submitted ? labelled('submitted', 'Submitted', 'info') : labelled('quoted', 'Quoted');
}

function settlementOf(stage: OrderStage, delivered: boolean): State {
  if (stage === 'settled') return labelled('finalised', 'Finalised', 'success');
  if (stage === 'refunded') return labelled('refunded', 'Refunded', 'warning');
  if (stage === 'awaiting_escrow' || stage === 'failed') return labelled('none', 'Not opened');
  return delivered ? labelled('proving', 'Proving', 'info') : labelled('open', 'Open', 'info');
}

function withdrawalOf(deferred: DeferredSettlement | null): State {
  switch (deferred?.stage) {
    case undefined:
      return labelled('none', 'None');
    case 'requested':
      return labelled('requested', 'Withdrawal requested', 'info');
    case 'withdrawn':
      return labelled('withdrawn', 'Withdrawn', 'success');
    case 'executed':
    case 'available':
      return labelled('available', 'In the ledger', 'info');
  }
}

type Substatus = Pick<TradeDossier, 'substatus' | 'substatusMessage'>;

export function substatusOf(
  { order, executionMode }: Pick<OrderRecord, 'order' | 'executionMode'>,
  progress: Progress,
  deferred: DeferredSettlement | null,
): Substatus {
  const at = (seconds: number) => toIso(seconds * 1_000);
  const say = (substatus: string, substatusMessage: string): Substatus => ({ substatus, substatusMessage });
  const refund = `The input is safe in escrow. From ${at(order.expires + 1)} on the venue sends it back to the taker, and anybody else may.`;
  switch (progress.stage) {
    case 'awaiting_escrow':
      if (progress.sent.length > 0)
        return say(
          'confirming',
          'The transaction waits for enough blocks on top of it; nothing has to be done.',
        );
      if (executionMode === 'walletBroadcast')
        return say(
          'awaiting_broadcast',
          `The taker's wallet has to broadcast the prepared transaction before ${at(order.fillDeadline)}, or the trade fails and nothing is taken.`,
        );
      return say(
        'awaiting_submission',
        `The venue puts the trade on chain. If it cannot by ${at(order.fillDeadline)}, the trade fails and nothing is taken.`,
      );
    case 'escrowed':
      return say(
        'awaiting_fill',
        `The solver has to deliver by ${at(order.fillDeadline)}. If it does not, the input can be refunded from ${at(order.expires + 1)} on.`,
      );
    case 'delivered':
      return say(
        'awaiting_proof',
        'The output was delivered. The attesters now prove that; the taker has nothing left to do.',
      );
    case 'proven':
      return say(
        'awaiting_finalisation',
        'The delivery is proven. The solver now collects the input; the taker has nothing left to do.',
      );
    case 'settled':
      return deferred
        ? inLedger(deferred)
        : say('settled', 'The output was delivered and the input was paid out.');
    case 'refund_pending':
      return say(
        progress.failure?.code ?? ('expired_unfilled' satisfies FailureCode),
        `${progress.failure ? `${firstSentence(progress.failure.message)} ` : ''}${refund}`,
      );
    case 'refunded':
      return say('refunded', refundedMessage(progress.failure, progress.refunded?.txHash ?? ''));
    case 'failed':
      return say(
        progress.failure?.code ?? ('not_opened' satisfies FailureCode),
        progress.failure?.message ?? 'The order never opened. Nothing was taken; ask for a new quote.',
      );
  }
}

function inLedger({
  stage,
  autoWithdraw,
  withdrawalStatus,
  estimatedSettlementAvailableAt: at,
}: DeferredSettlement): Substatus {
  const message = {
    executed: `The output is in the receiver's ledger balance of the escrow, and is paid out to its wallet from ${at} on.`,
    available:
      autoWithdraw && withdrawalStatus === 'due'
        ? 'The output is in the ledger and due to be paid out; the venue does that next, and anybody may.'
        : "The output is in the receiver's ledger balance of the escrow. The receiver may spend it there or ask for its withdrawal at any time.",
    requested: `The withdrawal from the ledger is on its way${at === null ? '' : `; it can be completed from ${at} on`}.`,
    withdrawn: 'The output has left the ledger for the receiver.',
  }[stage];
  return { substatus: `ledger_${stage}`, substatusMessage: message };
}
