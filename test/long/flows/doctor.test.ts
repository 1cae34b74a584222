/**
 * `firmquote doctor` on real chains, databases, Redis, attesters, feeds and Prometheus. At first all is well.
 * Then each thing that it looks at is broken, and its row says so and what to do.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { deployIssuers } from '../../../src/adapters/evm/deploy/deploy-issuers.ts';
import { attestationRoutes } from '../../../src/adapters/attestations/routes.ts';
import { startOps } from '../../../src/adapters/http/ops.ts';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { migrate } from '../../../src/adapters/postgres/migrate.ts';
import { connectDatabase } from '../../../src/adapters/postgres/pool.ts';
import { spawnWatched, type WatchedChild } from '../../../src/adapters/process/parent-watchdog.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { extensionOf } from '../../../src/apps/deploy/contracts.ts';
import type { Finding, FindingVerdict } from '../../../src/apps/doctor/finding.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../../../src/apps/venue/schema.ts';
import { createAttester } from '../../../src/attester/attester.ts';
import type { Address, Hex } from '../../../src/domain/hex.ts';
import { limitOperatorCall } from '../../../src/settlement/call.ts';
import { type RpcProxy, startRpcProxy } from '../../faults/support/rpc-proxy.ts';
import { commandHere } from '../../support/command.ts';
import {
  account,
  ATTESTERS,
  DEPLOYER,
  type Devnet,
  startDevnet,
  type TestChain,
} from '../../support/devnet.ts';
import { startPgBouncer } from '../../support/pgbouncer.ts';
import { startOwnPostgres, type TestPostgres } from '../../support/postgres.ts';
import { playProvider } from '../../support/providers.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { startTestVenue, type TestVenue } from '../../support/venue.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PASSWORD = 'a password for tests';
const [RELAYER, LP, OPERATOR, STRANGER] = [account(61), account(62), account(63), account(64)];
const NOWHERE = '0x000000000000000000000000000000000000dead';

type Config = { [key: string]: unknown };

let folder: string;
let devnet: Devnet;
let c: TestChain;
let postgres: TestPostgres;
let redis: TestRedis;
let prometheus: Prometheus;
let venue: TestVenue;
let nodes: RpcProxy[];
let prices: { url: string; mid: Record<string, number>; server: Server };
let attesters: { urls: string[]; stop(): Promise<void> };
/** What ends with the test. */
const after: (() => unknown)[] = [];

beforeAll(async () => {
  [folder, devnet, postgres, redis, prices, prometheus] = await Promise.all([
    mkdtemp(join(tmpdir(), 'fq-doctor-')),
    startDevnet([31_671], { blockTimeSeconds: 1 }),
    startOwnPostgres({}),
    startRedis(),
    startPrices(),
    startPrometheus(['rules.yml']),
  ]);
  c = devnet.chains[0] as TestChain;
  nodes = await Promise.all([0, 1, 2].map(() => startRpcProxy(c.anvil.url)));
  const keys = {
    relayer: RELAYER,
    operator: OPERATOR,
    owner: LP,
    attester: ATTESTERS[0],
    stranger: STRANGER,
  };
  for (const [name, key] of Object.entries(keys))
    await writeSecretFile(join(folder, `${name}.json`), await encryptKey(key, PASSWORD, { n: 1 << 10 }));
  await writeSecretFile(join(folder, 'password'), PASSWORD);
  await writeSecretFile(join(folder, 'wrong'), 'another password');
  await writeSecretFile(join(folder, 'secret'), 'ab'.repeat(32));
  await c.fundAll([RELAYER, LP, OPERATOR].map(({ address }) => ({ address, wholeTokens: 1_000_000n })));
  await Promise.all([
    c.setOperator(LP.address, OPERATOR.address),
    ...[c.usdc, c.weth].map(({ address }) => c.deposit(LP.address, address, 1_000_000n)),
  ]);
  attesters = await startAttesters(2);
  venue = await startTestVenue({ postgres });
}, 180_000);
afterEach(async () => {
  for (const undo of after.splice(0).toReversed()) await undo();
});
afterAll(async () => {
  await attesters?.stop();
  await venue?.stop();
  prices?.server.close();
  await Promise.all((nodes ?? []).map((node) => node.stop()));
  await Promise.all([prometheus?.stop(), redis?.stop(), devnet?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const key = (name: string, password = 'password') => ({
  keystore: join(folder, `${name}.json`),
  passwordFile: join(folder, password),
});

const chainSection = (rpcUrls = nodes.map(({ url }) => url)) => {
  const { id, slug, escrow, oracle, permit2, quoteBond, depth, tokens } = c.chain;
  return {
    id,
    slug,
    sandbox: true,
    escrow,
    oracle,
    permit2,
    quoteBond,
    depth,
    tokens,
    blockTimeMs: 1_000,
    rpcUrls,
  };
};

/** A price feed as `config/lp.example.json` has it: `name` is the path below which it answers. */
const feed = (name: string) => ({
  kind: 'http',
  url: `${prices.url}/${name}/{symbol}`,
  bid: 'bid',
  ask: 'ask',
  everyMs: 200,
});

async function venueConfig(): Promise<Config> {
  return {
    app: 'venue',
    venueId: 'test',
    database: { url: await postgres.server.database('doctor_venue') },
    queue: { redisUrl: redis.url },
    keys: { relayer: key('relayer'), seals: [{ id: 'k1', secret: { file: join(folder, 'secret') } }] },
    chains: [{ ...chainSection(), batch: c.deployment.batch }],
    attesters: { urls: attesters.urls },
    feeds: { one: feed('one') },
    prices: { USD: { fixed: '1' }, ETH: { feed: 'one', symbol: 'ETH' } },
  };
}

async function lpConfig(): Promise<Config> {
  const example = JSON.parse(await readFile(join(ROOT, 'config', 'lp.example.json'), 'utf8')) as Config & {
    lp: Config & { assets: { WETH: Config }; pairs: Config[]; prices: { ETH: Config } };
  };
  const sources = ['one', 'two'].map((name) => ({ feed: name, symbol: 'ETH', weight: 1 }));
  return {
    ...example,
    database: { url: await postgres.server.database('doctor_lp') },
    keys: { operator: key('operator') },
    venues: [{ name: 'v', url: venue.url.replace('http', 'ws'), apiKey: { file: join(folder, 'secret') } }],
    networks: [chainSection()],
    attesters: { urls: attesters.urls },
    feeds: { one: feed('one'), two: feed('two') },
    // Those of the example join chains that are not here.
    bridges: { cctp: null, oft: [] },
    lp: {
      ...example.lp,
      chains: [{ chainId: c.chain.id, account: LP.address, minGas: '0.1' }],
      prices: {
        USDC: { fixed: '1' },
        ETH: { ...example.lp.prices.ETH, sources, references: [], minSources: 1 },
      },
      assets: { ...example.lp.assets, WETH: { ...example.lp.assets.WETH, chains: {} } },
      pairs: [{ ...example.lp.pairs[0], corridors: null, corridorParams: {} }],
    },
  };
}

const attesterConfig = (): Config => ({
  app: 'attester',
  keys: { attester: key('attester') },
  lookBackSeconds: 60,
  chains: [chainSection()],
});

interface Report {
  status: number | null;
  rows: Finding[];
  /** The row of a check that is not ok, else its first row. */
  of(check: string, subject: string): Finding | undefined;
}

const configFile = (app: string): string => join(folder, `config-${app}.json`);

async function doctor(app: 'venue' | 'lp' | 'attester', config: Config, ...words: string[]): Promise<Report> {
  const file = configFile(app);
  await writeFile(file, JSON.stringify(config));
  const { status, stdout, stderr } = await commandHere('doctor', `--${app}`, file, '--json', ...words);
  expect(stderr).toBe('');
  const { rows } = JSON.parse(stdout) as { rows: Finding[] };
  const of = (check: string, subject: string) => {
    const found = rows.filter((row) => row.check === check && row.subject === subject);
    return found.find(({ verdict }) => verdict !== 'ok') ?? found[0];
  };
  return { status, rows, of };
}

type Expected = readonly [check: string, subject: string, verdict: FindingVerdict, found: RegExp];

function expectRows(report: Report, expected: readonly Expected[]): void {
  for (const [check, subject, verdict, found] of expected) {
    const row = report.of(check, subject);
    expect([check, subject, row?.verdict, row?.found]).toEqual([
      check,
      subject,
      verdict,
      expect.stringMatching(found),
    ]);
    expect(row?.todo).toMatch(/\S/);
  }
}

describe('all is well', () => {
  test.each([
    ['venue', venueConfig],
    ['lp', lpConfig],
    ['attester', attesterConfig],
  ] as const)('for a %s, and nothing is changed', async (app, config) => {
    const state = async () => ({
      nonces: await Promise.all(
        [RELAYER, LP, OPERATOR].map(({ address }) => c.port.transactionCount(address, 'pending')),
      ),
      tables: await tablesOf('doctor_venue', 'doctor_lp'),
    });
    const before = await state();
    const { status, rows } = await doctor(app, await config(), '--prometheus', prometheus.url);
    expect(rows.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
    expect(status).toBe(0);
    expect(rows.length).toBeGreaterThan(12);
    expect(await state()).toEqual(before);
    const page = await commandHere('doctor', `--${app}`, configFile(app));
    expect(page.stdout).toMatch(/\d+ ok, 1 warnings, 0 failures\. Nothing was changed\.\n$/);
    for (const { url } of nodes) expect(page.stdout).not.toContain(new URL(url).host);
  });

  test('one configuration is demanded', async () => {
    expect(await commandHere('doctor')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('--venue'),
    });
  });
});

describe('endpoints', () => {
  test('of another chain, behind, or with narrow limits', async () => {
    const [wrong, late, narrow] = nodes as [RpcProxy, RpcProxy, RpcProxy];
    await c.anvil.mine(30);
    wrong.fault('eth_chainId', { do: 'lie', answer: () => '0x1' });
    late.fault('*', { do: 'stale', at: BigInt(await c.anvil.rpc<Hex>('eth_blockNumber')) - 20n });
    after.push(() => nodes.forEach((node) => node.heal()));
    const limited = await startRpcProxy(c.anvil.url);
    limited.play(playProvider('quicknode', { perSecond: 1e6 }));
    const small = await startRpcProxy(c.anvil.url);
    small.play(playProvider('drpc', { perSecond: 1e6 }));
    after.push(() => Promise.all([limited.stop(), small.stop()]));
    const chains = [chainSection([wrong, late, narrow, limited, small].map(({ url }) => url))];
    const report = await doctor('attester', { ...attesterConfig(), chains });
    expectRows(report, [
      ['start', 'chain1', 'failure', /is on chain 1\b/],
      ['endpoint', 'chain1 #0', 'failure', /is of chain 1, not 31671/],
      ['endpoint', 'chain1 #1', 'warning', /blocks behind another one/],
      ['log range', 'chain1 #3', 'warning', /logs of \d blocks/],
      ['batch', 'chain1 #4', 'warning', /takes 3 calls/],
    ]);
    expect(report.of('endpoint', 'chain1 #2')?.verdict).toBe('ok');
    expect(report.status).toBe(1);
  });

  test('that do not answer, have no history, contradict each other, or have another time', async () => {
    const [dead, pruned, lying] = nodes as [RpcProxy, RpcProxy, RpcProxy];
    await dead.down();
    pruned.fault('eth_getBalance', { do: 'reject', code: -32_000, message: 'missing trie node 12 (path )' });
    const forged = `0x${'ab'.repeat(32)}`;
    const isNumbered = ([tag]: readonly unknown[]) => tag !== 'latest';
    lying.fault(
      'eth_getBlockByNumber',
      { do: 'lie', answer: (block) => ({ ...(block as object), hash: forged }) },
      isNumbered,
    );
    const dated = await startDated(c.anvil.url, Date.now() - 3_600_000);
    after.push(
      dated.stop,
      () => dead.up(),
      () => nodes.forEach((node) => node.heal()),
    );
    const chains = [chainSection([...nodes.map(({ url }) => url), dated.url])];
    expectRows(await doctor('attester', { ...attesterConfig(), chains }), [
      ['endpoint', 'chain1 #0', 'failure', /No answer/],
      ['history', 'chain1 #1', 'failure', /missing trie node/],
      ['agreement', 'chain1', 'failure', /different blocks/],
      ['clock', 'chain1 #3', 'warning', /ahead of the endpoint/],
    ]);
  });

  test('whose blocks are of another time than ours', async () => {
    const dated = (seconds: number) =>
      nodes.forEach((node) =>
        node.fault('eth_getBlockByNumber', {
          do: 'lie',
          answer: (block) => {
            const { timestamp } = block as { timestamp: Hex };
            return { ...(block as object), timestamp: `0x${(Number(timestamp) + seconds).toString(16)}` };
          },
        }),
      );
    after.push(() => nodes.forEach((node) => node.heal()));
    dated(3_600);
    expectRows(await doctor('attester', attesterConfig()), [
      ['clock', 'chain1', 'failure', /after our clock/],
    ]);
    nodes.forEach((node) => node.heal());
    dated(-3_600);
    expectRows(await doctor('attester', attesterConfig()), [['clock', 'chain1', 'failure', /s old/]]);
  });

  test('that answer, on a chain on which a process does not start', async () => {
    const chains = [{ ...chainSection(), feeModel: 'opStack' }];
    const report = await doctor('attester', { ...attesterConfig(), chains });
    expectRows(report, [['start', 'chain1', 'failure', /has no GasPriceOracle .* Correct feeModel/]]);
    expect([report.status, report.of('endpoint', 'chain1 #0')?.verdict]).toEqual([1, 'ok']);
  });

  test('that refuse for a while: as a process does, the doctor tries again', async () => {
    const [node] = nodes as [RpcProxy];
    const refused = () => node.faulted('eth_call') - before;
    const before = node.faulted('eth_call');
    const busy = { do: 'reject', code: -32_005, message: 'request rate limited' } as const;
    node.fault('eth_call', busy, () => refused() < 6);
    after.push(() => node.heal());
    const report = await doctor('attester', { ...attesterConfig(), chains: [chainSection([node.url])] });
    expect(refused()).toBe(6);
    expect(report.of('start', 'chain1')).toMatchObject({ verdict: 'ok' });
  });

  test('of which there is only one', async () => {
    const chains = [{ ...chainSection(nodes.slice(0, 1).map(({ url }) => url)), sandbox: false }];
    expectRows(await doctor('attester', { ...attesterConfig(), chains }), [
      ['endpoint', 'chain1', 'warning', /the only one/],
    ]);
  });
});

test('contracts that are missing, of another version or for another escrow; tokens that are not what they should be', async () => {
  const [usdc, weth] = c.chain.tokens.slice(0, 2);
  const chain = {
    ...chainSection(),
    escrow: NOWHERE,
    oracle: weth?.address,
    batch: c.deployment.batch,
    tokens: [
      { ...usdc, decimals: 8, eip3009: null },
      { ...weth, symbol: 'ETHER' },
    ],
  };
  const report = await doctor('venue', { ...(await venueConfig()), chains: [chain] });
  expectRows(report, [
    ['contract', 'chain1 escrow', 'failure', /no code/],
    ['contract', 'chain1 oracle', 'failure', /not that of AttestationOracle/],
    ['contract', 'chain1 batch', 'failure', /its ESCROW is 0x/],
    ['contract', 'chain1 quoteBond', 'failure', /its ESCROW is 0x/],
    ['token', 'chain1 USDC', 'failure', /has 6 decimals, and the configuration says 8/],
    ['token', 'chain1 ETHER', 'warning', /calls itself "WETH"/],
  ]);
  const named = { ...chainSection(), tokens: [{ ...usdc, eip3009: { name: 'USDC', version: '2' } }, weth] };
  expectRows(await doctor('attester', { ...attesterConfig(), chains: [named] }), [
    ['token', 'chain1 USDC', 'warning', /EIP-712 domain/],
  ]);
});

test('an escrow that runs the code of another contract than the one it made', async () => {
  const codeAt = (address: Address) => c.anvil.rpc<Hex>('eth_getCode', [address, 'latest']);
  const copy: Address = `0x${'c0'.repeat(20)}`;
  await c.anvil.rpc('anvil_setCode', [copy, await codeAt(c.chain.escrow)]);
  const report = await doctor('venue', {
    ...(await venueConfig()),
    chains: [{ ...chainSection(), escrow: copy }],
  });
  expectRows(report, [
    ['contract', 'chain1 escrow', 'failure', /its EXTENSION is 0x.*which its own constructor/],
  ]);

  const extension = extensionOf(c.chain.escrow);
  const right = await codeAt(extension);
  await c.anvil.rpc('anvil_setCode', [extension, await codeAt(c.usdc.address)]);
  const changed = await doctor('venue', await venueConfig());
  await c.anvil.rpc('anvil_setCode', [extension, right]);
  expectRows(changed, [['contract', 'chain1 escrow', 'failure', /not that of EscrowExtension/]]);
});

test('fillers of issuers: ours, for this escrow and module', async () => {
  const { usdc, weth } = c;
  const access = { rpcUrl: c.anvil.url, chainId: c.chain.id, deployerPrivateKey: DEPLOYER.privateKey };
  const { vault, psm } = await deployIssuers({
    ...access,
    escrow: c.chain.escrow,
    vault: { asset: usdc.address, name: 'Savings', symbol: 'S', deposited: 1n, earned: 0n, cap: 1n },
    psm: { gem: usdc.address, dai: weth.address, amounts: [1n, 1n], tin: 0n, tout: 0n },
  });
  const issuer = (id: string, kind: string, filler: string, product: object) => ({
    ...{ id, name: id, kind, places: [{ chainId: c.chain.id, filler, products: [product] }] },
  });
  const shares = { tokens: [usdc.address, vault.address] };
  const stable = { tokens: [usdc.address, weth.address] };
  const report = await doctor('venue', {
    ...(await venueConfig()),
    issuers: [
      issuer('savings', 'vault', vault.filler, shares),
      issuer('peg', 'peg', psm.filler, { ...stable, psm: psm.address }),
      issuer('confused', 'vault', psm.filler, shares),
      issuer('other-module', 'peg', psm.filler, { ...stable, psm: vault.address }),
      issuer('nowhere', 'vault', vault.filler, { tokens: [usdc.address, NOWHERE] }),
    ],
  });
  for (const [id, name] of [
    ['savings', 'VaultFiller'],
    ['peg', 'PegFiller'],
  ] as const)
    expect(report.of('contract', `chain1 filler of ${id}`)).toMatchObject({
      verdict: 'ok',
      found: expect.stringMatching(name),
    });
  expectRows(report, [
    ['contract', 'chain1 filler of confused', 'failure', /not that of VaultFiller/],
    ['contract', 'chain1 filler of other-module', 'failure', /its PSM is 0x/],
  ]);
  const subject = 'chain1 product of nowhere';
  expect(report.rows.filter((row) => row.subject === subject).map(({ verdict }) => verdict)).toContain(
    'failure',
  );
});

describe('keys and accounts', () => {
  test('a key that cannot be opened, a seat that an attester has not', async () => {
    const chains = [chainSection()];
    expectRows(
      await doctor('attester', { ...attesterConfig(), chains, keys: { attester: key('attester', 'wrong') } }),
      [['key', 'attester', 'failure', /password/]],
    );
    expectRows(await doctor('attester', { ...attesterConfig(), keys: { attester: key('stranger') } }), [
      ['attesters', 'chain1', 'failure', /is not one of the oracle's 3 signers/],
    ]);
  });

  test('relayers without gas, attesters that do not answer, webhooks that lead nowhere', async () => {
    const base = await venueConfig();
    const config = {
      ...base,
      keys: { ...(base['keys'] as Config), relayer: [key('relayer'), key('stranger')] },
      attesters: { urls: attesters.urls.slice(0, 1) },
      outbound: { allowHosts: ['localhost', 'nothing.invalid'] },
      travelRule: { url: 'https://localhost/hook' },
      screening: { provider: { url: 'https://nothing.invalid/{address}' } },
    };
    expectRows(await doctor('venue', config), [
      ['gas', 'chain1 relayer 1', 'failure', /pays for 0 transactions/],
      ['attesters', 'chain1', 'failure', /1 of the oracle's signers answer, and 2 must sign/],
      ['webhook', 'travel rule', 'failure', /private address/],
      ['webhook', 'screening', 'failure', /does not resolve/],
    ]);
    const unlisted = { ...base, travelRule: { url: 'https://example.com/hook' } };
    expectRows(await doctor('venue', unlisted), [
      ['webhook', 'travel rule', 'failure', /not in the list of allowed hosts/],
    ]);
  });

  test('an operator without rights or gas, no deposits, a venue that does not answer', async () => {
    const base = await lpConfig();
    const config = {
      ...base,
      keys: { operator: key('stranger') },
      venues: [
        { name: 'v', url: `ws://127.0.0.1:${await freePort()}`, apiKey: { file: join(folder, 'secret') } },
      ],
      lp: {
        ...(base['lp'] as Config),
        chains: [{ chainId: c.chain.id, account: RELAYER.address, minGas: '0.1' }],
      },
    };
    expectRows(await doctor('lp', config), [
      ['operator', 'chain1', 'failure', /may not sign/],
      ['gas', 'chain1 operator', 'failure', /less than minGas/],
      ['deposit', 'chain1 USDC', 'warning', /^0 USDC deposited/],
      ['venue', 'v', 'failure', /does not answer/],
    ]);
  });

  test('another server where the venue should be', async () => {
    const venues = [
      { name: 'v', url: prices.url.replace('http', 'ws'), apiKey: { file: join(folder, 'secret') } },
      { name: 'w', url: `${venue.url.replace('http', 'ws')}`, apiKey: { file: join(folder, 'secret') } },
      { name: 'x', url: attesters.urls[0]?.replace('http', 'ws'), apiKey: { file: join(folder, 'secret') } },
    ];
    const report = await doctor('lp', { ...(await lpConfig()), venues });
    expectRows(report, [
      ['venue', 'v', 'failure', /is not a venue/],
      ['venue', 'x', 'failure', /answers 404/],
    ]);
    expect(report.of('venue', 'w')?.verdict).toBe('ok');
  });

  test('an operator that may spend nothing, or is the owner itself', async () => {
    const limit = (most: bigint) =>
      c.send(LP.address, c.chain.escrow, limitOperatorCall(OPERATOR.address, c.usdc.address, most, 3_600));
    await limit(0n);
    after.push(() => limit(2n ** 95n));
    const config = await lpConfig();
    expectRows(await doctor('lp', config), [['deposit', 'chain1 USDC', 'failure', /may spend 0 USDC/]]);
    expectRows(await doctor('lp', { ...config, keys: { operator: key('owner') } }), [
      ['operator', 'chain1', 'failure', /is that of the account/],
    ]);
  });
});

describe('stores', () => {
  test('a pooler in transaction mode, a Redis that evicts', async () => {
    const config = await venueConfig();
    const pooler = await startPgBouncer(postgres.url, 'transaction');
    await redisConfig('allkeys-lru');
    after.push(pooler.stop, () => redisConfig('noeviction'));
    const url = pooler.through(await postgres.server.database('doctor_venue'));
    expectRows(await doctor('venue', { ...config, database: { url } }), [
      ['database', 'sessions', 'failure', /pooler in transaction or statement mode/],
      ['redis', 'queue', 'failure', /maxmemory-policy is allkeys-lru/],
    ]);
  });

  test('a server that loses what it promised, has few connections, or tables of a newer version', async () => {
    const url = await postgres.server.database('doctor_newer');
    const db = connectDatabase({ url, schema: VENUE_SCHEMA, log: silentLog });
    await migrate(db, VENUE_TABLES);
    await db.query("insert into migration (id, sha256, contract) values ('venue-999-new', 'x', true)");
    await db.close();
    await asAdmin('alter system set fsync = off');
    after.push(() => asAdmin('alter system reset fsync'));
    const config = {
      ...(await venueConfig()),
      database: { url, maxConnections: 400 },
      queue: { redisUrl: `redis://127.0.0.1:${await freePort()}` },
    };
    expectRows(await doctor('venue', config), [
      ['database', 'durability', 'failure', /fsync off/],
      ['database', 'connections', 'warning', /are free/],
      ['database', VENUE_SCHEMA, 'failure', /venue-999-new/],
      ['redis', 'queue', 'failure', /did not answer/],
    ]);
  });

  test('a database that is not there, and an embedded one that does not run', async () => {
    const config = await venueConfig();
    const nowhere = { url: `postgres://nobody:secret-word@127.0.0.1:${await freePort()}/x` };
    const report = await doctor('venue', { ...config, database: nowhere });
    expectRows(report, [['database', 'sessions', 'failure', /did not answer/]]);
    expect(JSON.stringify(report.rows)).not.toContain('secret-word');
    expectRows(await doctor('venue', { ...config, database: { embeddedDir: join(folder, 'none') } }), [
      ['database', VENUE_SCHEMA, 'warning', /does not run now/],
    ]);
  });
});

test('feeds that are silent or far from the others', async () => {
  prices.mid['two'] = 2_700;
  after.push(() => (prices.mid['two'] = 2_500));
  const config = await lpConfig();
  expectRows(await doctor('lp', config), [['feed', 'ETH', 'warning', /two ETH is .* bps off/]]);
  delete prices.mid['two'];
  expectRows(await doctor('lp', config), [['feed', 'two ETH', 'failure', /no price within/]]);
});

test('a Prometheus without the rules, or none', async () => {
  const empty = await startPrometheus([]);
  after.push(empty.stop);
  expectRows(await doctor('attester', attesterConfig(), '--prometheus', empty.url), [
    ['alerts', 'Prometheus', 'failure', /rules are not loaded: ProcessDown/],
  ]);
  const nobody = `http://127.0.0.1:${await freePort()}`;
  expectRows(await doctor('attester', attesterConfig(), '--prometheus', nobody), [
    ['alerts', 'Prometheus', 'failure', /does not answer/],
  ]);
});

test('a Prometheus with a login: the password is sent, and never printed', async () => {
  const locked = await startPrometheus(['rules.yml'], LOGIN);
  after.push(locked.stop);
  const asked = async (password: string) => {
    const url = locked.url.replace('//', `//${LOGIN.user}:${encodeURIComponent(password)}@`);
    const report = await doctor('attester', attesterConfig(), '--prometheus', url);
    expect(JSON.stringify(report.rows)).not.toContain(encodeURIComponent(password));
    expect(JSON.stringify(report.rows)).not.toContain(password);
    return report;
  };
  expect((await asked(LOGIN.password)).of('alerts', 'Prometheus')).toMatchObject({ verdict: 'ok' });
  expectRows(await asked('not@this'), [
    ['alerts', 'Prometheus', 'failure', new RegExp(`${new URL(locked.url).host} answers 401`)],
  ]);
});

async function asAdmin(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(statement);
  await client.query('select pg_reload_conf()');
  await client.end();
}

async function tablesOf(...databases: string[]): Promise<unknown[]> {
  return Promise.all(
    databases.map(async (name) => {
      const client = new pg.Client({ connectionString: await postgres.server.database(name) });
      await client.connect();
      const { rows } = await client.query(
        "select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
      );
      await client.end();
      return rows;
    }),
  );
}

async function redisConfig(policy: string): Promise<void> {
  const { Redis } = await import('ioredis');
  const client = new Redis(redis.url);
  await client.config('SET', 'maxmemory-policy', policy);
  client.disconnect();
}

/** Answers below `/NAME/SYMBOL` with a price, and elsewhere with an empty object. */
async function startPrices() {
  const mid: Record<string, number> = { one: 2_500, two: 2_500 };
  const server = createServer(({ url = '' }, response) => {
    const price = mid[url.split('/')[1] ?? ''];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(price === undefined ? {} : { bid: String(price), ask: String(price + 1) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, mid, server };
}

/** A node whose answers are dated. */
async function startDated(target: string, dateMs: number): Promise<{ url: string; stop(): void }> {
  const server = createServer((asked, response) => {
    const onward = request(
      target,
      { method: 'POST', headers: { 'content-type': 'application/json' } },
      (answer) => {
        response.setHeader('date', new Date(dateMs).toUTCString());
        answer.pipe(response);
      },
    );
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => (server.closeAllConnections(), void server.close()),
  };
}

async function startAttesters(count: number) {
  const chains = new Map([[c.chain.id, c.port]]);
  const running = await Promise.all(
    ATTESTERS.slice(0, count).map(async ({ signer }) => {
      const attester = createAttester(
        { chains, signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
        { lookBackSeconds: 60, staleMs: 60_000 },
      );
      await attester.start();
      const door = await startOps({
        host: '127.0.0.1',
        port: 0,
        log: silentLog,
        routes: attestationRoutes(attester),
      });
      return { url: door.url, stop: async () => (await door.close(), attester.stop()) };
    }),
  );
  return {
    urls: running.map(({ url }) => url),
    stop: async () => void (await Promise.all(running.map(({ stop }) => stop()))),
  };
}

const LOGIN = {
  user: 'ops',
  password: 'pw@1',
  /** bcrypt. */
  hash: '$2y$04$abcdefghijklmnopqrstuuU3JLPM3UigmgxUVY/SRX34aJcrhryka',
};

interface Prometheus {
  url: string;
  stop(): Promise<void>;
}

/** With these files of `ops` as rules, and nothing to scrape. */
async function startPrometheus(rules: readonly string[], login?: typeof LOGIN): Promise<Prometheus> {
  const home = await mkdtemp(join(tmpdir(), 'fq-doctor-prometheus-'));
  const port = await freePort();
  const file = join(home, 'prometheus.yml');
  // JSON is YAML.
  await writeFile(file, JSON.stringify({ rule_files: rules.map((name) => join(ROOT, 'ops', name)) }));
  const web = join(home, 'web.yml');
  await writeFile(web, JSON.stringify(login ? { basic_auth_users: { [login.user]: login.hash } } : {}));
  const headers = login && {
    authorization: `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`,
  };
  const child: WatchedChild = await spawnWatched(
    'prometheus',
    [
      `--web.config.file=${web}`,
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ],
    { cwd: home },
  );
  const url = `http://127.0.0.1:${port}`;
  while ((await fetch(`${url}/-/ready`, headers && { headers }).catch(() => undefined))?.status !== 200) {
    if (child.hasExited()) throw new Error('prometheus did not start (apt-get install prometheus)');
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    url,
    async stop() {
      await child.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
