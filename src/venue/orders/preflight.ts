/**
 * POST …/orders/preflight: the steps that remain before this candidate can be submitted. One that cannot be
 * submitted any more gets the refusal that its submission would get; one whose taker still has to broadcast
 * gets that step alone.
 */

import { MAX_UINT256, mulDivUp } from '../../domain/amount.ts';
import { nativeTokenUnitsUp } from '../../domain/chain.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { OrderStore } from '../../ports/stores/store.ts';
import { invalid } from '../../protocol/errors.ts';
import type {
  Action,
  FundingLock,
  PreflightRequest,
  PreflightResponse,
} from '../../protocol/api/preflight.ts';
import type { OrderStatusResponse } from '../../protocol/api/status.ts';
import type { RouterPreflightRequest } from '../../protocol/api/router.ts';
import {
  approveCall,
  depositCall,
  openCall,
  permit2GrantCall,
  settleCall,
  settleThroughCall,
} from '../../settlement/call.ts';
import {
  eip3009TypedData,
  encodeFunding,
  type LockChoice,
  permit2LockTypedData,
} from '../../settlement/funding.ts';
import type { VenueDeps } from '../deps.ts';
import type { Bulkhead } from '../access/bulkhead.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import { chainNow } from '../market/chain-now.ts';
import { receiverOf } from '../quoting/receiver.ts';
import type { Screening } from '../access/screening.ts';
import type { VerifiedQuote, SealOwner, Sealing } from '../quoting/sealing.ts';
import { progressOf } from './status.ts';
import { legTaken, PARTIES, requireOrigin, siblingUsed, type TradingCaller } from './submit.ts';
import { nonceUsed, readTaker, type TakerState } from './taker.ts';

export type AnyPreflightRequest = PreflightRequest | RouterPreflightRequest;

type PreflightDeps = Pick<VenueDeps, 'chains' | 'clock' | 'random'> & {
  sealing: Sealing;
  chainBulkhead: Bulkhead<number>;
  relayFees: RelayFees;
  screening: Screening;
  store: Pick<OrderStore, 'orderOfNonce' | 'nextLegs'>;
};

export type Preflighter = ReturnType<typeof createPreflighter>;

/** Seconds by which locks outlive the last second of settlement, because clocks differ. */
const LOCK_MARGIN_SECONDS = 60;
/** `lockDetails.signature` before the taker has signed, and with a standing grant, which needs none. */
const UNSIGNED = '0x';
const GRANT_TRADES = 10n;
const GRANT_SECONDS = 30 * 24 * 3600;
const MAX_UINT160 = (1n << 160n) - 1n;

interface PlannedCall {
  purpose: Action['purpose'];
  frequency?: Action['frequency'];
  to: Hex;
  data: Hex;
  gas: bigint;
  after?: Action['after'];
  details: Record<string, unknown>;
}
/** For calls that cannot be simulated yet. */
const GAS = { approve: 60_000n, permit2Grant: 70_000n, deposit: 120_000n };

export function createPreflighter({
  chains,
  sealing,
  chainBulkhead,
  relayFees,
  screening,
  store,
  clock,
  random,
}: PreflightDeps) {
  async function plan(
    { quoteResponse, fundingLock }: AnyPreflightRequest,
    { key, workspace, namespace }: TradingCaller,
  ): Promise<PreflightResponse> {
    return planFor(
      sealing.open(
        { account: workspace.id, namespace, mode: key.mode },
        quoteResponse,
        chainNow(clock, undefined),
      ),
      fundingLock,
      namespace,
    );
  }

  async function planFor(
    opened: VerifiedQuote,
    fundingLock: FundingLock | undefined,
    namespace: SealOwner['namespace'],
  ): Promise<PreflightResponse> {
    const port = requireOrigin(chains, opened);
    const submitTo = `/api/v1/${namespace}/orders`;
    if (await alreadySubmitted(opened)) {
      // The order is the venue's to follow, its transaction the taker's to send.
      const taker = await chainBulkhead.run(opened.origin.id, () => readTaker(port, opened));
      // The order shows a broadcast only once it is final. Sent again, or too late, it would only cost gas.
      if (taker.nonceUsed || chainNow(clock, port) > opened.order.fillDeadline)
        throw submittedBefore(opened.orderId, 'pending');
      const { nextActions, ...plan } = await broadcastPlan(port, opened, taker, submitTo);
      const left = nextActions.filter(({ purpose }) => purpose !== 'orderSignature');
      return { ...plan, ready: false, nextActions: left };
    }
    if (chainNow(clock, port) >= opened.validUntil)
      throw invalid(
        'quote_expired',
        ['body', 'quoteResponse', 'validUntil'],
        'The quote is no longer valid. Ask for a new one.',
      );
    await screening.requireAllowed({ taker: opened.order.user, receiver: receiverOf(opened.order) }, PARTIES);
    return chainBulkhead.run(opened.origin.id, async () => {
      const taker = await readTaker(port, opened);
      if (taker.nonceUsed) throw await nonceUsed(port, opened);
      return opened.executionMode === 'walletBroadcast'
        ? broadcastPlan(port, opened, taker, submitTo)
        : submitPlan(port, opened, taker, fundingLock, submitTo);
    });
  }

  /** Whether only the taker's broadcast is left. Throws 422 when an order took the quote, nonce or leg. */
  async function alreadySubmitted(opened: VerifiedQuote): Promise<boolean> {
    const { origin, order, orderId, parentOrderId } = opened;
    const taken = await store.orderOfNonce(origin.id, order.user, order.nonce);
    if (taken && (taken.orderId !== orderId || taken.quoteId !== opened.quoteId)) throw siblingUsed();
    if (taken) {
      const { status, stage, sent } = progressOf(taken);
      if (taken.executionMode === 'walletBroadcast' && stage === 'awaiting_escrow' && sent.length === 0)
        return true;
      throw submittedBefore(orderId, status);
    }
    const legs = parentOrderId === null ? [] : await store.nextLegs(parentOrderId);
    if (legs.some((leg) => progressOf(leg).status !== 'failed')) throw legTaken();
    return false;
  }

  async function submitPlan(
    port: ChainPort,
    opened: VerifiedQuote,
    taker: TakerState,
    asked: FundingLock | undefined,
    submitTo: string,
  ): Promise<PreflightResponse> {
    const choice = choiceOf(taker, asked);
    const { lock, lockDetails, actions } = await lockPlan(port, opened, taker, choice, submitTo);
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

  async function lockPlan(
    port: ChainPort,
    opened: VerifiedQuote,
    taker: TakerState,
    choice: LockChoice,
    submitTo: string,
  ): Promise<{
    lock: FundingLock;
    lockDetails: NonNullable<PreflightResponse['lockDetails']>;
    actions: Action[];
  }> {
    const { order, origin, inputToken, inputAmount } = opened;
    const until = order.fillDeadline + LOCK_MARGIN_SECONDS;
    const escrow = { chainId: origin.id, escrow: origin.escrow };
    const approvePermit2 = async () =>
      choice.needsTokenApproval ? approvals(port, opened, 'Permit2', MAX_UINT256) : [];
    switch (choice.mode) {
      case 'resourceLock': {
        const missing = inputAmount - taker.funding.ledgerAvailable;
        const actions: Action[] = [];
        if (missing > 0n) {
          if (taker.escrowAllowance < missing)
            actions.push(...(await approvals(port, opened, 'escrow', missing)));
          actions.push(
            await transaction(port, opened, {
              purpose: 'resourceLockDeposit',
              to: origin.escrow,
              data: depositCall(inputToken.address, missing),
              gas: GAS.deposit,
              after: ['rerunPreflight'],
              details: { token: inputToken.address, amount: missing.toString() },
            }),
          );
        }
        return {
          lock: 'ResourceLock',
          lockDetails: {
            token: inputToken.address,
            account: order.user,
            available: taker.funding.ledgerAvailable.toString(),
            withdrawableAt: taker.withdrawableAt,
          },
          actions,
        };
      }
      case 'eip3009': {
        const nonce = random.bytes32();
        const token = {
          chainId: origin.id,
          address: inputToken.address,
          ...(inputToken.eip3009 as { name: string; version: string }),
        };
        const { typedData } = eip3009TypedData(token, {
          from: order.user,
          to: origin.escrow,
          value: inputAmount,
          validAfter: 0n,
          validBefore: BigInt(until),
          nonce,
        });
        const terms = { validAfter: 0, validBefore: until, nonce };
        return {
          lock: 'EIP-3009',
          lockDetails: { signature: UNSIGNED, ...terms },
          actions: [
            signature(opened, 'eip3009Authorization', typedData, submitTo, {
              resultIn: 'eip3009Authorization',
              ...terms,
            }),
          ],
        };
      }
      case 'permit2Grant':
        return {
          lock: 'Permit2',
          lockDetails: { signature: UNSIGNED, deadline: taker.funding.permit2Grant.expiration },
          actions: await approvePermit2(),
        };
      case 'permit2Lock': {
        const { typedData } = permit2LockTypedData(escrow, origin.permit2, order, BigInt(until));
        const amount = inputAmount * GRANT_TRADES < MAX_UINT160 ? inputAmount * GRANT_TRADES : MAX_UINT160;
        const expiration = chainNow(clock, port) + GRANT_SECONDS;
        const grant = await transaction(port, opened, {
          purpose: 'permit2Grant',
          to: origin.permit2,
          data: permit2GrantCall(inputToken.address, origin.escrow, amount, expiration),
          gas: GAS.permit2Grant,
          after: ['rerunPreflight'],
          details: { alternativeTo: 'permit2Lock', amount: amount.toString(), expiration },
        });
        const lockSignature = signature(opened, 'permit2Lock', typedData, submitTo, {
          resultIn: 'permit2Lock',
          deadline: until,
        });
        return {
          lock: 'Permit2',
          lockDetails: { signature: UNSIGNED, deadline: until },
          actions: [...(await approvePermit2()), grant, lockSignature],
        };
      }
    }
  }

  async function broadcastPlan(
    port: ChainPort,
    opened: VerifiedQuote,
    taker: TakerState,
    submitTo: string,
  ): Promise<PreflightResponse> {
    const { order, origin, dest, inputAmount, commitments, quoteId, route, fillGas } = opened;
    const actions: Action[] = [];
    const approved = taker.escrowAllowance >= inputAmount;
    if (!approved) actions.push(...(await approvals(port, opened, 'escrow', inputAmount)));
    const crossChain = origin.id !== dest.id;
    const { settleGas, outputGas, openGas, throughGas } = relayFees.settings(origin.id);
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
    const broadcast = await transaction(port, opened, {
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

  /** One approval, or two where the token changes an allowance only from or to zero (USDT). */
  async function approvals(
    port: ChainPort,
    opened: VerifiedQuote,
    spender: 'Permit2' | 'escrow',
    amount: bigint,
  ): Promise<Action[]> {
    const { order, origin, inputToken } = opened;
    const place = spender === 'escrow' ? origin.escrow : origin.permit2;
    const approve = (value: bigint) => ({
      purpose: 'tokenApproval' as const,
      to: inputToken.address,
      data: approveCall(place, value),
      gas: GAS.approve,
      details: { spender, token: inputToken.address },
    });
    const simulate = (value: bigint) =>
      port.simulate({ from: order.user, to: inputToken.address, data: approveCall(place, value) });
    const direct = await simulate(amount);
    if (direct.ok) return [action(opened, approve(amount), direct.gasUsed)];
    const allowed = await port.allowance(order.user, inputToken.address, place);
    const reset = allowed > 0n ? await simulate(0n) : undefined;
    if (reset?.ok) return [action(opened, approve(0n), reset.gasUsed), action(opened, approve(amount))];
    throw invalid(
      'lock_invalid',
      ['body', 'quoteResponse', 'order'],
      `${inputToken.symbol} refuses an approval by this taker now: ${direct.reason}. Ask the issuer of the token, or trade another one.`,
    );
  }

  async function transaction(port: ChainPort, opened: VerifiedQuote, call: PlannedCall): Promise<Action> {
    const simulated = await port.simulate({ from: opened.order.user, to: call.to, data: call.data });
    // What an earlier action of the plan makes possible cannot be simulated yet.
    return action(opened, call, simulated.ok ? simulated.gasUsed : undefined);
  }

  /** With a third more gas than a simulation used; without one, with the usual gas of such a call. */
  function action({ order, origin }: VerifiedQuote, call: PlannedCall, gasUsed?: bigint): Action {
    const units = gasUsed === undefined ? call.gas : mulDivUp(gasUsed, 13n, 10n);
    const price = mulDivUp(relayFees.weiPerGas(origin.id) ?? 0n, 12n, 10n);
    return {
      type: 'evmTransaction',
      purpose: call.purpose,
      actor: 'userWallet',
      frequency: call.frequency ?? 'reusableSetup',
      chainId: origin.id,
      tx: {
        to: call.to,
        value: '0',
        data: call.data,
        chainId: origin.id,
        from: order.user,
        gas: Number(units),
        gasPrice: Number(price),
      },
      after: call.after ?? [],
      details: call.details,
    };
  }

  return { plan, planFor };
}

const submittedBefore = (orderId: Bytes32, status: OrderStatusResponse['status']) =>
  invalid(
    'quote_already_used',
    ['body', 'quoteResponse', 'quoteId'],
    `This quote was submitted: order ${orderId} is ${status}. GET …/orders/{id} follows it; ask for a new quote to trade again.`,
  );

function choiceOf({ funding, choice }: TakerState, asked: FundingLock | undefined): LockChoice {
  if (asked === undefined || asked === choice.lock) return choice;
  switch (asked) {
    case 'ResourceLock':
      return { lock: asked, mode: 'resourceLock', needsTokenApproval: false };
    case 'EIP-3009':
      if (!funding.hasEip3009 || funding.takerHasCode)
        throw invalid(
          'lock_invalid',
          ['body', 'fundingLock'],
          'EIP-3009 needs a token that has it and a taker without code. Leave fundingLock out to let preflight choose.',
        );
      return { lock: asked, mode: 'eip3009', needsTokenApproval: false };
    case 'Permit2': {
      const granted =
        funding.permit2Grant.amount >= funding.amount &&
        funding.permit2Grant.expiration >= funding.fillDeadline;
      return {
        lock: asked,
        mode: granted ? 'permit2Grant' : 'permit2Lock',
        needsTokenApproval: funding.permit2TokenAllowance < funding.amount,
      };
    }
  }
}

function signature(
  opened: VerifiedQuote,
  purpose: Action['purpose'],
  payload: object,
  submitTo: string,
  details: Record<string, unknown> | undefined,
): Action {
  return {
    type: 'signature',
    purpose,
    actor: 'userWallet',
    frequency: 'perTrade',
    chainId: opened.origin.id,
    typedData: { type: 'eip712', payload: payload as Record<string, unknown> },
    submitTo,
    after: [],
    ...(details && { details }),
  };
}

function orderSignature(
  opened: VerifiedQuote,
  submitTo: string,
  details: Record<string, unknown> | undefined,
): Action {
  const { order } = JSON.parse(opened.text) as { order: NonNullable<Action['typedData']> };
  return { ...signature(opened, 'orderSignature', {}, submitTo, details), typedData: order };
}

/** A transaction that the plan cannot do without. */
const isNeeded = ({ type, details }: Action): boolean =>
  type === 'evmTransaction' && details?.['alternativeTo'] === undefined;

/** Wei that the taker may have to pay for these transactions. */
const gasOf = (actions: readonly Action[]): bigint =>
  actions.reduce((sum, { tx }) => sum + (tx ? BigInt(tx.gas) * BigInt(tx.gasPrice) : 0n), 0n);

/**
 * What the taker lacks; undefined: nothing. Where gas is paid in the input token itself, the plan's gas
 * cannot be traded. Somebody else may pay the gas of a contract wallet.
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
