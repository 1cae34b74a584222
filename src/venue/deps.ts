/** Everything that the venue's API needs from outside. */

import type { Bus } from '../ports/bus.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Queue } from '../ports/queue.ts';
import type { Random } from '../ports/random.ts';
import type { Reference } from '../ports/reference.ts';
import type { RouteVenue } from '../ports/route-venue.ts';
import type { Screener } from '../ports/screening.ts';
import type { Recoveries } from '../ports/signer.ts';
import type { AdminStore } from '../ports/stores/admin-store.ts';
import type { VenueStore } from '../ports/stores/venue-store.ts';
import type { WebhookPoster } from '../ports/stores/webhooks.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { Transactor } from '../ports/transactor.ts';

export type Relayer = Pick<Transactor, 'healthy'>;

export interface VenueDeps {
  store: VenueStore;
  /** Owners and admins of workspaces issue and revoke keys. */
  adminStore: AdminStore;
  bus: Bus;
  queue: Queue;
  chains: ReadonlyMap<number, ChainPort>;
  routeVenues: readonly RouteVenue[];
  /** Relayers by chain; a chain without one trades by walletBroadcast. */
  relayers: ReadonlyMap<number, Relayer>;
  reference: Reference;
  /** Each checks takers and receivers; without any, addresses are not screened. */
  screeners: readonly Screener[];
  recovery: Recoveries;
  /** Says which addresses webhooks may have. */
  poster: Pick<WebhookPoster, 'check'>;
  /** Returns how long the longest waiting statement has waited for a database connection, in milliseconds. */
  databaseWaitMs(): number;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  /** Absent: no spans are recorded. */
  tracer?: Tracer | undefined;
}
