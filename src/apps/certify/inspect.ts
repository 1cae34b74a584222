/** Finds the rule that a quote breaks, if any: by the venue's own comparison, then by who signed. */

import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { signedPart, type SignedCommitment } from '../../domain/commitment.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { nonceGroupOf, orderId, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { type LinkQuote, recipientFor, type Rfq } from '../../protocol/link/link.ts';
import type { RejectionCode } from '../../protocol/link/rejections.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import { matchQuote, type Objection, type SolverRequest } from '../../venue/quoting/verify.ts';
import type { SolverSession } from '../../venue/solvers/roster-entry.ts';
import type { RuleId } from './rules.ts';
import { type CertifyWorld, chainIn, tokenIn } from './world.ts';

/** The venue's default maximum. */
const MAX_VALID_SECONDS = 600;
/** A solver's clock may be ahead of the chain's by this. */
const CLOCK_SLACK_SECONDS = 15;

export interface FoundQuote {
  rfq: Rfq;
  quote: LinkQuote;
  order: StandardOrder;
  id: Bytes32;
  output: bigint;
  input: bigint;
}

interface BrokenRule {
  rule: RuleId;
  /** The code with which the venue would reject the quote. */
  code: RejectionCode;
  seen: string;
}

/** Inspects a quote. `now`: chain time when the request was sent. */
export function inspectQuote(
  world: CertifyWorld,
  rfq: Rfq,
  quote: LinkQuote,
  { now, signer }: { now: UnixSeconds; signer: { account: Address; operator: Address } },
): FoundQuote | BrokenRule {
  const [origin, dest] = [chainIn(world, rfq.input).chain, chainIn(world, rfq.output).chain];
  const token = (address: Address) =>
    ({ address, symbol: '', name: '', decimals: 0, eip3009: null, priceSymbol: null }) as const;
  const nonce = BigInt(rfq.skeleton.nonce);
  const asked: SolverRequest = {
    rfq,
    origin,
    dest,
    inputToken: token(tokenIn(rfq.input)),
    outputToken: token(tokenIn(rfq.output)),
    side: rfq.side,
    amount: BigInt(rfq.amount),
    nonce,
    relayFee: BigInt(rfq.relayFee),
    nonceGroup: nonceGroupOf(origin.id, rfq.taker, nonce),
    now,
    latestValidUntil: now + MAX_VALID_SECONDS + CLOCK_SLACK_SECONDS,
  };
  // The comparison only passes the session on.
  const matched = matchQuote(asked, { solverId: '' } as SolverSession, quote);
  const order = orderFromMessage(quote.order);
  if (typeof matched === 'string')
    return { rule: ruleOf(matched, rfq, quote), code: matched, seen: shown(matched, rfq, quote) };
  const domain = { chainId: origin.id, escrow: origin.escrow };
  const id = orderId(domain, order);
  const broken = commitmentFault(domain, quote.commitment, {
    ...signer,
    orderId: id,
    quoteId: quote.quoteId,
    fillDeadline: order.fillDeadline,
  });
  if (broken) return broken;
  return { rfq, quote, order, id, output: matched.outputAmount, input: matched.inputAmount };
}

const recovery = createRecovery();

/**
 * Returns why this does not commit the account to the order, as the escrow checks it; undefined when it does.
 */
export function commitmentFault(
  domain: { chainId: number; escrow: Address },
  { lp, deadline, signature }: SignedCommitment,
  {
    account,
    operator,
    orderId: id,
    quoteId,
    fillDeadline,
  }: { account: Address; operator: Address; orderId: Bytes32; quoteId: Bytes32; fillDeadline: UnixSeconds },
): BrokenRule | undefined {
  if (lp !== account)
    return {
      rule: 'account',
      code: 'account',
      seen: `lp is ${lp}, where the hello names the account ${account}`,
    };
  if (deadline !== fillDeadline)
    return {
      rule: 'account',
      code: 'account',
      seen: `the commitment ends at ${deadline}, the order's fillDeadline is ${fillDeadline}`,
    };
  const signed = signedPart(domain, { orderId: id, quoteId, lp, deadline }, signature);
  const by = recovery.recover(signed.digest, signed.signature);
  if (by === operator) return undefined;
  return {
    rule: 'signature',
    code: 'signature',
    seen: `over order ${id} and quote ${quoteId} the signature is that of ${by ?? 'nobody'}, not of ${operator}`,
  };
}

function ruleOf(objection: Objection, { skeleton, receiver, side, amount }: Rfq, quote: LinkQuote): RuleId {
  const { order, validUntil } = quote;
  const [output] = order.outputs;
  switch (objection) {
    case 'times': {
      if (order.fillDeadline !== validUntil + skeleton.landingMarginSeconds) return 'clock-law';
      return order.expires === order.fillDeadline + skeleton.proofWindowSeconds ? 'validity' : 'window';
    }
    case 'terms':
      return 'terms';
    case 'amount': {
      const fixed = side === 'exactInput' ? order.inputs[0]?.[1] : output?.amount;
      if (fixed !== amount || output?.amount === '0') return 'fixed-side';
      return BigInt(quote.amountBeforeFees) < BigInt(output?.amount ?? 0) ? 'before-fees' : 'fees';
    }
    case 'output': {
      const wanted = recipientFor({ receiver, skeleton });
      const reaches = output?.recipient === wanted.recipient && output.callbackData === wanted.callbackData;
      return skeleton.delivery !== undefined && !reaches ? 'delivery' : 'output';
    }
    case 'context':
      return 'context';
    default:
      return 'account';
  }
}

function shown(objection: Objection, rfq: Rfq, { order, validUntil, amountBeforeFees }: LinkQuote): string {
  const [output] = order.outputs;
  switch (objection) {
    case 'times':
      return (
        `validUntil ${validUntil}, fillDeadline ${order.fillDeadline}, expires ${order.expires} with margins ` +
        `${rfq.skeleton.landingMarginSeconds} and ${rfq.skeleton.proofWindowSeconds}, minValidUntil ${rfq.minValidUntil}`
      );
    case 'amount':
      return (
        `${rfq.side} of ${rfq.amount}: input ${order.inputs[0]?.[1]}, output ${output?.amount}, ` +
        `amountBeforeFees ${amountBeforeFees}`
      );
    case 'context':
      return `the context is ${output?.context}`;
    default:
      return `a quote differs from its request (${objection})`;
  }
}
