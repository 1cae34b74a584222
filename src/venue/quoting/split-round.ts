/** Plans one order from several LPs' ladders, and asks each LP to sign its slice. */

import { type Ladder, planSplit, type SplitPlan } from '../../auction/split.ts';
import { decodeContext, encodeContext } from '../../domain/context.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import { orderId, type StandardOrder, orderToMessage } from '../../domain/order.ts';
import { orderTimes } from '../../domain/time.ts';
import { type Commit, type LinkPartial, recipientFor, type SliceRequest } from '../../protocol/link/link.ts';
import type { FanOut } from './fan-out.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import {
  type FirmQuote,
  signedCommitment,
  type SolverRequest,
  verifyCommitment,
  type VerifyDeps,
} from './verify.ts';

export type PartialOffers = readonly { session: SolverSession; partial: LinkPartial }[];

interface SplitDeps extends VerifyDeps {
  fanOut: FanOut;
}

interface PlannedSplit {
  plan: SplitPlan;
  validUntil: number;
  sessions: SolverSession[];
}

/** Returns whether the offer lives as long as this request demands. */
export const isInTime = (
  { now, rfq }: Pick<SolverRequest, 'now' | 'rfq'>,
  { partial: { validUntil } }: PartialOffers[number],
): boolean => validUntil > now && validUntil >= (rfq.minValidUntil ?? 0);

/** Plans the slices from offers that are in time. undefined when their ladders cannot carry the amount. */
export function planSplitRound(asked: SolverRequest, offers: PartialOffers): PlannedSplit | undefined {
  const usable = offers.filter(
    ({ session: { accounts } }) =>
      accounts.get(asked.origin.id)?.account === accounts.get(asked.dest.id)?.account,
  );
  const ladders = new Map(
    usable.map(({ session, partial }) => [
      session.solverId,
      partial.ladder.map(([input, output]) => [BigInt(input), BigInt(output)] as const) satisfies Ladder,
    ]),
  );
  const plan = planSplit(ladders, {
    side: asked.side,
    amount: asked.amount,
    maxParts: asked.rfq.maxSplitParts,
  });
  if (!plan) return undefined;
  const taking = plan.slices.map(
    ({ solverId }) => usable.find(({ session }) => session.solverId === solverId) as PartialOffers[number],
  );
  const validUntil = Math.min(asked.latestValidUntil, ...taking.map(({ partial }) => partial.validUntil));
  return { plan, validUntil, sessions: taking.map(({ session }) => session) };
}

/** `missing`: those who did not sign. */
export async function commitSplit(
  deps: SplitDeps,
  asked: SolverRequest,
  { plan, validUntil, sessions }: PlannedSplit,
  order: StandardOrder,
  quoteId: Bytes32,
  withinMs?: number,
): Promise<FirmQuote | { missing: readonly SolverSession[] }> {
  const { fanOut } = deps;
  const id = orderId({ chainId: asked.origin.id, escrow: asked.origin.escrow }, order);
  const message = orderToMessage(order) as SliceRequest['order'];
  const slices = sessions.map((session, outputIndex) => ({
    session,
    slice: {
      type: 'slice' as const,
      rfqId: asked.rfq.rfqId,
      quoteId,
      order: message,
      outputIndex,
      validUntil,
    },
  }));
  const replies = await fanOut.requestCommits(quoteId, slices, withinMs);
  if (replies.refused.length > 0) return { missing: replies.refused };
  const signers = await recoverSlices(deps, asked, replies.commits, { quoteId, orderId: id });
  const commits: Commit[] = [];
  const missing: SolverSession[] = [];
  let thin = false;
  for (const [index, session] of sessions.entries()) {
    const commit = replies.commits.get(session);
    const output = order.outputs[index];
    if (!commit || !output) {
      missing.push(session);
      continue;
    }
    const { commitment } = commit;
    const backing =
      decodeContext(output.context)?.exclusiveFor !== commitment.lp
        ? 'account'
        : verifyCommitment(deps, asked, session, {
            commitment,
            signer: signers.get(session),
            fillDeadline: order.fillDeadline,
            amount: output.amount,
          });
    if (typeof backing === 'string') {
      fanOut.reject(session, backing, commit);
      missing.push(session);
      continue;
    }
    fanOut.countValid(session, 'commit');
    commits.push(commit);
    thin ||= backing.thin;
  }
  if (!hasAllSlices(commits, sessions)) return { missing };
  const largest = plan.slices.reduce((best, slice) => (slice.portionBps > best.portionBps ? slice : best));
  // The mean of the spreads, weighed by share, rounded up.
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
    thin,
  };
}

/** Returns whoever signed each slice. */
async function recoverSlices(
  { recovery }: SplitDeps,
  { origin }: SolverRequest,
  commits: ReadonlyMap<SolverSession, Commit>,
  { quoteId, orderId: id }: { quoteId: Bytes32; orderId: Bytes32 },
): Promise<Map<SolverSession, Address | undefined>> {
  const signed = [...commits.values()].map(({ commitment }) =>
    signedCommitment({ origin, orderId: id, quoteId, commitment }),
  );
  const signers = await recovery.recoverAll(signed);
  return new Map([...commits.keys()].map((session, index) => [session, signers[index]]));
}

/** A split settles as a whole. */
const hasAllSlices = (commits: readonly Commit[], sessions: readonly SolverSession[]): boolean =>
  commits.length === sessions.length;

/** undefined when a slice would not cover its fees: the escrow refuses such an order. */
export function splitOrder(
  asked: SolverRequest,
  { plan, validUntil, sessions }: PlannedSplit,
  totalRelayFee: bigint,
): StandardOrder | undefined {
  const { rfq, origin, dest, inputToken, outputToken, nonce } = asked;
  const times = orderTimes(validUntil, rfq.skeleton);
  const relayFees = shares(
    totalRelayFee,
    plan.slices.map(({ portionBps }) => portionBps),
    asked.relayFee,
  );
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

/** The largest slice bears the rounding. No slice bears more than `most`. */
function shares(total: bigint, portions: readonly number[], most: bigint): bigint[] {
  const parts = portions.map((bps) => (total * BigInt(bps)) / 10_000n);
  const largest = portions.indexOf(Math.max(...portions));
  parts[largest] = (parts[largest] as bigint) + total - parts.reduce((sum, part) => sum + part, 0n);
  return parts.map((part) => (part < most ? part : most));
}
