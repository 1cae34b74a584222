/**
 * Preflight of sequential routes. The same candidate returns the plan of the first leg's order, then to wait,
 * the sealed candidate of the next leg with its plan, to wait again, and at last the settled order alone.
 */

import type { OrderRecord, OrderStore } from '../../ports/stores/store.ts';
import { lpReceived } from '../../settlement/lifecycle.ts';
import type { Clock } from '../../ports/clock.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Action, PreflightResponse } from '../../protocol/api/preflight.ts';
import { chainNow } from '../market/chain-now.ts';
import type { AnyPreflightRequest, Preflighter } from '../orders/preflight.ts';
import type { TradingCaller } from '../orders/submit.ts';
import type { LaterLeg, VerifiedQuote, Sealing } from '../quoting/sealing.ts';
import { progressOf } from '../orders/status.ts';
import type { Router } from './router.ts';

interface RoutePreflightDeps {
  base: Preflighter;
  router: Pick<Router, 'nextLeg'>;
  store: Pick<OrderStore, 'order' | 'nextLegs'>;
  sealing: Sealing;
  clock: Clock;
}

export function createRoutePreflighter({
  base,
  router,
  store,
  sealing,
  clock,
}: RoutePreflightDeps): Pick<Preflighter, 'plan'> {
  const open = (
    candidate: AnyPreflightRequest['quoteResponse'],
    { key, workspace, namespace }: TradingCaller,
  ): VerifiedQuote =>
    sealing.open({ account: workspace.id, namespace, mode: key.mode }, candidate, chainNow(clock, undefined));

  async function plan(request: AnyPreflightRequest, caller: TradingCaller): Promise<PreflightResponse> {
    const opened = open(request.quoteResponse, caller);
    const { nextLeg } = opened;
    if (!nextLeg) return base.planFor(opened, request.fundingLock, caller.namespace);
    const record = await store.order(opened.orderId);
    if (!record || record.workspaceId !== caller.workspace.id || record.mode !== caller.key.mode)
      return legPlan(opened, { after: ['submitOrder', 'rerunPreflight'] }, request, caller);
    return continued(record, nextLeg, request, caller);
  }

  async function legPlan(
    opened: VerifiedQuote,
    { after, details }: Partial<Pick<Action, 'after' | 'details'>>,
    { fundingLock }: AnyPreflightRequest,
    { namespace }: TradingCaller,
  ): Promise<PreflightResponse> {
    const response = await base.planFor(opened, fundingLock, namespace);
    const nextActions = response.nextActions.map((action): Action =>
      action.purpose === 'orderSignature'
        ? {
            ...action,
            ...(after && { after }),
            ...(details && { details: { ...action.details, ...details } }),
          }
        : action,
    );
    return { ...response, nextActions };
  }

  async function continued(
    parent: OrderRecord,
    next: LaterLeg,
    request: AnyPreflightRequest,
    caller: TradingCaller,
  ): Promise<PreflightResponse> {
    const progress = progressOf(parent);
    if (progress.status === 'failed') {
      throw invalid(
        'quote_already_used',
        ['body', 'quoteResponse'],
        `The first leg of this route failed (${progress.failure?.code}): ${progress.failure?.message} Nothing of the route is left to do; ask for a new one.`,
      );
    }
    // Final: the money is in the taker's wallet.
    const delivered = lpReceived(progress);
    if (delivered === undefined) return waiting(parent, 'legDelivery', standing(parent));
    const later = (await store.nextLegs(parent.orderId)).find(
      (order) => progressOf(order).status !== 'failed',
    );
    if (later && progressOf(later).status === 'settled')
      return { quoteId: later.quoteId, ready: false, nextActions: [], order: standing(later) };
    if (later) return waiting(later, 'legDelivery', standing(later));
    const answer = await router.nextLeg(parent, next, delivered, caller);
    if ('why' in answer) {
      const { chainId, token } = next.input;
      const holding = { chainId, token, amount: delivered.toString(), account: parent.order.user };
      return waiting(parent, 'legQuote', { productUnavailable: answer.why, holding });
    }
    // The next leg's candidate is submitted.
    const { candidate } = answer;
    return legPlan(open(candidate, caller), { details: { quoteResponse: candidate } }, request, caller);
  }

  return { plan };
}

const standing = (order: OrderRecord) => ({
  orderId: order.orderId,
  status: progressOf(order).status,
  stage: progressOf(order).stage,
});

function waiting(
  { quoteId, originChainId }: OrderRecord,
  purpose: 'legDelivery' | 'legQuote',
  details: Record<string, unknown>,
): PreflightResponse {
  const action: Action = {
    type: 'wait',
    purpose,
    actor: 'venue',
    frequency: 'perTrade',
    chainId: originChainId,
    after: ['rerunPreflight'],
    details,
  };
  return { quoteId, ready: false, nextActions: [action] };
}
