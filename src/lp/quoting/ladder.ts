/**
 * Part of a request: when the whole is too much for us, a ladder of what we could fill, and the memory of it
 * for as long as the venue may come back with a slice. Not firm; the slice is checked against the very inputs
 * that priced the ladder.
 */

import type { OrderTimes } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { ladder as rungsOf } from '../../pricing/ladder.ts';
import type { PriceDecline } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Partial, Rfq } from '../../protocol/link/link.ts';
import type { Route } from './route.ts';

export interface Offer {
  rfq: Rfq;
  route: Route;
  inputs: PriceInputs;
  times: OrderTimes;
  atMs: number;
}

export interface Ladders {
  /** undefined when no part of it is worth offering, or the venue does not split. */
  offer(
    rfq: Rfq,
    route: Route,
    inputs: PriceInputs,
    times: OrderTimes,
    why: PriceDecline,
  ): Partial | undefined;
  /** What was offered for a request, while the offer stands. */
  find(rfqId: string): Offer | undefined;
}

/** Of what we could take at most, in per cent. */
const SHARES = [10, 25, 50, 75, 100] as const;

export function createLadders(
  { clock }: { clock: Clock },
  { standsMs = 2_000, most = 4_096 }: { standsMs?: number; most?: number } = {},
): Ladders {
  const offers = new Map<string, Offer>();

  function prune(nowMs: number): void {
    for (const [rfqId, { atMs }] of offers) {
      if (nowMs - atMs <= standsMs && offers.size <= most) return;
      offers.delete(rfqId);
    }
  }

  return {
    offer(rfq, route, inputs, times, why) {
      const most = why.maxAmount ?? 0n;
      // Across chains every slice needs a fill of its own before anybody is paid: we do not take part in
      // that.
      if (rfq.maxSplitParts < 2 || !route.sameChain || most <= 0n || most >= inputs.amount) return undefined;
      const nowMs = clock.nowMs();
      // Should another LP of the split fail, nobody is paid and our part stays locked to its last second.
      const parts = {
        ...inputs,
        splitHoldSeconds: Math.max(0, times.fillDeadline - Math.floor(nowMs / 1000)),
      };
      // Every rung bears the whole relay fee: however the venue divides it, no slice is told to pay more than
      // that.
      const rungs = rungsOf({ ...parts, amount: most }, SHARES).map(({ input, output }): [string, string] => [
        input.toString(),
        output.toString(),
      ]);
      if (rungs.length === 0) return undefined;
      prune(nowMs);
      offers.set(rfq.rfqId, { rfq, route, inputs: parts, times, atMs: nowMs });
      return { type: 'partial', rfqId: rfq.rfqId, ladder: rungs, validUntil: times.validUntil };
    },
    find(rfqId) {
      const offer = offers.get(rfqId);
      return offer !== undefined && clock.nowMs() - offer.atMs <= standsMs ? offer : undefined;
    },
  };
}
