/**
 * Preflight of sequential routes. The same candidate returns the plan of the first leg's order, then to wait,
 * the sealed candidate of the next leg with its plan, or that leg's status.
 */

import type { ApiKey, OrderRecord, OrderStore, Workspace } from '../../ports/stores/store.ts';
import { lpReceived } from '../../settlement/lifecycle.ts';
import type { Clock } from '../../ports/clock.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Action, PreflightRequest, PreflightResponse } from '../../protocol/api/preflight.ts';
import type { RouterCandidate, RouterPreflightRequest } from '../../protocol/api/router.ts';
import { chainNow } from '../market/chain-now.ts';
import type { PreflightCaller, Preflighter } from '../orders/preflight.ts';
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
  async function plan(
    request: PreflightRequest | RouterPreflightRequest,
    caller: PreflightCaller,
  ): Promise<PreflightResponse> {
    const owner = { account: caller.workspace.id, namespace: caller.namespace, mode: caller.key.mode };
    const opened = sealing.open(owner, request.quoteResponse, chainNow(clock, undefined));
    const { nextLeg } = opened;
    if (!nextLeg) return base.planFor(opened, request.fundingLock, caller.namespace);
    const record = await store.order(opened.orderId);
    if (!record || record.workspaceId !== caller.workspace.id || record.mode !== caller.key.mode)
      return firstLegPlan(opened, request, caller);
    return continued(record, nextLeg, request, caller);
  }

  async function firstLegPlan(
    opened: VerifiedQuote,
    request: PreflightRequest | RouterPreflightRequest,
    caller: PreflightCaller,
  ): Promise<PreflightResponse> {
    const response = await base.planFor(opened, request.fundingLock, caller.namespace);
    const nextActions = response.nextActions.map((action): Action =>
      action.purpose === 'orderSignature' ? { ...action, after: ['submitOrder', 'rerunPreflight'] } : action,
    );
    return { ...response, nextActions };
  }

  async function continued(
    parent: OrderRecord,
    next: LaterLeg,
    request: PreflightRequest | RouterPreflightRequest,
    caller: PreflightCaller,
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
    if (delivered === undefined)
      return waiting(parent.quoteId, parent, { purpose: 'legDelivery', details: standing(parent) });
    const later = (await store.nextLegs(parent.orderId)).find(
      (order) => progressOf(order).status !== 'failed',
    );
    if (later)
      return waiting(later.quoteId, later, {
        purpose: 'legDelivery',
        details: standing(later),
        over: progressOf(later).status === 'settled',
      });
    return nextPlan(parent, next, delivered, request, caller);
  }

  async function nextPlan(
    parent: OrderRecord,
    next: LaterLeg,
    delivered: bigint,
    request: PreflightRequest | RouterPreflightRequest,
    caller: { key: ApiKey; workspace: Workspace } & PreflightCaller,
  ): Promise<PreflightResponse> {
    const answer = await router.nextLeg(parent, next, delivered, caller);
    if ('why' in answer) {
      const holding = {
        chainId: next.input.chainId,
        token: next.input.token,
        amount: delivered.toString(),
        account: parent.order.user,
      };
      return waiting(parent.quoteId, parent, {
        purpose: 'legQuote',
        details: { productUnavailable: answer.why, holding },
      });
    }
    return legPlan(answer.candidate, request, caller);
  }

  async function legPlan(
    candidate: RouterCandidate,
    request: PreflightRequest | RouterPreflightRequest,
    caller: PreflightCaller,
  ): Promise<PreflightResponse> {
    const owner = { account: caller.workspace.id, namespace: caller.namespace, mode: caller.key.mode };
    const opened = sealing.open(owner, candidate, chainNow(clock, undefined));
    const response = await base.planFor(opened, request.fundingLock, caller.namespace);
    // The next leg's candidate is submitted.
    const nextActions = response.nextActions.map((action): Action =>
      action.purpose === 'orderSignature'
        ? { ...action, details: { ...action.details, quoteResponse: candidate } }
        : action,
    );
    return { ...response, nextActions };
  }

  return { plan };
}

const standing = (order: OrderRecord) => ({
  orderId: order.orderId,
  status: progressOf(order).status,
  stage: progressOf(order).stage,
});

/** With `over`, nothing will follow. */
function waiting(
  quoteId: string,
  { originChainId }: OrderRecord,
  {
    purpose,
    details,
    over = false,
  }: { purpose: 'legDelivery' | 'legQuote'; details: Record<string, unknown>; over?: boolean },
): PreflightResponse {
  const action: Action = {
    type: 'wait',
    purpose,
    actor: 'venue',
    frequency: 'perTrade',
    chainId: originChainId,
    after: over ? [] : ['rerunPreflight'],
    details,
  };
  return { quoteId, ready: false, nextActions: [action] };
}
