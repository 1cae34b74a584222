/**
 * Starts a whole venue for a test file: real chain, real PostgreSQL, real HTTP and sockets; only the solvers
 * and the relayer's wallet are the test's. With `FIRMQUOTE_TEST_REPLICAS` it has that many replicas: `url`
 * leads to each in turn, `call` asks each in turn, solvers link to all.
 */

import { startHttp, type HttpOptions, type HttpServer } from '../../src/adapters/http/server.ts';
import { createWebhookPoster } from '../../src/adapters/outbound/webhooks.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { createRecoveryThread } from '../../src/adapters/secp256k1/recovery-thread.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { FinalityStep } from '../../src/domain/chain.ts';
import type { Bus } from '../../src/ports/bus.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { Log } from '../../src/ports/log.ts';
import type { Queue } from '../../src/ports/queue.ts';
import type { Metrics } from '../../src/ports/metrics.ts';
import type { Reference } from '../../src/ports/reference.ts';
import type { Screener } from '../../src/ports/screening.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import type { KeyKind, KeyMode, Role, Workspace } from '../../src/ports/stores/store.ts';
import type { VenueStore } from '../../src/ports/stores/venue-store.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import { ADMISSION, type VenueOptions } from '../../src/venue/options.ts';
import type { VenueDeps } from '../../src/venue/deps.ts';
import { createVenue, type Venue } from '../../src/venue/venue.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from './devnet.ts';
import { startOwnPostgres, startTestPostgres, type TestPostgres } from './postgres.ts';
import { referenceAt } from './reference.ts';
import { type Balancer, REPLICAS, startBalancer } from './replicas.ts';
import { silentLog, silentMetrics } from './silent.ts';
import { type ScriptedSolver, type SolverSpec, startSolver } from './solver.ts';

const PATIENT = { quote: 2_000, preflight: 2_000, submit: 2_000, read: 2_000, memory: 2_000 };

export interface TestVenue {
  url: string;
  /** The URL of each replica. */
  urls: readonly string[];
  http: HttpServer;
  /** The first replica's venue; `http`, `store` and `bus` are also of that replica. */
  venue: Venue;
  db: Database;
  store: VenueStore;
  bus: Bus;
  devnet: Devnet;
  chain: TestChain;
  /** Order ids that workers were woken for. */
  woken: string[];
  relayer: { healthy: boolean };
  key(
    kind: KeyKind,
    options?: { mode?: KeyMode; workspaceId?: string; solverId?: string; role?: Role; memberId?: string },
  ): Promise<string>;
  workspace(id: string, change?: Partial<Workspace>): Promise<void>;
  /** Solvers connected so far. */
  solvers: readonly (ScriptedSolver & { id: string })[];
  /** Onboards, funds and connects an LP; waits until it is active. */
  solver(
    n: number,
    answer: SolverSpec['answer'],
    more?: Partial<SolverSpec> & { inventory?: bigint },
  ): Promise<ScriptedSolver & { id: string; lp: TestAccount; operator: TestAccount; apiKey: string }>;
  call(
    method: string,
    path: string,
    options?: {
      key?: string | null;
      body?: unknown;
      raw?: string | Buffer;
      headers?: Record<string, string>;
    },
  ): Promise<Answer>;
  /** Another process over the same database and chains, with connections of its own. */
  replica(
    options?: Partial<VenueOptions>,
    over?: { url?: string; maxConnections?: number },
  ): Promise<Replica>;
  /**
   * Resolves when these replicas and the first have received everything that each had published at the time
   * of the call.
   */
  agree(others: readonly Replica[]): Promise<void>;
  /** The URL for reading what is stored. */
  databaseUrl: string;
  /** Stops the database for good. */
  stopDatabase(): Promise<void>;
  stop(): Promise<void>;
}

export interface Replica {
  url: string;
  venue: Venue;
  bus: Bus;
  stop(): Promise<void>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // The tests look into answers freely; their shapes are held by the schemas.
  json: Json;
}

export type Json = { [key: string]: Json } & Json[] & string & number & null;

export interface Surroundings {
  chainIds?: number[];
  /** Those of `chainIds` that have Arc's currency. */
  arcIds?: readonly number[];
  finality?: readonly FinalityStep[];
  landingMarginSeconds?: number;
  /** How many tokens there are beside USDC and WETH. */
  moreTokens?: number;
  fsync?: boolean;
  /** A running server, with its content. */
  postgres?: TestPostgres;
  /** Returns the port through which the venue reads a chain: the real one, or a slower or failing one. */
  seen?: (port: ChainPort) => ChainPort;
  /** Called once the chains and the database run. */
  routeVenues?: (chains: readonly TestChain[], db: Database) => Promise<RouteVenue[]>;
  /** Receives the venue's log. */
  log?: Log;
  metrics?: Metrics;
  screeners?: readonly Screener[];
  reference?: Reference;
  /** Called with the venue's database; without it, wake-ups are only noted in `woken`. */
  queue?: (databaseUrl: string) => Queue;
  http?: Partial<HttpOptions>;
}

export async function startTestVenue(options: Partial<VenueOptions> & Surroundings = {}): Promise<TestVenue> {
  const {
    chainIds = [31_401],
    landingMarginSeconds,
    moreTokens = 0,
    arcIds = [],
    finality = [],
    fsync = false,
    postgres: given,
    seen = (port) => port,
    routeVenues = async () => [],
    screeners = [],
    log = silentLog,
    metrics = silentMetrics,
    reference = referenceAt({ USD: '1', ETH: '2500' }),
    queue,
    http = {},
    ...venueOptions
  } = options;
  const [devnet, postgres] = await Promise.all([
    startDevnet(chainIds, {
      moreTokens,
      arcIds,
      finality,
      ...(landingMarginSeconds !== undefined && { landingMarginSeconds }),
    }),
    given ?? (fsync ? startOwnPostgres({}) : startTestPostgres()),
  ]);
  return assemble(devnet, postgres, venueOptions, {
    ...{ seen, routeVenues, screeners, log, metrics, reference, queue, http },
  });
}

async function assemble(
  devnet: Devnet,
  postgres: TestPostgres,
  options: Partial<VenueOptions>,
  {
    seen,
    routeVenues,
    screeners,
    log,
    metrics,
    reference,
    queue: openQueue,
    http: limits,
  }: Required<
    Pick<Surroundings, 'seen' | 'routeVenues' | 'screeners' | 'log' | 'metrics' | 'reference' | 'http'>
  > & { queue: ((databaseUrl: string) => Queue) | undefined },
): Promise<TestVenue> {
  const db = await postgres.database('venue', [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  const store = createVenueStore(db);
  const bus = createPostgresBus(db, log);
  const relayer = { healthy: true };
  const woken: string[] = [];
  const recovery = createRecoveryThread({ clock: systemClock, log });
  const deps: VenueDeps = {
    store,
    adminStore: createAdminStore(db),
    bus,
    queue: openQueue?.(db.url) ?? {
      wake: async (_topic, id) => void woken.push(id),
      process: async () => {},
      close: async () => {},
    },
    chains: new Map(devnet.chains.map(({ port }) => [port.chain.id, seen(port)])),
    routeVenues: await routeVenues(devnet.chains, db),
    relayers: new Map(devnet.chains.map(({ chain }) => [chain.id, { healthy: () => relayer.healthy }])),
    reference,
    screeners,
    recovery,
    poster: createWebhookPoster({ allowPrivate: true, allowHttp: true, timeoutMs: 5_000 }),
    databaseWaitMs: () => db.waitMs(),
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
  };
  const venueOptions: VenueOptions = {
    venueId: 'test',
    sealKeys: [{ kid: 'k1', secret: Buffer.alloc(32, 7), acceptUntil: null }],
    webhookKeys: [{ id: 'w1', secret: Buffer.alloc(32, 8) }],
    listedChains: [{ slug: 'tron-shasta', id: 2_494_104_990, sandbox: true }],
    ...options,
    // An active solver answers however busy the machine is; tests wait for the timeout of silent ones.
    fanOut: { timeoutMs: 1_500, sliceTimeoutMs: 1_500, ...options.fanOut },
    // A test that asks much at once tests something else than how fast its machine is.
    admission: { targetWaitMs: { ...ADMISSION.targetWaitMs, ...PATIENT }, ...options.admission },
    rates: {
      quotesPerSecond: 1_000,
      submitsPerSecond: 1_000,
      readsPerSecond: 1_000,
      perIpPerSecond: 10_000,
      ...options.rates,
    },
  };
  async function open(
    own: Partial<Pick<VenueDeps, 'store' | 'adminStore' | 'bus'>> = {},
    change: Partial<VenueOptions> = {},
  ) {
    const venue = createVenue({ ...deps, ...own }, { ...venueOptions, ...change });
    await venue.start();
    return {
      venue,
      http: await startHttp(
        { routes: venue.routes, socketRoutes: venue.socketRoutes, gate: venue.gate, clock: systemClock, log },
        { port: 0, ...limits },
      ),
    };
  }
  async function replica(
    change?: Partial<VenueOptions>,
    over: { url?: string; maxConnections?: number } = {},
  ): Promise<Replica> {
    const ownDb = connectDatabase({ url: db.url, schema: db.schema, log, ...over });
    const ownBus = createPostgresBus(ownDb, log);
    const other = await open(
      { store: createVenueStore(ownDb), adminStore: createAdminStore(ownDb), bus: ownBus },
      change,
    );
    return {
      url: other.http.url,
      venue: other.venue,
      bus: ownBus,
      async stop() {
        await other.http.close();
        await other.venue.stop();
        await ownBus.close();
        await ownDb.close();
      },
    };
  }
  await store.putWorkspace({
    id: 'w1',
    name: 'One',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const { venue, http } = await open();
  const more: Replica[] = [];
  for (let count = 1; count < REPLICAS; count += 1) more.push(await replica());
  const venues = [venue, ...more.map((other) => other.venue)];
  const urls = [http.url, ...more.map(({ url }) => url)];
  const balancer: Balancer =
    more.length > 0 ? await startBalancer(urls) : { url: http.url, stop: async () => {} };
  let turn = 0;
  /** The database was stopped. */
  let isCut = false;
  /** Replicas learn of changes some milliseconds apart. */
  async function agree(others: readonly Replica[]): Promise<void> {
    // A new replica announces itself first, and then receives the state of the others.
    if (others.length > 0) await meet(others);
    if (others.length > 0) await meet(others);
  }
  async function meet(others: readonly Replica[]): Promise<void> {
    await Promise.all([venue, ...others.map((other) => other.venue)].map((one) => one.flushed()));
    const mark = systemRandom.bytes32();
    // Messages published before the mark arrive before it.
    const arrived = [bus, ...others.map((other) => other.bus)].map(async (each) => {
      let hear = () => {};
      const heard = new Promise<void>((resolve) => (hear = resolve));
      const unsubscribe = await each.subscribe(`agreed ${mark}`, hear);
      return async () => {
        await heard;
        await unsubscribe();
      };
    });
    const waiting = await Promise.all(arrived);
    await bus.publish(`agreed ${mark}`, '');
    await Promise.all(waiting.map((wait) => wait()));
  }
  const solvers: (ScriptedSolver & { id: string })[] = [];
  let funding = Promise.resolve();
  const [chain] = devnet.chains as [TestChain];

  const harness: TestVenue = {
    url: balancer.url,
    urls,
    http,
    venue,
    db,
    store,
    bus,
    devnet,
    chain,
    woken,
    relayer,
    solvers,
    async key(kind, { mode = 'test', workspaceId = 'w1', solverId, role = 'admin', memberId } = {}) {
      const { text, record } = mintKey(
        { random: systemRandom, clock: systemClock },
        {
          kind,
          mode,
          workspaceId: kind === 'solver' ? null : workspaceId,
          role: kind === 'workspace' ? role : null,
          memberId: memberId ?? null,
          solverId: solverId ?? null,
          label: 'test',
        },
      );
      await store.addKey(record);
      return text;
    },
    workspace: (id, change = {}) =>
      store.putWorkspace({
        id,
        name: id,
        platformFeeBps: 2,
        eligibleSolvers: null,
        limits: { openQuotes: null, openNotionalUsd: null },
        travelRuleThresholdUsd: null,
        ...change,
      }),
    async solver(n, answer, { inventory = 1_000_000n, ...more } = {}) {
      const id = more.id ?? `lp-${n}`;
      const [lp, operator] = [account(1_000 + n), account(2_000 + n)];
      // One deployer funds all accounts: two simultaneous calls would use one nonce twice.
      const before = funding;
      let funded = () => {};
      funding = new Promise((resolve) => (funded = resolve));
      await before;
      for (const one of devnet.chains) {
        await one.fund(lp.address, inventory);
        if (inventory > 0n)
          for (const token of [one.usdc, one.weth])
            await one.deposit(lp.address, token.address, inventory * 10n ** BigInt(token.decimals));
        await one.setOperator(lp.address, operator.address);
      }
      funded();
      await store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
      await bus.publish('solvers', id);
      await until(() => venues.every(({ roster }) => roster.entry(id)));
      const apiKey = await harness.key('solver', { solverId: id });
      const corridors = devnet.chains.flatMap((a) =>
        devnet.chains.map((b) => `${a.chain.slug}-${b.chain.slug}`),
      );
      const spec: SolverSpec = {
        id,
        apiKey,
        lp: lp.address,
        operator,
        chains: devnet.chains.map((one) => one.chain),
        corridors,
        answer,
        now: () => Math.max(...devnet.chains.map(({ port }) => port.head()?.timestamp ?? 0)),
        ...more,
      };
      const solver = await startSolver(balancer.url, spec);
      const known = Object.assign(solver, { id, lp, operator, apiKey });
      solvers.push(known);
      await until(() => venues.every(({ roster }) => roster.entry(id)?.status === (spec.status ?? 'active')));
      return known;
    },
    async call(method, path, { key, body, raw, headers = {} } = {}) {
      // Replicas learn of each other through the database.
      if (!isCut) await agree(more);
      const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
      const response = await fetch((urls[turn++ % urls.length] as string) + path, {
        method,
        headers: {
          ...(key ? { 'X-API-Key': key } : {}),
          ...(payload === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(payload === undefined ? {} : { body: payload }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: parse(text) };
    },
    replica,
    agree,
    databaseUrl: db.url,
    stopDatabase() {
      isCut = true;
      return postgres.stop();
    },
    async stop() {
      await Promise.all(solvers.map((solver) => solver.stop()));
      await balancer.stop();
      await Promise.all(more.map((other) => other.stop()));
      await http.close();
      await venue.stop();
      await recovery.stop();
      await deps.queue.close();
      await bus.close();
      await devnet.stop();
      await postgres.stop();
    },
  };
  return harness;
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null as never;
  }
}

/** Polls until the result is truthy, at first often. The test's timeout is the limit. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const startMs = performance.now();
  for (;;) {
    const found = await look();
    if (found) return found as NonNullable<T>;
    // Each look is a query or a request: one that waits long asks less often, and ends 5 % later.
    const waitedMs = performance.now() - startMs;
    await new Promise((done) => setTimeout(done, Math.min(50, 5 + waitedMs / 20)));
  }
}
