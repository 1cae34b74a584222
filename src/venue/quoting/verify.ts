/**
 * Verifies solvers' answers in two steps: `matchQuote` compares every field with the request, then
 * `verifyQuotes` recovers the LPs' signatures and checks that their ledger balances cover the outputs. An
 * order that passes both can be executed as it stands.
 */

import { claimedIn } from '../../domain/bond.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { type SignedCommitment, signedPart } from '../../domain/commitment.ts';
import { decodeContext, FULL_PORTION_BPS } from '../../domain/context.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Recoveries, Signed } from '../../ports/signer.ts';
import { type LinkQuote, recipientFor, type Rfq } from '../../protocol/link/link.ts';
import type { RejectionCode } from '../../protocol/link/rejections.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';

/** The question to the solvers: the rfq message, and the same terms as values. */
export interface SolverRequest {
  /** The fan-out adds the deadline. */
  rfq: Omit<Rfq, 'deadlineMs'>;
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  nonce: bigint;
  relayFee: bigint;
  /** Nonce group of all quotes of this request; at most one of them can execute. */
  nonceGroup: string;
  /** Chain time at which the request was made. */
  now: UnixSeconds;
  /** By the venue's own maximum, and by how long the LPs' money and bonds are sure to stay. */
  latestValidUntil: UnixSeconds;
}

/** A verified quote: it may be shown to a taker. */
export interface FirmQuote {
  /** The solver with the largest slice. */
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
  /** The quote takes more than half of what one of its LPs holds. */
  thin: boolean;
}

/** The reasons for which an answer fails verification: a metrics label. */
export const OBJECTIONS = [
  'times',
  'terms',
  'amount',
  'output',
  'context',
  'account',
  'signature',
  'balance',
  'limit',
  'bond',
  'duplicate',
] as const satisfies readonly RejectionCode[];
export type Objection = (typeof OBJECTIONS)[number];

export interface VerifyDeps {
  recovery: Pick<Recoveries, 'recoverAll'>;
  liquidity: Liquidity;
  openQuotes: OpenQuotes;
}

/** A quote whose every field matches the request; signature and balance are not verified yet. */
export interface MatchingQuote extends Omit<FirmQuote, 'orderId' | 'thin'> {
  session: SolverSession;
}

export function matchQuote(
  asked: SolverRequest,
  session: SolverSession,
  quote: LinkQuote,
): MatchingQuote | Objection {
  const { rfq } = asked;
  const order = orderFromMessage(quote.order);
  const [output, ...others] = order.outputs;
  if (!output || others.length > 0) return 'output';
  const wrong =
    timesObjection(asked, order, quote.validUntil) ??
    termsObjection(asked, order) ??
    outputObjection(asked, output);
  if (wrong) return wrong;
  const [, inputAmount] = order.inputs[0] as readonly [bigint, bigint];
  const fixed = asked.side === 'exactInput' ? inputAmount : output.amount;
  const amountBeforeFees = BigInt(quote.amountBeforeFees);
  if (fixed !== asked.amount || output.amount === 0n || amountBeforeFees < output.amount) return 'amount';

  const context = decodeContext(output.context);
  const { commitment } = quote;
  if (
    !context ||
    context.exclusiveFor !== commitment.lp ||
    context.startTime !== order.fillDeadline + 1 ||
    context.portionBps !== FULL_PORTION_BPS
  )
    return 'context';
  if (context.feeBps !== rfq.platformFeeBps || context.relayFee !== asked.relayFee) return 'context';
  // The escrow refuses an order whose input does not cover its own fees.
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

/** Verifies the quotes of one request; the recoveries of their signers leave together. */
export async function verifyQuotes(
  deps: VerifyDeps,
  asked: SolverRequest,
  quotes: readonly MatchingQuote[],
): Promise<(FirmQuote | Objection)[]> {
  const { origin } = asked;
  const named = quotes.map(({ session, ...quote }) => {
    const id = orderId({ chainId: origin.id, escrow: origin.escrow }, quote.order);
    const commitment = quote.commitments[0] as SignedCommitment;
    return { session, quote, id, commitment };
  });
  const signers = await deps.recovery.recoverAll(
    named.map(({ quote: { quoteId }, id, commitment }) =>
      signedCommitment({ origin, orderId: id, quoteId, commitment }),
    ),
  );
  return named.map(({ session, quote, id, commitment }, index) => {
    const { fillDeadline } = quote.order;
    const backing = verifyCommitment(deps, asked, session, {
      ...{ commitment, signer: signers[index], fillDeadline, amount: quote.outputAmount },
    });
    return typeof backing === 'string' ? backing : { ...quote, orderId: id, thin: backing.thin };
  });
}

/** Checks the clock law with this request's margins, and the validity that the taker asked for. */
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

function outputObjection(
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

/** Checks who signed, whether that key may sign for the LP, and whether the LP can pay. */
export function verifyCommitment(
  deps: VerifyDeps,
  asked: SolverRequest,
  session: SolverSession,
  {
    commitment: { lp, deadline },
    signer,
    fillDeadline,
    amount,
  }: {
    commitment: SignedCommitment;
    /** Whoever signed the commitment; undefined for a malformed signature. */
    signer: Address | undefined;
    fillDeadline: UnixSeconds;
    amount: bigint;
  },
): Backing | Objection {
  const { origin, dest } = asked;
  if (deadline !== fillDeadline) return 'times';
  // The LP pays on one chain and is credited on the other, from one account.
  if (session.accounts.get(dest.id)?.account !== lp || session.accounts.get(origin.id)?.account !== lp)
    return 'account';
  if (signer === undefined || !deps.liquidity.maySign(dest.id, lp, signer)) return 'signature';
  const { liquidity, openQuotes } = deps;
  const claimed = claimedIn(asked);
  if (liquidity.bondIsShort(claimed.chainId, lp, claimed.token)) return 'bond';
  const token = asked.outputToken.address;
  const headroom = liquidity.operatorHeadroom(dest.id, lp, signer, token);
  if (headroom !== undefined && headroom < amount + openQuotes.promised(dest.id, lp, token, asked.nonceGroup))
    return 'limit';
  return backingOf(deps, asked, lp, amount) ?? 'balance';
}

interface Backing {
  /** The amount is more than half of what the LP holds. */
  thin: boolean;
}

/**
 * Returns the backing; undefined when the LP's ledger balance does not cover the amount beside its promises
 * to other takers.
 */
export function backingOf(
  { liquidity, openQuotes }: Pick<VerifyDeps, 'liquidity' | 'openQuotes'>,
  { dest, outputToken, nonceGroup }: SolverRequest,
  lp: Address,
  amount: bigint,
): Backing | undefined {
  const available = liquidity.available(dest.id, lp, outputToken.address);
  if (available === undefined) return undefined;
  const promised = openQuotes.promised(dest.id, lp, outputToken.address, nonceGroup);
  return available < amount + promised ? undefined : { thin: available < 2n * amount };
}

/**
 * Returns what the LP signed. `Liquidity.maySign` tells whether the signer may sign for the LP. The digest
 * names the origin's escrow, where the order is opened.
 */
export function signedCommitment({
  origin,
  orderId: id,
  quoteId,
  commitment: { lp, deadline, signature },
}: {
  origin: Pick<Chain, 'id' | 'escrow'>;
  orderId: Bytes32;
  quoteId: Bytes32;
  commitment: SignedCommitment;
}): Signed {
  const escrow = { chainId: origin.id, escrow: origin.escrow };
  return signedPart(escrow, { orderId: id, quoteId, lp, deadline }, signature);
}

const BPS = 10_000n;
