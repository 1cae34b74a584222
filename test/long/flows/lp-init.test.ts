/**
 * `firmquote lp init`: what it asks, what it finds out by itself, what it writes and with which modes, and
 * what it refuses before anything is written.
 */

import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeDeployData } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { decryptKey, keystoreAddress } from '../../../src/adapters/keystore/keystore.ts';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import type { Terminal } from '../../../src/apps/terminal/ask.ts';
import { type InitOptions, initLp } from '../../../src/apps/cli/lp/init.ts';
import { loadConfig } from '../../../src/apps/config/load.ts';
import { zLpAppConfig } from '../../../src/apps/lp/config.ts';
import { devTokenAbi } from '../../../src/adapters/evm/deploy/abi/dev-token.ts';
import { limitOperatorCall } from '../../../src/settlement/call.ts';
import { lpAccountDeployment } from '../../../src/adapters/evm/deploy/lp-account.ts';
import { putCode } from '../../support/code.ts';
import { startFirmquote } from '../../support/command.ts';
import { account, DEPLOYER, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres } from '../../support/postgres.ts';
import { type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';
import { until } from '../../support/venue.ts';
import { creationCodeOf } from '../../../src/adapters/evm/deploy/creation-code.ts';

const owner = account(61);
const KEY = `fq_test_${'k'.repeat(43)}`;

let folder: string;
let devnet: Devnet;
let chain: TestChain;
let venue: ScriptedVenue;
let printed: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-init-'));
  devnet = await startDevnet([41301]);
  chain = devnet.chains[0] as TestChain;
  venue = await startScriptedVenue([chain.chain]);
  await chain.fund(owner.address);
  await chain.deposit(owner.address, chain.usdc.address, 1_000_000_000n);
}, 60_000);

afterAll(async () => {
  await venue?.stop();
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  printed = [];
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line));
  return () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  };
});

/** Somebody who answers by what the question is about; everything else gets Enter. */
function sitting(answers: readonly [RegExp, string][]): Terminal & { asked: string[] } {
  const asked: string[] = [];
  const answer = (question: string, preset = '') => {
    asked.push(question);
    return answers.find(([about]) => about.test(question))?.[1] ?? preset;
  };
  return {
    asked,
    ask: async (question, preset) => answer(question, preset),
    secret: async (question) => answer(question),
    say() {},
    close() {},
  };
}

const answersFile = async (name: string, change: object = {}): Promise<string> => {
  const file = join(folder, `${name}.answers.json`);
  const tokens = [chain.usdc.address, chain.weth.address];
  await writeFile(
    file,
    JSON.stringify({
      venue: { url: venue.url, keyEnv: 'INIT_VENUE_KEY' },
      solver: { id: 'mine', name: 'Mine' },
      account: owner.address,
      chains: { chain1: { rpcUrl: '${INIT_RPC}', tokens } },
      ...change,
    }),
  );
  vi.stubEnv('INIT_VENUE_KEY', KEY);
  vi.stubEnv('INIT_RPC', chain.anvil.url);
  return file;
};
const init = (name: string, options: Partial<InitOptions> = {}) =>
  initLp({ dir: join(folder, name), yes: true, ...options });

/** A node in front of the chain's that has no block by its number for the first so many questions. */
async function forgetful(times: number): Promise<{ url: string; stop(): Promise<unknown> }> {
  let left = times;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', async () => {
      const asked: unknown = JSON.parse(body);
      const ask = async (one: { id: number; method: string; params: unknown[] }) => {
        if (one.method === 'eth_getBlockByNumber' && one.params[0] !== 'latest' && left-- > 0)
          return { jsonrpc: '2.0', id: one.id, result: null };
        const answer = await fetch(chain.anvil.url, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(one),
        });
        return answer.json();
      };
      const answers = Array.isArray(asked) ? await Promise.all(asked.map(ask)) : await ask(asked as never);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answers));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => (server.closeAllConnections(), server.close(resolve))),
  };
}

test('an endpoint that does not know a block yet is asked again; one that never does is named', async () => {
  const answers = await answersFile('behind');
  for (const [times, sentence] of [
    [2, undefined],
    [1_000, /The endpoint of chain1 has no block \d+\. Wait until it is synchronised/],
  ] as const) {
    const node = await forgetful(times);
    vi.stubEnv('INIT_RPC', node.url);
    const done = init(`behind-${times}`, { answers });
    if (sentence === undefined) await done;
    else await expect(done).rejects.toThrow(sentence);
    await node.stop();
  }
});

test('asks at the terminal, reads the rest from venue and chains, and writes a configuration that boots', async () => {
  const terminal = sitting([
    [/Address of the venue/, venue.url],
    [/solver key/, KEY],
    [/Your id/, 'mine'],
    [/Your name/, 'Mine & Co'],
    [/owner's address/, owner.address],
    [/endpoint of chain1/, chain.anvil.url],
    [/Token addresses on chain1/, `${chain.usdc.address}, ${chain.weth.address}`],
    [/Password/, 'typed by hand'],
    [/Minimum spread/, '3'],
  ]);
  await initLp({ dir: join(folder, 'asked') }, terminal);
  const { config } = await loadConfig(zLpAppConfig, join(folder, 'asked', 'lp.json'), {});
  expect(config.networks).toEqual([
    expect.objectContaining({
      id: 41_301,
      slug: 'chain1',
      escrow: chain.chain.escrow,
      oracle: chain.chain.oracle,
      proofWindowSeconds: 30,
    }),
  ]);
  expect(
    config.networks[0]?.tokens.map(({ symbol, decimals, priceSymbol }) => [symbol, decimals, priceSymbol]),
  ).toEqual([
    ['USDC', 6, 'USD'],
    ['WETH', 18, 'ETH'],
  ]);
  expect(config.lp).toMatchObject({
    solver: { id: 'mine', name: 'Mine & Co' },
    chains: [{ account: owner.address }],
    pairs: [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 3, maxSize: 20_000 } }],
    quoting: { claimSeconds: 10 },
  });
  // Every price has two independent checks, so nothing is to be warned of.
  expect(config.lp.prices['USDC']).toMatchObject({
    fixed: '1',
    guards: [{ feed: 'kraken-rest' }, { feed: 'bitstamp' }],
  });
  expect(config.lp.prices['ETH']).toMatchObject({
    sources: [{ feed: 'binance' }, { feed: 'coinbase' }, { feed: 'kraken' }],
    references: [{ feed: 'bitstamp', symbol: 'ethusd' }, { feed: 'kraken-rest' }],
  });
  expect(printed.join('\n')).not.toContain('WARNING');
  // The password was typed, so it is nowhere; the key opens with it.
  expect(config.keys.operator).toEqual({
    keystore: join(folder, 'asked', 'secrets', 'operator.json'),
    passwordEnv: 'OPERATOR_PASSWORD',
  });
  const keystore = await readFile(join(folder, 'asked', 'secrets', 'operator.json'), 'utf8');
  const privateKey = await decryptKey(keystore, 'typed by hand');
  const files = await readdir(join(folder, 'asked'), { recursive: true });
  expect(files.toSorted()).toEqual([
    'data',
    'lp.json',
    'secrets',
    'secrets/operator.json',
    'secrets/venue-key',
  ]);
  for (const name of files.filter((file) => /\./.test(file) || file.endsWith('key'))) {
    expect([name, (await stat(join(folder, 'asked', name))).mode & 0o777]).toEqual([name, 0o600]);
    const text = await readFile(join(folder, 'asked', name), 'utf8');
    expect(text).not.toContain(privateKey.slice(2));
    if (name !== 'secrets/venue-key') expect(text).not.toContain(KEY);
  }
  // Nobody allowed this operator yet: it says how, and what lies there already.
  expect(printed.join('\n')).toMatch(
    /· chain1: the account has 1000 USDC in the escrow; the operator may not sign yet[\s\S]*firmquote lp operator set --config .*lp\.json --chain chain1 --limit USDC=250\/1h --limit WETH=AMOUNT\/1h --owner[\s\S]*\nAMOUNT: the most that the operator may spend/,
  );
  expect(
    terminal.asked.some((question) => /operator's key/i.test(question) && !/Password/.test(question)),
  ).toBe(false);
});

describe('tokens that are no known dollars', () => {
  /** A token of this symbol, as anybody can deploy one. */
  async function deployed(symbol: string, on = chain): Promise<string> {
    const data = encodeDeployData({
      ...{ abi: devTokenAbi, bytecode: creationCodeOf('devnet/DevToken'), args: [symbol, symbol, 18] },
    });
    const hash = await on.anvil.rpc<string>('eth_sendTransaction', [
      { from: DEPLOYER.address, data, gas: '0x2dc6c0' },
    ]);
    return (
      await until(() => on.anvil.rpc<{ contractAddress: string } | null>('eth_getTransactionReceipt', [hash]))
    ).contractAddress;
  }
  const chainsWith = (...tokens: string[]) => ({
    chains: {
      chain1: { rpcUrl: '${INIT_RPC}', tokens: [chain.usdc.address, chain.weth.address, ...tokens] },
    },
  });
  const written = async (name: string) =>
    (await loadConfig(zLpAppConfig, join(folder, name, 'lp.json'), {})).config;

  test('are left out when nobody can be asked, and the operator is told why', async () => {
    const symbols = ['USDY', 'USD0++', 'USDe', 'USDai', 'xUSD', 'USDC.e', 'sDAI'];
    const tokens: string[] = [];
    for (const symbol of symbols) tokens.push(await deployed(symbol));
    await init('unlisted', { answers: await answersFile('unlisted', chainsWith(...tokens)) });
    const { networks, lp } = await written('unlisted');
    expect(networks[0]?.tokens.map(({ symbol }) => symbol)).toEqual(['USDC', 'WETH']);
    expect([Object.keys(lp.assets), Object.keys(lp.prices)]).toEqual([
      ['USDC', 'WETH'],
      ['USDC', 'ETH'],
    ]);
    for (const symbol of symbols)
      expect(printed.filter((line) => line.startsWith(`· ${symbol} (0x`))).toEqual([
        expect.stringMatching(/is left out: its name does not make it a dollar.*answers file \(--answers\)$/),
      ]);
  });

  test('are asked for at a terminal, and priced by the markets that are named', async () => {
    const [usde, usdy] = [await deployed('USDe'), await deployed('USDY')];
    const terminal = sitting([
      [/Markets of USDe/, 'kraken:USDE/USD, coinbase-rest:USDE-USD'],
      [/Password/, 'typed by hand'],
    ]);
    await initLp(
      { dir: join(folder, 'named'), answers: await answersFile('named', chainsWith(usde, usdy)) },
      terminal,
    );
    const { networks, lp } = await written('named');
    expect(networks[0]?.tokens.map(({ symbol }) => symbol)).toEqual(['USDC', 'WETH', 'USDe']);
    expect(lp.assets['USDe']?.price).toBe('USDe');
    expect(lp.prices['USDe']).toMatchObject({
      sources: [
        { feed: 'kraken', symbol: 'USDE/USD' },
        { feed: 'coinbase-rest', symbol: 'USDE-USD', maxAgeMs: 10_000 },
      ],
    });
    expect(lp.pairs.map(({ base, quote }) => `${base}-${quote}`)).toEqual(['WETH-USDC', 'USDe-USDC']);
    expect(terminal.asked.filter((question) => question.startsWith('Markets of'))).toHaveLength(2);
  });

  test('are priced as the answers say', async () => {
    const price = { sources: [{ feed: 'kraken', symbol: 'XUSD/USD' }] };
    await init('said', {
      answers: await answersFile('said', { ...chainsWith(await deployed('xUSD')), prices: { xUSD: price } }),
    });
    const { lp } = await written('said');
    expect(lp.prices).toMatchObject({ xUSD: price, USDC: { fixed: '1' }, ETH: { sources: [{}, {}, {}] } });
  });

  test('on a public chain even a token called USDC, at another address than USDC', async () => {
    const base = await startDevnet([8_453]);
    const there = base.chains[0] as TestChain;
    const other = await startScriptedVenue([there.chain]);
    try {
      // The preset fits the chains that have its tokens.
      await putCode(
        there,
        '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        encodeDeployData({
          abi: devTokenAbi,
          bytecode: creationCodeOf('devnet/DevToken'),
          args: ['', '', 6],
        }),
      );
      const answers = await answersFile('public', {
        venue: { url: other.url, keyEnv: 'INIT_VENUE_KEY' },
        chains: {
          [there.chain.slug]: {
            rpcUrl: there.anvil.url,
            tokens: [there.usdc.address, await deployed('LINK', there)],
          },
        },
      });
      await expect(init('public', { answers })).rejects.toThrow(/a pair needs a dollar/);
      expect(printed.join('\n')).toMatch(
        /USDC \(0x.* is left out: the USDC of .* is at 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913/,
      );
    } finally {
      await other.stop();
      await base.stop();
    }
  });
});

test('on Arc alone, where gas is USDC, nothing needs a price of ether, and the process starts', async () => {
  const EURC = '0xbef5f6d51cb62b58e6a8f77868681825c6fe21c1';
  const [arc, postgres] = await Promise.all([startDevnet([5_042], { arcIds: [5_042] }), startTestPostgres()]);
  const there = arc.chains[0] as TestChain;
  const other = await startScriptedVenue([there.chain]);
  try {
    await putCode(
      there,
      EURC,
      encodeDeployData({ abi: devTokenAbi, bytecode: creationCodeOf('devnet/DevToken'), args: ['', '', 6] }),
    );
    // OpenZeppelin's ERC20 keeps name and symbol in its slots 3 and 4.
    const text = `0x${Buffer.from('EURC').toString('hex').padEnd(62, '0')}08`;
    for (const slot of ['0x3', '0x4']) await there.anvil.rpc('anvil_setStorageAt', [EURC, slot, text]);
    const answers = await answersFile('arc', {
      venue: { url: other.url, keyEnv: 'INIT_VENUE_KEY' },
      chains: { [there.chain.slug]: { rpcUrl: there.anvil.url, tokens: [there.usdc.address, EURC] } },
    });
    await init('arc', { answers });
    const file = join(folder, 'arc', 'lp.json');
    const { config } = await loadConfig(zLpAppConfig, file, {});
    expect(config.networks[0]).toMatchObject({ native: { symbol: 'USDC', token: { decimals: 6 } } });
    expect(Object.keys(config.lp.prices)).toEqual(['USDC', 'EURC']);
    expect(config.lp.pairs).toMatchObject([{ base: 'EURC', quote: 'USDC' }]);
    // No test calls an exchange.
    const feeds = Object.entries(config.feeds).map(([name, { kind }]) => [
      `FIRMQUOTE__FEEDS__${name}__URL`,
      kind === 'http' ? 'http://127.0.0.1:1/{symbol}' : 'ws://127.0.0.1:1',
    ]);
    const running = startFirmquote(['lp', '--config', file], {
      ...(Object.fromEntries(feeds) as Record<string, string>),
      DATABASE_URL: await postgres.server.database('init_arc'),
      INIT_VENUE_KEY: KEY,
      FIRMQUOTE__OPS__PORT: '0',
      FIRMQUOTE__ADMIN__PORT: String(await freePort()),
    });
    try {
      const hello = await Promise.race([other.hello(), running.ended]);
      expect(hello, running.output()).toMatchObject({ corridors: [expect.any(String)] });
      expect([await running.stop(), running.output()]).toEqual([0, expect.not.stringContaining('ETH')]);
    } finally {
      if (running.child.exitCode === null) running.child.kill('SIGKILL');
    }
  } finally {
    await Promise.all([other.stop(), arc.stop(), postgres.stop()]);
  }
});

test('answers from a file run unattended, keep ${NAME} unchanged, and generate a password', async () => {
  await init('filed', { answers: await answersFile('filed') });
  const text = await readFile(join(folder, 'filed', 'lp.json'), 'utf8');
  expect(text).toContain('"${INIT_RPC}"');
  const password = (await readFile(join(folder, 'filed', 'secrets', 'operator-password'), 'utf8')).trim();
  expect(password).toMatch(/^[0-9a-f]{64}$/);
  const keystore = await readFile(join(folder, 'filed', 'secrets', 'operator.json'), 'utf8');
  expect(printed.join('\n')).toContain(`The operator is ${keystoreAddress(keystore) ?? 'unknown'}.`);
  expect(await decryptKey(keystore, password)).toMatch(/^0x[0-9a-f]{64}$/);
});

test('warns of an operator without limits, and not of one that has some', async () => {
  const operator = account(62);
  const answers = (name: string) => answersFile(name, { operator: { keyEnv: 'INIT_OPERATOR_KEY' } });
  vi.stubEnv('INIT_OPERATOR_KEY', operator.privateKey);
  await chain.setOperator(owner.address, operator.address);
  await init('unlimited', { answers: await answers('unlimited') });
  expect(printed.join('\n')).toContain('WARNING: the operator has no limits on chain1.');
  printed = [];
  await chain.send(
    owner.address,
    chain.chain.escrow,
    limitOperatorCall(operator.address, chain.usdc.address, 1n, 3_600),
  );
  await init('limited', { answers: await answers('limited') });
  expect(printed.join('\n')).toContain('the operator may sign');
  expect(printed.join('\n')).not.toContain('WARNING');
});

test('an owner instead of an account: the LpAccount that it will have, and what is to be done for it', async () => {
  const answers = await answersFile('owned', { account: undefined });
  const salt = `0x${'ab'.padStart(64, '0')}` as const;
  await init('owned', { answers, accountOwner: owner.address, accountSalt: salt });
  const { config } = await loadConfig(zLpAppConfig, join(folder, 'owned', 'lp.json'), {});
  const { address } = lpAccountDeployment(owner.address, salt);
  expect(config.lp.chains).toEqual([expect.objectContaining({ account: address })]);
  expect(printed.join('\n')).toMatch(
    new RegExp(
      `the account is the LpAccount ${address}[\\s\\S]*account deploy .* --salt ${salt}\n +firmquote lp account set --treasury ADDRESS [\\s\\S]*operator set [\\s\\S]*lp deposit [\\s\\S]*account finish`,
    ),
  );
  await init('moved', { answers, accountOwner: owner.address, mover: true });
  const moved = (await loadConfig(zLpAppConfig, join(folder, 'moved', 'lp.json'), {})).config.keys.mover;
  expect(moved).toEqual({
    keystore: join(folder, 'moved', 'secrets', 'mover.json'),
    passwordFile: join(folder, 'moved', 'secrets', 'operator-password'),
  });
  const password = (await readFile(join(folder, 'moved', 'secrets', 'operator-password'), 'utf8')).trim();
  const mover = keystoreAddress(await readFile(join(folder, 'moved', 'secrets', 'mover.json'), 'utf8'));
  expect(
    await decryptKey(await readFile(join(folder, 'moved', 'secrets', 'mover.json'), 'utf8'), password),
  ).toMatch(/^0x[0-9a-f]{64}$/);
  expect(printed.join('\n')).toMatch(
    new RegExp(
      `set --treasury ADDRESS --mover config --mover-limit USDC=AMOUNT [\\s\\S]*send ${mover}, the mover`,
    ),
  );
  const plain = { answers: await answersFile('plain'), mover: true };
  await expect(init('plain', plain)).rejects.toThrow(/A plain account has no mover/);

  const both = { answers: await answersFile('both'), accountOwner: owner.address };
  await expect(init('both', both)).rejects.toThrow(/not both/);
  await expect(init('salted', { answers, accountSalt: salt })).rejects.toThrow(/needs --account-owner/);
});

test('never overwrites; --force keeps the old files beside the new ones', async () => {
  const answers = await answersFile('twice');
  await init('twice', { answers });
  const before = await readFile(join(folder, 'twice', 'secrets', 'operator.json'), 'utf8');
  await expect(init('twice', { answers })).rejects.toThrow(/exist already.*--force/);
  expect(await readFile(join(folder, 'twice', 'secrets', 'operator.json'), 'utf8')).toBe(before);
  await init('twice', { answers, force: true });
  const kept =
    (await readdir(join(folder, 'twice', 'secrets'))).find((name) =>
      /^operator\.json\.\d+\.old$/.test(name),
    ) ?? '';
  expect(await readFile(join(folder, 'twice', 'secrets', kept), 'utf8')).toBe(before);
});

test.each<[string, object, Partial<InitOptions>, RegExp]>([
  [
    'the wrong chain behind the endpoint',
    { venue: { url: 'SAME', keyEnv: 'INIT_VENUE_KEY' } },
    { rpc: ['chain1=WRONG'] },
    /on chain 41302, not on chain1 \(41301\)/,
  ],
  [
    'no venue at the address',
    { venue: { url: 'ws://127.0.0.1:1', keyEnv: 'INIT_VENUE_KEY' } },
    {},
    /The venue at ws:\/\/127\.0\.0\.1:1 cannot be reached/,
  ],
  [
    'a key that the venue does not know',
    { venue: { url: 'REFUSING', keyEnv: 'INIT_VENUE_KEY' } },
    {},
    /does not accept this key as a solver key/,
  ],
  [
    'an endpoint that does not answer',
    { chains: { chain1: { rpcUrl: 'http://127.0.0.1:1', tokens: [`0x${'1'.repeat(40)}`] } } },
    {},
    /endpoint of chain1 does not answer/,
  ],
  [
    'a token that is none',
    { chains: { chain1: { rpcUrl: '${INIT_RPC}', tokens: [`0x${'1'.repeat(40)}`] } } },
    {},
    /is not an ERC-20 token/,
  ],
  [
    'nobody to ask',
    { solver: {} },
    {},
    /Missing: Your id on the roster\. There is no terminal to ask \(--yes\)\. Give it with --solver-id/,
  ],
  ['answers that say too much', { privateKey: '0x1' }, {}, /Unrecognized key/],
  ["the owner's own key", {}, { operatorKeyEnv: 'INIT_OWNER_KEY' }, /key of the account itself/],
])('error: %s, and nothing is written', async (name, change, options, sentence) => {
  const refusing = createServer();
  refusing.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'));
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
  const elsewhere = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    // Another chain's node: whatever it is asked, that is where it is.
    request.on('end', () =>
      response
        .setHeader('content-type', 'application/json')
        .end(
          JSON.stringify(
            [JSON.parse(body)]
              .flat()
              .map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: '0xa156' })),
          ),
        ),
    );
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('INIT_OWNER_KEY', owner.privateKey);
  const fill = (text: string) =>
    text
      .replace('SAME', venue.url)
      .replace('REFUSING', `ws://127.0.0.1:${(refusing.address() as AddressInfo).port}`)
      .replace('WRONG', `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`);
  const answers = await answersFile(`bad ${name}`, JSON.parse(fill(JSON.stringify(change))) as object);
  await expect(
    init(`bad ${name}`, { answers, ...(JSON.parse(fill(JSON.stringify(options))) as object) }),
  ).rejects.toThrow(sentence);
  await expect(readdir(join(folder, `bad ${name}`))).rejects.toThrow('ENOENT');
  refusing.close();
  elsewhere.close();
  elsewhere.closeAllConnections();
});
