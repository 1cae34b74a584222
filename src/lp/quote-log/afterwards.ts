/**
 * What is noted of answers is noted once they have left: those of one turn leave together, and before anybody
 * else is heard the books are kept. A taker does not wait for our bookkeeping, and whoever reads the books
 * finds them complete. Where the key lives elsewhere the signature comes later still, and the books have its
 * promise already.
 */

import type { Decline } from '../../domain/decline.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { Moments, QuoteRecord } from './quote-events.ts';
import type { Route } from '../quoting/route.ts';

interface Declined {
  rfq: Rfq;
  route: Route | undefined;
  decline: Decline;
  atMs: number;
}

/**
 * The same moments, in the same order, as a microtask: after what the turn has sent and before the next
 * turn's first word.
 */
export function createAfterwards(
  moments: Pick<Moments, 'quoted' | 'declined'>,
): Pick<Moments, 'quoted' | 'declined'> {
  let waiting: (QuoteRecord | Declined)[] = [];

  function note(each: QuoteRecord | Declined): void {
    if (waiting.push(each) === 1) queueMicrotask(tell);
  }

  function tell(): void {
    const those = waiting;
    waiting = [];
    for (const each of those) {
      if ('rfq' in each) moments.declined(each.rfq, each.route, each.decline, each.atMs);
      else moments.quoted(each);
    }
  }

  return { quoted: note, declined: (rfq, route, decline, atMs) => note({ rfq, route, decline, atMs }) };
}
