/**
 * The tenors of a request: each is a firm time with a price of its own, because a quote is an option and a
 * shorter one costs less. The taker's minimum lengthens them, volatile markets shorten them.
 */

import type { Decline } from '../../domain/decline.ts';
import { orderTimes, type OrderTimes, type UnixSeconds } from '../../domain/time.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { LpConfig } from '../config/config.ts';
import { longestTenorSeconds } from '../config/longest-tenor.ts';

type Options = Pick<LpConfig['quoting'], 'validitySeconds' | 'pointsSeconds' | 'maxValiditySeconds'>;

export interface Tenors {
  /** Times of the quotes for one request, the shortest first, without duplicates. Never empty. */
  of(
    rfq: Pick<Rfq, 'minValidUntil' | 'skeleton'>,
    now: UnixSeconds,
    limits: {
      /** By the risk controls. */
      maxSeconds?: number | undefined;
      /** By how long the money behind a quote is sure to stay. */
      latestFillDeadline?: UnixSeconds | undefined;
    },
  ): readonly OrderTimes[] | Decline;
}

export function createTenors(quoting: Options): Tenors {
  const configured = [...new Set([...quoting.pointsSeconds, quoting.validitySeconds])].sort((a, b) => a - b);
  const longest = Math.max(quoting.maxValiditySeconds, longestTenorSeconds(quoting));
  return {
    of(
      { minValidUntil, skeleton },
      now,
      { maxSeconds = Number.POSITIVE_INFINITY, latestFillDeadline = Number.POSITIVE_INFINITY },
    ) {
      const minimum = minValidUntil ?? 0;
      const latest = latestFillDeadline - skeleton.landingMarginSeconds;
      if (Math.max(minimum, now + 1) > latest)
        return { declined: 'validity', detail: 'longer than the money behind it is sure to stay' };
      if (minimum - now > longest) return { declined: 'validity', detail: 'longer than we quote' };
      const times: OrderTimes[] = [];
      let last = 0;
      for (const seconds of configured) {
        // A tenor below the taker's minimum becomes the minimum: the cheapest that the taker can use.
        const validUntil = Math.max(Math.min(now + Math.min(seconds, maxSeconds), latest), minimum);
        if (validUntil === last) continue;
        last = validUntil;
        times.push(orderTimes(validUntil, skeleton));
      }
      return times;
    },
  };
}
