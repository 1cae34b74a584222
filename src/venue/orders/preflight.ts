/**
 * POST …/orders/preflight: the steps that remain before this candidate can be submitted. One that cannot be
 * submitted any more gets the refusal that its submission would get; one whose taker still has to broadcast
 * gets that step alone.
 */

import { nativeTokenUnitsUp } from '../../domain/chain.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { invalid } from '../../protocol/errors.ts';
import type {
  Action,
  FundingLock,
  PreflightRequest,
  PreflightResponse,
} from '../../protocol/api/preflight.ts';
import type { OrderStatusResponse } from '../../protocol/api/status.ts';
import type { RouterPreflightRequest } from '../../protocol/api/router.ts';
import { openCall, settleCall, settleThroughCall } from '../../settlement/call.ts';
import { encodeFunding } from '../../settlement/funding.ts';
import { chainNow } from '../market/chain-now.ts';
import { receiverOf } from '../quoting/receiver.ts';
import type { SealOwner, VerifiedQuote } from '../quoting/sealing.ts';
import { progressOf } from './status.ts';
import { legTaken, siblingUsed, type TradingCaller } from './submit.ts';
import { PARTIES, requireBacking, requireOrigin } from './verify-submission.ts';
import { nonceUsed, readTaker, type TakerState } from './taker.ts';
import { choiceOf, lockPlan } from './lock-plan.ts';
import { approvals, orderSignature, type PreflightDeps, transaction } from './preflight-actions.ts';

export type AnyPreflightRequest = PreflightRequest | RouterPreflightRequest;

export interface Preflighter {
  /** Says what the taker must sign or send before it submits the quote. */
  plan(request: AnyPreflightRequest, caller: TradingCaller): Promise<PreflightResponse>;
  /** Plans for a quote whose seal has been opened. */
  planFor(
    opened: VerifiedQuote,
    fundingLock: FundingLock | undefined,
    namespace: SealOwner['namespace'],
  ): Promise<PreflightResponse>;
}

export function createPreflighter(deps: PreflightDeps): Preflighter {
  return {
    plan: (request, caller) => plan(deps, request, caller),
    planFor: (opened, fundingLock, namespace) => planFor(deps, opened, fundingLock, namespace),
  };
}

async function plan(
  deps: PreflightDeps,
  { quoteResponse, fundingLock }: AnyPreflightRequest,
  { key, workspace, namespace }: TradingCaller,
): Promise<PreflightResponse> {
  return planFor(
    deps,
    deps.sealing.open(
      { account: workspace.id, namespace, mode: key.mode },
      quoteResponse,
      chainNow(deps.clock, undefined),
    ),
    fundingLock,
    namespace,
  );
}

async function planFor(
  deps: PreflightDeps,
  opened: VerifiedQuote,
  fundingLock: FundingLock | undefined,
  namespace: SealOwner['namespace'],
): Promise<PreflightResponse> {
  const port = requireOrigin(deps.chains, opened);
  const submitTo = `/api/v1/${namespace}/orders`;
  if (await alreadySubmitted(deps, opened)) {
    // The order is the venue's to follow, its transaction the taker's to send.
    const taker = await deps.chainBulkhead.run(opened.origin.id, () => readTaker(port, opened));
    // The order shows a broadcast only once it is final. Sent again, or too late, it would only cost gas.
    if (taker.nonceUsed || chainNow(deps.clock, port) > opened.order.fillDeadline)
      throw submittedBefore(opened.orderId, 'pending');
    const { nextActions, ...plan } = await broadcastPlan(deps, port, opened, taker, submitTo);
    const left = nextActions.filter(({ purpose }) => purpose !== 'orderSignature');
    return { ...plan, ready: false, nextActions: left };
  }
  if (chainNow(deps.clock, port) >= opened.validUntil)
    throw invalid(
      'quote_expired',
      ['body', 'quoteResponse', 'validUntil'],
      'The quote is no longer valid. Ask for a new one.',
    );
  await requireBacking(deps.liquidity, opened);
  await deps.screening.requireAllowed(
    { taker: opened.order.user, receiver: receiverOf(opened.order) },
    PARTIES,
  );
  return deps.chainBulkhead.run(opened.origin.id, async () => {
    const taker = await readTaker(port, opened);
    if (taker.nonceUsed) throw await nonceUsed(port, opened);
    return opened.executionMode === 'walletBroadcast'
      ? broadcastPlan(deps, port, opened, taker, submitTo)
      : submitPlan(deps, port, opened, taker, fundingLock, submitTo);
  });
}

/**
 * Returns whether only the taker's broadcast remains. Throws 422 when an order took the quote, nonce or leg.
 */
async function alreadySubmitted(deps: PreflightDeps, opened: VerifiedQuote): Promise<boolean> {
  const { origin, order, orderId, parentOrderId } = opened;
  const taken = await deps.store.orderOfNonce(origin.id, order.user, order.nonce);
  if (taken && (taken.orderId !== orderId || taken.quoteId !== opened.quoteId)) throw siblingUsed();
  if (taken) {
    const { status, stage, sent } = progressOf(taken);
    if (taken.executionMode === 'walletBroadcast' && stage === 'awaiting_escrow' && sent.length === 0)
      return true;
    throw submittedBefore(orderId, status);
  }
  const legs = parentOrderId === null ? [] : await deps.store.nextLegs(parentOrderId);
  if (legs.some((leg) => progressOf(leg).status !== 'failed')) throw legTaken();
  return false;
}

async function broadcastPlan(
  deps: PreflightDeps,
  port: ChainPort,
  opened: VerifiedQuote,
  taker: TakerState,
  submitTo: string,
): Promise<PreflightResponse> {
  const { order, origin, dest, inputAmount, commitments, quoteId, route, fillGas } = opened;
  const actions: Action[] = [];
  const approved = taker.escrowAllowance >= inputAmount;
  if (!approved) actions.push(...(await approvals(deps, port, opened, 'escrow', inputAmount)));
  const crossChain = origin.id !== dest.id;
  const { settleGas, outputGas, openGas, throughGas } = deps.relayFees.settings(origin.id);
  const self = encodeFunding({ mode: 'self' });
  const through = route?.through;
  const [data, units] = crossChain
    ? [openCall(order), openGas]
    : through
      ? [settleThroughCall(order, self, through.filler, through.data), throughGas + fillGas]
      : [
          settleCall(order, self, quoteId, commitments),
          settleGas + outputGas * BigInt(order.outputs.length - 1),
        ];
  const broadcast = await transaction(deps, port, opened, {
    purpose: 'settlementBroadcast',
    frequency: 'perTrade',
    to: origin.escrow,
    data,
    gas: units,
    details: { sendAfter: 'submission', notAfter: order.fillDeadline },
  });
  const short = shortfall(opened, taker, { gasWei: gasOf([...actions, broadcast]), fromLedger: 0n });
  return {
    quoteId,
    ready: approved && short === undefined,
    nextActions: [
      ...actions,
      // A settlement that is mined before the submission is a trade that the venue never hears of.
      { ...orderSignature(opened, submitTo, short), after: ['submitOrder'] },
      broadcast,
    ],
  };
}

async function submitPlan(
  deps: PreflightDeps,
  port: ChainPort,
  opened: VerifiedQuote,
  taker: TakerState,
  asked: FundingLock | undefined,
  submitTo: string,
): Promise<PreflightResponse> {
  const choice = choiceOf(taker, asked);
  const { lock, lockDetails, actions } = await lockPlan(deps, port, opened, taker, choice, submitTo);
  const needed = actions.filter(isNeeded);
  const short = shortfall(opened, taker, {
    gasWei: gasOf(needed),
    fromLedger: choice.mode === 'resourceLock' ? taker.funding.ledgerAvailable : 0n,
  });
  return {
    quoteId: opened.quoteId,
    ready: short === undefined && needed.length === 0,
    nextActions: [...actions, orderSignature(opened, submitTo, short)],
    fundingLock: lock,
    lockDetails,
  };
}

const submittedBefore = (orderId: Bytes32, status: OrderStatusResponse['status']) =>
  invalid(
    'quote_already_used',
    ['body', 'quoteResponse', 'quoteId'],
    `This quote was submitted: order ${orderId} is ${status}. GET …/orders/{id} follows it; ask for a new quote to trade again.`,
  );

/** Returns whether the plan cannot do without the transaction. */
const isNeeded = ({ type, details }: Action): boolean =>
  type === 'evmTransaction' && details?.['alternativeTo'] === undefined;

/** Returns the wei that the taker may have to pay for these transactions. */
const gasOf = (actions: readonly Action[]): bigint =>
  actions.reduce((sum, { tx }) => sum + (tx ? BigInt(tx.gas) * BigInt(tx.gasPrice) : 0n), 0n);

/**
 * Returns what the taker lacks; undefined when nothing. Where gas is paid in the input token itself, the
 * plan's gas cannot be traded. Another account may pay the gas of a contract wallet.
 */
function shortfall(
  { origin, inputToken, inputAmount }: VerifiedQuote,
  { funding }: TakerState,
  { gasWei, fromLedger }: { gasWei: bigint; fromLedger: bigint },
): { insufficientBalance: Record<string, string> } | undefined {
  const { native } = origin;
  const isGas = native.token?.address === inputToken.address && !funding.takerHasCode;
  const gas = (isGas ? nativeTokenUnitsUp(native, gasWei) : undefined) ?? 0n;
  const balance = funding.tokenBalance + fromLedger;
  if (balance >= inputAmount + gas) return undefined;
  // Twice the gas, so that the price of gas may rise until the taker has asked again.
  const most = balance - 2n * gas;
  return {
    insufficientBalance: {
      token: inputToken.address,
      symbol: inputToken.symbol,
      balance: balance.toString(),
      needed: inputAmount.toString(),
      ...(gas > 0n && { gas: gas.toString(), most: (most > 0n ? most : 0n).toString() }),
    },
  };
}
