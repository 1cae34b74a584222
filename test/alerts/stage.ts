/** The world that the alerts watch: a venue, four LPs and three attesters, and services that can fail. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import pg from 'pg';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData } from 'viem';
import { deployDex } from '../../src/adapters/dex/deploy-dex.ts';
import { deployAggregators } from '../../src/adapters/evm/deploy/deploy.ts';
import type { Address, Bytes32 } from '../../src/domain/hex.ts';
import { setOperatorCall } from '../../src/settlement/call.ts';
import { accountCall, EVERYTHING, moverCall } from '../../src/settlement/lp-account.ts';
import { devAggregatorAbi } from '../../src/adapters/evm/deploy/abi/dev-aggregator.ts';
import { account, DEPLOYER, type TestChain } from '../support/devnet.ts';
import { startCctp, type TestCctp } from '../support/cctp.ts';
import { MOVER } from '../support/lp-account.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type ScriptedSolver, startSolver } from '../support/solver.ts';
import { UNLIMITED } from '../support/unlimited.ts';
import { playExchange, type PlayedExchange } from '../faults/support/exchanges.ts';
import { type RpcProxy, startRpcProxy } from '../faults/support/rpc-proxy.ts';
import { type Config, startWorld, type World, type WorldLp } from '../faults/support/world.ts';
import { startTcpProxy, type TcpProxy } from '../faults/support/tcp-proxy.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import { startPrometheus, type Prometheus, type Target } from './prometheus.ts';

/**
 * alpha trades, as a replica with Redis; priced has real feeds; booked sees the chains through nodes that
 * can lie; idle is paused for as long as the test runs, and may move its money over CCTP.
 */
const LPS = ['alpha', 'priced', 'booked', 'idle'] as const;
export type LpId = (typeof LPS)[number];
export const LIAR = 'liar';
/** Of the bridge venue. */
const FILLER = account(8_403);
export const FLOAT_MOVER = account(8_404);
const SALT: Bytes32 = `0x${'f1'.repeat(32)}`;
const ETH = 2_500;
/** As the world made it. */
const WORKSPACE = {
  id: 'w1',
  name: 'One',
  platformFeeBps: 2,
  eligibleSolvers: null,
  limits: { openQuotes: null, openNotionalUsd: null },
};

export interface Stage {
  world: World;
  prometheus: Prometheus;
  home: TestChain;
  away: TestChain;
  targets: readonly Target[];
  lp(id: LpId): WorldLp;
  admin<T>(id: LpId, method: 'GET' | 'POST', path: string, body?: object): Promise<T>;
  /** Changes the configuration file of a part for good. */
  edit(part: string, change: (config: Config) => void): Promise<void>;
  exchanges: readonly PlayedExchange[];
  /** A price service over HTTP, by symbol. */
  web: Web;
  /** What the worker sends through. */
  relay: RpcProxy;
  /** What two of three attesters see `away` through. */
  blinkers: readonly RpcProxy[];
  /** Three endpoints of `home` and one of `away`, of the LP booked. */
  nodes: readonly [RpcProxy, RpcProxy, RpcProxy];
  farNode: RpcProxy;
  /** With the account of idle. */
  cctp: TestCctp;
  /** With the account of the worker's bridge venue. */
  float: TestCctp;
  sequencer(up: boolean): Promise<void>;
  /** What the LP idle reaches its database through. */
  idleDatabase: TcpProxy;
  /** Locks the table that each process reads every few seconds, until `release`. */
  lockTable(schema: string, database: string): Promise<{ release(): Promise<void> }>;
  /** Redis of the venue's queue. */
  queueServer: { kill(): Promise<void>; start(): Promise<void> };
  /** Registers an endpoint of the workspace at the receiver. */
  receiver: Receiver;
  addWebhook(path: string): Promise<void>;
  /** A solver that signs with a key that nobody allowed. */
  liar(): Promise<ScriptedSolver>;
  screening: Service;
  travelRule: Service;
  denyList: string;
  killFile: string;
  plugin: string;
  stop(): Promise<void>;
}

/** An HTTP server of somebody else; `fail` decides whether it answers 500. */
interface Service {
  url: string;
  fail: boolean;
  stop(): Promise<void>;
}
interface Web extends Service {
  prices: Map<string, number>;
}

async function startService(answer: (path: string, response: ServerResponse) => void): Promise<Service> {
  const server = createServer((request, response) => {
    request.resume();
    if (service.fail) response.writeHead(500).end();
    else answer(request.url ?? '', response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const service: Service = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail: false,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return service;
}

async function startWeb(): Promise<Web> {
  const prices = new Map([
    ['USDC', 1],
    ...['ETH-1', 'ETH-2', 'ETH-3'].map((each): [string, number] => [each, ETH]),
  ]);
  const service = await startService((path, response) => {
    const price = prices.get(path.slice(1))?.toFixed(4);
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ bid: price, ask: price }));
  });
  return Object.assign(service, { prices });
}

export async function startStage(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-alerts-'));
  const [denyList, killFile, plugin] = ['deny.json', 'kill', 'pricer.mjs'].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  await writeFile(denyList, '[]');
  const redis: TestRedis = await startRedis();
  let queueRedis: TestRedis = await startRedis();
  const receiver = await startReceiver();
  const exchanges = await Promise.all(
    (['binance', 'coinbase', 'kraken'] as const).map((kind) => playExchange(kind, ETH)),
  );
  const web = await startWeb();
  const screening = await startService((_, response) => response.end('{"identifications":[]}'));
  const travelRule = await startService((_, response) => response.end('{}'));
  let proxies: RpcProxy[] = [];
  let uptime: Address = '0x';
  const edits = new Map<string, ((config: Config) => void)[]>();

  const world = await startWorld({
    chainIds: [31_671, 31_672],
    // The third is for its metrics alone, and starts last.
    venues: { api: 'api', worker: 'worker', whole: 'all' },
    lps: LPS,
    guests: [LIAR],
    env: { MOVER: MOVER.privateKey, FILLER: FILLER.privateKey, FLOAT_MOVER: FLOAT_MOVER.privateKey },
    depth: 2,
    validitySeconds: 20,
    proofWindowSeconds: 40,
    inventory: 1_000n,
    configure(part, config) {
      adapt(part, config);
      for (const change of edits.get(part) ?? []) change(config);
      return config;
    },
  });
  const [home, away] = world.devnet.chains as [TestChain, TestChain];

  /* Two nodes of the attesters, three and one of booked, and the worker's. */
  proxies = await Promise.all(
    [away, away, home, home, home, away, home].map(({ anvil }) => startRpcProxy(anvil.url)),
  );
  const [blinker1, blinker2, node1, node2, node3, farNode, relay] = proxies as [
    RpcProxy,
    RpcProxy,
    RpcProxy,
    RpcProxy,
    RpcProxy,
    RpcProxy,
    RpcProxy,
  ];
  [uptime] = (await deployAggregators({
    rpcUrl: away.anvil.url,
    chainId: away.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
    aggregators: [{ description: 'L2 sequencer uptime', decimals: 0, answer: 0n }],
  })) as [Address];

  const sides = [
    { chain: home, domain: 6 },
    { chain: away, domain: 26, isFinalAtOnce: true },
  ];
  const cctp = await startCctp(sides);
  const float = await startCctp(sides, SALT);
  const idle = world.lps.find(({ id }) => id === 'idle') as WorldLp;
  for (const chain of [home, away]) {
    await chain.send(cctp.owner.address, cctp.account, setOperatorCall(idle.operator.address, true));
    await chain.fund(cctp.account, 1_000n);
    for (const { address } of [chain.usdc, chain.weth])
      await chain.send(cctp.mover.address, cctp.account, moverCall.deposit(address, EVERYTHING));
  }

  for (const chain of [home, away]) {
    const { owner, account: holder } = float;
    for (const { address } of [FILLER, FLOAT_MOVER]) await chain.fund(address, 0n);
    await chain.send(owner.address, holder, setOperatorCall(FILLER.address, true));
    await chain.send(owner.address, holder, accountCall.setMover(FLOAT_MOVER.address));
    await chain.fund(holder, 1_000n);
    await chain.send(FLOAT_MOVER.address, holder, moverCall.deposit(chain.usdc.address, EVERYTHING));
  }

  const { constantProduct: pools } = await deployDex({
    rpcUrl: home.anvil.url,
    chainId: home.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
    escrow: home.chain.escrow,
    pools: [
      {
        tokens: [home.usdc.address, home.weth.address],
        fee: null,
        amounts: [2_500_000_000_000n, 10n ** 21n],
      },
    ],
  });

  function adapt(part: string, config: Config): void {
    const sections = (config['networks'] ?? config['chains']) as Record<string, unknown>[];
    for (const section of sections) section['maxClockSkewMs'] = 60_000;
    const [near, far] = sections as [Record<string, unknown>, Record<string, unknown>];
    if (part === 'attester-1' || part === 'attester-2') {
      far['rpcUrls'] = [(part === 'attester-1' ? blinker1 : blinker2).url];
      far['timeoutMs'] = 1_000;
    }
    if (part.startsWith('attester')) return void (config['staleMs'] = 4_000);
    if (part === 'worker') {
      near['rpcUrls'] = [relay.url];
      carriedBy(float, near, far);
      config['bridges'] = [bridgeVenue()];
    }
    if (['api', 'worker'].includes(part)) config['queue'] = { redisUrl: queueRedis.url };
    if (part === 'whole') config['dex'] = [exchangeOf(pools)];
    if (['api', 'worker', 'whole'].includes(part)) return forVenue(config);
    forLp(part as LpId, config, near, far);
  }

  function carriedBy({ deployments }: TestCctp, ...sections: Record<string, unknown>[]): void {
    for (const [at, section] of sections.entries()) {
      const { domain, token, messenger, transmitter } = deployments[at] as TestCctp['deployments'][number];
      section['cctpDomain'] = domain;
      section['cctp'] = { token, messenger, transmitter, fastSeconds: null, standardSeconds: 4 };
    }
  }

  const bridgeVenue = () => ({
    id: 'float',
    name: 'Float',
    account: float.account,
    operator: { env: 'FILLER', development: true },
    assets: [
      {
        on: [
          { chainId: home.chain.id, token: home.usdc.address, low: '500', lot: '300' },
          { chainId: away.chain.id, token: away.usdc.address, lot: '300' },
        ],
      },
    ],
    refill: { by: { cctp: { attestationUrl: float.circle.url, allowPrivate: true, fast: false } } },
    moves: {
      mover: { env: 'FLOAT_MOVER', development: true },
      mostPerDay: '100000',
      everyMs: 2_000,
      patienceSeconds: 1,
    },
  });

  const exchangeOf = ({ factory, filler }: { factory: Address; filler: Address }) => ({
    id: 'pools',
    name: 'Pools',
    kind: 'constant_product',
    places: [
      {
        chainId: home.chain.id,
        factory,
        filler,
        pools: [{ tokens: [home.usdc.address, home.weth.address] }],
      },
    ],
  });

  function forVenue(config: Config): void {
    Object.assign(config, {
      keys: { ...(config['keys'] as object), webhooks: [{ id: 'k1', secret: { env: 'SEAL' } }] },
      screening: {
        denyListFile: denyList,
        provider: { url: `${screening.url}/{address}`, cacheTtlMs: 0, attempts: 1, onFailure: 'open' },
      },
      // One delivery at a time, to a receiver that may take long.
      webhooks: { allowPrivate: true, allowHttp: true, timeoutMs: 8_000, deliveriesAtOnce: 1 },
      outbound: { allowPrivate: true, allowHosts: ['127.0.0.1'] },
      travelRule: { url: travelRule.url, maxAttempts: 2, firstRetryMs: 100, longestRetryMs: 200 },
      // Its pauses in less time, as the rules.
      breaker: { firstCoolDownMs: 100, longestCoolDownMs: 7_500 },
      rates: {
        ...(config['rates'] as object),
        openQuotes: 1_000_000,
        openNotionalUsd: 1e12,
        leastSubmittedShare: 0,
      },
    });
  }

  function forLp(
    id: LpId,
    config: Config,
    near: Record<string, unknown>,
    far: Record<string, unknown>,
  ): void {
    const lp = config['lp'] as Record<string, unknown>;
    Object.assign(lp, {
      pairs: [
        { base: 'WETH', quote: 'USDC', params: { maxSize: 1e9, halfBand: 1e9 } },
        { base: 'USDC', quote: 'USDC' },
      ],
      receivables: { overdueFactor: 1, leastSeconds: 8 },
      reconcileSeconds: 1,
      risk: { ...UNLIMITED.risk, venueShare: 1 },
    });
    if (id === 'alpha')
      config['replicas'] = { redisUrl: redis.url, name: 'a', timeoutMs: 2_000, leadSeconds: 3 };
    if (id === 'booked') {
      near['rpcUrls'] = [node1, node2, node3].map(({ url }) => url);
      near['quorum'] = { aboveUsd: 0, agree: 2 };
      near['endpoints'] = { readmitAfterSeconds: 1 };
      far['rpcUrls'] = [farNode.url];
    }
    if (id === 'idle') {
      lp['chains'] = (lp['chains'] as object[]).map((chain) => ({ ...chain, account: cctp.account }));
      carriedBy(cctp, near, far);
      Object.assign(config, {
        keys: { ...(config['keys'] as object), mover: { env: 'MOVER', development: true } },
        bridges: { cctp: { attestationUrl: cctp.circle.url, allowPrivate: true } },
        transfers: { mode: 'by_hand', everyMs: 500, patienceSeconds: 1 },
      });
      config['database'] = { url: throughProxy(config['database'] as { url: string }), maxConnections: 4 };
    }
    if (id !== 'priced') return;
    far['sequencer'] = { address: uptime, graceSeconds: 0 };
    config['feeds'] = {
      ...Object.fromEntries(exchanges.map(({ kind, url }) => [kind, { kind, url }])),
      web: { kind: 'http', url: `${web.url}/{symbol}`, bid: 'bid', ask: 'ask', everyMs: 100 },
    };
    const pairs = lp['pairs'] as Record<string, unknown>[];
    (pairs[0] as Record<string, unknown>)['params'] = { maxSpreadBps: 1_000 };
    Object.assign(lp, {
      prices: {
        USD: { fixed: '1', guards: [{ feed: 'web', symbol: 'USDC' }] },
        ETH: {
          sources: exchanges.map(({ kind, symbol }) => ({ feed: kind, symbol })),
          references: ['ETH-1', 'ETH-2', 'ETH-3'].map((symbol) => ({ feed: 'web', symbol })),
        },
      },
      risk: {
        ...UNLIMITED.risk,
        killFile,
        drawdown: { hourBps: 50, dayBps: 50, killTimes: 100 },
        fatFinger: { mostBps: 300 },
      },
    });
  }

  const idleCable = await startTcpProxy(world.postgres.url);
  function throughProxy({ url }: { url: string }): string {
    const through = new URL(url);
    through.port = String(idleCable.port);
    return through.href;
  }
  const webhookKey = mintKey(
    { random: systemRandom, clock: systemClock },
    {
      ...{ kind: 'workspace', mode: 'test', workspaceId: WORKSPACE.id, role: 'admin' },
      ...{ memberId: null, solverId: null, label: 'alerts' },
    },
  );
  await world.store.addKey(webhookKey.record);

  // Before a venue keeps it in memory.
  await world.store.putWorkspace({ ...WORKSPACE, travelRuleThresholdUsd: 50 });
  const liar = { lp: account(3_980), operator: account(3_981) };
  await home.fund(liar.lp.address, 1_000n);
  await home.deposit(liar.lp.address, home.weth.address, 10n ** 21n);
  await home.setOperator(liar.lp.address, liar.operator.address);

  const started = [
    world.venue('api'),
    world.venue('worker'),
    ...world.lps.map(({ part }) => part),
    ...world.attesters,
  ];
  await Promise.all(started.map((part) => part.start()))
    .then(() => world.quoting('api'))
    .catch(async (error: unknown) => {
      await world.stop();
      throw error;
    });
  const targets: Target[] = [
    ...['api', 'worker']
      .map((name) => world.venue(name))
      .map(({ name, opsUrl }) => ({ job: 'venue', instance: name, opsUrl })),
    ...world.lps.map(({ id, part }) => ({ job: 'lp', instance: id, opsUrl: part.opsUrl })),
    ...world.attesters.map(({ name, opsUrl }) => ({ job: 'attester', instance: name, opsUrl })),
  ];
  const prometheus = await startPrometheus(targets);
  const lpOf = (id: LpId) => world.lps.find((each) => each.id === id) as WorldLp;

  return {
    world,
    prometheus,
    home,
    away,
    targets,
    lp: lpOf,
    async admin(id, method, path, body) {
      const answer = await fetch(`${lpOf(id).adminUrl}${path}`, {
        method,
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as never;
    },
    async edit(name, change) {
      edits.set(name, [...(edits.get(name) ?? []), change]);
      await world.lps.find(({ id }) => id === name)?.part.configure();
    },
    exchanges,
    web,
    relay,
    blinkers: [blinker1, blinker2],
    nodes: [node1, node2, node3],
    farNode,
    cctp,
    float,
    async sequencer(up) {
      await away.send(
        lpOf('idle').owner.address,
        uptime,
        encodeFunctionData({ abi: devAggregatorAbi, functionName: 'push', args: [up ? 0n : 1n] }),
      );
    },
    idleDatabase: idleCable,
    async lockTable(schema, database) {
      const client = new pg.Client({ connectionString: await world.postgres.database(database) });
      await client.connect();
      await client.query(`begin; lock table ${schema}.migration in access exclusive mode`);
      return { release: () => client.end() };
    },
    queueServer: {
      kill: () => queueRedis.kill(),
      async start() {
        queueRedis = await startRedis({ port: queueRedis.port });
      },
    },
    receiver,
    async addWebhook(path) {
      const answer = await fetch(`${world.venueUrl('api')}/api/v1/workspaces/${WORKSPACE.id}/webhooks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': webhookKey.text },
        body: JSON.stringify({ url: receiver.url(path) }),
      });
      if (answer.status >= 300) throw new Error(`No webhook: ${await answer.text()}`);
    },
    liar: () =>
      startSolver(world.venueUrl('api'), {
        id: LIAR,
        apiKey: world.solverKey(LIAR),
        lp: liar.lp.address,
        operator: liar.operator,
        chains: [home.chain],
        corridors: ['chain1-chain1'],
        answer: (rfq, make) =>
          make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }, { signer: account(3_982) }),
      }),
    screening,
    travelRule,
    denyList,
    killFile,
    plugin,
    async stop() {
      await prometheus.stop();
      await world.stop();
      await cctp.stop();
      await float.stop();
      await Promise.all([
        ...proxies.map((proxy) => proxy.stop()),
        ...exchanges.map((exchange) => exchange.stop()),
        ...[web, screening, travelRule].map((service) => service.stop()),
        redis.stop(),
        queueRedis.stop(),
        receiver.stop(),
        idleCable.stop(),
      ]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
