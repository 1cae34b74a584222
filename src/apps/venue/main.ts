/** `firmquote venue`: api serves takers and solvers, worker settles orders. */

import { randomUUID } from 'node:crypto';
import { startHttp } from '../../adapters/http/server.ts';
import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import type { Readiness } from '../../adapters/http/ops.ts';
import type { Outbound } from '../../adapters/outbound/request.ts';
import type { Database } from '../../adapters/postgres/pool.ts';
import { createPostgresBus } from '../../adapters/postgres/bus.ts';
import { createTxStore } from '../../adapters/postgres/tx-store.ts';
import { createAdminStore } from '../../adapters/postgres/venue/admin-store.ts';
import { createTransferStore } from '../../adapters/postgres/transfer-store.ts';
import { createFloatStore } from '../../adapters/postgres/venue/float-store.ts';
import { createVenueStore } from '../../adapters/postgres/venue/venue-store.ts';
import { createRecoveryThread } from '../../adapters/secp256k1/recovery-thread.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { SecretContext } from '../wiring/keys.ts';
import { addressOfKey, openSigner } from '../wiring/signers.ts';
import { createOperations } from '../../venue/admin/operations.ts';
import { watchStuckOrders } from '../../venue/admin/stuck-watch.ts';
import { createOrderAdvancer } from '../../venue/orders/advance/advancer.ts';
import { createUpkeep } from '../../venue/trades/history-upkeep.ts';
import { createWithdrawals } from '../../venue/orders/advance/withdrawals.ts';
import { createPrices } from '../../venue/market/prices.ts';
import { ORDERS_TOPIC } from '../../venue/orders/submit.ts';
import { COURIER, createCourier } from '../../venue/orders/travel-rule.ts';
import { unready } from '../../venue/ready.ts';
import { createVenue } from '../../venue/venue.ts';
import type { Address } from '../../domain/hex.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Reference } from '../../ports/reference.ts';
import type { RouteVenue } from '../../ports/route-venue.ts';
import type { Queue, QueueDepth } from '../../ports/queue.ts';
import type { Signer } from '../../ports/signer.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import type { TransferStore } from '../../ports/stores/transfers.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import type { WebhookPoster } from '../../ports/stores/webhooks.ts';
import type { KeySource } from '../config/parts.ts';
import type { RatesView } from '../../protocol/admin/operations.ts';
import { loadConfig } from '../config/load.ts';
import { openDatabase } from '../wiring/database.ts';
import { createFeeds } from '../wiring/feeds.ts';
import { createTransactors, feeCapWei, leastBalanceWei, openChains } from '../wiring/networks.ts';
import { type Life, liveAs, openHealth, processContext } from '../wiring/process.ts';
import { createProofs, watchAttesters } from '../wiring/proofs.ts';
import { openQueue } from '../wiring/queue.ts';
import { startRetention } from '../wiring/retention.ts';
import { openTracing } from '../wiring/tracing.ts';
import { type VenueConfig, zVenueConfig } from './config.ts';
import { openOutbound, openScreeners, openTransmitter } from './records.ts';
import { openAdmin } from './admin.ts';
import { type OpenedBridge, openBridgeVenues } from './bridges.ts';
import { consolePages } from './console.ts';
import { openDexVenues } from './dex.ts';
import { venueOptions } from './venue-options.ts';
import { openIssuerVenues } from './issuers.ts';
import { openPartnerVenues } from './partners.ts';
import { createReference, wantedPrices } from './reference.ts';
import { relayerGas, watchRelayers } from './relayer.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from './schema.ts';
import { openPoster, startWebhooks } from './webhooks.ts';
import { seed } from './seed.ts';
import { badConfig } from '../wiring/bad-request.ts';

/** An expired ticket is kept for this time, so that its refusal can say why. */
const TICKET_DAYS = 1 / 24;

type ProcessRole = 'api' | 'worker' | 'all';

export interface VenueGround {
  store: VenueStore;
  transactions: TxStore;
  transfers: TransferStore;
  bus: Bus;
  queue: Queue;
  chains: readonly EvmChain[];
}

export async function runVenue(
  { config: file, role: wanted }: { config: string; role?: ProcessRole },
  { wrap = (ground) => ground }: { wrap?: (ground: VenueGround) => VenueGround } = {},
): Promise<void> {
  const { config } = await loadConfig(zVenueConfig, file, process.env);
  const role = wanted ?? config.role;
  const { log, secrets } = processContext(role === 'all' ? 'venue' : `venue-${role}`, config);

  await liveAs(`venue ${role}`, log, async (life) => {
    const { metrics, metricsUrl, readyWhen } = await openHealth(life, log, config.ops);
    requireServer(role, config, secrets);
    const db = await openDatabase(
      config.database,
      { schema: VENUE_SCHEMA, migrations: VENUE_TABLES },
      { life, log, metrics, secrets },
    );
    const made = {
      store: createVenueStore(db),
      bus: createPostgresBus(db, log.child({ part: 'bus' })),
      transactions: createTxStore(db),
      transfers: createTransferStore(db),
    };
    await seed(made.store, config, log);
    life.onStop('event bus', () => made.bus.close());
    const wakeUps = openQueue(config.queue, db, { log, metrics, secrets });
    life.onStop('queue', () => wakeUps.close());
    const ground = wrap({
      ...made,
      queue: wakeUps,
      chains: await openChains(config.chains, { life, log, metrics, secrets }),
    });
    const { chains } = ground;
    const byId = new Map(chains.map((chain) => [chain.chain.id, chain]));

    const relayerKeys = [config.keys.relayer].flat() as [KeySource, ...KeySource[]];
    const signers =
      role === 'api'
        ? undefined
        : ((await Promise.all(
            relayerKeys.map((key) => openSigner(key, { life, log, metrics, secrets })),
          )) as [Signer, ...Signer[]]);
    const senders =
      signers &&
      createTransactors(config.chains, chains, { signers, store: ground.transactions, log, metrics });
    const reference = createReference(
      config.prices,
      createFeeds(config.feeds, wantedPrices(config.prices), { secrets, chains }).map(({ feed }) => feed),
      { clock: systemClock, log, metrics },
    );
    reference.start();
    life.onStop('reference prices', () => reference.stop());
    const relayerAddresses =
      signers?.map(({ address }) => address) ??
      (await Promise.all(relayerKeys.map((key) => addressOfKey(key, { log, secrets }))));
    const bridges = await openBridgeVenues(config, {
      ...{ chains, bus: ground.bus, orders: ground.store, transactions: ground.transactions, reference },
      ...{ floats: createFloatStore(db), transfers: ground.transfers },
      ...{ relayers: relayerAddresses, works: role !== 'api' },
      ...{ life, log, metrics, secrets },
    });
    const parts: Parts = {
      ...ground,
      tracer: await openTracing(config.tracing, 'firmquote-venue', { life, log }),
      config,
      role,
      life,
      log,
      metrics,
      secrets,
      db,
      depths: wakeUps.depths,
      byId,
      reference,
      bridges,
      routeVenues: [
        ...openDexVenues(config.dex, byId),
        ...openIssuerVenues(config.issuers, byId),
        ...bridges.map(({ venue }) => venue),
        ...(await openPartnerVenues(config, { chains: byId, life, log, metrics, secrets })),
      ],
      outbound: openOutbound(config, { life }),
      poster: openPoster(config, { life }),
    };

    const ready: Readiness[] = [];
    if (role !== 'worker') ready.push(...(await openApi(parts, relayerAddresses, senders, metricsUrl)));
    if (senders) {
      ready.push(...(await openWorker(parts, senders, signers ?? [])));
      log.info({ relayers: signers?.map(({ address }) => address) }, 'worker is at work');
    }
    readyWhen(async () =>
      life.stopping ? ['stopping'] : (await Promise.all(ready.map((ask) => ask()))).flat(),
    );
  });
}

interface Parts extends VenueGround {
  config: VenueConfig;
  role: ProcessRole;
  life: Life;
  log: Log;
  metrics: Metrics;
  tracer: Tracer | undefined;
  secrets: SecretContext;
  db: Database;
  depths(): QueueDepth[];
  byId: ReadonlyMap<number, EvmChain>;
  reference: Reference;
  bridges: readonly OpenedBridge[];
  routeVenues: RouteVenue[];
  outbound: Outbound;
  poster: WebhookPoster;
}

type Senders = ReadonlyMap<number, Transactor>;

async function openApi(
  { config, chains, byId, store, bus, queue, reference, routeVenues, outbound, poster, db, ...parts }: Parts,
  relayerAddresses: readonly Address[],
  senders: Senders | undefined,
  metricsUrl: string,
): Promise<Readiness[]> {
  const { life, log, metrics, tracer, secrets, transactions, depths } = parts;
  // A process that sends reports its own health; others watch the relayer's balance.
  const relayers = new Map(
    chains.map((chain) => {
      const sender = senders?.get(chain.chain.id);
      const section = config.chains.find(({ id }) => id === chain.chain.id);
      const watched = watchRelayers(chain, relayerAddresses, {
        maxFeePerGasCap: feeCapWei(section),
        leastBalance: leastBalanceWei(section),
      });
      return [chain.chain.id, { healthy: () => (sender?.holds() ? sender.healthy() : watched.healthy()) }];
    }),
  );
  const recovery = createRecoveryThread({ clock: systemClock, log });
  life.onStop('recovery of signers', () => recovery.stop());
  const venue = createVenue(
    {
      store,
      adminStore: createAdminStore(db),
      bus,
      queue,
      chains: byId,
      relayers,
      routeVenues,
      reference,
      screeners: await openScreeners(config, outbound, { life, log, metrics, secrets }),
      recovery,
      poster,
      databaseWaitMs: () => db.waitMs(),
      clock: systemClock,
      random: systemRandom,
      log,
      metrics,
      tracer,
    },
    await venueOptions(config, secrets),
  );
  life.onStop('venue', () => venue.stop());
  await venue.start();
  const pages = consolePages(config, chains);
  const server = await startHttp(
    { routes: venue.routes, socketRoutes: venue.socketRoutes, gate: venue.gate, clock: systemClock, log },
    {
      host: config.http.host,
      port: config.http.port,
      trustProxy: config.http.trustProxy,
      origins: config.http.origins,
      ...(pages && { pages }),
    },
  );
  life.onStop('public server', async () => {
    await new Promise((resolve) => setTimeout(resolve, config.http.drainMs));
    await server.close();
  });
  const operations = createOperations({
    ...{ store, chains: byId, relayers, roster: venue.roster, transactions, queues: depths },
    clock: systemClock,
    gasOf: (chain) =>
      relayerGas(chain, relayerAddresses, feeCapWei(config.chains.find(({ id }) => id === chain.chain.id))),
    rates: limitsOf(config),
  });
  const { orders } = operations;
  const stopWatch = watchStuckOrders({ orders, clock: systemClock, log, metrics });
  life.onStop('watch of stuck orders', async () => stopWatch());
  await openAdmin(config.admin, {
    ...{ db, store, chains, operations, venueId: config.venueId },
    ...{ life, log: log.child({ part: 'admin' }), secrets },
  });
  log.info({ url: server.url, metrics: metricsUrl }, 'venue is open');
  return [() => venue.ready()];
}

async function openWorker(
  {
    config,
    role,
    chains,
    byId,
    store,
    bus,
    queue,
    reference,
    bridges,
    routeVenues,
    outbound,
    poster,
    db,
    ...parts
  }: Parts,
  senders: Senders,
  signers: readonly Signer[],
): Promise<Readiness[]> {
  const { life, log, metrics, tracer, secrets } = parts;
  const tools = { store, chains: byId, clock: systemClock, log, metrics };
  const proofs = createProofs(config.attesters, { chains, log, metrics });
  if (config.attesters.urls.length > 0) life.onStop('attester watch', watchAttesters(proofs, chains));
  const worker = createOrderAdvancer(
    { ...tools, tracer, transactors: senders, routeVenues, attestations: proofs, queue, bus },
    { owner: randomUUID(), topic: ORDERS_TOPIC },
  );
  life.onStop('senders', () => Promise.all([...senders.values()].map((sender) => sender.stop())));
  await Promise.all([...senders.values()].map((sender) => sender.start()));
  await Promise.all(bridges.map((bridge) => bridge.start()));
  life.onStop('worker', () => worker.stop());
  await worker.start();
  const withdrawals = createWithdrawals({ ...tools, transactors: senders });
  life.onStop('withdrawals', () => withdrawals.stop());
  withdrawals.start();
  const upkeep = createUpkeep({ ...tools, trades: store.trades, prices: createPrices(reference) });
  life.onStop('upkeep of history', () => upkeep.stop());
  upkeep.start();
  const { idempotencyDays, slotDays, eventDays, webhookDays } = config.retention;
  const retaining = startRetention(
    { db, clock: systemClock, log, metrics },
    {
      idempotency: idempotencyDays,
      slots: slotDays,
      events: eventDays,
      webhooks: webhookDays,
      tickets: TICKET_DAYS,
    },
  );
  life.onStop('retention', () => retaining.stop());
  await startWebhooks(config, { store, bus, queue, chains: byId, poster, life, log, metrics, secrets });
  const transmitter = openTransmitter(config, outbound, secrets);
  if (transmitter) {
    const { maxAttempts, firstRetryMs, longestRetryMs, timeoutMs } = config.travelRule;
    const courier = createCourier(
      { store, transmitter, clock: systemClock, log, metrics },
      { ...COURIER, maxAttempts, firstRetryMs, longestRetryMs, leaseMs: timeoutMs * 2 + 30_000 },
    );
    life.onStop('travel-rule courier', () => courier.stop());
    courier.start();
  }
  return role === 'worker'
    ? [
        () => unready({ store, chains: byId, clock: systemClock }),
        async () => unsigning(signers) ?? penniless(chains, senders),
      ]
    : [];
}

/** Refuses a role other than `all` without a database server: only one process can use the embedded one. */
function requireServer(role: ProcessRole, { database }: VenueConfig, { env }: SecretContext): void {
  if (role === 'all' || database.url !== null || (env['DATABASE_URL'] ?? '') !== '') return;
  throw badConfig(
    `A venue process with the role ${role} shares its database with the others. Set DATABASE_URL or database.url to a PostgreSQL server of your own; the embedded one is for one process with the role all.`,
  );
}

/** Explains why nothing is sent on any chain: no key service of a relayer signs. */
const unsigning = (signers: readonly Signer[]): string[] | undefined => {
  const issues = signers.flatMap((signer) => signer.issue?.() ?? []);
  return issues.length > 0 && issues.length === signers.length ? [...new Set(issues)] : undefined;
};

/**
 * Chains on which this worker should send and no relayer can pay. An api does not report them: takers can
 * broadcast themselves.
 */
const penniless = (chains: readonly EvmChain[], senders: Senders): string[] =>
  chains.flatMap(({ chain }) => {
    const sender = senders.get(chain.id);
    return sender?.holds() && !sender.healthy() ? [`${chain.slug}: no relayer account can pay for gas`] : [];
  });

function limitsOf({ rates, admin }: VenueConfig): RatesView {
  const { trustedIps: _, ...limits } = rates;
  return { ...limits, adminPerSecond: admin.requestsPerSecond };
}
