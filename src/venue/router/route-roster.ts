/** Route venues as roster entries, so that every `solverId` can be looked up. */

import type { Chain } from '../../domain/chain.ts';
import { corridorOf } from '../../domain/corridor.ts';
import { toIso } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { KeyMode } from '../../ports/stores/store.ts';
import type { Solver } from '../../protocol/api/roster.ts';
import { tradesOn } from '../market/markets.ts';
import type { Router } from './router.ts';
import { closedWords } from './venue-source.ts';

/** Venues that serve a pair on the chains of this key mode. */
export type RouteRoster = (mode: KeyMode) => Solver[];

export function createRouteRoster({
  routeVenues,
  router,
  chains,
  followed,
  clock,
}: {
  routeVenues: readonly RouteVenue[];
  router: Pick<Router, 'breakerOf' | 'standbyReasonOf' | 'lastQuoteAtMs'>;
  chains: ReadonlyMap<number, Chain>;
  followed: ReadonlyMap<number, Pick<ChainPort, 'head' | 'healthIssue'>>;
  clock: Clock;
}): RouteRoster {
  function routesOf(venue: RouteVenue, mode: KeyMode): { source: Chain; dest: Chain }[] {
    const traded = [...chains.values()].filter((chain) => tradesOn(chain, mode));
    return traded.flatMap((source) =>
      traded.filter((dest) => servesAny(venue, source, dest)).map((dest) => ({ source, dest })),
    );
  }

  /** Returns why none of these can be used now, whatever the venue would answer. */
  function blindOn(routes: readonly { source: Chain; dest: Chain }[]): string | undefined {
    const troubles = routes.map(({ source, dest }) => troubleOf(source) ?? troubleOf(dest));
    return troubles.includes(undefined) ? undefined : troubles[0];
  }
  function troubleOf({ id, slug }: Chain): string | undefined {
    const port = followed.get(id);
    if (port?.head() === undefined) return `${slug} is not followed now`;
    const issue = port.healthIssue();
    return issue && `${slug}: ${issue.note}`;
  }

  return (mode) =>
    routeVenues.flatMap((venue): Solver[] => {
      const routes = routesOf(venue, mode);
      if (routes.length === 0) return [];
      const barred = router.breakerOf(venue.id)?.openUntil(clock.nowMs()) !== undefined;
      const cause = barred ? undefined : (blindOn(routes) ?? router.standbyReasonOf(venue.id));
      const standbyNote = barred ? undefined : (standbyNoteOf(venue) ?? (cause && `It rests: ${cause}.`));
      const quotedAtMs = router.lastQuoteAtMs(venue.id);
      return [
        {
          id: venue.id,
          status: barred ? 'offline' : standbyNote === undefined ? 'active' : 'standby',
          kind: 'solver',
          corridors: routes.map(({ source, dest }) => corridorOf(source, dest)),
          ...(quotedAtMs !== undefined && { lastQuoteAt: toIso(quotedAtMs) }),
          eligibilityNote: `${venue.name} (${venue.kind}), asked by the router only.${
            barred
              ? ' It has failed or answered wrongly recently.'
              : standbyNote === undefined
                ? ''
                : ` ${standbyNote}`
          }`,
        },
      ];
    });
}

/** Returns in a sentence why it quotes nothing now. */
function standbyNoteOf(venue: RouteVenue): string | undefined {
  try {
    const standing = venue.standing?.();
    if (standing === undefined) return undefined;
    return standing.declined === 'closed' ? closedWords(venue, standing) : `It rests: ${standing.detail}.`;
  } catch {
    return 'It does not say whether it is open.';
  }
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
