/**
 * For how long a request is quoted: several firm times at once, each with a price of its own, because a
 * promise is an option and the shorter it lasts the less it costs. The taker's floor lengthens the times,
 * wild markets shorten them.
 */

import type { Decline } from '../../domain/decline.ts';
import { orderTimes, type OrderTimes, type UnixSeconds } from '../../domain/time.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { LpConfig } from '../config/config.ts';

export interface Points {
  /** Times of the quotes for one request made now, the shortest first; none twice. */
  of(
    rfq: Pick<Rfq, 'minValidUntil' | 'skeleton'>,
    now: UnixSeconds,
    mostSeconds: number | undefined,
  ): readonly OrderTimes[] | Decline;
}

type Options = Pick<LpConfig['quoting'], 'validitySeconds' | 'pointsSeconds' | 'maxValiditySeconds'>;

/** The longest that is promised unless a taker asks for more. */
export const longestPoint = ({
  validitySeconds,
  pointsSeconds,
}: Pick<Options, 'validitySeconds' | 'pointsSeconds'>): number => Math.max(validitySeconds, ...pointsSeconds);

export function createPoints(quoting: Options): Points {
  const firm = [...new Set([...quoting.pointsSeconds, quoting.validitySeconds])].sort((a, b) => a - b);
  const longest = Math.max(quoting.maxValiditySeconds, longestPoint(quoting));
  return {
    of({ minValidUntil, skeleton }, now, mostSeconds = Number.POSITIVE_INFINITY) {
      const floor = minValidUntil ?? 0;
      if (floor - now > longest) return { declined: 'validity', detail: 'longer than we quote' };
      const times: OrderTimes[] = [];
      let last = 0;
      for (const seconds of firm) {
        // What is shorter than the floor becomes the floor: the shortest that the taker can use, and so the
        // best price.
        const validUntil = Math.max(now + Math.min(seconds, mostSeconds), floor);
        if (validUntil === last) continue;
        last = validUntil;
        times.push(orderTimes(validUntil, skeleton));
      }
      return times;
    },
  };
}
