/** Route venues as roster entries, so that every `solverId` can be looked up. */

import type { Chain } from '../../domain/chain.ts';
import { corridorOf } from '../../domain/corridor.ts';
import { toIso } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { KeyMode } from '../../ports/stores/store.ts';
import type { Solver } from '../../protocol/api/roster.ts';
import { tradesOn } from '../market/markets.ts';
import type { Router } from './router.ts';

/** Venues that serve a pair on the chains of this key mode. */
export type RouteRoster = (mode: KeyMode) => Solver[];

export function createRouteRoster({
  routeVenues,
  router,
  chains,
  clock,
}: {
  routeVenues: readonly RouteVenue[];
  router: Pick<Router, 'breakerOf' | 'lastQuoteAtMs'>;
  chains: ReadonlyMap<number, Chain>;
  clock: Clock;
}): RouteRoster {
  function corridorsOf(venue: RouteVenue, mode: KeyMode): string[] {
    const traded = [...chains.values()].filter((chain) => tradesOn(chain, mode));
    return traded.flatMap((source) =>
      traded.filter((dest) => servesAny(venue, source, dest)).map((dest) => corridorOf(source, dest)),
    );
  }

  return (mode) =>
    routeVenues.flatMap((venue): Solver[] => {
      const corridors = corridorsOf(venue, mode);
      if (corridors.length === 0) return [];
      const barred = router.breakerOf(venue.id)?.openUntil(clock.nowMs()) !== undefined;
      const quotedAtMs = router.lastQuoteAtMs(venue.id);
      return [
        {
          id: venue.id,
          status: barred ? 'offline' : 'active',
          kind: 'solver',
          corridors,
          ...(quotedAtMs !== undefined && { lastQuoteAt: toIso(quotedAtMs) }),
          eligibilityNote: barred
            ? 'It has failed or answered wrongly recently.'
            : `${venue.name} (${venue.kind}), asked by the router only.`,
        },
      ];
    });
}

function servesAny(venue: RouteVenue, source: Chain, dest: Chain): boolean {
  try {
    return source.tokens.some((input) =>
      dest.tokens.some(
        (output) =>
          (source !== dest || input !== output) &&
          venue.serves({
            input: { chainId: source.id, token: input.address },
            output: { chainId: dest.id, token: output.address },
          }),
      ),
    );
  } catch {
    // The router counts the failure.
    return false;
  }
}
