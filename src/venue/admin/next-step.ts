/** Says in words what an open order waits for and what stands in the way. */

import { toIso, type UnixSeconds } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { OpenOrderView } from '../../protocol/admin/operations.ts';
import type { Progress } from '../../settlement/lifecycle.ts';
import type { SettlementPlan } from '../../settlement/plan.ts';

type Next = Pick<OpenOrderView, 'waitsFor' | 'nextStep'>;
type StepOf = Extract<SettlementPlan, { kind: 'step' }>;

export function nextStepOf(
  { solverIds, route }: Pick<OrderRecord, 'solverIds' | 'route'>,
  { progress, next, slugOf }: { progress: Progress; next: SettlementPlan; slugOf(chainId: number): string },
): Next {
  switch (next.kind) {
    case 'done':
      return { waitsFor: 'venue', nextStep: 'Nothing: the order has ended, and leaves this list.' };
    case 'fail':
      return {
        waitsFor: 'venue',
        nextStep: `The venue records that the order failed (${next.code}), and refunds it if its input is in escrow.`,
      };
    case 'wait':
      return { waitsFor: 'time', nextStep: waiting(progress, next, slugOf(next.chainId)) };
    case 'step':
      return {
        waitsFor: next.by,
        nextStep: `${stepText(next, slugOf(next.chainId), deliverer(solverIds, route))}${sentText(progress, next)}`,
      };
  }
}

function stepText({ step, by, notAfter }: StepOf, slug: string, who: string): string {
  const until = notAfter === null ? '' : ` until ${clockOf(notAfter)}`;
  switch (step) {
    case 'settle':
      return by === 'taker'
        ? `The taker's wallet broadcasts the settlement on ${slug}${until}.`
        : `A worker sends the settlement on ${slug}${until}.`;
    case 'open':
      return by === 'taker'
        ? `The taker's wallet broadcasts the opening on ${slug}${until}.`
        : `A worker sends the opening on ${slug}${until}.`;
    case 'fill':
      return `${who} delivers on ${slug}${until}. Otherwise the taker gets the input back.`;
    case 'attest':
      return `The attesters sign the delivery, and the solver sends their proof to ${slug}. A worker sends it when the solver does not.`;
    case 'finalise':
      return `The solver collects the input on ${slug}. A worker does it for the solver when it does not.`;
    case 'refund':
      return `A worker sends the refund on ${slug}. Anyone may.`;
  }
}

function waiting(
  { stage }: Progress,
  { until, at }: Extract<SettlementPlan, { kind: 'wait' }>,
  slug: string,
): string {
  const when = `once ${at === 'deep' ? 'final blocks' : 'the newest block'} of ${slug} ${at === 'deep' ? 'are' : 'is'} later than ${clockOf(until)}`;
  switch (stage) {
    case 'awaiting_escrow':
      return `It is too late to take the input. The order ends, with nothing taken, ${when}.`;
    case 'refund_pending':
      return `A worker sends the refund ${when}. The escrow pays it no earlier.`;
    default:
      return `It is too late to deliver. The order fails, and the refund follows, ${when}.`;
  }
}

function sentText({ sent }: Progress, { step, chainId }: StepOf): string {
  const last = sent.findLast((fact) => fact.step === step && fact.chainId === chainId);
  return last === undefined
    ? ''
    : ` Transaction ${last.txHash} was sent, and no final block has its event yet.`;
}

const deliverer = (solverIds: readonly string[], route: OrderRecord['route']): string =>
  route ? `The route venue ${route.venueId}` : solverIds.join(', ');

/** Writes chain time to the second, in UTC. */
const clockOf = (seconds: UnixSeconds): string => `${toIso(seconds * 1_000).slice(11, 19)} UTC`;
