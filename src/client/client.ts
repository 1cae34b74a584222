/** Client that checks all it can compute or read from the chain. For browsers and Node. */

import { isBytes32 } from '../domain/hex.ts';
import { zPairsResponse } from '../protocol/api/pairs.ts';
import { type FundingLock, zPreflightResponse } from '../protocol/api/preflight.ts';
import { zQuoteResponse } from '../protocol/api/quote.ts';
import { zRouterQuoteResponse } from '../protocol/api/router.ts';
import { type Solver, zSolversResponse } from '../protocol/api/roster.ts';
import { type OrderStatusResponse, zOrderStatusResponse } from '../protocol/api/status.ts';
import { type Claimed, claimFades, type Fade, findFades } from './bond.ts';
import type { Candidate } from './candidate.ts';
import { type Checked, createChecker, type Expectations } from './check.ts';
import { confirmSettled } from './confirm.ts';
import { DistrustError } from './errors.ts';
import {
  followOrder,
  type Following,
  type FollowOptions,
  type OpenSocket,
  type OrderEvent,
  platformSocket,
} from './follow.ts';
import { createHistory, type History } from './history.ts';
import { expectationsOfNext, readNextLeg } from './next-leg.ts';
import { type Approvals, type Plan, readPlan, type Step } from './plan.ts';
import { type Limits, requestBody, type TradeRequest } from './request.ts';
import { type Order, sendOrder, type Submission } from './submit.ts';
import {
  type QuoteAnswer,
  ranked,
  resumeTrade,
  type SignedTrade,
  take,
  type TakeOptions,
  type Trade,
  type TradeCalls,
  trade,
  type TradeOptions,
} from './trade.ts';
import { createTransport, type TransportOptions } from './transport.ts';
import { createTrust, type TrustedChain, type TrustedChains } from './trust.ts';
import {
  broadcastStep,
  type Done,
  type Locks,
  type RunOptions,
  runSteps,
  signOrder,
  type Wallet,
} from './wallet.ts';

export * from './errors.ts';
export { PERMIT2 } from './trust.ts';
export { ranked };
export { verifyPayoutOffer } from './payouts/verify.ts';
export type {
  Approvals,
  Candidate,
  Checked,
  Claimed,
  Done,
  Expectations,
  Fade,
  Following,
  FollowOptions,
  FundingLock,
  History,
  Limits,
  Locks,
  OpenSocket,
  Order,
  OrderEvent,
  OrderStatusResponse,
  Plan,
  QuoteAnswer,
  RunOptions,
  SignedTrade,
  Solver,
  Step,
  Submission,
  TakeOptions,
  Trade,
  TradeOptions,
  TradeRequest,
  TransportOptions,
  TrustedChain,
  TrustedChains,
  Wallet,
};

export interface ClientOptions extends TransportOptions {
  /** The caller's own data about its chains; needed from `check` on. */
  chains?: TrustedChains;
  /** "rfq" (default): firm quotes of LPs only. "router": all sources of the venue. */
  namespace?: 'rfq' | 'router';
  openSocket?: OpenSocket;
}

/**
 * Every call throws `VenueError` (refusal), `UnreachableError` (no answer) or `DistrustError` (false
 * answer).
 */
export interface Client extends TradeCalls {
  /**
   * Does everything after `check`. Do not request the same quote again: LPs hold inventory for both answers.
   */
  take(checked: Checked, options: TakeOptions): Promise<Trade>;
  trade(options: TradeOptions): Promise<Trade>;
  /**
   * The rest of `take` after the signature, also in another process: submits when the venue does not have
   * the order yet, follows it, and claims.
   */
  resume(signed: SignedTrade, options: TakeOptions): Promise<Trade>;
  solvers(filter?: { status?: Solver['status'][]; corridor?: string[] }): Promise<Solver[]>;
  pairs(): Promise<Record<string, number>>;
  trades: History;
}

export function createClient({
  chains = {},
  namespace = 'rfq',
  openSocket = platformSocket,
  ...transportOptions
}: ClientOptions): Client {
  const transport = createTransport(transportOptions);
  const trust = createTrust(chains);
  const checker = createChecker(trust, namespace);
  const base = `/api/v1/${namespace}`;
  const plans = new WeakMap<Plan, Checked>();

  function requirePlan(plan: Plan, checked: Checked): void {
    checker.requireChecked(checked);
    if (plans.get(plan) !== checked)
      throw new DistrustError(
        'not_checked',
        'This plan was not read by `preflight` of this client for this candidate.',
      );
  }

  async function order(orderId: string, signal?: AbortSignal): Promise<OrderStatusResponse> {
    const status = await transport.call(
      zOrderStatusResponse,
      `${base}/orders/${encodeURIComponent(orderId)}`,
      signal ? { signal } : {},
    );
    if (status.id !== orderId.toLowerCase())
      throw new DistrustError(
        'order_id',
        `The venue answered with the order ${status.id} when asked for ${orderId}.`,
        { orderId },
      );
    return status;
  }

  const askPreflight = ({ candidate }: Checked, fundingLock?: FundingLock) =>
    transport.call(zPreflightResponse, `${base}/orders/preflight`, {
      method: 'POST',
      body: { quoteResponse: candidate, ...(fundingLock ? { fundingLock } : {}) },
    });

  const client: Client = {
    requestQuotes: (request) =>
      transport.call<QuoteAnswer>(
        namespace === 'router' ? zRouterQuoteResponse : zQuoteResponse,
        `${base}/quotes`,
        { method: 'POST', body: requestBody(request) },
        // A replica that has just started has no solvers yet.
        ({ productUnavailable }) => productUnavailable?.code === 'no_eligible_solver',
      ),
    check: checker.check,
    reopen: checker.reopen,
    async preflight(checked, { fundingLock, ...approvals } = {}) {
      checker.requireChecked(checked);
      const answer = await askPreflight(checked, fundingLock);
      const plan = readPlan(answer, checked, {
        permit2: trust.permit2(checked.domain.chainId),
        now: checked.readAt.now,
        ...approvals,
      });
      plans.set(plan, checked);
      return plan;
    },
    async runActions(checked, plan, wallet, options = {}) {
      requirePlan(plan, checked);
      return runSteps(plan, checked, wallet, trust.chain(checked.domain.chainId), options);
    },
    async sign(checked, wallet) {
      checker.requireChecked(checked);
      return signOrder(checked, wallet);
    },
    async submit(checked, submission) {
      checker.requireKnown(checked);
      return sendOrder(transport, `${base}/orders`, checked, submission);
    },
    async broadcast(checked, plan, wallet) {
      requirePlan(plan, checked);
      return broadcastStep(plan, checked, wallet, trust.chain(checked.domain.chainId));
    },
    async nextLeg(checked) {
      checker.requireKnown(checked);
      const next = readNextLeg(await askPreflight(checked));
      if (next.kind !== 'leg') return next;
      const expectations = expectationsOfNext(checked, next.candidate);
      return { kind: 'leg', checked: await checker.check(next.candidate, expectations) };
    },
    follow(orderId, options = {}) {
      const id = orderId.toLowerCase();
      if (!isBytes32(id)) throw new DistrustError('order_id', `"${orderId.slice(0, 80)}" is no order id.`);
      return followOrder({ transport, openSocket, read: (signal) => order(id, signal) }, id, options);
    },
    async confirm(checked) {
      checker.requireKnown(checked);
      return confirmSettled(trust, checked);
    },
    async fades(checked, signature) {
      checker.requireKnown(checked);
      return findFades(trust, checked, signature);
    },
    async claim(checked, signature, wallet) {
      checker.requireKnown(checked);
      return claimFades(trust, checked, signature, wallet);
    },
    take: (checked, options) => take(client, checked, options),
    trade: (options) => trade(client, options),
    resume: (signed, options) => resumeTrade(client, signed, options),
    order: (orderId) => order(orderId),
    async solvers({ status = [], corridor = [] } = {}) {
      const query = new URLSearchParams();
      for (const one of status) query.append('status', one);
      for (const one of corridor) query.append('corridor', one);
      return (await transport.call(zSolversResponse, `${base}/solvers?${query}`)).solvers;
    },
    pairs: () => transport.call(zPairsResponse, `${base}/pairs`),
    trades: createHistory(transport),
  };
  return client;
}
