/** Plans an order's next step, who takes it, and when to plan again, from progress and chain time alone. */

import type { FailureCode } from '../domain/fact.ts';
import type { StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Progress } from './lifecycle.ts';

type SettlementStep = 'settle' | 'open' | 'fill' | 'attest' | 'finalise' | 'refund';
type Actor = 'venue' | 'lp' | 'taker' | 'anyone';

export interface ChainTime {
  /** The time of the latest block: a transaction sent now sees at least this. */
  head: UnixSeconds;
  /** The time of the newest final block. */
  deep: UnixSeconds;
}

export type SettlementPlan =
  | { kind: 'done' }
  /** A transaction is due until `notAfter` (chain time). */
  | {
      kind: 'step';
      step: SettlementStep;
      by: Actor;
      chainId: number;
      outputs: readonly number[];
      notAfter: UnixSeconds | null;
    }
  /** Look again once the chain is past this second, at its head or at its depth. */
  | { kind: 'wait'; chainId: number; until: UnixSeconds; at: 'head' | 'deep' }
  /** It can no longer settle. */
  | { kind: 'fail'; code: FailureCode };

export interface PlanInput {
  order: StandardOrder;
  progress: Progress;
  executionMode: 'apiSubmit' | 'walletBroadcast';
  /**
   * Seconds before fillDeadline. An order opened later could not be seen at depth and filled in time: it
   * would only lock the taker's money.
   */
  openReserveSeconds: number;
  /** undefined for a chain that has not been seen yet. */
  timeOf: (chainId: number) => ChainTime | undefined;
}

/** Returns a step, a wait or a failure until the stage is final. */
export function plan({
  order,
  progress,
  executionMode,
  openReserveSeconds,
  timeOf,
}: PlanInput): SettlementPlan {
  const originId = Number(order.originChainId);
  switch (progress.stage) {
    case 'settled':
    case 'refunded':
    case 'failed':
      return { kind: 'done' };
    case 'awaiting_escrow':
      return planEscrow(order, progress, executionMode, openReserveSeconds, timeOf(originId));
    case 'escrowed':
      return planFill(order, progress, timeOf);
    case 'delivered': {
      const outputs = order.outputs.flatMap(({ chainId }, index) =>
        chainId !== order.originChainId && !progress.attested[index] ? [index] : [],
      );
      // Also after `expires`: delivered orders stay claimable until the refund.
      return { kind: 'step', step: 'attest', by: 'anyone', chainId: originId, outputs, notAfter: null };
    }
    case 'proven':
      return {
        kind: 'step',
        step: 'finalise',
        by: 'anyone',
        chainId: originId,
        outputs: allOf(order),
        notAfter: null,
      };
    case 'refund_pending': {
      const now = timeOf(originId);
      if (now && now.head > order.expires)
        return {
          kind: 'step',
          step: 'refund',
          by: 'anyone',
          chainId: originId,
          outputs: allOf(order),
          notAfter: null,
        };
      return { kind: 'wait', chainId: originId, until: order.expires, at: 'head' };
    }
  }
}

function planEscrow(
  order: StandardOrder,
  progress: Progress,
  executionMode: PlanInput['executionMode'],
  openReserveSeconds: number,
  now: ChainTime | undefined,
): SettlementPlan {
  const originId = Number(order.originChainId);
  if (now && now.deep > order.fillDeadline)
    return { kind: 'fail', code: executionMode === 'walletBroadcast' ? 'not_broadcast' : 'not_opened' };
  const step = progress.flow === 'same_chain' ? 'settle' : 'open';
  const notAfter = step === 'settle' ? order.fillDeadline : order.fillDeadline - openReserveSeconds;
  if (now && now.head > notAfter)
    return { kind: 'wait', chainId: originId, until: order.fillDeadline, at: 'deep' };
  return {
    kind: 'step',
    step,
    by: executionMode === 'apiSubmit' ? 'venue' : 'taker',
    chainId: originId,
    outputs: allOf(order),
    notAfter,
  };
}

function planFill(order: StandardOrder, progress: Progress, timeOf: PlanInput['timeOf']): SettlementPlan {
  const open = order.outputs.flatMap((output, index) =>
    progress.fills[index] ? [] : [{ index, chainId: Number(output.chainId) }],
  );
  const late = open.find(({ chainId }) => (timeOf(chainId)?.deep ?? 0) > order.fillDeadline);
  if (late) return { kind: 'fail', code: 'expired_unfilled' };
  const over = open.find(({ chainId }) => (timeOf(chainId)?.head ?? 0) > order.fillDeadline);
  if (over) return { kind: 'wait', chainId: over.chainId, until: order.fillDeadline, at: 'deep' };
  const chainId = open[0]?.chainId as number;
  return {
    kind: 'step',
    step: 'fill',
    by: 'lp',
    chainId,
    outputs: open.filter((output) => output.chainId === chainId).map(({ index }) => index),
    notAfter: order.fillDeadline,
  };
}

const allOf = (order: StandardOrder): number[] => order.outputs.map((_, index) => index);
