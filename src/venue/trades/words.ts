/** The status of a trade in words. */

import type { FailureCode } from '../../domain/fact.ts';
import { toIso } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { TradeRow } from '../../ports/stores/trades.ts';
import type { TradeItem } from '../../protocol/api/trades.ts';
import type { DeferredSettlement } from '../../settlement/deferred.ts';
import { isFinal, type Progress, type OrderStage, STAGES } from '../../settlement/lifecycle.ts';

type State = TradeItem['lifecycleStatus']['primary'];

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
const EXECUTION: Record<'quoted' | 'submitted' | 'filled' | 'failed', State> = {
  quoted: { key: 'quoted', label: 'Quoted', tone: 'neutral' },
  submitted: { key: 'submitted', label: 'Submitted', tone: 'info' },
  filled: { key: 'filled', label: 'Filled', tone: 'success' },
  failed: { key: 'failed', label: 'Not filled', tone: 'danger' },
};
const SETTLEMENT: Record<'none' | 'open' | 'proving' | 'finalised' | 'refunded', State> = {
  none: { key: 'none', label: 'Not opened', tone: 'neutral' },
  open: { key: 'open', label: 'Open', tone: 'info' },
  proving: { key: 'proving', label: 'Proving', tone: 'info' },
  finalised: { key: 'finalised', label: 'Finalised', tone: 'success' },
  refunded: { key: 'refunded', label: 'Refunded', tone: 'warning' },
};
const WITHDRAWAL: Record<'none' | 'available' | 'requested' | 'withdrawn', State> = {
  none: { key: 'none', label: 'None', tone: 'neutral' },
  available: { key: 'available', label: 'In the ledger', tone: 'info' },
  requested: { key: 'requested', label: 'Withdrawal requested', tone: 'info' },
  withdrawn: { key: 'withdrawn', label: 'Withdrawn', tone: 'success' },
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
    execution: EXECUTION[executionOf(stage, state.delivered !== null, state.submitTx !== null)],
    settlement: SETTLEMENT[settlementOf(stage, state.delivered !== null)],
    withdrawal:
      WITHDRAWAL[deferred === null ? 'none' : deferred.stage === 'executed' ? 'available' : deferred.stage],
    isTerminal: isFinal(stage),
    rank: STAGES.indexOf(stage),
    rawStatus: stage,
    rawDeferredStatus: deferred?.stage ?? null,
  };
}

function executionOf(stage: OrderStage, delivered: boolean, submitted: boolean): keyof typeof EXECUTION {
  if (delivered) return 'filled';
  if (stage === 'failed' || stage === 'refund_pending' || stage === 'refunded') return 'failed';
  return submitted ? 'submitted' : 'quoted';
}

function settlementOf(stage: OrderStage, delivered: boolean): keyof typeof SETTLEMENT {
  if (stage === 'settled') return 'finalised';
  if (stage === 'refunded') return 'refunded';
  if (stage === 'awaiting_escrow' || stage === 'failed') return 'none';
  return delivered ? 'proving' : 'open';
}

export interface Substatus {
  substatus: string;
  substatusMessage: string;
}

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
          'The transaction is on its way. Once enough blocks are on top of it, the trade moves on; nothing has to be done.',
        );
      if (executionMode === 'walletBroadcast')
        return say(
          'awaiting_broadcast',
          `The taker's wallet has to broadcast the prepared transaction before ${at(order.fillDeadline)}. If it does not, the trade fails and nothing is taken.`,
        );
      return say(
        'awaiting_submission',
        `The venue is about to put the trade on chain. If that cannot be done by ${at(order.fillDeadline)}, it fails and nothing is taken.`,
      );
    case 'escrowed':
      return say(
        'awaiting_fill',
        `The input is in escrow, and the solver has to deliver by ${at(order.fillDeadline)}. If it does not, the input can be refunded from ${at(order.expires + 1)} on.`,
      );
    case 'delivered':
      return say(
        'awaiting_proof',
        'The output was delivered. The attesters now prove that to the chain of the input; the taker has nothing left to do.',
      );
    case 'proven':
      return say(
        'awaiting_finalisation',
        'The output was delivered and the delivery is proven. The solver now collects the input; the taker has nothing left to do.',
      );
    case 'settled':
      return deferred
        ? inLedger(deferred)
        : say('settled', 'The output was delivered and the input was paid out. Nothing is left to be done.');
    case 'refund_pending':
      return say(
        progress.failure?.code ?? ('expired_unfilled' satisfies FailureCode),
        `${firstSentence(progress.failure?.message)}${refund}`,
      );
    case 'refunded':
      return say(
        'refunded',
        `${firstSentence(progress.failure?.message)}The input went back to the taker in transaction ${progress.refunded?.txHash ?? ''}. Ask for a new quote to trade again.`,
      );
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
    executed: `The output is in the receiver's ledger balance of the escrow, and is paid out to the receiver's wallet by itself from ${at} on.`,
    available:
      autoWithdraw && withdrawalStatus === 'due'
        ? 'The output is in the ledger and due to be paid out; the venue does that next, and anybody may.'
        : "The output is in the receiver's ledger balance of the escrow. The receiver may spend it there or ask for its withdrawal at any time.",
    requested: `The withdrawal from the ledger is on its way${at === null ? '' : `; it can be completed from ${at} on`}.`,
    withdrawn:
      'The output was delivered into the ledger and has left it for the receiver. Nothing is left to be done.',
  }[stage];
  return { substatus: `ledger_${stage}`, substatusMessage: message };
}

/** Up to the sentence about the refund, which the caller replaces. */
const firstSentence = (message: string | undefined): string =>
  message === undefined ? '' : `${/^[^.]*\./.exec(message)?.[0] ?? message} `;
