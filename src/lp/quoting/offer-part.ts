/**
 * Answers a request that could not be held whole: with a ladder of the part that would pass, or with a
 * decline that names the size that would pass.
 */

import { divUp } from '../../domain/amount.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import type { OrderTimes } from '../../domain/time.ts';
import { price } from '../../pricing/price.ts';
import type { LinkDecline, LinkPartial } from '../../protocol/link/link.ts';
import type { CommitmentSigner } from '../commitment-signer.ts';
import type { VenueRfq } from '../risk/venue-budgets.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { Admitted } from './admission.ts';
import { declined, type DeclineDeps } from './decline.ts';
import { forTenor, type HoldDeps, holdRequestOf, type HoldRefusal, unexplored } from './hold-quotes.ts';
import type { Ladders } from './ladder.ts';
import { largestPassing, type Trial } from './largest-passing.ts';
import type { QuoteInputs } from './pricing-context.ts';

export interface PartDeps extends DeclineDeps, Pick<HoldDeps, 'context' | 'risk' | 'venues'> {
  ladders: Ladders;
  /** Absent in shadow mode: nothing can be signed. */
  commitments: CommitmentSigner | undefined;
}

/** A suggested size keeps this part of itself free: half of the precision of its search, for price moves. */
const SIZE_MARGIN = 2_000n;

/** An order id for asking the ledger what it would refuse. */
const TRIAL_ORDER = 'trial';

export function offerPart(
  deps: PartDeps,
  rfq: VenueRfq,
  route: QuoteRoute,
  { tenors, inputs }: Admitted,
  refusal: HoldRefusal,
): readonly [LinkPartial | LinkDecline] {
  const why = withPassingSize(deps, rfq, route, tenors[0], unexplored(inputs), refusal);
  // A split needs another round between its LPs, so a part is offered for the longest tenor.
  const longest = tenors.at(-1) ?? tenors[0];
  // A shadow LP offers no part: its slice would have to be signed.
  const part =
    deps.commitments && deps.ladders.offer(rfq, route, forTenor(inputs, tenors[0], longest), longest, why);
  if (part !== undefined) return [part];
  const { control } = inputs.evidence.adjustment;
  const reducedBy = why.declined === 'size_above_max' ? control : undefined;
  return declined(
    deps,
    rfq,
    route,
    reducedBy === undefined ? why : { ...why, control: reducedBy },
    unexplored(inputs),
  );
}

/** Finds a size that passes by asking pricing and ledger again, not by proportion. */
function withPassingSize(
  { context: { ledger }, risk, venues }: PartDeps,
  rfq: VenueRfq,
  route: QuoteRoute,
  times: OrderTimes,
  inputs: QuoteInputs,
  { decline: why, maxOutput }: HoldRefusal,
): Decline {
  if (why.minAmount !== undefined) return withSmallestSize(inputs, why, why.minAmount);
  if (why.maxAmount === undefined || why.maxAmount <= 0n) return why;
  const group = nonceGroupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
  const trial = (amount: bigint): Trial => {
    const priced = price({ ...inputs, amount });
    if (isDecline(priced)) return priced.declined === 'size_below_min' ? 'tiny' : 'fails';
    if (maxOutput !== undefined && priced.output > maxOutput) return 'fails';
    const gapLoss = risk.gapLoss(route, inputs, priced);
    const request = holdRequestOf(rfq, route, group, times, TRIAL_ORDER, priced, gapLoss);
    const refusal = venues?.refusal(rfq.venue, request) ?? ledger.wouldRefuse(request);
    return refusal === undefined ? 'passes' : 'fails';
  };
  // Pricing has tried the size that it names, so only the ledger can object. The ledger's is an estimate.
  const isTried = why.declined !== 'limit' && trial(why.maxAmount) === 'passes';
  const largest = isTried ? why.maxAmount : largestPassing(inputs.amount, why.maxAmount, trial);
  // The price moves before the taker asks again; our inventory does not, so that limit is named exactly.
  const smaller = largest - largest / SIZE_MARGIN;
  const isExact = rfq.side === 'exactOutput' && why.declined === 'no_inventory';
  return { ...why, maxAmount: isExact || trial(smaller) !== 'passes' ? largest : smaller };
}

/** A little more than the smallest amount that passes now: the price moves before the taker asks again. */
function withSmallestSize(inputs: QuoteInputs, why: Decline, smallest: bigint): Decline {
  const larger = smallest + divUp(smallest, SIZE_MARGIN);
  const passes = !isDecline(price({ ...inputs, amount: larger }));
  return { ...why, minAmount: passes ? larger : smallest };
}
