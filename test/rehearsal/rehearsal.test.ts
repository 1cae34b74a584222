/**
 * The way to production: both checklists of the docs, typed to the letter on chains as they are before
 * anybody has deployed anything, with the operator's key in a key service, and then trades by every funding
 * mode until the books agree to the unit.
 */

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/adapters/postgres/embedded/embedded.ts';
import { createDemoTaker, type TakeChoices } from '../../src/apps/demo/taker.ts';
import { EXCHANGES } from '../../src/apps/lp/init/exchanges.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import { type PlayedExchange, playExchange } from '../faults/support/exchanges.ts';
import { patiently } from '../faults/support/client.ts';
import { steadyPort } from '../faults/support/process.ts';
import { playRestExchanges, type RestExchanges } from '../lp-day/support/rest-exchanges.ts';
import { PROGRAM } from '../support/build.ts';
import { copyCluster } from '../support/cluster.ts';
import { type Running, startFirmquote } from '../support/command.ts';
import { account } from '../support/devnet.ts';
import { AWS_ENVIRONMENT, AWS_KEY, playAwsKms } from '../support/key-services/aws-kms.ts';
import type { PlayedService } from '../support/key-services/played.ts';
import { blocksOf, openShell, type Shell } from '../support/page.ts';
import { silentLog } from '../support/silent.ts';
import { type PublicChain, startPublicChain } from './public-chains.ts';

const USDC = 1_000_000n;
const WETH = 10n ** 18n;
const ETHER_USD = 2_500;
const [SAFE, OWNER] = [account(9_801), account(9_802)];
/** In a key service. */
const KMS_KEY = 9_803;
const OPERATOR = account(KMS_KEY);
/** Stands at the multisig's address. */
const RETURNS_TRUE: Hex = '0x600160005260206000f3';

let folder: string;
let shell: Shell;
let base: PublicChain;
let arc: PublicChain;
let postgres: EmbeddedPostgres;
let exchanges: PlayedExchange[];
let rest: RestExchanges;
let kms: PlayedService;
const running: Running[] = [];
const env: Record<string, string> = {};
const ports: Record<string, number> = {};
/** By the name of the key. */
const addresses: Record<string, Address> = {};
const apiKeys: Record<'solver' | 'service', string> = { solver: '', service: '' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-rehearsal-'));
  await copyCluster(folder);
  [base, arc, postgres, rest] = await Promise.all([
    startPublicChain('base', 'alchemy'),
    startPublicChain('arc', 'quicknode'),
    startEmbeddedPostgres({ dataDir: folder, log: silentLog }),
    playRestExchanges({
      kraken: { ETHUSD: ETHER_USD, USDCUSD: 1 },
      bitstamp: { ethusd: ETHER_USD, usdcusd: 1 },
    }),
  ]);
  kms = await playAwsKms(KMS_KEY);
  kms.latencyMs = 30;
  exchanges = await Promise.all([
    playExchange('binance', ETHER_USD, 'ETHUSDC'),
    playExchange('coinbase', ETHER_USD),
    playExchange('kraken', ETHER_USD),
  ]);
  for (const name of [
    'attester-1',
    'attester-2',
    'attester-3',
    'venue',
    'ops-1',
    'ops-2',
    'ops-3',
    'ops-v',
    'admin',
  ])
    ports[name] = await steadyPort();
  Object.assign(env, {
    ...AWS_ENVIRONMENT,
    BASE_RPC_URL: base.proxy.url,
    ARC_RPC_URL: arc.proxy.url,
    OPERATOR_PASSWORD: 'the password of an operator',
    OWNER_PASSWORD: 'the password of an owner',
    OWNER_KEY: OWNER.privateKey,
    DATABASE_URL: await postgres.database('venue'),
  });
  shell = openShell(folder);
  await shell.run(
    [
      ...Object.entries(env).map(([name, value]) => `export ${name}='${value}'`),
      `firmquote() { "${process.execPath}" "${PROGRAM}" "$@"; }`,
    ].join('\n'),
  );
}, 300_000);

afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  const lp = async (words: string) =>
    (await shell.run(`firmquote lp ${words} --config my-lp/lp.json`)).output;
  console.log(await lp('status'), await lp('limits'));
  const declined = (await lp('rfqs')).matchAll(/"id":"(\w+)"[^\n]*"outcome":"declined"/g);
  for (const [, id] of declined) console.log(await lp(`explain ${id}`));
  for (const each of running) console.log(each.output().slice(-3_000));
});
afterAll(async () => {
  shell?.end();
  await Promise.all(running.map((each) => each.stop()));
  await Promise.all([base?.stop(), arc?.stop(), postgres?.stop(), rest?.stop(), kms?.close()]);
  await Promise.all((exchanges ?? []).map((exchange) => exchange.stop()));
  await rm(folder, { recursive: true, force: true });
});

const VENUE_PAGE = 'docs/venue/go-live.md';
const LP_PAGE = 'docs/lp/go-live.md';

const typed = new Set<string>();

/** The page's only shell block with this text, typed. */
async function type(page: string, text: string): Promise<string> {
  const found = (await blocksOf(page, 'sh')).filter((block) => block.includes(text));
  expect(found, `${page} has one block with ${text}`).toHaveLength(1);
  const { status, output } = await shell.run(found[0] as string);
  typed.add(found[0] as string);
  if (status !== 0) console.log(output);
  expect([text, status]).toEqual([text, 0]);
  return output;
}

/** The page's file, with what only this place knows. */
// oxlint-disable-next-line typescript/no-explicit-any
async function write(file: string, page: string, text: string, change: (json: any) => void): Promise<void> {
  const block = (await blocksOf(page, 'json')).find((each) => each.includes(text));
  const json = JSON.parse(block ?? '') as unknown;
  change(json);
  await writeFile(join(folder, file), JSON.stringify(json, null, 2));
}

const attesterUrls = () => [1, 2, 3].map((n) => `http://127.0.0.1:${ports[`attester-${n}`]}`);

/** At the providers each process has a key of its own, named after it. */
async function start(name: string, ...words: string[]): Promise<Running> {
  const keys = { BASE_RPC_URL: `${base.proxy.url}/${name}`, ARC_RPC_URL: `${arc.proxy.url}/${name}` };
  const process = startFirmquote(words, { ...env, ...keys }, folder);
  running.push(process);
  return process;
}

async function ready(port: number | undefined): Promise<void> {
  let said = '';
  await patiently(
    async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      said = (await answer?.text()) ?? 'no answer';
      return answer?.status === 200 || undefined;
    },
    () => said,
  );
}

test('keys: one of each, and money for gas', async () => {
  const lines = (await type(VENUE_PAGE, 'keystore new')).trim().split('\n');
  const names = ['deployer', 'relayer', 'attester-1', 'attester-2', 'attester-3'];
  names.forEach((name, at) => (addresses[name] = lines[at] as Address));
  for (const name of ['deployer', 'relayer'])
    for (const [chain, units] of [
      [base, 10n],
      [arc, 100n],
    ] as const)
      await chain.giveNative(addresses[name] as Address, units);
  for (const { anvil } of [base, arc]) await anvil.rpc('anvil_setCode', [SAFE.address, RETURNS_TRUE]);
});

test('contracts: planned, deployed, handed to the multisig and verified on both chains', async () => {
  await write('deploy.json', VENUE_PAGE, '"app": "deploy"', (json) => {
    json.escrow.feeRecipient = SAFE.address;
    json.quoteBond.forfeitTo = SAFE.address;
    json.owner = SAFE.address;
    json.oracle.initialOwner = addresses['deployer'];
    json.oracle.initialCommittee.signers = [1, 2, 3].map((n) => addresses[`attester-${n}`]);
  });
  expect(await type(VENUE_PAGE, 'deploy plan')).toMatch(/base[\s\S]*arc/);
  // From here on the nodes refuse as their providers do.
  for (const { proxy, provider } of [base, arc]) proxy.play(provider);
  await type(VENUE_PAGE, 'deploy run');
  const safe = join(folder, 'deployments', 'safe');
  for (const name of await readdir(safe)) {
    const { chainId, transactions } = JSON.parse(await readFile(join(safe, name), 'utf8')) as {
      chainId: string;
      transactions: { to: Address; contractMethod: { name: string; inputs: [] } }[];
    };
    const chain = Number(chainId) === base.anvil.chainId ? base : arc;
    await chain.giveNative(SAFE.address, 10n);
    // Accepting takes no arguments.
    for (const { to, contractMethod } of transactions)
      await chain.send(
        SAFE.address,
        to,
        encodeFunctionData({
          abi: [{ type: 'function', stateMutability: 'nonpayable', outputs: [], ...contractMethod }],
        }),
      );
  }
  await type(VENUE_PAGE, 'deploy verify');
});

test('attesters: three, each ready', async () => {
  for (const n of [1, 2, 3]) {
    await write('attester.json', VENUE_PAGE, '"app": "attester"', (json) => {
      json.keys.attester = {
        keystore: `secrets/attester-${n}.json`,
        passwordFile: `secrets/attester-${n}.password`,
      };
      json.http = { port: ports[`attester-${n}`] };
      json.ops = { port: ports[`ops-${n}`] };
      // A second of an anvil is not one of a chain's clock.
      for (const chain of json.chains) chain.maxClockSkewMs = 600_000;
    });
    expect(await type(VENUE_PAGE, 'config check attester.json')).toContain('is a valid configuration');
    await cp(join(folder, 'attester.json'), join(folder, `attester-${n}.json`));
    await start(`attester-${n}`, 'attester', '-c', `attester-${n}.json`);
  }
  for (const n of [1, 2, 3]) await ready(ports[`ops-${n}`]);
});

test('venue: checked, started, ready, and its first keys', async () => {
  await write('venue.json', VENUE_PAGE, '"app": "venue"', (json) => {
    json.attesters.urls = attesterUrls();
    json.http = { port: ports['venue'] };
    json.ops = { port: ports['ops-v'] };
    json.admin.port = ports['admin'];
    for (const chain of json.chains) chain.maxClockSkewMs = 600_000;
  });
  expect(await type(VENUE_PAGE, 'config check venue.json')).toContain('is a valid configuration of venue');
  await type(VENUE_PAGE, 'doctor --venue');
  await start('venue', 'venue', '-c', 'venue.json');
  await ready(ports['ops-v']);
  const issued = await type(VENUE_PAGE, 'solver add alpha');
  const [solver = '', service = ''] = issued.match(/fq_live_\S+/g) ?? [];
  Object.assign(apiKeys, { solver, service });
});

test('LP: made by lp init, allowed, funded, started, and quoting', async () => {
  await shell.run(`export VENUE_KEY='${apiKeys.solver}' LP_DATABASE_URL='${await postgres.database('lp')}'`);
  Object.assign(env, { VENUE_KEY: apiKeys.solver, LP_DATABASE_URL: await postgres.database('lp') });
  const [binance, coinbase, kraken] = exchanges as [PlayedExchange, PlayedExchange, PlayedExchange];
  await write('answers.json', LP_PAGE, '"account"', (json) => {
    json.venue.url = `ws://127.0.0.1:${ports['venue']}`;
    json.account = OWNER.address;
    json.attesters = attesterUrls();
    json.databaseUrl = '${LP_DATABASE_URL}';
    json.feeds = {
      ...EXCHANGES,
      ...Object.fromEntries(
        [binance, coinbase, kraken].map(({ kind, url }) => [kind, { ...EXCHANGES[kind], url }]),
      ),
      'kraken-rest': { ...EXCHANGES['kraken-rest'], url: rest.kraken.url },
      bitstamp: { ...EXCHANGES.bitstamp, url: rest.bitstamp.url },
    };
  });
  const { status, output: owner } = await shell.run(
    'firmquote keystore new owner.json --import-env OWNER_KEY --password-env OWNER_PASSWORD',
  );
  expect([status, owner]).toEqual([0, `${OWNER.address}\n`]);
  const made = await type(LP_PAGE, 'lp init');
  expect(made).toMatch(/The operator is 0x[0-9a-f]{40}\./);
  const config = join(folder, 'my-lp', 'lp.json');
  const json = JSON.parse(await readFile(config, 'utf8')) as {
    networks: { preset: string }[];
    keys: { operator: object };
  };
  expect(json.networks.map(({ preset }) => preset)).toEqual(['base', 'arc']);
  // The page: "put its section at keys.operator".
  json.keys.operator = { awsKms: { keyId: AWS_KEY, endpoint: kms.url } };
  await writeFile(config, JSON.stringify(json, null, 2));
  await base.giveNative(OWNER.address, 10n);
  await base.mint('USDC', OWNER.address, 150_000n * USDC);
  await base.mint('WETH', OWNER.address, 50n * WETH);
  await arc.giveNative(OWNER.address, 150_000n);
  expect(await type(LP_PAGE, 'operator set')).toContain(OPERATOR.address);
  await base.giveNative(OPERATOR.address, 10n);
  await arc.giveNative(OPERATOR.address, 100n);
  // The page: "wait until it is final".
  for (const { anvil } of [base, arc]) await anvil.mine(8);
  expect(await type(LP_PAGE, 'config check my-lp/lp.json')).toContain('is a valid configuration of lp');
  await type(LP_PAGE, 'doctor --lp');
  await start('lp', 'lp', '--config', 'my-lp/lp.json');
  let said = '';
  await patiently(
    async () => {
      said = (await shell.run('firmquote lp status --config my-lp/lp.json')).output;
      return said.startsWith('Quoting.') || undefined;
    },
    () => said,
  );
  expect(await type(LP_PAGE, 'lp inventory')).toMatch(/USDC[\s\S]*WETH/);
});

const TRADES: readonly {
  name: string;
  from: () => PublicChain;
  give: 'USDC' | 'WETH';
  amount: bigint;
  to: () => PublicChain;
  take: 'USDC' | 'WETH';
  how?: TakeChoices;
}[] = [
  { name: 'EIP-3009', from: () => base, give: 'USDC', amount: 1_000n * USDC, to: () => base, take: 'WETH' },
  { name: 'Permit2 lock', from: () => base, give: 'WETH', amount: WETH / 4n, to: () => base, take: 'USDC' },
  {
    name: 'standing Permit2 grant',
    ...{ from: () => base, give: 'USDC', amount: 400n * USDC, to: () => base, take: 'WETH' },
    how: { lock: 'Permit2', standingGrant: true },
  },
  {
    name: 'resource lock',
    ...{ from: () => base, give: 'USDC', amount: 500n * USDC, to: () => base, take: 'WETH' },
    how: { lock: 'ResourceLock' },
  },
  { name: 'across to Arc', from: () => base, give: 'USDC', amount: 700n * USDC, to: () => arc, take: 'USDC' },
  {
    name: 'out of Arc, broadcast by the taker who pays gas in USDC',
    ...{ from: () => arc, give: 'USDC', amount: 600n * USDC, to: () => base, take: 'WETH' },
  },
];

test('trades: one by each funding mode, on each chain and across', async () => {
  const open = await Promise.all(
    TRADES.map(async ({ name, from, give, amount, to, take, how }, at) => {
      const wallet = account(9_900 + at);
      const taker = createDemoTaker({
        venueUrl: `http://127.0.0.1:${ports['venue']}`,
        apiKey: apiKeys.service,
        privateKey: wallet.privateKey,
        rpcUrls: new Map([base, arc].map(({ anvil }) => [anvil.chainId, anvil.url])),
      });
      return { name, from, give, amount, to, take, how, taker, wallet };
    }),
  );
  for (const { wallet, from, give, amount } of open) {
    await from().giveNative(wallet.address, from() === arc ? 1_000n : 1n);
    if (from() === base) await base.mint(give, wallet.address, amount);
  }
  const settled = await Promise.all(
    open.map(async ({ name, from, give, amount, to, take, how, taker }) => {
      const ask = {
        input: {
          asset: `eip155:${from().anvil.chainId}/erc20:${from().token(give)}`,
          amount: amount.toString(),
        },
        output: { asset: `eip155:${to().anvil.chainId}/erc20:${to().token(take)}` },
      };
      let why = '';
      const orderId = await patiently(
        async () => {
          // Live quotes of the other takers use the LP's risk limits until they expire, and a node that is a
          // block behind has not seen an approval yet. The venue answers 503 while its node is over its rate,
          // and a quote expires where all this takes long.
          const taken = await taker.take(ask, how).catch(async (error: unknown) => {
            why = String(error);
            if (!/No quote|lock_required|answered 503|quote_expired/.test(why)) throw error;
            // Each attempt leaves a live quote at the LP, and all takers share one rate at the venue.
            await new Promise((resolve) => setTimeout(resolve, 1_000));
          });
          return taken?.orderId;
        },
        () => `${name}: ${why}`,
      );
      const { status } = await taker.finish(orderId, 240_000);
      return [name, status];
    }),
  );
  expect(settled).toEqual(TRADES.map(({ name }) => [name, 'settled']));
});

test('books: of venue and LP agree with the chains to the unit', async () => {
  // Signatures of attesters wait for the safe block of Base; then the LP claims and books.
  let said = '';
  await patiently(
    async () => {
      const done = await shell.run('firmquote audit --lp my-lp/lp.json');
      said = done.output;
      return done.status === 0 || undefined;
    },
    () => said,
  );
  expect(await type(LP_PAGE, 'lp awards')).toContain('WETH');
  await type(VENUE_PAGE, 'audit --venue');
  expect(kms.signed).toBeGreaterThan(TRADES.length);
  for (const { slug, provider } of [base, arc]) {
    const { rate, logs, batch, history, missing } = provider.counts;
    console.log(slug, provider.counts);
    expect(rate + logs + batch + history + missing, slug).toBeGreaterThan(0);
  }
});

test('every command of both pages was typed', async () => {
  for (const page of [VENUE_PAGE, LP_PAGE])
    expect((await blocksOf(page, 'sh')).filter((block) => !typed.has(block))).toEqual([]);
});
