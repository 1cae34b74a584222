/** The admin API's own server; opened only when the configuration has an admin key. */

import { join } from 'node:path';
import { startHttp } from '../../adapters/http/server.ts';
import { createAdminStore } from '../../adapters/postgres/venue/admin-store.ts';
import type { Database } from '../../adapters/postgres/pool.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import { createAdmin } from '../../venue/admin/admin.ts';
import { createAdminGate } from '../../venue/admin/gate.ts';
import { operationRoutes } from '../../venue/admin/operation-routes.ts';
import type { Operations } from '../../venue/admin/operations.ts';
import { venueAdminRoutes } from '../../venue/admin/routes.ts';
import { openSecret, type SecretContext } from '../wiring/keys.ts';
import type { Life } from '../wiring/process.ts';
import type { VenueConfig } from './config.ts';

/** Served at /console/setup.json, to anyone who reaches the port. */
export interface OperatorSetup {
  venueId: string;
}

const BODY_LIMIT_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 100;

export async function openAdmin(
  { host, port, hostNames, keys, requestsPerSecond, console }: VenueConfig['admin'],
  {
    db,
    store,
    chains,
    life,
    log,
    secrets,
    operations,
    venueId,
  }: {
    db: Database;
    store: VenueStore;
    chains: readonly ChainPort[];
    life: Life;
    log: Log;
    secrets: SecretContext;
    operations: Operations;
    venueId: string;
  },
): Promise<void> {
  if (keys.length === 0) return;
  const admin = createAdmin({
    store: createAdminStore(db),
    venue: store,
    clock: systemClock,
    random: systemRandom,
    feeCaps: () =>
      Promise.all(
        chains.map(async (chain) => ({ slug: chain.chain.slug, maxFeeBps: await chain.maxFeeBps() })),
      ),
  });
  const opened = await Promise.all(
    keys.map(async ({ id, secret }) => ({ id, secret: await openSecret(secret, secrets) })),
  );
  const gate = createAdminGate({ clock: systemClock, log }, { keys: opened, requestsPerSecond });
  const server = await startHttp(
    {
      routes: [...venueAdminRoutes(admin), ...operationRoutes(operations)],
      socketRoutes: [],
      gate,
      clock: systemClock,
      log,
    },
    {
      host,
      port,
      hostNames: [...hostNames, host],
      bodyLimitBytes: BODY_LIMIT_BYTES,
      maxConnections: MAX_CONNECTIONS,
      title: 'firmquote venue administration',
      ...(console && {
        pages: {
          folder: join(PACKAGE_FOLDER, 'dist', 'console'),
          page: 'operator.html',
          setup: { venueId } satisfies OperatorSetup,
        },
      }),
    },
  );
  life.onStop('admin door', () => server.close());
  log.info({ url: server.url }, 'admin API is open');
}
