/** `firmquote venue`: wiring of the market. The api answers takers and solvers, the worker lands and watches; together or apart. */

import { randomUUID } from 'node:crypto';
import { healthRoutes, startOps } from '../../adapters/http/ops.ts';
import { startHttp } from '../../adapters/http/server.ts';
import { createLog } from '../../adapters/pino/log.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import type { EvmChain } from '../../adapters/evm/chain.ts';
import { createPostgresBus } from '../../adapters/postgres/bus.ts';
import { createTxStore } from '../../adapters/postgres/tx-store.ts';
import { createVenueStore } from '../../adapters/postgres/venue-store.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { keystoreAddressOf, openSecret, openSigner, type SecretContext } from '../keys.ts';
import { createAdvancer } from '../../venue/advance/advancer.ts';
import { createUpkeep } from '../../venue/advance/history-upkeep.ts';
import { createWithdrawals } from '../../venue/advance/withdrawals.ts';
import { createPrices } from '../../venue/prices.ts';
import { ORDERS_TOPIC } from '../../venue/submit.ts';
import { COURIER, createCourier } from '../../venue/travel-rule.ts';
import { createVenue } from '../../venue/venue.ts';
import type { ChainSettings, VenueOptions } from '../../venue/options.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Queue } from '../../ports/queue.ts';
import type { TxStore, VenueStore } from '../../ports/store.ts';
import { loadConfig } from '../config/load.ts';
import { openDatabase } from '../database.ts';
import { createFeeds } from '../feeds.ts';
import { createTransactors, openChains } from '../networks.ts';
import { liveAs } from '../process.ts';
import { createProofs } from '../proofs.ts';
import { openQueue } from '../queue.ts';
import { type VenueConfig, zVenueConfig } from './config.ts';
import { openOutbound, openScreeners, openTransmitter } from './records.ts';
import { openAdmin } from './admin.ts';
import { openDexVenues } from './dex.ts';
import { createReference } from './reference.ts';
import { watchRelayer } from './relayer.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from './schema.ts';
import { seed } from './seed.ts';

export type Role = 'api' | 'worker' | 'all';

/** What a venue stands on, before anything is built on it. */
export interface VenueGround {
  store: VenueStore;
  transactions: TxStore;
  bus: Bus;
  queue: Queue;
  chains: readonly EvmChain[];
}

/** `wrap` may put something of its own around what the venue stands on: a fault, a recorder. */
export async function runVenue({ config: file, role }: { config: string; role: Role }, { wrap = (ground) => ground }: { wrap?: (ground: VenueGround) => VenueGround } = {}): Promise<void> {
  const { config } = await loadConfig(zVenueConfig, file, process.env);
  const redactor = createRedactor();
  const log = createLog({ app: role === 'all' ? 'venue' : `venue-${role}`, level: config.log.level, redactor });
  const secrets: SecretContext = { env: process.env, redactor };

  await liveAs(`venue ${role}`, log, async (life) => {
    const metrics = createMetrics();
    const startup = { ready: async (): Promise<readonly string[]> => ['starting'] };
    const ops = await startOps({ ...config.ops, log, routes: healthRoutes({ ready: () => startup.ready(), metrics }) });
    life.onStop('operator door', () => ops.close());

    const db = await openDatabase(config.database, { schema: VENUE_SCHEMA, migrations: VENUE_TABLES }, { life, log, secrets });
    const made = { store: createVenueStore(db), bus: createPostgresBus(db, log.child({ part: 'bus' })), transactions: createTxStore(db) };
    await seed(made.store, config, log);
    life.onStop('event bus', () => made.bus.close());
    const wakeUps = openQueue(config.queue, db, { log, secrets });
    life.onStop('queue', () => wakeUps.close());
    const { store, transactions, bus, queue, chains } = wrap({ ...made, queue: wakeUps, chains: await openChains(config.chains, { life, log, metrics, secrets }) });
    const byId = new Map(chains.map((chain) => [chain.chain.id, chain]));

    const signer = role === 'api' ? undefined : await openSigner(config.keys.relayer, secrets);
    const senders = signer ? createTransactors(config.chains, chains, { signer, store: transactions, log, metrics }) : undefined;
    const ready: (() => Promise<readonly string[]>)[] = [];
    const outbound = openOutbound(config, { life });
    const routeVenues = openDexVenues(config.dex, byId);

    const reference = createReference(config.prices, createFeeds(config.feeds, wantedSymbols(config), { secrets, chains }), log);
    reference.start();
    life.onStop('reference prices', () => reference.stop());

    if (role !== 'worker') {
      const relayerAddress = signer?.address ?? (await keystoreAddressOf(config.keys.relayer, secrets));
      const relayers = senders ?? new Map(chains.map((chain) => [chain.chain.id, watchRelayer(chain, relayerAddress)]));
      const venue = createVenue(
        { store, bus, queue, chains: byId, relayers, routeVenues, reference, screeners: await openScreeners(config, outbound, { life, log, metrics, secrets }), recovery: createRecovery(), clock: systemClock, random: systemRandom, log, metrics },
        await optionsOf(config, secrets),
      );
      life.onStop('venue', () => venue.stop());
      await venue.start();
      const server = await startHttp(
        { routes: venue.routes, doors: venue.doors, gate: venue.gate, clock: systemClock, log },
        { host: config.http.host, port: config.http.port, trustProxy: config.http.trustProxy },
      );
      // Last in, first out: no new request is taken while everything behind the door still works.
      life.onStop('public door', () => server.close());
      await openAdmin(config.admin, { db, store, chains, life, log: log.child({ part: 'admin' }), secrets });
      ready.push(() => venue.ready());
      log.info({ url: server.url, metrics: `${ops.url}/metrics` }, 'venue is open');
    }
    if (senders) {
      const worker = createAdvancer(
        { store, chains: byId, transactors: senders, routeVenues, attestations: createProofs(config.attesters, { chains, log, metrics }), queue, bus, clock: systemClock, log, metrics },
        { owner: randomUUID(), topic: ORDERS_TOPIC },
      );
      life.onStop('senders', () => Promise.all([...senders.values()].map((sender) => sender.stop())));
      await Promise.all([...senders.values()].map((sender) => sender.start()));
      life.onStop('worker', () => worker.stop());
      await worker.start();
      const withdrawals = createWithdrawals({ store, chains: byId, transactors: senders, clock: systemClock, log, metrics });
      life.onStop('withdrawals', () => withdrawals.stop());
      withdrawals.start();
      const nativeSymbols = new Map(config.chains.map(({ id, nativeSymbol }) => [id, nativeSymbol]));
      const upkeep = createUpkeep({ trades: store.trades, chains: byId, prices: createPrices(reference), nativeSymbol: (chainId) => nativeSymbols.get(chainId) ?? '', clock: systemClock, log, metrics });
      life.onStop('upkeep of history', () => upkeep.stop());
      upkeep.start();
      const transmitter = openTransmitter(config, outbound, secrets);
      if (transmitter) {
        const courier = createCourier({ store, transmitter, clock: systemClock, log, metrics }, { ...COURIER, maxAttempts: config.travelRule.maxAttempts, firstRetryMs: config.travelRule.firstRetryMs, longestRetryMs: config.travelRule.longestRetryMs, leaseMs: config.travelRule.timeoutMs * 2 + 30_000 });
        life.onStop('travel-rule courier', () => courier.stop());
        courier.start();
      }
      log.info({ relayer: signer?.address }, 'worker is at work');
    }
    startup.ready = async () => (await Promise.all(ready.map((ask) => ask()))).flat();
  });
}

async function optionsOf(config: VenueConfig, secrets: SecretContext): Promise<VenueOptions> {
  const settingsOf = (chain: VenueConfig['chains'][number]): ChainSettings => ({
    executionMode: chain.executionMode,
    nativeSymbol: chain.nativeSymbol,
    settleGas: BigInt(chain.settleGas),
    outputGas: BigInt(chain.outputGas),
    openGas: BigInt(chain.openGas),
    throughGas: BigInt(chain.throughGas),
    relayBufferBps: chain.relayBufferBps,
  });
  return {
    venueId: config.venueId,
    sealKeys: await Promise.all(config.keys.seals.map(async ({ id, secret, acceptUntil }) => ({ kid: id, secret: Buffer.from(await openSecret(secret, secrets)), acceptUntil }))),
    chainSettings: new Map(config.chains.map((chain) => [chain.id, settingsOf(chain)])),
    listedChains: config.listedChains,
    fanOut: config.fanOut,
    router: config.router,
    rates: config.rates,
    breaker: config.breaker,
    sockets: config.sockets,
    levels: config.levels,
  };
}

const wantedSymbols = ({ prices }: VenueConfig) => Object.values(prices).flatMap((price) => ('feed' in price ? [{ ...price, use: 'price' as const }] : []));
