/**
 * The attackers of `npm run soak -- --hostile`, in a process of their own. Each strikes as fast as its socket
 * takes it, and comes back when it is disconnected.
 */

import type { Chain } from '../../../src/domain/chain.ts';
import { answerAside } from '../aside.ts';
import {
  bombHeaders,
  bombJson,
  dawdle,
  guess,
  inventTakers,
  neverRead,
  pester,
  stormTopics,
} from './clients.ts';
import type { Targets } from './hostiles.ts';
import { startRudeNode } from './node.ts';
import { announceAccounts, floodVenue, repeatAnswers, stopSolvers } from './solvers.ts';
import { begin, cease, counts, keepAt } from './strikes.ts';
import { floodLps, startVenue } from './venue.ts';

const HTTP_AT_ONCE = 16;
const SLOW_AT_ONCE = 40;
/** At both venues 100,000 takers in ten minutes. */
const INVENTING_AT_ONCE = 3;

answerAside({
  venue: (chains: readonly Chain[]) => startVenue(chains),
  node: (target: string) => startRudeNode(target),
  attack,
  leave() {
    cease();
    return stopSolvers();
  },
  counts,
});

function attack(targets: Targets): void {
  begin();
  const { takerKey } = targets;
  floodLps(targets.chains);
  for (const url of targets.venueUrls) {
    keepAt(() => floodVenue(url, targets));
    keepAt(() => repeatAnswers(url, targets));
    keepAt(() => announceAccounts(url, targets));
    keepAt(() => stormTopics(url, takerKey));
    keepAt(() => inventTakers(url, targets), INVENTING_AT_ONCE);
    keepAt(() => pester(url), HTTP_AT_ONCE);
    keepAt(() => bombJson(url, takerKey));
    keepAt(() => bombHeaders(url));
  }
  for (const door of targets.adminUrls) keepAt(() => guess(door));
  for (const door of [...targets.venueUrls, ...targets.adminUrls, ...targets.attesterUrls]) {
    keepAt(() => dawdle(door, takerKey), SLOW_AT_ONCE);
    keepAt(() => neverRead(door, takerKey), 2);
  }
}
