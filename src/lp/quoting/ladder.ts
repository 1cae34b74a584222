/**
 * Offers a ladder of partial amounts when the whole request is too large for us, and remembers it for as long
 * as the venue may ask for a slice. The ladder is not firm: a slice is checked against the inputs that priced
 * it.
 */

import { LRUCache } from 'lru-cache';
import type { OrderTimes } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { ladder as rungsOf } from '../../pricing/ladder.ts';
import type { PriceDecline } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { LinkPartial } from '../../protocol/link/link.ts';
import type { VenueRfq } from '../risk/venue-budgets.ts';
import type { QuoteRoute } from '../routes/route.ts';

export interface PartialOffer {
  rfq: VenueRfq;
  route: QuoteRoute;
  inputs: PriceInputs;
  times: OrderTimes;
}

export interface Ladders {
  /** undefined when no part is worth offering, or the venue does not split this request. */
  offer(
    rfq: VenueRfq,
    route: QuoteRoute,
    inputs: PriceInputs,
    times: OrderTimes,
    why: PriceDecline,
  ): LinkPartial | undefined;
  find(rfqId: string): PartialOffer | undefined;
  /** Frees what is over, so that a flood of requests leaves nothing in memory. Call about once a second. */
  forgetOld(): void;
}

/** The steps of the ladder, in per cent of the largest amount that we could take. */
const SHARES = [10, 25, 50, 75, 100] as const;

export function createLadders(
  { clock }: { clock: Clock },
  { standsMs = 2_000, max = 4_096 }: { standsMs?: number; max?: number } = {},
): Ladders {
  const offers = new LRUCache<string, PartialOffer>({
    ...{ max, ttl: standsMs, ttlResolution: 0 },
    perf: { now: () => clock.monotonicMs() },
  });
  return {
    offer(rfq, route, inputs, times, why) {
      const largest = why.maxAmount ?? 0n;
      // Across chains each slice needs its own fill before any LP is paid: we do not take part in that.
      if (rfq.maxSplitParts < 2 || !route.sameChain || largest <= 0n || largest >= inputs.amount)
        return undefined;
      const nowMs = clock.nowMs();
      // If another LP of the split fails, no LP is paid and our part stays locked until its deadline.
      const sliceInputs = {
        ...inputs,
        splitHoldSeconds: Math.max(0, times.fillDeadline - Math.floor(nowMs / 1000)),
      };
      // Each rung carries the whole relay fee: however the venue divides it, no slice pays more than that.
      const rungs = rungsOf({ ...sliceInputs, amount: largest }, SHARES).map(
        ({ input, output }): [string, string] => [input.toString(), output.toString()],
      );
      if (rungs.length === 0) return undefined;
      offers.set(rfq.rfqId, { rfq, route, inputs: sliceInputs, times });
      return { type: 'partial', rfqId: rfq.rfqId, ladder: rungs, validUntil: times.validUntil };
    },
    find: (rfqId) => offers.peek(rfqId),
    forgetOld: () => void offers.purgeStale(),
  };
}
