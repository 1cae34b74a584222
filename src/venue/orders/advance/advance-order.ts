/** One look at one order: read the chains, record facts, plan, run the next step. */

import { type Fact, type Failure, FAILURE_CODES } from '../../../domain/fact.ts';
import type { OrderStore } from '../../../ports/stores/store.ts';
import { foldFacts } from '../../../settlement/lifecycle.ts';
import type { SettlementPlan } from '../../../settlement/plan.ts';
import { isFundingRevert } from '../../../settlement/revert.ts';
import type { VenueDeps } from '../../deps.ts';
import type { ChainView } from './chain-view.ts';
import { explainFailure } from './failure.ts';
import { observeOrder, type ChainObservation } from './observe.ts';
import { type OpenOrder, proofsOf } from './open-order.ts';
import { recordFactSpans, recordOrderSpan } from './order-spans.ts';
import { planOrder } from './plan-order.ts';
import type { StepPlan, StepResult } from './run-step.ts';

type AdvanceOrderDeps = Pick<VenueDeps, 'clock' | 'log' | 'metrics' | 'tracer'> & {
  store: Pick<OrderStore, 'append'>;
  views: ReadonlyMap<number, ChainView>;
  runStep(item: OpenOrder, step: StepPlan): Promise<StepResult>;
};

/** `lost`: another worker owns the order. `again`: the next step is due now. */
export type Advanced = 'waiting' | 'again' | 'ended' | 'lost';

const SETTLE_SECONDS = [0.5, 1, 2, 3, 5, 8, 13, 21, 34, 60, 120, 300, 900];

export function createAdvanceOrder({ store, views, runStep, clock, log, metrics, tracer }: AdvanceOrderDeps) {
  const endedTotal = metrics.counter('firmquote_venue_orders_ended_total', 'Ended orders', [
    'status',
    'code',
  ]);
  endedTotal.add({ status: 'settled', code: 'none' }, 0);
  for (const code of FAILURE_CODES) endedTotal.add({ status: 'failed', code }, 0);
  const settleSeconds = metrics.histogram(
    'firmquote_venue_settle_seconds',
    'From acceptance to settled',
    SETTLE_SECONDS,
    { flow: ['same_chain', 'cross_chain'] },
  );

  return async function advanceOrder(item: OpenOrder): Promise<Advanced> {
    const seen = await observeOrder(item.record, item.progress, views);
    if (!seen) return 'waiting';
    if (!(await record(item, withRefundReason(item, seen.facts)))) return 'lost';
    if (item.progress.final) return 'ended';

    const next = decide(item, seen);
    item.waitFor = next.kind === 'wait' ? next : undefined;
    if (next.kind === 'fail') {
      const code = seen.nonceGone ? next.code : failureCode(item, next.code);
      const failure = explainFailure(code, item.record, item.refusal);
      if (!(await record(item, [{ kind: 'failed', failure }]))) return 'lost';
      // If the order has not ended, its input is in the escrow: the refund comes next.
      return item.progress.final ? 'ended' : 'again';
    }
    if (next.kind !== 'step') return 'waiting';

    const result = await runStep(item, next);
    if (result.kind === 'refused') noteRefusal(item, next, result.revert);
    item.sent = result.kind === 'sent' ? { key: result.key, chainId: result.chainId } : undefined;
    if (next.notAfter !== null)
      item.waitFor = { kind: 'wait', chainId: next.chainId, until: next.notAfter, at: 'head' };
    return (await record(item, sentFacts(item, next, result))) ? 'waiting' : 'lost';
  };

  function decide({ record, progress }: OpenOrder, { nonceGone, timeOf }: ChainObservation): SettlementPlan {
    if (nonceGone && !progress.opened) return { kind: 'fail', code: 'not_opened' };
    const origin = views.get(record.originChainId)?.chain.chain;
    return planOrder(record, { progress, origin, timeOf });
  }

  function noteRefusal(item: OpenOrder, { step }: StepPlan, revert: NonNullable<OpenOrder['refusal']>) {
    // A passed deadline does not explain why the step failed before.
    if (revert.name !== 'DeadlinePassed') item.refusal = revert;
    log.info({ orderId: item.record.orderId, step, reason: revert.text }, 'the simulation refused this step');
  }

  async function record(item: OpenOrder, facts: readonly Fact[]): Promise<boolean> {
    if (facts.length === 0) return true;
    const { record: before, claim } = item;
    const progress = foldFacts(before.order, [...before.facts.map(({ fact }) => fact), ...facts]);
    const { status, final } = progress;
    const ended = status !== item.progress.status;
    const event = !ended ? null : status === 'settled' ? 'order.settled' : 'order.failed';
    const atMs = clock.nowMs();
    if (!(await store.append(claim, before, facts, { status, final, event, atMs }))) return false;
    const seq = before.facts.length + 1;
    const added = facts.map((fact, index) => ({ seq: seq + index, recordedAtMs: atMs, fact }));
    item.record = { ...before, updatedAtMs: atMs, facts: [...before.facts, ...added] };
    item.progress = progress;
    item.proofs = proofsOf(item.record, progress);
    recordFactSpans(tracer, item.record, added);
    if (ended) reportEnd(item, atMs);
    return true;
  }

  function reportEnd({ record, progress }: OpenOrder, atMs: number) {
    const { orderId, createdAtMs } = record;
    const { status, stage, failure, flow } = progress;
    endedTotal.add({ status, code: failure?.code ?? 'none' });
    if (status === 'settled') settleSeconds.observe((atMs - createdAtMs) / 1_000, { flow });
    recordOrderSpan(tracer, record, progress, atMs);
    log.info({ orderId, status, stage, ...(failure && { code: failure.code }) }, 'order ended');
  }
}

/**
 * Adds a failure to a refund that has none: the LPs released the order, or another keeper refunded it first.
 */
function withRefundReason({ progress, record }: OpenOrder, facts: Fact[]): Fact[] {
  const refund = facts.find((fact) => fact.kind === 'refunded');
  if (refund?.kind !== 'refunded' || progress.failure) return facts;
  const code = refund.evidence.at <= record.order.expires ? 'solver_released' : 'expired_unfilled';
  const failed: Fact = { kind: 'failed', failure: explainFailure(code, record, undefined) };
  return facts.flatMap((fact) => (fact === refund ? [failed, fact] : [fact]));
}

function failureCode({ refusal, record }: OpenOrder, code: Failure['code']): Failure['code'] {
  if (code !== 'not_opened' || !refusal) return code;
  return isFundingRevert(refusal, record.order.user) ? 'funding_failed' : 'settlement_reverted';
}

function sentFacts({ progress }: OpenOrder, { step }: StepPlan, result: StepResult): Fact[] {
  if (step !== 'settle' && step !== 'open' && step !== 'refund') return [];
  if (result.kind !== 'sent' || !result.hash) return [];
  if (progress.sent.some(({ txHash }) => txHash === result.hash)) return [];
  return [{ kind: 'sent', step, chainId: result.chainId, txHash: result.hash }];
}
