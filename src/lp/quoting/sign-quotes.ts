/** Signs the commitments of held quotes and makes their messages. */

import type { QuoteCommitment } from '../../domain/commitment.ts';
import type { Decline } from '../../domain/decline.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Hex } from '../../domain/hex.ts';
import { orderToMessage } from '../../domain/order.ts';
import type { LinkDecline, LinkQuote, Rfq } from '../../protocol/link/link.ts';
import type { CommitmentSigner } from '../commitment-signer.ts';
import type { LpConfig } from '../config/config.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { declined, type DeclineDeps } from './decline.ts';
import type { HeldQuote } from './hold-quotes.ts';

export interface SigningDeps extends DeclineDeps {
  /** Returns why nothing may be signed on this route now; undefined when quoting is allowed. */
  standby: { refusal(route: QuoteRoute): Decline | undefined };
}

type EtaSeconds = LpConfig['quoting']['etaSeconds'];

/** Returns the quotes that could be signed in time. The hold of each other one expires. */
export async function signQuotes(
  deps: SigningDeps,
  commitments: CommitmentSigner,
  etaSeconds: EtaSeconds,
  rfq: Rfq,
  route: QuoteRoute,
  held: readonly HeldQuote[],
  untilMs: number,
): Promise<readonly (LinkQuote | LinkDecline)[]> {
  const withinMs = untilMs - deps.clock.monotonicMs();
  const signatures = await Promise.all(
    held.map((quote) =>
      commitments.signCommitment(route.domain, commitmentOf(route, quote), withinMs).catch(whyUnsigned),
    ),
  );
  // A remote signer takes time: a signature that arrives after a stop is not sent, and its hold expires.
  const stopped = deps.standby.refusal(route);
  if (stopped !== undefined) return declined(deps, rfq, route, stopped);
  const quotes: LinkQuote[] = [];
  let unsigned: Decline = { declined: 'internal' };
  for (const [index, quote] of held.entries()) {
    const signature = signatures[index] as Hex | Decline;
    if (typeof signature === 'string') quotes.push(quoteMessage(etaSeconds, rfq, route, quote, signature));
    else unsigned = signature;
  }
  const last = quotes.at(-1);
  if (last === undefined) return declined(deps, rfq, route, unsigned);
  last.more = false;
  return quotes;
}

/** A key service that does not sign is a reason to decline. Every other error is a bug. */
export function whyUnsigned(error: unknown): Decline {
  if (error instanceof UpstreamError) return { declined: 'standby', detail: error.message };
  throw error;
}

const commitmentOf = ({ account: lp }: QuoteRoute, { order, record }: HeldQuote): QuoteCommitment => ({
  orderId: record.orderId,
  quoteId: record.quoteId,
  lp,
  deadline: order.fillDeadline,
});

function quoteMessage(
  etaSeconds: EtaSeconds,
  rfq: Rfq,
  route: QuoteRoute,
  { order, record }: HeldQuote,
  signature: Hex,
): LinkQuote {
  const { quoteId, priced, times } = record;
  return {
    type: 'quote',
    rfqId: rfq.rfqId,
    quoteId,
    order: orderToMessage(order) as LinkQuote['order'],
    validUntil: times.validUntil,
    eta: route.sameChain ? etaSeconds.sameChain : etaSeconds.crossChain,
    lpSpreadBps: priced.lpSpreadBps,
    amountBeforeFees: priced.amountBeforeFees.toString(),
    commitment: { lp: route.account, deadline: order.fillDeadline, signature },
    more: true,
  };
}
