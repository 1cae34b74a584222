/** Writes the actions of a preflight plan: what the taker signs and sends. */

import { mulDivUp } from '../../domain/amount.ts';
import type { Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { OrderStore } from '../../ports/stores/store.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Action } from '../../protocol/api/preflight.ts';
import { approveCall } from '../../settlement/call.ts';
import type { VenueDeps } from '../deps.ts';
import type { Bulkhead } from '../access/bulkhead.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import type { Screening } from '../access/screening.ts';
import type { Sealing, VerifiedQuote } from '../quoting/sealing.ts';

export type PreflightDeps = Pick<VenueDeps, 'chains' | 'clock' | 'random'> & {
  sealing: Sealing;
  chainBulkhead: Bulkhead<number>;
  relayFees: RelayFees;
  screening: Screening;
  liquidity: Pick<Liquidity, 'latestFillDeadlineNow'>;
  store: Pick<OrderStore, 'orderOfNonce' | 'nextLegs'>;
};

interface PlannedCall {
  purpose: Action['purpose'];
  frequency?: Action['frequency'];
  to: Hex;
  data: Hex;
  gas: bigint;
  after?: Action['after'];
  details: Record<string, unknown>;
}

/** The gas of calls that cannot be simulated yet. */
export const GAS = { approve: 60_000n, permit2Grant: 70_000n, deposit: 120_000n };

/** Plans one approval, or two where the token changes an allowance only from or to zero (USDT). */
export async function approvals(
  deps: PreflightDeps,
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
  if (direct.ok) return [action(deps, opened, approve(amount), direct.gasUsed)];
  const allowed = await port.allowance(order.user, inputToken.address, place);
  const reset = allowed > 0n ? await simulate(0n) : undefined;
  if (reset?.ok)
    return [action(deps, opened, approve(0n), reset.gasUsed), action(deps, opened, approve(amount))];
  throw invalid(
    'lock_invalid',
    ['body', 'quoteResponse', 'order'],
    `${inputToken.symbol} refuses an approval by this taker now: ${direct.reason}. Ask the issuer of the token, or trade another one.`,
  );
}

export async function transaction(
  deps: PreflightDeps,
  port: ChainPort,
  opened: VerifiedQuote,
  call: PlannedCall,
): Promise<Action> {
  const simulated = await port.simulate({ from: opened.order.user, to: call.to, data: call.data });
  // What an earlier action of the plan makes possible cannot be simulated yet.
  return action(deps, opened, call, simulated.ok ? simulated.gasUsed : undefined);
}

/**
 * Makes an action of a call. Its gas is a third more than a simulation used, or, without a simulation, the
 * usual gas of such a call.
 */
function action(
  deps: PreflightDeps,
  { order, origin }: VerifiedQuote,
  call: PlannedCall,
  gasUsed?: bigint,
): Action {
  const units = gasUsed === undefined ? call.gas : mulDivUp(gasUsed, 13n, 10n);
  const price = mulDivUp(deps.relayFees.weiPerGas(origin.id) ?? 0n, 12n, 10n);
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

export function signature(
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

export function orderSignature(
  opened: VerifiedQuote,
  submitTo: string,
  details: Record<string, unknown> | undefined,
): Action {
  const { order } = JSON.parse(opened.text) as { order: NonNullable<Action['typedData']> };
  return { ...signature(opened, 'orderSignature', {}, submitTo, details), typedData: order };
}
