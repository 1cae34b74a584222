/**
 * Everything that trades, as processes over real chains and a real database. Tests kill, freeze or restart a
 * part, or put a faulty network in front of it, with one call each, and choose the order of starts and the
 * crash points.
 */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { connectDatabase, type Database } from '../../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../../src/adapters/postgres/venue/venue-store.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { systemRandom } from '../../../src/adapters/system/random.ts';
import { LP_SCHEMA, LP_TABLES } from '../../../src/apps/lp/schema.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../../../src/apps/venue/schema.ts';
import type { Chain } from '../../../src/domain/chain.ts';
import type { VenueStore } from '../../../src/ports/stores/venue-store.ts';
import { mintKey } from '../../../src/venue/access/keys.ts';
import { account, ATTESTERS, type Devnet, startDevnet, type TestAccount } from '../../support/devnet.ts';
import { type OwnServer, startOwnServer, startServer } from '../../support/postgres.ts';
import type { TestServer } from '../../support/run-server.ts';
import { silentLog } from '../../support/silent.ts';
import { UNLIMITED } from '../../support/unlimited.ts';
import { createClient, type Client, type ClientEntry, patiently } from './client.ts';
import { createPart, type Part, steadyPort } from './process.ts';

type VenueRole = 'api' | 'worker' | 'all';
export type Config = Record<string, unknown>;

export interface WorldOptions {
  /** One chain, or two with attesters between them. */
  chainIds?: readonly number[];
  /** Venue processes by name. Clients ask the first that serves takers. */
  venues?: Record<string, VenueRole>;
  /** By solver id. */
  lps?: readonly string[];
  /** More ids on the roster: their LPs are the test's own. */
  guests?: readonly string[];
  /** As in `createPart`. */
  program?: string;
  /** Blocks on top before a fact is final. */
  depth?: number;
  landingMarginSeconds?: number;
  proofWindowSeconds?: number;
  /** Of the oracles' committees. */
  rotationDelaySeconds?: number;
  /**
   * The tenor of quotes: long enough for a process that dies between quote and submission to restart. After a
   * crash an LP quotes nothing for as long.
   */
  validitySeconds?: number;
  /** Whole tokens of each kind in every LP's ledger, on every chain. */
  inventory?: bigint;
  /** As in `startDevnet`. LPs hold and quote none of them. */
  moreTokens?: number;
  /** A database server that the test may kill. */
  ownDatabase?: boolean;
  /** Changes a part's configuration at each start: other URLs, other limits. */
  configure?: (part: string, config: Config) => Config;
  /** More environment variables of LPs and venues, at each start. */
  env?: NodeJS.ProcessEnv;
}

export interface WorldLp {
  id: string;
  owner: TestAccount;
  operator: TestAccount;
  part: Part;
  /** The LP's own tables, once it has started. */
  database: Database;
  adminUrl: string;
}

export interface World {
  devnet: Devnet;
  postgres: TestServer;
  /** SIGKILL of the server, and up again on the same port; of a world with `ownDatabase`. */
  killDatabase(): Promise<void>;
  startDatabase(): Promise<void>;
  /** The venue's tables, read from outside. */
  database: Database;
  store: VenueStore;
  venue(name?: string): Part;
  venues: readonly Part[];
  /** Where this venue process serves takers. */
  venueUrl(name?: string): string;
  lps: readonly WorldLp[];
  attesters: readonly Part[];
  attesterUrls: readonly string[];
  /**
   * Starts every part that does not run, and waits until every LP is active at every venue that serves
   * takers.
   */
  startAll(): Promise<void>;
  /** Resolves when these LPs, or all, are active at this venue. */
  quoting(venue?: string): Promise<void>;
  /** Of the workspace that all clients belong to. */
  apiKey: string;
  /** Of an LP or a guest. */
  solverKey(id: string): string;
  /** A funded taker who records every answer. */
  client(venue?: string): Promise<Client>;
  /** Of all clients, in the order of time. */
  log: ClientEntry[];
  /** Secrets that no log may contain. */
  secrets: readonly string[];
  relayer: TestAccount;
  stop(): Promise<void>;
}

const HOST = '127.0.0.1';
const WORKSPACE = 'w1';

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const {
    chainIds = [31_601],
    venues = { venue: 'all' },
    lps: lpIds = ['alpha'],
    guests = [],
    program,
    depth = 1,
    landingMarginSeconds = 8,
    proofWindowSeconds = 40,
    rotationDelaySeconds = 86_400,
    validitySeconds = 60,
    inventory = 100_000n,
    moreTokens = 0,
    ownDatabase = false,
    configure = (_, config) => config,
    env = {},
  } = options;
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-faults-'));
  const ownServer = ownDatabase ? startOwnServer() : undefined;
  const [devnet, postgres] = await Promise.all([
    startDevnet(chainIds, {
      blockTimeSeconds: 1,
      depth,
      landingMarginSeconds,
      proofWindowSeconds,
      rotationDelaySeconds,
      moreTokens,
    }),
    ownServer ?? startServer(),
  ]);
  const log: ClientEntry[] = [];
  const relayer = account(3_000);
  const seal = randomBytes(32).toString('hex');

  /* Accounts and keys */

  // One deployer funds all accounts: two simultaneous calls would use one nonce twice.
  let funding: Promise<unknown> = Promise.resolve();
  const funded = (work: () => Promise<void>) => {
    const mine = funding.then(work);
    funding = mine.catch(() => {});
    return mine;
  };
  const owners = lpIds.map((id, index) => ({
    id,
    owner: account(3_100 + index),
    operator: account(3_200 + index),
  }));
  await Promise.all(
    devnet.chains.map(async (chain) => {
      await chain.fundAll([
        { address: relayer.address, wholeTokens: 0n },
        ...owners.flatMap(({ owner, operator }) => [
          { address: operator.address, wholeTokens: 0n },
          { address: owner.address, wholeTokens: inventory },
        ]),
      ]);
      await Promise.all(
        owners.flatMap(({ owner, operator }) => [
          ...[chain.usdc, chain.weth].map((token) =>
            chain.deposit(owner.address, token.address, inventory * 10n ** BigInt(token.decimals)),
          ),
          chain.setOperator(owner.address, operator.address),
        ]),
      );
    }),
  );
  const venueDatabase = await postgres.database('venue', { schema: VENUE_SCHEMA, migrations: VENUE_TABLES });
  const database = connectDatabase({
    url: venueDatabase,
    schema: VENUE_SCHEMA,
    maxConnections: 3,
    log: silentLog,
  });
  await migrate(database, VENUE_TABLES);
  const store = createVenueStore(database);
  await store.putWorkspace({
    id: WORKSPACE,
    name: 'One',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const mint = async (kind: 'service' | 'solver', solverId: string | null) => {
    const { text, record } = mintKey(
      { random: systemRandom, clock: systemClock },
      {
        kind,
        mode: 'test',
        workspaceId: kind === 'service' ? WORKSPACE : null,
        role: null,
        memberId: null,
        solverId,
        label: 'faults',
      },
    );
    await store.addKey(record);
    return text;
  };
  const service = await mint('service', null);

  /* Configurations */

  const chainSections = devnet.chains.map(({ chain, anvil }) => ({
    ...chainSection(chain),
    rpcUrls: [anvil.url],
    timeoutMs: 3_000,
    maxClockSkewMs: 600_000,
  }));
  const attesterPorts = await Promise.all(
    (chainIds.length > 1 ? ATTESTERS : []).map(async () => ({
      http: await steadyPort(),
      ops: await steadyPort(),
    })),
  );
  const attesterUrls = attesterPorts.map(({ http }) => `http://${HOST}:${http}`);
  const venuePorts = new Map<string, number>();
  const written = (name: string, config: Config) => async () => {
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify(configure(name, structuredClone(config))));
    return file;
  };

  const own = program === undefined ? {} : { program };
  const venueParts = new Map<string, Part>();
  for (const [name, role] of Object.entries(venues)) {
    const [http, ops] = [await steadyPort(), await steadyPort()];
    if (role !== 'worker') venuePorts.set(name, http);
    const config: Config = {
      app: 'venue',
      venueId: 'faults',
      http: { port: http },
      ops: { port: ops },
      database: { url: venueDatabase, maxConnections: 8 },
      keys: {
        relayer: { env: 'RELAYER', development: true },
        seals: [{ id: 'k1', secret: { env: 'SEAL' } }],
      },
      chains: chainSections,
      attesters: { urls: attesterUrls },
      prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
      solvers: [...lpIds, ...guests].map((id) => ({ id, name: id })),
      rates: {
        quotesPerSecond: 1_000,
        submitsPerSecond: 1_000,
        readsPerSecond: 1_000,
        perIpPerSecond: 10_000,
      },
    };
    venueParts.set(
      name,
      createPart({
        name,
        opsPort: ops,
        words: ['venue', '--role', role],
        config: written(name, config),
        env: { RELAYER: relayer.privateKey, SEAL: seal, ...env },
        ...own,
      }),
    );
  }

  const solverKeys = new Map<string, string>();
  for (const id of [...lpIds, ...guests]) {
    await store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
    solverKeys.set(id, await mint('solver', id));
  }
  const lps = await Promise.all(
    owners.map(async ({ id, owner, operator }): Promise<WorldLp> => {
      const [ops, admin] = [await steadyPort(), await steadyPort()];
      const url = await postgres.database(`lp_${id}`, { schema: LP_SCHEMA, migrations: LP_TABLES });
      const config: Config = {
        app: 'lp',
        ops: { port: ops },
        admin: { port: admin, tokenFile: null },
        database: { url, maxConnections: 6 },
        keys: { operator: { env: 'OPERATOR', development: true } },
        venues: [...venuePorts].map(([name, port]) => ({
          name,
          url: `ws://${HOST}:${port}`,
          apiKey: { env: 'VENUE_KEY' },
          venueId: 'faults',
        })),
        networks: chainSections,
        attesters: { urls: attesterUrls },
        lp: {
          solver: { id, name: id },
          chains: devnet.chains.map(({ chain }) => ({
            chainId: chain.id,
            account: owner.address,
            minGas: '0.01',
            maxHeadAgeMs: 60_000,
            graceSeconds: 2,
          })),
          prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
          assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
          pairs: [{ base: 'WETH', quote: 'USDC' }],
          quoting: {
            validitySeconds,
            maxValiditySeconds: Math.max(60, validitySeconds),
            pointsSeconds: [],
            claimSeconds: 8,
            fillMarginSeconds: 2,
          },
          lease: { aheadSeconds: 4 },
          ...UNLIMITED,
        },
      };
      return {
        id,
        owner,
        operator,
        adminUrl: `http://${HOST}:${admin}`,
        database: connectDatabase({ url, schema: LP_SCHEMA, maxConnections: 2, log: silentLog }),
        part: createPart({
          name: id,
          opsPort: ops,
          words: ['lp'],
          config: written(id, config),
          env: { OPERATOR: operator.privateKey, VENUE_KEY: solverKeys.get(id), ...env },
          ...own,
        }),
      };
    }),
  );

  const attesters = attesterPorts.map(({ http, ops }, index) => {
    const name = `attester-${index + 1}`;
    const config: Config = {
      app: 'attester',
      http: { port: http },
      ops: { port: ops },
      keys: { attester: { env: 'ATTESTER', development: true } },
      chains: chainSections,
    };
    return createPart({
      name,
      opsPort: ops,
      words: ['attester'],
      config: written(name, config),
      env: { ATTESTER: ATTESTERS[index]?.privateKey },
      ...own,
    });
  });

  /* What tests do with it */

  const serving = [...venuePorts.keys()];
  const venueUrl = (name = serving[0] ?? '') => `http://${HOST}:${venuePorts.get(name) ?? 0}`;
  const parts = () => [...venueParts.values(), ...lps.map(({ part }) => part), ...attesters];

  async function quoting(name?: string): Promise<void> {
    const url = venueUrl(name);
    let missing: readonly string[] = lpIds;
    const unready = async () => {
      const parts = lps.filter(({ id }) => missing.includes(id)).map(({ part }) => part);
      return Promise.all(parts.map(async (part) => `${part.name}: ${JSON.stringify(await part.ready())}`));
    };
    let why = '';
    const quotes = async () => {
      const asked = new Set([...lpIds, name ?? serving[0] ?? '']);
      const stopped = parts().find((part) => asked.has(part.name) && !part.running());
      if (stopped) throw new Error(`${stopped.name} is not running:\n${stopped.output().slice(-3_000)}`);
      let unanswered: unknown;
      const answer = await fetch(`${url}/api/v1/solvers?status=active`, {
        headers: { 'x-api-key': service },
      }).catch((error: unknown) => void (unanswered = error));
      const active = answer?.ok
        ? ((await answer.json()) as { solvers: { id: string }[] }).solvers.map(({ id }) => id)
        : [];
      missing = lpIds.filter((id) => !active.includes(id));
      if (missing.length > 0)
        why = `${name} answers ${answer?.status ?? `nothing (${inspect(unanswered)})`}; ${(await unready()).join('; ')}`;
      // Without LPs, too, the venue must answer.
      return (answer?.ok === true && missing.length === 0) || undefined;
    };
    await patiently(quotes, () => `not every LP quotes: ${why}`);
  }

  function mortal(): Promise<OwnServer> {
    if (!ownServer) throw new Error('Other worlds use this database too: startWorld({ ownDatabase: true }).');
    return ownServer;
  }

  let clients = 0;
  const world: World = {
    devnet,
    postgres,
    killDatabase: async () => (await mortal()).kill(),
    startDatabase: async () => (await mortal()).start(),
    database,
    store,
    venue(name = [...venueParts.keys()][0] ?? '') {
      const part = venueParts.get(name);
      if (!part) throw new Error(`There is no venue process "${name}".`);
      return part;
    },
    venues: [...venueParts.values()],
    venueUrl,
    lps,
    attesters,
    attesterUrls,
    async startAll() {
      await Promise.all(
        parts()
          .filter((part) => !part.running())
          .map((part) => part.start()),
      );
      await Promise.all(serving.map((name) => quoting(name)));
    },
    quoting,
    apiKey: service,
    solverKey: (id) => solverKeys.get(id) ?? '',
    async client(name) {
      const wallet = account(3_500 + clients++);
      await funded(async () => {
        await Promise.all(devnet.chains.map((chain) => chain.fund(wallet.address, 100_000n)));
      });
      return createClient({ wallet, venueUrl: venueUrl(name), apiKey: service, chains: devnet.chains, log });
    },
    log,
    secrets: [relayer, ...owners.flatMap(({ owner, operator }) => [owner, operator]), ...ATTESTERS]
      .map(({ privateKey }) => privateKey.slice(2))
      .concat(seal, service, ...solverKeys.values(), new URL(postgres.url).password),
    relayer,
    async stop() {
      await Promise.all(parts().map((part) => part.kill()));
      await Promise.all([database.close(), ...lps.map((lp) => lp.database.close())]);
      await devnet.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
  return world;
}

function chainSection({
  id,
  slug,
  sandbox,
  escrow,
  oracle,
  permit2,
  quoteBond,
  depth,
  blockTimeMs,
  landingMarginSeconds,
  proofWindowSeconds,
  tokens,
}: Chain) {
  return {
    id,
    slug,
    sandbox,
    escrow,
    oracle,
    permit2,
    quoteBond: quoteBond ?? null,
    depth,
    blockTimeMs,
    landingMarginSeconds,
    proofWindowSeconds,
    tokens,
  };
}
