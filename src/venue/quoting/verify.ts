/**
 * A solver's answer held against the request, field by field, before it may compete: what passes here can be
 * executed as it stands.
 */

import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { commitmentDigest, type SignedCommitment } from '../../domain/commitment.ts';
import { decodeContext, FULL_PORTION_BPS } from '../../domain/context.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Recoveries, Recovery } from '../../ports/signer.ts';
import { type LinkQuote, recipientFor, type Rfq } from '../../protocol/link/link.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import { type PromisedOutputs, nonceGroupOf } from './exposure.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { SolverSession } from '../solvers/roster.ts';

/** A request as the venue understands it; the rfq message is its wire form. */
export interface SolverRequest {
  rfq: Rfq;
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  nonce: bigint;
  relayFee: bigint;
  /** See `exposure`. */
  group: string;
  /** Chain time at which the request was made. */
  now: UnixSeconds;
  latestValidUntil: UnixSeconds;
}

export interface FirmQuote {
  solverId: string;
  quoteId: Bytes32;
  orderId: Bytes32;
  order: StandardOrder;
  validUntil: UnixSeconds;
  inputAmount: bigint;
  outputAmount: bigint;
  amountBeforeFees: bigint | null;
  lpSpreadBps: number | null;
  eta: number | null;
  /** One per output. */
  commitments: SignedCommitment[];
  slices: { solverId: string; portionBps: number; outputAmount: bigint }[];
}

/** Why an answer does not count; a label of metrics, so the set is small. */
export type Objection =
  | 'times'
  | 'terms'
  | 'amount'
  | 'output'
  | 'context'
  | 'account'
  | 'signature'
  | 'balance'
  | 'duplicate';

export interface VerifyDeps {
  recovery: Recovery;
  /** For whole quotes, of which there are many. */
  recoveries: Recoveries;
  liquidity: Liquidity;
  exposure: PromisedOutputs;
}

/**
 * An answer whose every field fits the request. Whether its signature and its money do is for `proveQuote`,
 * which costs twenty times as much.
 */
export interface MatchingQuote extends Omit<FirmQuote, 'orderId'> {
  session: SolverSession;
}

export function matchQuote(
  ask: SolverRequest,
  session: SolverSession,
  quote: LinkQuote,
): MatchingQuote | Objection {
  const { rfq } = ask;
  const order = orderFromMessage(quote.order);
  const [output, ...others] = order.outputs;
  if (!output || others.length > 0) return 'output';
  const wrong =
    timesObjection(ask, order, quote.validUntil) ??
    termsObjection(ask, order) ??
    outputObjection(ask, output);
  if (wrong) return wrong;
  const [, inputAmount] = order.inputs[0] as readonly [bigint, bigint];
  const fixed = ask.side === 'exactInput' ? inputAmount : output.amount;
  const amountBeforeFees = BigInt(quote.amountBeforeFees);
  if (fixed !== ask.amount || output.amount === 0n || amountBeforeFees < output.amount) return 'amount';

  const context = decodeContext(output.context);
  const { commitment } = quote;
  if (
    !context ||
    context.exclusiveFor !== commitment.lp ||
    context.startTime !== order.fillDeadline + 1 ||
    context.portionBps !== FULL_PORTION_BPS
  )
    return 'context';
  if (context.feeBps !== rfq.platformFeeBps || context.relayFee !== ask.relayFee) return 'context';
  // A slice that cannot pay its own fees is an order the escrow refuses.
  if ((inputAmount * BigInt(context.feeBps)) / BPS + context.relayFee > inputAmount) return 'amount';

  return {
    session,
    solverId: session.solverId,
    quoteId: quote.quoteId,
    order,
    validUntil: quote.validUntil,
    inputAmount,
    outputAmount: output.amount,
    amountBeforeFees,
    lpSpreadBps: quote.lpSpreadBps,
    eta: quote.eta,
    commitments: [commitment],
    slices: [{ solverId: session.solverId, portionBps: FULL_PORTION_BPS, outputAmount: output.amount }],
  };
}

/**
 * The rest of the verification: only what has passed it may be shown to a taker. A promise where another
 * thread recovers the signer; it never rejects.
 */
export function verifyQuote(
  deps: VerifyDeps,
  ask: SolverRequest,
  { session, ...fitting }: MatchingQuote,
): FirmQuote | Objection | Promise<FirmQuote | Objection> {
  const { order, quoteId, commitments, outputAmount } = fitting;
  const { origin } = ask;
  const id = orderId({ chainId: origin.id, escrow: origin.escrow }, order);
  const commitment = commitments[0] as SignedCommitment;
  const wrong = claimObjection(ask, session, commitment, order.fillDeadline);
  if (wrong) return wrong;
  const judge = (signer: Address | undefined) =>
    backingObjection(deps, ask, commitment.lp, signer, outputAmount) ?? { ...fitting, orderId: id };
  const signer = deps.recoveries.recover(
    commitmentDigestOf({ origin, orderId: id, quoteId, commitment }),
    commitment.signature,
  );
  return signer instanceof Promise ? signer.then(judge) : judge(signer);
}

/** The clock law with this request's own margins, and the validity it asked for. */
function timesObjection(
  { rfq, now, latestValidUntil }: SolverRequest,
  order: StandardOrder,
  validUntil: UnixSeconds,
): Objection | undefined {
  const { landingMarginSeconds, proofWindowSeconds } = rfq.skeleton;
  const lawful =
    order.fillDeadline === validUntil + landingMarginSeconds &&
    order.expires === order.fillDeadline + proofWindowSeconds;
  const wanted =
    validUntil > now &&
    validUntil <= latestValidUntil &&
    (rfq.minValidUntil === null || validUntil >= rfq.minValidUntil);
  return lawful && wanted ? undefined : 'times';
}

function termsObjection(
  { rfq, origin, inputToken, nonce }: SolverRequest,
  order: StandardOrder,
): Objection | undefined {
  const [input, ...more] = order.inputs;
  const same =
    order.user === rfq.taker &&
    order.nonce === nonce &&
    order.originChainId === BigInt(origin.id) &&
    order.inputOracle === rfq.skeleton.inputOracle &&
    more.length === 0 &&
    input !== undefined &&
    input[0] === BigInt(inputToken.address);
  return same ? undefined : 'terms';
}

export function outputObjection(
  { rfq, dest, outputToken }: SolverRequest,
  output: StandardOrder['outputs'][number],
): Objection | undefined {
  const wanted = recipientFor(rfq);
  const same =
    output.oracle === addressToBytes32(rfq.skeleton.outputOracle) &&
    output.settler === addressToBytes32(dest.escrow) &&
    output.chainId === BigInt(dest.id) &&
    output.token === addressToBytes32(outputToken.address) &&
    output.recipient === wanted.recipient &&
    output.callbackData === wanted.callbackData;
  return same ? undefined : 'output';
}

/** Who signed, may it, and is the money there besides everything else this LP has promised? */
export function bindingObjection(
  deps: VerifyDeps,
  ask: SolverRequest,
  session: SolverSession,
  {
    commitment,
    orderId: id,
    quoteId,
    fillDeadline,
    amount,
  }: {
    commitment: SignedCommitment;
    orderId: Bytes32;
    quoteId: Bytes32;
    fillDeadline: UnixSeconds;
    amount: bigint;
  },
): Objection | undefined {
  return (
    claimObjection(ask, session, commitment, fillDeadline) ??
    backingObjection(
      deps,
      ask,
      commitment.lp,
      recoverCommitmentSigner(deps.recovery, { origin: ask.origin, orderId: id, quoteId, commitment }),
      amount,
    )
  );
}

/** What can be said of a commitment before its signature is looked at. */
function claimObjection(
  { origin, dest }: SolverRequest,
  session: SolverSession,
  { lp, deadline }: SignedCommitment,
  fillDeadline: UnixSeconds,
): Objection | undefined {
  if (deadline !== fillDeadline) return 'times';
  // One account on both chains: it pays on one and is credited on the other.
  return session.accounts.get(dest.id)?.account !== lp || session.accounts.get(origin.id)?.account !== lp
    ? 'account'
    : undefined;
}

function backingObjection(
  { liquidity, exposure }: VerifyDeps,
  { dest, outputToken, group }: SolverRequest,
  lp: Address,
  signer: Address | undefined,
  amount: bigint,
): Objection | undefined {
  if (signer === undefined || !liquidity.maySign(dest.id, lp, signer)) return 'signature';
  const available = liquidity.available(dest.id, lp, outputToken.address);
  return available === undefined ||
    available < amount + exposure.promised(dest.id, lp, outputToken.address, group)
    ? 'balance'
    : undefined;
}

/**
 * Who signed; whether it may is for `mayBind` to say. The digest is on the origin's escrow, where the order
 * lives.
 */
export function recoverCommitmentSigner(recovery: Recovery, signed: Signed): Address | undefined {
  return recovery.recover(commitmentDigestOf(signed), signed.commitment.signature);
}

interface Signed {
  origin: Pick<Chain, 'id' | 'escrow'>;
  orderId: Bytes32;
  quoteId: Bytes32;
  commitment: SignedCommitment;
}

const commitmentDigestOf = ({
  origin,
  orderId: id,
  quoteId,
  commitment: { lp, deadline },
}: Signed): Bytes32 =>
  commitmentDigest({ chainId: origin.id, escrow: origin.escrow }, { orderId: id, quoteId, lp, deadline });

export const askGroup = (origin: Chain, taker: Address, nonce: bigint): string =>
  nonceGroupOf(origin.id, taker, nonce);

const BPS = 10_000n;
