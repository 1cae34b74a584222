/** `firmquote doctor`: looks at everything that a process needs, and changes nothing. */

import type { EvmChain } from '../../adapters/evm/chain/chain.ts';
import { createDeployNode, type DeployNode } from '../../adapters/evm/deploy/node.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Migration } from '../../adapters/postgres/migrate.ts';
import type { Address } from '../../domain/hex.ts';
import { parseUnits } from '../../domain/amount.ts';
import { wantedOf } from '../../lp/market/market.ts';
import type { Log } from '../../ports/log.ts';
import { zAttesterConfig } from '../attester/config.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { printLines, table } from '../terminal/table.ts';
import { loadConfig, readJson } from '../config/load.ts';
import type { FeedSection } from '../config/feeds.ts';
import type { ChainSection, KeySource } from '../config/parts.ts';
import { type DatabaseSection, runningDatabaseUrl } from '../wiring/database.ts';
import { createFeeds } from '../wiring/feeds.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import { type LpAppConfig, zLpAppConfig } from '../lp/config.ts';
import { LP_SCHEMA, LP_TABLES } from '../lp/schema.ts';
import { parseShadowConfig, SHADOW_DATABASE } from '../lp/shadow.ts';
import { createToolChain, feeCapWei, minBaseFeeWei } from '../wiring/networks.ts';
import { toolContext } from '../wiring/process.ts';
import { mayPass } from '../wiring/until-up.ts';
import { type VenueConfig, zVenueConfig } from '../venue/config.ts';
import { wantedPrices } from '../venue/reference.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';
import {
  checkAttesters,
  checkCommittee,
  checkDeposit,
  checkOperator,
  checkShadowInventory,
} from './accounts.ts';
import { checkAlerts } from './alerts.ts';
import { checkBridges } from './bridges.ts';
import { checkContracts, type Expected } from './contracts.ts';
import { checkDatabase, checkRedis } from './database.ts';
import { checkEndpoints } from './endpoints.ts';
import { checkFeeds, type Group, type WantedPrice } from './feeds.ts';
import { checkVenue, checkWebhook } from './reach.ts';
import { attempt, type Finding, ok } from './finding.ts';
import { checkFloats, MOVER_CALL } from './floats.ts';
import { checkGas, checkSenderKey, checkSigner } from './signers.ts';
import { checkLpAccount } from './lp-account.ts';
import { checkTokens } from './tokens.ts';

export interface DoctorOptions {
  venue?: string;
  lp?: string;
  /** With `lp`: for shadow mode. */
  shadow?: boolean;
  attester?: string;
  prometheus?: string;
  json?: boolean;
}

const LOOK_BACK_SECONDS = 86_400;
const FEED_PATIENCE_MS = 15_000;
/** Of a settlement that the relayer sends, unsigned. */
const SETTLE_BYTES = 1_200;
const CHAIN_TODO = 'Repair the endpoints of the chain first';
const START_PAUSES_MS = [500, 1_000, 2_000];
const START_TODO =
  'No process starts on this chain until then: correct its section of the configuration, or its endpoints';

/** What a kind of process needs beyond its chains. */
interface Needs {
  chains: readonly ChainSection[];
  lookBackSeconds: number;
  database?: { section: DatabaseSection; schema: string; tables: readonly Migration[] };
  redis: readonly { url: string; use: string }[];
  feeds: {
    sections: Readonly<Record<string, FeedSection>>;
    wanted: readonly (WantedPrice & { use: 'price' | 'reference' })[];
    groups: readonly Group[];
  };
  contracts(chainId: number): readonly Expected[];
  /** Everything else: keys, accounts, services. */
  more(tools: Tools, chains: readonly EvmChain[]): Promise<Finding[]>;
}

interface Tools {
  log: Log;
  secrets: SecretContext;
}

/** Exit code 1: something fails. */
export async function runDoctor(options: DoctorOptions): Promise<void> {
  const { needs, tools } = await needsOf(options);
  const rows = [...(await examine(needs, tools)), ...(await checkAlerts(options.prometheus))];
  const failures = rows.filter(({ verdict }) => verdict === 'failure').length;
  if (options.json === true) console.log(JSON.stringify({ ok: failures === 0, rows }));
  else printLines(page(rows));
  process.exitCode = failures === 0 ? 0 : 1;
}

async function needsOf({
  venue,
  lp,
  attester,
  shadow = false,
}: DoctorOptions): Promise<{ needs: Needs; tools: Tools }> {
  if ([venue, lp, attester].filter((file) => file !== undefined).length !== 1)
    throw badRequest('Give one configuration: --venue FILE, --lp FILE or --attester FILE.');
  if (shadow && lp === undefined)
    throw badRequest('Only an LP has a shadow mode: give --shadow with --lp FILE.');
  if (venue !== undefined) {
    const { config } = await loadConfig(zVenueConfig, venue, process.env);
    const tools = toolContext('doctor', config);
    return { needs: venueNeeds(config, tools.secrets), tools };
  }
  if (lp !== undefined) {
    const { config } = shadow
      ? parseShadowConfig(await readJson(lp), process.env, lp)
      : await loadConfig(zLpAppConfig, lp, process.env);
    const tools = toolContext('doctor', config);
    return { needs: shadow ? shadowNeeds(config) : lpNeeds(config), tools };
  }
  const { config } = await loadConfig(zAttesterConfig, attester as string, process.env);
  return {
    tools: toolContext('doctor', config),
    needs: {
      chains: config.chains,
      lookBackSeconds: config.lookBackSeconds,
      redis: [],
      feeds: { sections: {}, wanted: [], groups: [] },
      contracts: () => [],
      async more(tools, chains) {
        const { row, address } = await checkSigner('attester', config.keys.attester, tools);
        const seats = await onEach(chains, 'attesters', (chain) =>
          address === undefined ? [] : checkCommittee(chain, address),
        );
        return [row, ...seats];
      },
    },
  };
}

async function examine(needs: Needs, tools: Tools): Promise<Finding[]> {
  const { secrets, log } = tools;
  const nowMs = systemClock.nowMs;
  const chains = needs.chains.map((section) => createToolChain(section, tools));
  try {
    const { lookBackSeconds } = needs;
    const endpoints = await Promise.all(
      needs.chains.map((section) =>
        attempt(
          'endpoint',
          section.slug,
          () => checkEndpoints(section, { secrets, lookBackSeconds, nowMs }),
          CHAIN_TODO,
        ),
      ),
    );
    // The chains stay started: price feeds may read oracles on them.
    const starts = await onEach(
      chains,
      'start',
      async (chain) => {
        await startPatiently(chain);
        return ok(
          'start',
          chain.chain.slug,
          `follows the chain from block ${chain.head()?.number ?? 'unknown'}`,
        );
      },
      START_TODO,
    );
    const contracts = await Promise.all(
      needs.chains.map((section) => onNode(section, tools, needs.contracts(section.id))),
    );
    const { database, redis, feeds } = needs;
    const stores = await Promise.all([
      database === undefined
        ? []
        : attempt(
            'database',
            database.schema,
            async () =>
              checkDatabase(
                await runningDatabaseUrl(database.section, secrets),
                { ...database, maxConnections: database.section.maxConnections },
                { log, nowMs },
              ),
            'Correct database.url or DATABASE_URL',
          ),
      ...redis.map(({ url, use }) =>
        attempt('redis', use, () => checkRedis(expand(url, secrets), use), 'Correct its URL'),
      ),
    ]);
    const prices = await attempt(
      'feed',
      'all',
      () =>
        checkFeeds(
          createFeeds(feeds.sections, feeds.wanted, { secrets, chains }).map(({ feed }) => feed),
          feeds.wanted,
          feeds.groups,
          FEED_PATIENCE_MS,
        ),
      'Correct feeds and prices',
    );
    return [
      ...endpoints.flat(),
      ...starts,
      ...contracts.flat(),
      ...(await needs.more(tools, chains)),
      ...stores.flat(),
      ...prices,
    ];
  } finally {
    await Promise.all(chains.map((chain) => chain.close()));
  }
}

/** As a process does, tries again after an error that may pass; but only so often. */
async function startPatiently(chain: EvmChain): Promise<void> {
  for (const pauseMs of START_PAUSES_MS)
    try {
      return await chain.start();
    } catch (error) {
      if (!mayPass(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  await chain.start();
}

async function withNode<T>(
  section: ChainSection,
  { secrets }: Tools,
  work: (node: DeployNode) => Promise<T>,
): Promise<T> {
  const { timeoutMs, feeModel, rpcUrls } = section;
  const node = createDeployNode(
    rpcUrls.map((url) => expand(url, secrets)),
    { timeoutMs, feeModel, minBaseFee: minBaseFeeWei(section) },
  );
  try {
    return await work(node);
  } finally {
    node.close();
  }
}

const onNode = (section: ChainSection, tools: Tools, more: readonly Expected[]): Promise<Finding[]> =>
  withNode(section, tools, async (node) => [
    ...(await attempt('contract', section.slug, () => checkContracts(section, node, more), CHAIN_TODO)),
    ...(await attempt('token', section.slug, () => checkTokens(section, node.read), CHAIN_TODO)),
  ]);

/** Rows of every chain, with a failure for one that cannot be asked. */
async function onEach(
  chains: readonly EvmChain[],
  check: string,
  look: (chain: EvmChain) => Promise<Finding> | Promise<readonly Finding[]> | readonly Finding[],
  todo = CHAIN_TODO,
): Promise<Finding[]> {
  const rows = await Promise.all(
    chains.map((chain) => attempt(check, chain.chain.slug, async () => look(chain), todo)),
  );
  return rows.flat();
}

const ISSUER_FILLERS = { vault: 'VaultFiller', peg: 'PegFiller', wrap: 'WrapFiller' } as const;

function venueNeeds(config: VenueConfig, secrets: SecretContext): Needs {
  const { database, chains, keys, feeds, prices, attesters, outbound, travelRule, screening, dex, issuers } =
    config;
  const redisUrl = secrets.env['REDIS_URL'] ?? config.queue.redisUrl;
  const relayers: KeySource[] = [keys.relayer].flat();
  const webhooks = [
    { name: 'travel rule', url: travelRule.url },
    { name: 'screening', url: screening.provider.url },
  ];
  return {
    chains,
    lookBackSeconds: LOOK_BACK_SECONDS,
    database: { section: database, schema: VENUE_SCHEMA, tables: VENUE_TABLES },
    redis: redisUrl ? [{ url: redisUrl, use: 'queue' }] : [],
    feeds: { sections: feeds, wanted: wantedPrices(prices), groups: [] },
    contracts: (chainId) => [
      ...chains.flatMap(({ id, batch, escrow }): Expected[] =>
        id === chainId && batch !== null
          ? [{ option: 'batch', address: batch, ours: { name: 'Batch', escrow } }]
          : [],
      ),
      ...dex.flatMap(({ id, kind, places }) =>
        places
          .filter((place) => place.chainId === chainId)
          .flatMap(({ filler, factory }): Expected[] => [
            {
              option: `filler of ${id}`,
              address: filler,
              ours: {
                name: kind === 'concentrated' ? 'ConcentratedFiller' : 'ConstantProductFiller',
                escrow: chains.find((chain) => chain.id === chainId)?.escrow as Address,
                factory,
              },
            },
            { option: `factory of ${id}`, address: factory },
          ]),
      ),
      ...issuers.flatMap(({ id, kind, places }) =>
        places
          .filter((place) => place.chainId === chainId)
          .flatMap(({ filler, products }) =>
            products.flatMap(({ tokens, psm }): Expected[] => [
              {
                option: `filler of ${id}`,
                address: filler,
                ours: {
                  name: ISSUER_FILLERS[kind],
                  escrow: chains.find((chain) => chain.id === chainId)?.escrow as Address,
                  psm,
                },
              },
              ...[...tokens, ...(psm === null ? [] : [psm])].map((address) => ({
                option: `product of ${id}`,
                address,
              })),
            ]),
          ),
      ),
    ],
    async more(tools, opened) {
      const rows: Finding[] = [];
      const feeCap = (chainId: number) => feeCapWei(chains.find(({ id }) => id === chainId));
      for (const [n, source] of relayers.entries()) {
        const name = relayers.length === 1 ? 'relayer' : `relayer ${n}`;
        const { row, address } = await checkSigner(name, source, tools);
        rows.push(row);
        if (address !== undefined)
          rows.push(
            ...(await onEach(opened, 'gas', (chain) => {
              const section = chains.find(({ id }) => id === chain.chain.id);
              return checkGas(chain, name, address, {
                gas: BigInt(section?.settleGas ?? 0),
                bytes: SETTLE_BYTES,
                feeCap: feeCap(chain.chain.id),
                least: undefined,
              });
            })),
          );
      }
      rows.push(...(await checkFloats(config.bridges, { chains: opened, sections: chains, tools, feeCap })));
      rows.push(
        ...(await attempt(
          'attesters',
          'all chains',
          () => checkAttesters(attesters, opened, { log: tools.log, metrics: createMetrics() }),
          CHAIN_TODO,
        )),
      );
      for (const { name, url } of webhooks)
        if (url !== null)
          rows.push(
            ...(await attempt(
              'webhook',
              name,
              () => checkWebhook(name, expand(url, secrets), outbound),
              'Correct it',
            )),
          );
      return rows;
    },
  };
}

function lpNeeds(config: LpAppConfig): Needs {
  const { database, networks, keys, feeds, venues, attesters, replicas, lp } = config;
  const { gasUnits, txBytes } = lp.quoting;
  const oracles = (chainId: number): Expected[] => [
    ...Object.entries(feeds).flatMap(([name, feed]): Expected[] => {
      if (feed.kind === 'chainlink' && feed.chainId === chainId)
        return Object.entries(feed.aggregators).map(([symbol, address]) => ({
          option: `${name} ${symbol}`,
          address,
        }));
      if (feed.kind === 'uniswapV3Twap' && feed.chainId === chainId)
        return Object.entries(feed.pools).map(([symbol, { address }]) => ({
          option: `${name} ${symbol}`,
          address,
        }));
      return [];
    }),
    ...networks.flatMap(({ id, sequencer }): Expected[] =>
      id === chainId && sequencer !== null ? [{ option: 'sequencer', address: sequencer.address }] : [],
    ),
  ];
  return {
    chains: networks,
    lookBackSeconds: LOOK_BACK_SECONDS,
    database: { section: database, schema: LP_SCHEMA, tables: LP_TABLES },
    redis: replicas.redisUrl === null ? [] : [{ url: replicas.redisUrl, use: 'replicas' }],
    feeds: {
      sections: feeds,
      wanted: wantedOf(lp.prices),
      groups: Object.entries(lp.prices).map(([price, options]) =>
        'fixed' in options
          ? { price, sources: options.guards, maxDeviationBps: options.depegBps }
          : { price, sources: options.sources, maxDeviationBps: options.maxDeviationBps },
      ),
    },
    contracts: oracles,
    async more(tools, opened) {
      const { row, address: operator } = await checkSigner('operator', keys.operator, tools);
      const accounts = await onEach(opened, 'deposit', async (chain) => {
        const place = lp.chains.find(({ chainId }) => chainId === chain.chain.id);
        if (place === undefined) return [];
        const { account, minGas } = place;
        const rows: Finding[] = [];
        if (operator !== undefined) {
          rows.push(
            await checkOperator(chain, { account, operator, mayBeOwner: keys.operatorMayBeOwner }),
            await checkGas(chain, 'operator', operator, {
              gas: BigInt(gasUnits.fill),
              bytes: txBytes.fill,
              feeCap: feeCapWei(networks.find(({ id }) => id === chain.chain.id)),
              least: minGas === null ? undefined : parseUnits(minGas, 18),
            }),
          );
        }
        for (const token of chain.chain.tokens)
          if (lp.assets[token.symbol] !== undefined)
            rows.push(await checkDeposit(chain, token, { account, operator }));
        return rows;
      });
      const links = await Promise.all(venues.map(({ name, url }) => checkVenue(name, url)));
      const proofs = await attempt(
        'attesters',
        'all chains',
        () => checkAttesters(attesters, opened, { log: tools.log, metrics: createMetrics() }),
        CHAIN_TODO,
      );
      const bridges = await checkBridges(config.bridges, networks, opened);
      const account = lp.chains[0]?.account as Address;
      const mover =
        keys.mover === null
          ? undefined
          : await checkSenderKey('mover', keys.mover, tools, {
              chains: opened,
              feeCap: (chainId) => feeCapWei(networks.find(({ id }) => id === chainId)),
              of: MOVER_CALL,
            });
      const contract = await checkLpAccount(
        opened.filter(({ chain }) => lp.chains.some(({ chainId }) => chainId === chain.id)),
        {
          ...{ account, operator, mover: mover?.address, transfers: config.transfers.mode !== 'off' },
          ...{ bridges: config.bridges, sections: networks },
          async codeOn(chainId) {
            const section = networks.find(({ id }) => id === chainId) as ChainSection;
            return withNode(section, tools, async (node) => node.code(account, await node.headNumber()));
          },
        },
      );
      return [row, ...accounts, ...(mover?.rows ?? []), ...contract, ...links, ...proofs, ...bridges];
    },
  };
}

/** What an LP needs that prices and signs nothing: no key, gas, deposit or bridge. */
function shadowNeeds(config: LpAppConfig): Needs {
  const { database: section, venues, attesters, lp, shadow } = config;
  const { schema, migrations: tables } = SHADOW_DATABASE;
  return {
    ...lpNeeds(config),
    database: { section, schema, tables },
    async more({ log }, opened) {
      const inventory = await onEach(opened, 'inventory', (chain) => {
        const account = lp.chains.find(({ chainId }) => chainId === chain.chain.id)?.account;
        return account === undefined
          ? []
          : Promise.all(
              chain.chain.tokens
                .filter(({ symbol }) => lp.assets[symbol] !== undefined)
                .map((token) => checkShadowInventory(chain, token, account, shadow.inventory)),
            );
      });
      return [
        ok('operator', 'all chains', 'shadow mode opens no key and signs nothing'),
        ...inventory,
        ...(await Promise.all(venues.map(({ name, url }) => checkVenue(name, url)))),
        ...(await attempt(
          'attesters',
          'all chains',
          () => checkAttesters(attesters, opened, { log, metrics: createMetrics() }),
          CHAIN_TODO,
        )),
      ];
    },
  };
}

function page(rows: readonly Finding[]): string[] {
  const lines = table(
    ['', 'check', 'of', 'found'],
    rows.map(({ verdict, check, subject, found }) => [verdict, check, subject, found]),
  );
  const todos = rows.flatMap(({ verdict, check, subject, todo }) =>
    todo === null ? [] : [`${verdict}: ${check}, ${subject}`, `  ${todo}.`],
  );
  const count = (verdict: Finding['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  return [
    ...lines,
    ...(todos.length > 0 ? ['', 'What to do', ...todos] : []),
    '',
    `${count('ok')} ok, ${count('warning')} warnings, ${count('failure')} failures. Nothing was changed.`,
  ];
}
