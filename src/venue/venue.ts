/**
 * The venue's API: its routes and sockets, and when its parts start and stop. The file to read first in each
 * folder: access/gate, admin/routes, link/link, market/markets, orders/submit, orders/advance/advancer,
 * partners/reconciliation, payouts/payouts, quoting/quote, replicas/peers, router/router, routes/routes,
 * solvers/roster, stream/order-events, trades/history, webhooks/fan-out.
 */

import { wireVenue } from './wiring.ts';
import { venueRoutes } from './routes/routes.ts';
import type { AccessGate, Route, SocketRoute } from '../ports/http.ts';
import type { VenueDeps } from './deps.ts';
import { type VenueOptions } from './options.ts';
import { chainNow } from './market/chain-now.ts';
import { unready } from './ready.ts';
import { type Roster } from './solvers/roster.ts';

export interface Venue {
  readonly routes: readonly Route[];
  readonly socketRoutes: readonly SocketRoute[];
  readonly gate: AccessGate;
  readonly roster: Roster;
  ready(): Promise<string[]>;
  flushed(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const SWEEP_MS = 1_000;

export function createVenue(deps: VenueDeps, options: VenueOptions): Venue {
  const { store, chains, clock } = deps;
  const parts = wireVenue(deps, options);
  const { keyring, workspaces, roster, orderEvents, tail, peers } = parts;
  const { answerTimes, keyUses, rosterRecorder, shadowRequests } = parts;
  const { liquidity, feeCap, relayFees, board, openQuotes, unsubmitted } = parts;
  let cancelSweep = () => {};

  function sweep() {
    // By the slowest chain's time.
    const times = [...chains.values()].map((port) => port.head()?.timestamp ?? chainNow(clock, port));
    if (times.length > 0) openQuotes.expire(Math.min(...times));
    unsubmitted.expire();
    shadowRequests.expire(chainNow(clock, undefined));
    cancelSweep = clock.after(SWEEP_MS, sweep);
  }

  return {
    routes: venueRoutes(store, parts),
    socketRoutes: parts.socketRoutes,
    gate: parts.gate,
    roster,
    flushed: peers.flushed,
    ready: () => unready({ store, chains, clock }),
    async start() {
      await Promise.all(
        [keyring, workspaces, roster, orderEvents, tail, relayFees].map((part) => part.start()),
      );
      await peers.start();
      for (const part of [liquidity, feeCap, board, answerTimes, keyUses, rosterRecorder]) part.start();
      sweep();
    },
    async stop() {
      cancelSweep();
      for (const part of [liquidity, feeCap, relayFees, board]) part.stop();
      // A restart is no change of the solvers that it disconnects.
      await rosterRecorder.stop();
      await Promise.all(
        [keyring, workspaces, roster, orderEvents, tail, peers, answerTimes, keyUses].map((part) =>
          part.stop(),
        ),
      );
    },
  };
}
