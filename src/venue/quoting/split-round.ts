/**
 * Second round: a split planned from ladders becomes one order that every slice's LP signs, or nothing at
 * all.
 */

import { type Ladder, planSplit, type SplitPlan } from '../../auction/split.ts';
import { decodeContext, encodeContext } from '../../domain/context.ts';
import { addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import { orderTimes } from '../../domain/time.ts';
import { type Commit, type Partial, recipientFor, type Slice } from '../../protocol/link/link.ts';
import { orderToMessage } from '../../protocol/wire.ts';
import type { FanOut } from './fan-out.ts';
import type { SolverSession } from '../solvers/roster.ts';
import {
  type SolverRequest,
  bindingObjection,
  type Objection,
  type FirmQuote,
  type VerifyDeps,
} from './verify.ts';

export type Offers = readonly { session: SolverSession; partial: Partial }[];

export interface SplitDeps extends VerifyDeps {
  fanOut: FanOut;
  /** A fresh quoteId. */
  quoteId(): Bytes32;
}

interface Planned {
  plan: SplitPlan;
  order: StandardOrder;
  validUntil: number;
  sessions: SolverSession[];
}

/** What the ladders could give together; undefined when they cannot carry it. */
export function planOffers(
  ask: SolverRequest,
  offers: Offers,
  relayFee: (outputs: number) => bigint,
): Planned | undefined {
  const usable = offers.filter(
    ({ session, partial }) =>
      partial.validUntil > ask.now &&
      partial.validUntil >= (ask.rfq.minValidUntil ?? 0) &&
      session.accounts.get(ask.origin.id)?.account === session.accounts.get(ask.dest.id)?.account,
  );
  const ladders = new Map(
    usable.map(({ session, partial }) => [
      session.solverId,
      partial.ladder.map(([input, output]) => [BigInt(input), BigInt(output)] as const) satisfies Ladder,
    ]),
  );
  const plan = planSplit(ladders, { side: ask.side, amount: ask.amount, maxParts: ask.rfq.maxSplitParts });
  if (!plan) return undefined;
  const taking = plan.slices.map(
    ({ solverId }) => usable.find(({ session }) => session.solverId === solverId) as Offers[number],
  );
  const validUntil = Math.min(ask.latestValidUntil, ...taking.map(({ partial }) => partial.validUntil));
  const order = splitOrder(
    ask,
    plan,
    taking.map(({ session }) => session),
    validUntil,
    relayFee(plan.slices.length),
  );
  return order && { plan, order, validUntil, sessions: taking.map(({ session }) => session) };
}

/**
 * Asks every slice's LP for its signature. When one of them will not, the answer names whom to leave out of
 * another plan.
 */
export async function commitSplit(
  deps: SplitDeps,
  ask: SolverRequest,
  { plan, order, validUntil, sessions }: Planned,
  withinMs?: number,
): Promise<FirmQuote | { missing: readonly SolverSession[] }> {
  const quoteId = deps.quoteId();
  const id = orderId({ chainId: ask.origin.id, escrow: ask.origin.escrow }, order);
  const message = orderToMessage(order);
  const slices = sessions.map((session, outputIndex) => ({
    session,
    slice: {
      type: 'slice' as const,
      rfqId: ask.rfq.rfqId,
      quoteId,
      order: message as Slice['order'],
      outputIndex,
      validUntil,
    },
  }));
  const { committed, missing } = await deps.fanOut.commit(
    slices,
    (session, commit): Commit | Objection => {
      const index = sessions.indexOf(session);
      const output = order.outputs[index];
      if (!output || commit.quoteId !== quoteId) return 'terms';
      if (decodeContext(output.context)?.exclusiveFor !== commit.commitment.lp) return 'account';
      return (
        bindingObjection(deps, ask, session, {
          commitment: commit.commitment,
          orderId: id,
          quoteId,
          fillDeadline: order.fillDeadline,
          amount: output.amount,
        }) ?? commit
      );
    },
    withinMs,
  );
  if (committed.size !== sessions.length) return { missing };
  const commits = plan.slices.map(({ solverId }) => committed.get(solverId) as Commit);
  const largest = plan.slices.reduce((best, slice) => (slice.portionBps > best.portionBps ? slice : best));
  // The spread of the whole: each slice's, weighed by its share, rounded up.
  const weighed = commits.reduce(
    (sum, { lpSpreadBps }, index) => sum + lpSpreadBps * (plan.slices[index]?.portionBps ?? 0),
    0,
  );
  return {
    solverId: largest.solverId,
    quoteId,
    orderId: id,
    order,
    validUntil,
    inputAmount: plan.inputAmount,
    outputAmount: plan.outputAmount,
    amountBeforeFees: null,
    lpSpreadBps: Math.ceil(weighed / 10_000),
    eta: null,
    commitments: commits.map(({ commitment }) => commitment),
    slices: plan.slices.map(({ solverId, portionBps, outputAmount }) => ({
      solverId,
      portionBps,
      outputAmount,
    })),
  };
}

function splitOrder(
  ask: SolverRequest,
  plan: SplitPlan,
  sessions: readonly SolverSession[],
  validUntil: number,
  totalRelayFee: bigint,
): StandardOrder | undefined {
  const { rfq, origin, dest, inputToken, outputToken, nonce } = ask;
  const times = orderTimes(validUntil, rfq.skeleton);
  const relayFees = shares(
    totalRelayFee,
    plan.slices.map(({ portionBps }) => portionBps),
    ask.relayFee,
  );
  // A slice that cannot pay its own fees is an order the escrow refuses.
  if (
    plan.slices.some(
      ({ inputAmount }, index) =>
        (inputAmount * BigInt(rfq.platformFeeBps)) / 10_000n + (relayFees[index] as bigint) > inputAmount,
    )
  )
    return undefined;
  return {
    user: rfq.taker,
    nonce,
    originChainId: BigInt(origin.id),
    expires: times.expires,
    fillDeadline: times.fillDeadline,
    inputOracle: rfq.skeleton.inputOracle,
    inputs: [[BigInt(inputToken.address), plan.inputAmount]],
    outputs: plan.slices.map(({ portionBps, outputAmount }, index) => ({
      oracle: addressToBytes32(rfq.skeleton.outputOracle),
      settler: addressToBytes32(dest.escrow),
      chainId: BigInt(dest.id),
      token: addressToBytes32(outputToken.address),
      amount: outputAmount,
      ...recipientFor(rfq),
      context: encodeContext({
        exclusiveFor: (sessions[index] as SolverSession).accounts.get(dest.id)?.account ?? '0x',
        startTime: times.fillDeadline + 1,
        portionBps,
        feeBps: rfq.platformFeeBps,
        relayFee: relayFees[index] as bigint,
      }),
    })),
  };
}

/**
 * The relayer's pay, shared like the input, the rest to the largest; no LP bears more than the request told
 * it.
 */
function shares(total: bigint, portions: readonly number[], most: bigint): bigint[] {
  const parts = portions.map((bps) => (total * BigInt(bps)) / 10_000n);
  const largest = portions.indexOf(Math.max(...portions));
  parts[largest] = (parts[largest] as bigint) + total - parts.reduce((sum, part) => sum + part, 0n);
  return parts.map((part) => (part < most ? part : most));
}
