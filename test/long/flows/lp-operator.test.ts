/**
 * The operator's hands on a real LP process: its doors, its brakes, its configuration changed while it
 * quotes, and the trail that all this leaves.
 */

import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { LP_MIGRATIONS } from '../../../src/adapters/postgres/migrations/lp.ts';
import type { Address } from '../../../src/domain/hex.ts';
import { PROGRAM } from '../../support/build.ts';
import { firmquote as run, lpCommandHere, type Running, startFirmquote } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startExchange } from '../../support/exchange.ts';
import { blocksOf, openShell } from '../../support/page.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { random32, request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';

const owner = account(31);
const operator = account(32);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;

interface Config {
  ops: { port: number };
  admin: { port: number; tokenFile: string | null };
  keys: { operator: object };
  networks: object[];
  lp: {
    chains: {
      chainId: number;
      account: string;
      maxHeadAgeMs: number;
      graceSeconds: number;
      buffers: Record<string, string>;
    }[];
    pairs: { base: string; quote: string; params: Record<string, number> }[];
    limits: object;
    quoting: Record<string, number>;
    prices: Record<string, object>;
    pricing?: { module: string | null };
    risk?: { killFile: string };
  };
  feeds: Record<string, object>;
}

let folder: string;
let file: string;
let devnet: Devnet;
let chain: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: Running;
let config: Config;
let databaseUrl: string;

const save = (next: object) => writeFile(file, JSON.stringify(next, null, 2));
const json = async <T = Record<string, unknown>>(...args: string[]): Promise<T> =>
  JSON.parse((await lpCommandHere(...args, '-c', file, '--json')).stdout) as T;

async function start(): Promise<Running> {
  const process = startFirmquote(['lp', '-c', file], { DATABASE_URL: databaseUrl });
  await process.says('LP is running');
  return process;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-operator-'));
  file = join(folder, 'lp.json');
  [devnet, postgres] = await Promise.all([
    startDevnet([41101], { blockTimeSeconds: 1, landingMarginSeconds: 3, moreTokens: 2 }),
    startTestPostgres(),
  ]);
  chain = devnet.chains[0] as TestChain;
  await chain.fundAll([
    { address: owner.address, wholeTokens: 1_000_000n },
    { address: operator.address, wholeTokens: 0n },
  ]);
  await Promise.all([
    chain.deposit(owner.address, chain.usdc.address, 50_000n * USDC),
    chain.deposit(owner.address, chain.weth.address, 20n * WETH),
    chain.setOperator(owner.address, operator.address),
  ]);
  await chain.anvil.mine(2);
  venue = await startScriptedVenue([chain.chain]);
  databaseUrl = await postgres.server.database('lp_operator');
  await writeSecretFile(join(folder, 'password'), 'a password for tests');
  await writeSecretFile(
    join(folder, 'operator.json'),
    await encryptKey(operator, 'a password for tests', { n: 1 << 10 }),
  );
  await writeSecretFile(join(folder, 'venue-key'), 'fq_test_0123456789012345678901234567890123456789');
  const {
    id,
    slug,
    escrow,
    oracle,
    permit2,
    tokens,
    depth,
    blockTimeMs,
    landingMarginSeconds,
    proofWindowSeconds,
  } = chain.chain;
  config = {
    app: 'lp',
    ops: { port: await freePort() },
    admin: { port: await freePort(), tokenFile: join(folder, 'data', 'admin.token') },
    keys: { operator: { keystore: join(folder, 'operator.json'), passwordFile: join(folder, 'password') } },
    venues: [{ name: 'scripted', url: venue.url, apiKey: { file: join(folder, 'venue-key') } }],
    networks: [
      {
        id,
        slug,
        escrow,
        oracle,
        permit2,
        tokens,
        depth,
        blockTimeMs,
        landingMarginSeconds,
        proofWindowSeconds,
        rpcUrls: [chain.anvil.url],
      },
    ],
    feeds: {
      silent: { kind: 'http', url: `http://127.0.0.1:${await freePort()}/{symbol}`, bid: 'bid', ask: 'ask' },
    },
    lp: {
      solver: { id: 'hands', name: 'Hands' },
      chains: [{ chainId: id, account: owner.address, maxHeadAgeMs: 30_000, graceSeconds: 1, buffers: {} }],
      prices: {
        USD: { fixed: '1' },
        ETH: { fixed: '2500' },
        EUR: { sources: [{ feed: 'silent', symbol: 'EURUSD' }] },
      },
      assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' }, T0: { price: 'EUR' }, T1: { price: 'ETH' } },
      pairs: [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 1 } }],
      quoting: { validitySeconds: 2 },
      limits: { total: { count: 100 } },
    },
  } as Config;
  await save(config);
  lp = await start();
  await venue.until(({ status }) => status === 'active');
}, 90_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const sell = (amount = WETH / 5n) =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.weth,
    take: chain.usdc,
    amount,
    taker: random32().slice(0, 42) as Address,
  });
async function outputOf(rfq = sell()): Promise<bigint> {
  const answer = await venue.ask(rfq);
  if (answer.type !== 'quote') throw new Error(JSON.stringify(answer));
  return BigInt(answer.order.outputs[0]?.amount ?? 0);
}

describe('the admin API', () => {
  const knock = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) =>
      httpRequest({ host: '127.0.0.1', port: config.admin.port, path: '/status', headers }, (answer) =>
        resolve(answer.resume().statusCode ?? 0),
      )
        .on('error', reject)
        .end(),
    );

  test('needs the token and refuses browser origins', async () => {
    const token = (await readFile(config.admin.tokenFile ?? '', 'utf8')).trim();
    const bearer = { authorization: `Bearer ${token}` };
    expect((await stat(config.admin.tokenFile ?? '')).mode & 0o777).toBe(0o600);
    expect(
      await Promise.all([
        knock(bearer),
        knock({}),
        knock({ authorization: 'Bearer wrong' }),
        knock({ ...bearer, origin: 'https://evil.example' }),
        knock({ ...bearer, host: 'rebound.example' }),
        knock({ ...bearer, 'sec-fetch-site': 'cross-site' }),
      ]),
    ).toEqual([200, 401, 401, 403, 403, 403]);
    expect(lp.output()).not.toContain(token);
  });

  test('commands find the LP by configuration or by URL', async () => {
    const url = `http://127.0.0.1:${config.admin.port}`;
    const ways = await Promise.all([
      run(['lp', 'status', '-c', file]),
      run(['lp', '-c', file, 'status']),
      run(['lp', 'status', '--admin', url, '--token-file', config.admin.tokenFile ?? '']),
    ]);
    for (const { status, stdout } of ways)
      expect([status, stdout]).toEqual([
        0,
        expect.stringMatching(
          /^Quoting\. 0 live quotes, 0 open orders\.[^]*\nchain1 .* \d+(?:\.\d+)? ETH\n[^]*\nsource +of +says +age +bps off +state/,
        ),
      ]);
    const without = await lpCommandHere('status', '--admin', url);
    expect([without.status, without.stderr]).toEqual([1, expect.stringContaining('needs its token')]);
  });

  test('error: no LP, the wrong LP, no LP named', async () => {
    const free = await freePort();
    expect((await lpCommandHere('status', '--admin', `http://127.0.0.1:${free}`)).stderr).toContain(
      `No LP answers at http://127.0.0.1:${free}. Start it with: firmquote lp`,
    );
    expect(
      (await lpCommandHere('status', '--admin', `http://127.0.0.1:${config.ops.port}`)).stderr,
    ).toContain('is not the admin API of an LP');
    expect((await lpCommandHere('status')).stderr).toContain('Give the configuration of the LP');
  });
});

test('each counter of the LP that an alert counts is there before its first event', async () => {
  const rules = await readFile(new URL('../../../ops/rules.yml', import.meta.url), 'utf8');
  const counted = [...rules.matchAll(/(?:increase|rate)\((firmquote_lp_[a-z_]+)(\{[^}]*\})?\[/g)];
  expect(counted.length).toBeGreaterThan(3);
  const text = await (await fetch(`http://127.0.0.1:${config.ops.port}/metrics`)).text();
  const series = text.split('\n');
  const checked = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect([checked.status, `${checked.stdout}${checked.stderr}`]).toEqual([0, '']);
  for (const [, name = '', selector] of counted) {
    const matchers = [...(selector ?? '').matchAll(/([a-z_]+)=~?"([^"]*)"/g)];
    const exists = series.some(
      (line) =>
        (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) &&
        matchers.every(([, label = '', value = '']) => new RegExp(`${label}="(?:${value})"`).test(line)),
    );
    expect([name, exists]).toEqual([name, true]);
  }
});

test('pause stops signing immediately and records who and why; resume ends it', async () => {
  const paused = await lpCommandHere('pause', '-c', file, '--note', 'lunch');
  expect(paused.stdout).toMatch(
    /^Not quoting\..*\nPaused by cli \(.+\) at .*: lunch\. Resume with: firmquote lp resume/,
  );
  expect(await venue.ask(sell())).toMatchObject({ type: 'decline', reason: 'standby' });
  expect(venue.statuses.at(-1)).toMatchObject({
    status: 'standby',
    note: expect.stringMatching(/^paused: by its operator/) as unknown,
  });
  expect((await lpCommandHere('resume', '-c', file)).stdout).toMatch(/^Quoting\./);
  expect(await outputOf()).toBeGreaterThan(480n * USDC);
});

test('a pair or a chain is paused alone, also over a restart, and resumed alone', async () => {
  const paused = await lpCommandHere('pause', '-c', file, '--pair', 'WETH-USDC', '--note', 'odd fills');
  expect([paused.status, paused.stdout]).toEqual([
    0,
    expect.stringMatching(/^Not quoting\.[\s\S]*paused_part: pair WETH-USDC is paused: odd fills/),
  ]);
  expect(await venue.ask(sell())).toMatchObject({ type: 'decline', reason: 'standby' });
  await venue.until(({ status, note }) => status === 'standby' && note?.startsWith('paused_part:') === true);
  expect(venue.statuses.at(-1)?.note).not.toContain('odd fills');
  await lp.stop();
  lp = await start();
  expect((await lpCommandHere('status', '-c', file)).stdout).toContain('pair WETH-USDC is paused: odd fills');
  await lpCommandHere('pause', '-c', file, '--chain', 'chain1');
  expect((await lpCommandHere('resume', '-c', file, '--pair', 'WETH-USDC')).stdout).toContain(
    'chain chain1 is paused: by the operator',
  );
  expect((await lpCommandHere('resume', '-c', file, '--chain', 'chain1')).stdout).toMatch(/^Quoting\./);
  await venue.until(({ status }) => status === 'active');
  expect(await outputOf()).toBeGreaterThan(480n * USDC);
  for (const [args, sentence] of [
    [['pause', '--pair', 'GOLD-USDC'], 'This LP has no "GOLD-USDC": name one of WETH-USDC.'],
    [['pause', '--pair', 'WETH-USDC', '--chain', 'chain1'], 'Name a pair or a chain, not both.'],
    [['resume', '--chain', 'chain1'], 'chain1 is not paused'],
  ] as const) {
    const refused = await lpCommandHere(...args, '-c', file);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(sentence)]);
  }
});

test('inventory and limits as tables and as JSON', async () => {
  const inventory = await lpCommandHere('inventory', '-c', file);
  expect(inventory.stdout).toMatch(/asset +chain +balance +held/);
  expect(inventory.stdout).toMatch(/USDC +chain1 +50000 /);
  expect(inventory.stdout).toMatch(/asset +chain +position +target +soft band +hard band +q/);
  expect(inventory.stdout).toMatch(/WETH +all +[0-9.]+…? +[0-9.]+…? +± 80 +± 160 +-?[0-9.]+/);
  const limits = await json<{ limits: { scope: string; maxCount: number }[] }>('limits');
  expect(limits.limits).toContainEqual(expect.objectContaining({ scope: 'total', maxCount: 100 }));
  const [curves, learned] = await Promise.all([
    lpCommandHere('curves', '-c', file),
    json<{ curves: object[] }>('curves'),
  ]);
  expect(curves.stdout).toMatch(
    learned.curves.length === 0 ? /No curves yet/ : /pair +corridor +size USD +won +lost/,
  );
});

describe('a signal of the operator', () => {
  const buy = () =>
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.usdc,
      take: chain.weth,
      amount: 500n * USDC,
      taker: random32().slice(0, 42) as Address,
    });
  /** The all-in spread without the noise of learning, and each term by name. */
  async function explained(rfq = sell()) {
    const answer = await venue.ask(rfq);
    if (answer.type !== 'quote') throw new Error(JSON.stringify(answer));
    const { explanations } = await json<{
      explanations: { terms: { name: string; bps: number }[]; price: { allInBps: number }; inputs: object }[];
    }>('explain', answer.quoteId);
    const [quote] = explanations;
    if (quote === undefined) throw new Error('not explained');
    const terms = Object.fromEntries(quote.terms.map(({ name, bps }) => [name, bps]));
    return { spread: quote.price.allInBps - (terms['explore'] ?? 0), terms, inputs: quote.inputs, answer };
  }
  async function http(method: string, path: string, body?: object) {
    const token = (await readFile(config.admin.tokenFile ?? '', 'utf8')).trim();
    const answer = await fetch(`http://127.0.0.1:${config.admin.port}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  }
  const metrics = async () => (await fetch(`http://127.0.0.1:${config.ops.port}/metrics`)).text();

  test('moves the quotes of its pair by what explain says, and a restart keeps it', async () => {
    const before = await explained();
    expect(before.terms).not.toHaveProperty('signalSkew');
    const set = await lpCommandHere(
      ...['signal', 'set', '-c', file, '--pair', 'WETH-USDC', '--for', '30m', '--note', 'a listing'],
      ...['--skew', '-2', '--shift', '-1', '--width', '3'],
    );
    expect([set.status, set.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Set from the next request on: s-[0-9a-f]{8} on WETH-USDC: skew -2 bps, fair value -1 bps, width 3 bps until .*, by cli \(.*\) \(a listing\)\n/,
      ),
    ]);
    const during = await explained();
    // We buy: all three are worse for the taker. A wider quote is a cheaper option, so its premium falls.
    expect(during.terms).toMatchObject({ signalSkew: 2, signalShift: 1, signalWidth: 3 });
    const moved = during.spread - before.spread;
    expect(moved).toBeGreaterThan(5);
    expect(moved).toBeLessThan(6.1);
    expect((await explained(buy())).terms).toMatchObject({ signalSkew: -2, signalShift: -1, signalWidth: 3 });
    const said = await lpCommandHere('explain', during.answer.quoteId, '-c', file);
    expect(said.stdout).toMatch(/signal: skew +2\.0000[\s\S]*signal: fair value +1\.0000/);
    expect(said.stdout).toMatch(/signal +s-[0-9a-f]{8}: skew -2 bps, fair value -1 bps, width 3 bps/);
    expect((await lpCommandHere('status', '-c', file)).stdout).toContain('a listing');
    expect((await lpCommandHere('limits', '-c', file)).stdout).toMatch(
      /Signals in force: 1 of 16\. Each at most 5 bps of skew/,
    );
    expect(await metrics()).toContain('firmquote_lp_signals{pair="WETH-USDC"} 1');

    await lp.stop();
    lp = await start();
    await venue.until(({ status }) => status === 'active');
    expect((await lpCommandHere('signal', 'list', '-c', file)).stdout).toMatch(
      /s-[0-9a-f]{8} +WETH-USDC +both +-2 +-1 +3 +\d+ s +cli/,
    );
    expect((await explained()).terms).toMatchObject({ signalWidth: 3 });
  });

  test('beyond its bounds it is refused with both values, and nothing changes', async () => {
    const { body: standing } = await http('GET', '/v1/signals');
    const wish = { pair: 'WETH-USDC', skewBps: 1, ttlSeconds: 60 };
    for (const [change, code, sentence] of [
      [{ skewBps: -80 }, 'signal_out_of_bounds', 'skewBps is -80, and lp.signals.maxSkewBps allows 5'],
      [{ ttlSeconds: 7_200 }, 'signal_out_of_bounds', '7200 s, and lp.signals.maxSeconds allows 3600'],
      [{ widthBps: -1 }, 'signal_out_of_bounds', 'widthBps is -1, and the least is 0'],
      [{ pair: 'GOLD-USDC' }, 'unknown_pair', 'This LP has no pair "GOLD-USDC": name one of WETH-USDC.'],
      [{ skewBp: 1 }, 'invalid_signal', 'skewBp: no such option; did you mean "skewBps"?'],
      [{ ttlSeconds: undefined }, 'invalid_signal', 'give either ttlSeconds or expiresAt'],
    ] as const)
      expect(await http('POST', '/v1/signals', { ...wish, ...change })).toMatchObject({
        status: 422,
        body: { error: { code, message: expect.stringContaining(sentence) as unknown } },
      });
    const cli = await lpCommandHere(
      ...['signal', 'set', '-c', file, '--pair', 'WETH-USDC', '--width', '900', '--for', '10m'],
    );
    expect([cli.status, cli.stderr]).toEqual([
      1,
      expect.stringContaining('widthBps is 900, and lp.signals.maxWidthBps allows 50: give at most 50'),
    ]);
    const { body: after } = await http('GET', '/v1/signals');
    const ids = ({ signals }: Record<string, unknown>) => (signals as { id: string }[]).map(({ id }) => id);
    expect(ids(after)).toEqual(ids(standing));
    expect(await metrics()).toContain('firmquote_lp_signals_refused_total{reason="signal_out_of_bounds"} 4');
  });

  test('ends by itself, or by the operator, and quotes are as before; the audit log has it all', async () => {
    const next = { pair: 'WETH-USDC', widthBps: 20, ttlSeconds: 2, by: 'desk', note: 'short' };
    const { body } = await http('POST', '/v1/signals', next);
    expect(body).toMatchObject({
      signal: { widthBps: 20, skewBps: 0, side: null },
      replaced: [{ skewBps: -2, note: 'a listing' }],
    });
    const wide = await explained();
    expect(wide.terms).toMatchObject({ signalWidth: 20 });
    await expect.poll(metrics, { timeout: 10_000 }).toContain('firmquote_lp_signals{pair="WETH-USDC"} 0');
    const after = await explained();
    expect(after.inputs).toMatchObject({ signal: null });
    expect(wide.spread - after.spread).toBeGreaterThan(17);
    expect(wide.spread - after.spread).toBeLessThan(20.1);

    await http('POST', '/v1/signals', { ...next, ttlSeconds: 600, side: 'buy' });
    expect((await explained(buy())).terms).not.toHaveProperty('signalWidth');
    const cleared = await lpCommandHere('signal', 'clear', 'WETH-USDC', '-c', file);
    expect([cleared.status, cleared.stdout]).toEqual([
      0,
      expect.stringMatching(/^Ended: s-[0-9a-f]{8} on WETH-USDC, where we buy the base: width 20 bps/),
    ]);
    expect((await explained()).terms).not.toHaveProperty('signalWidth');
    expect(await http('DELETE', '/v1/signals/WETH-USDC')).toMatchObject({
      status: 404,
      body: { error: { code: 'unknown_signal' } },
    });
    const entries = (
      await json<{ what: string; who: string; address: string; changes: { from: string; to: string }[] }[]>(
        ...['audit', '--limit', '20'],
      )
    ).filter(({ what }) => what.startsWith('signal_'));
    const acts = entries.toReversed().map(({ what }) => what);
    expect(acts).toEqual([
      'signal_set',
      ...Array.from({ length: 7 }, () => 'signal_refused'),
      ...['signal_set', 'signal_set', 'signal_clear'],
    ]);
    expect(entries.find(({ who }) => who === 'desk')).toMatchObject({ address: '127.0.0.1' });
    const [replacing] = entries.filter(({ who }) => who === 'desk').slice(-1);
    expect(replacing?.changes).toEqual([
      {
        path: 'signals.WETH-USDC',
        from: expect.stringMatching(
          /^s-.{8}: skew -2 bps, fair value -1 bps, width 3 bps, until 2/,
        ) as unknown,
        to: expect.stringMatching(/^s-.{8}: skew 0 bps, fair value 0 bps, width 20 bps, until 2/) as unknown,
      },
    ]);
  });
});

describe('reload', () => {
  test('status and metrics name each pair that cannot be quoted, with the reason', async () => {
    await outputOf(sell(WETH / 10n));
    const wanted = structuredClone(config);
    wanted.lp.pairs = [
      ...config.lp.pairs,
      { base: 'T0', quote: 'USDC' },
      { base: 'T1', quote: 'T0' },
    ] as typeof config.lp.pairs;
    await save(wanted);
    expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
    const status = await lpCommandHere('status', '-c', file);
    expect(status.stdout).toMatch(/^Quoting 1 of 3 pairs\. /);
    expect(status.stdout).toMatch(/ {2}T0-USDC is not quoted: .*silent/);
    expect(status.stdout).toMatch(
      / {2}T1-T0 is not quoted: (?:T0|T1) on \S+: nothing to pay out beyond the buffer/,
    );
    const metrics = await (await fetch(`http://127.0.0.1:${config.ops.port}/metrics`)).text();
    for (const line of [
      'firmquote_lp_quoting 1',
      'firmquote_lp_pair_quoting{pair="WETH-USDC"} 1',
      'firmquote_lp_pair_quoting{pair="T0-USDC"} 0',
      'firmquote_lp_pair_quoting{pair="T1-T0"} 0',
    ])
      expect(metrics).toContain(line);
    expect(metrics).toMatch(/firmquote_lp_quotes_total\{pair="WETH-USDC"\} [1-9]/);
    expect(metrics).toMatch(/firmquote_lp_quoted_usd_total\{pair="WETH-USDC"\} [1-9]/);
    expect(metrics).toMatch(/firmquote_lp_quoted_spread_bps_count\{pair="WETH-USDC"\} [1-9]/);
    // A venue learns that a price is missing, not which source.
    expect(venue.statuses.at(-1)).toMatchObject({ status: 'active', note: 'price: no reliable price' });
    await save(config);
    expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
  });

  test('SIGHUP: the next request gets the new price, and signed quotes keep their terms', async () => {
    const before = await outputOf();
    const held = BigInt(
      (await json<{ buckets: { asset: string; held: string }[] }>('inventory')).buckets.find(
        ({ asset }) => asset === 'USDC',
      )?.held ?? 0,
    );
    config.lp.pairs = [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 100 } }];
    config.lp.chains = config.lp.chains.map((each) => ({ ...each, buffers: { USDC: '40000' } }));
    await save(config);
    lp.child.kill('SIGHUP');
    await lp.says('lp.pairs.WETH-USDC.params.minSpreadBps');
    const answer = await venue.ask(sell());
    if (answer.type !== 'quote') throw new Error(JSON.stringify(answer));
    expect(BigInt(answer.order.outputs[0]?.amount ?? 0)).toBeLessThan((before * 9_920n) / 10_000n);
    expect(held).toBeGreaterThanOrEqual(before);
    // The buffer counts too: 50,000 less 40,000 less what is promised.
    expect(await venue.ask(sell(4n * WETH))).toMatchObject({ type: 'decline', reason: 'no_inventory' });
  });

  test('a dry run prints the differences and recent quotes priced again, and changes nothing', async () => {
    const before = await outputOf();
    const wider = structuredClone(config);
    wider.lp.pairs = [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 200, maxSize: 20_000 } }];
    await save(wider);
    const shown = await lpCommandHere('reload', '-c', file, '--dry-run');
    expect([shown.status, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).toContain('lp.pairs.WETH-USDC.params.minSpreadBps: 100 → 200');
    const row = /WETH-USDC +(\d+) +([0-9.]+) +([0-9.]+)/.exec(shown.stdout)?.slice(1).map(Number);
    const [quotes = 0, spread = 0, newSpread = 0] = row ?? [];
    expect(quotes).toBeGreaterThan(0);
    expect(newSpread).toBeGreaterThanOrEqual(200);
    expect(spread).toBeLessThan(newSpread);
    // Recent quotes of more than 20,000 USD would be declined.
    expect(shown.stdout).toMatch(/WETH-USDC .*\d+ size_above_max|WETH-USDC .* 0\n/);
    expect(await outputOf()).toBeGreaterThanOrEqual(before - before / 1_000n);
    await save(config);
    expect((await lpCommandHere('reload', '-c', file, '--dry-run')).stdout).toContain(
      'A reload would change nothing',
    );
  });

  test('error: values that contradict each other are refused, by a dry run too, and both are named', async () => {
    const spoilt = structuredClone(config);
    spoilt.lp.pairs = [
      { base: 'WETH', quote: 'USDC', params: { minSpreadBps: 100, minSize: 500, maxSize: 400 } },
    ];
    await save(spoilt);
    for (const flags of [['--dry-run'], []]) {
      const refused = await lpCommandHere('reload', '-c', file, ...flags);
      expect([refused.status, refused.stderr]).toEqual([
        1,
        expect.stringContaining('lp.pairs.0.params.minSize: is 500, above maxSize = 400'),
      ]);
    }
    expect(await outputOf(sell(WETH / 10n))).toBeGreaterThan(0n);
    await save(config);
  });

  test('the command prints the differences, or that there are none', async () => {
    config.lp.limits = { total: { count: 100 }, perPair: { count: 20 } };
    await save(config);
    const changed = await lpCommandHere('reload', '-c', file);
    expect([changed.status, changed.stdout]).toEqual([
      0,
      expect.stringContaining('lp.limits.perPair: - → {count: 20}'),
    ]);
    expect((await lpCommandHere('reload', '-c', file)).stdout).toBe(
      'Nothing changed: the file equals the running configuration.\n',
    );
    expect(
      (await json<{ limits: { scope: string }[] }>('limits')).limits.map(({ scope }) => scope),
    ).toContain('perPair');
  });

  test('error: an option that is read only at start refuses the whole reload, and every such option is named', async () => {
    const spoilt = structuredClone(config);
    spoilt.lp.pairs = [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 1 } }];
    for (const each of spoilt.lp.chains) each.account = operator.address;
    spoilt.lp.quoting = { ...spoilt.lp.quoting, claimSeconds: 61 };
    spoilt.keys.operator = { env: 'SOMETHING', development: true };
    await save(spoilt);
    const before = await outputOf();
    const refused = await lpCommandHere('reload', '-c', file);
    expect(refused.status).toBe(1);
    for (const key of [
      `lp.chains.${chain.chain.id}.account`,
      'lp.quoting.claimSeconds',
      'keys.operator.keystore',
    ])
      expect(refused.stderr).toContain(`  - ${key} is read only at start: restart the LP to change it.`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await outputOf()).toBeLessThanOrEqual(before + before / 1_000n);
    await save(config);
  });

  test('error: an invalid file changes nothing', async () => {
    await writeFile(file, '{ "app": "lp", ');
    await fetch(`http://127.0.0.1:${config.admin.port}/reload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${(await readFile(config.admin.tokenFile ?? '', 'utf8')).trim()}` },
    }).then(async (answer) => {
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({
        error: { code: 'reload_refused' },
        applied: false,
        reasons: [expect.stringContaining('is not JSON')],
      });
    });
    await save({ ...config, lp: { ...config.lp, pairs: [{ base: 'GOLD', quote: 'USDC' }] } });
    // A file that cannot be used as a whole still says where the LP is.
    expect((await lpCommandHere('reload', '-c', file)).stderr).toContain(
      'lp.pairs.0.base: there is no asset "GOLD"',
    );
    expect((await json('status')).status).toBe('active');
    await save(config);
    expect(await outputOf()).toBeGreaterThan(0n);
    const metrics = await (await fetch(`http://127.0.0.1:${config.ops.port}/metrics`)).text();
    expect(
      [/reloads_total\{outcome="applied"\} (\d+)/, /reloads_total\{outcome="refused"\} (\d+)/].map(
        (series) => series.exec(metrics)?.[1],
      ),
    ).toEqual(['5', '4']);
  });
});

/** An exchange that answers its price over HTTP until it is stopped. */
async function startPrices(first: string) {
  let price = first;
  const server = createServer((_, response) => response.end(JSON.stringify({ bid: price, ask: price })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    feed: { kind: 'http', url: `http://127.0.0.1:${port}/{symbol}`, bid: 'bid', ask: 'ask', everyMs: 100 },
    say: (next: string) => void (price = next),
    stop: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  };
}

describe('reload of price sources', () => {
  const exchanges: Awaited<ReturnType<typeof startPrices>>[] = [];
  const exchange = async (price: string) => {
    const one = await startPrices(price);
    exchanges.push(one);
    return one;
  };
  const from = (...feeds: string[]) => feeds.map((feed) => ({ feed, symbol: 'ETHUSD' }));
  const metricsText = async () => (await fetch(`http://127.0.0.1:${config.ops.port}/metrics`)).text();
  const small = () => sell(WETH / 100n);
  let before: Config;

  /** Saves the file and reloads it. A change that is refused leaves the file as it is. */
  async function reload(change: (wanted: Config) => void) {
    const wanted = structuredClone(config);
    change(wanted);
    await save(wanted);
    const done = await lpCommandHere('reload', '-c', file);
    if (done.status === 0) config = wanted;
    return done;
  }

  beforeAll(() => {
    before = structuredClone(config);
    config.lp.chains = config.lp.chains.map((each) => ({ ...each, buffers: {} }));
    config.lp.limits = { total: { count: 10_000 } };
    config.lp.pairs = [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 1 } }];
  });
  afterAll(async () => {
    config = { ...before, lp: { ...before.lp, limits: config.lp.limits } };
    await save(config);
    expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
    await Promise.all(exchanges.map((each) => each.stop()));
  });

  test('an LP whose only exchange died moves to another one, and keeps its link and its quotes', async () => {
    const [night, day] = [await exchange('2500'), await exchange('2600')];
    const moved = await reload(({ feeds, lp: { prices } }) => {
      feeds['night'] = night.feed;
      prices['ETH'] = { sources: from('night') };
    });
    expect([moved.status, moved.stderr]).toEqual([0, '']);
    expect(moved.stdout).toContain('Warning: prices.ETH has sources from one feed only');
    const long = await venue.ask({ ...small(), minValidUntil: Math.floor(Date.now() / 1000) + 15 });
    expect(long.type).toBe('quote');
    const links = venue.keys.length;
    await night.stop();
    await venue.until(({ status }) => status === 'standby');
    expect(await venue.ask(small())).toMatchObject({ type: 'decline' });
    const change = ({ feeds, lp: { prices } }: Config) => {
      delete feeds['night'];
      feeds['day'] = day.feed;
      prices['ETH'] = { sources: from('day') };
    };
    const shown = structuredClone(config);
    change(shown);
    await save(shown);
    const dry = await lpCommandHere('reload', '-c', file, '--dry-run');
    expect([dry.status, dry.stdout]).toEqual([0, expect.stringContaining('feeds.day: - → ')]);
    expect(await venue.ask(small())).toMatchObject({ type: 'decline' });
    expect((await reload(change)).status).toBe(0);
    expect((await json<{ liveQuotes: number }>('status')).liveQuotes).toBeGreaterThan(0);
    // 0.01 WETH at 2,600 less about ten bps.
    expect(await outputOf(small())).toBeGreaterThan(25_900_000n);
    await venue.until(({ status }) => status === 'active');
    expect(venue.keys).toHaveLength(links);
    const metrics = await metricsText();
    expect(metrics).not.toContain('night');
    expect(metrics).toContain('firmquote_lp_feed_connected{feed="day"} 1');
    expect(metrics).toContain('firmquote_lp_feed_disconnects_total{feed="day"} 0');
  });

  test('error: a new feed without a price is refused, also under an old name, and nothing changes', async () => {
    const dead = exchanges[0]?.feed as object;
    const refused = await reload(({ feeds, lp: { prices } }) => {
      for (const name of ['dead', 'day']) feeds[name] = dead;
      prices['ETH'] = { sources: from('day', 'dead') };
    });
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(
        /Nothing changed[^]*day\|ETHUSD gave none within 5.0 s \(ETHUSD: no connection\); dead\|ETHUSD gave none/,
      ),
    ]);
    expect(await outputOf(small())).toBeGreaterThan(25_900_000n);
    const metrics = await metricsText();
    expect(metrics).toContain('firmquote_lp_feed_connected{feed="day"} 1');
    expect(metrics).not.toContain('dead');
    await save(config);
  });

  test('a reference that differs stops the pair, and quoting goes on when a reload removes it', async () => {
    const check = await exchange('2700');
    const added = await reload(({ feeds, lp: { prices } }) => {
      feeds['check'] = check.feed;
      prices['ETH'] = { sources: from('day'), references: from('check') };
    });
    expect(added.status).toBe(0);
    expect(await venue.ask(small())).toMatchObject({ type: 'decline', code: 'deviation' });
    expect((await reload(({ lp: { prices } }) => (prices['ETH'] = { sources: from('day') }))).status).toBe(0);
    expect(await outputOf(small())).toBeGreaterThan(25_900_000n);
    expect(await metricsText()).not.toContain('check|');
  });

  test('a depeg guard is added while the peg is broken, and stays tripped when another guard joins', async () => {
    const [one, two] = [await exchange('0.99'), await exchange('0.9975')];
    const guards = (feeds: string[]) => feeds.map((feed) => ({ feed, symbol: 'USDCUSD' }));
    const guarded = (...feeds: string[]) => ({ fixed: '1', depegSources: 1, guards: guards(feeds) });
    await reload(({ feeds, lp: { prices } }) => {
      feeds['one'] = one.feed;
      prices['USD'] = guarded('one');
    });
    // 26 USD at 0.99 are 26.26 USDC.
    expect(await outputOf(small())).toBeGreaterThan(26_150_000n);
    one.say('0.9975');
    const priced = () => outputOf(small());
    await expect.poll(priced, { timeout: 20_000 }).toBeLessThan(26_100_000n);
    await reload(({ feeds, lp: { prices } }) => {
      feeds['two'] = two.feed;
      prices['USD'] = guarded('one', 'two');
    });
    // 25 bps off is within the 30 allowed, and not within the 15 that end a broken peg.
    expect(await json<{ prices: object[] }>('status')).toMatchObject({
      prices: expect.arrayContaining([expect.objectContaining({ symbol: 'USD', usd: 0.9975 })]) as object[],
    });
    expect((await reload(({ lp: { prices } }) => (prices['USD'] = { fixed: '1' }))).status).toBe(0);
    expect(await outputOf(small())).toBeLessThan(26_000_000n);
  });

  test('a plug-in is loaded by a reload, again when its text changes, and the old one stays when it throws', async () => {
    const module = join(folder, 'pricer.mjs');
    const pricer = (bps: number) => `export default { name: 'mine', pricer: () => ({ edge: ${bps} }) };`;
    const at = (bps: bigint) => (26_000_000n * (10_000n - bps)) / 10_000n;
    await writeFile(module, pricer(50));
    expect((await reload(({ lp }) => (lp.pricing = { module }))).status).toBe(0);
    const fifty = await outputOf(small());
    expect(fifty).toBeLessThanOrEqual(at(50n));
    expect(fifty).toBeGreaterThan(at(55n));
    await writeFile(module, pricer(150));
    const dry = await lpCommandHere('reload', '-c', file, '--dry-run');
    expect(dry.stdout).toMatch(/lp\.pricing\.module \(sha256 of the file\): \w{12} → \w{12}/);
    const row = /WETH-USDC +\d+ +([0-9.]+) +([0-9.]+)/.exec(dry.stdout)?.slice(1).map(Number) ?? [];
    expect(row[1]).toBeGreaterThanOrEqual(150);
    expect(await outputOf(small())).toBeGreaterThan(at(55n));
    expect((await reload(() => {})).stdout).toMatch(/sha256 of the file/);
    const more = await outputOf(small());
    expect(more).toBeLessThanOrEqual(at(150n));
    await writeFile(module, 'throw new Error("no licence");');
    const refused = await reload(() => {});
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/Nothing changed[^]*it throws when it is loaded \(no licence\)/),
    ]);
    expect(await outputOf(small())).toBe(more);
    expect((await reload(({ lp }) => (lp.pricing = { module: null }))).status).toBe(0);
    expect(await outputOf(small())).toBeGreaterThan(at(50n));
  });

  test('a kill file that moves stops the LP from its new place, and no longer from the old one', async () => {
    const [old, next] = [join(folder, 'stop'), join(folder, 'halt')];
    expect((await reload(({ lp }) => (lp.risk = { killFile: old }))).status).toBe(0);
    await writeFile(next, '');
    expect(await outputOf(small())).toBeGreaterThan(0n);
    expect((await reload(({ lp }) => (lp.risk = { killFile: next }))).status).toBe(0);
    expect(await venue.ask(small())).toMatchObject({ type: 'decline', reason: 'standby' });
    await writeFile(old, '');
    await rm(next);
    await venue.until(({ status }) => status === 'active');
    expect(await outputOf(small())).toBeGreaterThan(0n);
    await rm(old);
  });

  test('under constant requests each quote is priced by one configuration as a whole, and none is declined', async () => {
    const dear = await exchange('3000');
    const outputs: bigint[] = [];
    let asking = true;
    const asker = (async () => {
      while (asking) {
        outputs.push(await outputOf(small()));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    })();
    for (const turn of [1, 2, 3, 4, 5, 6, 7]) {
      const odd = turn % 2 === 1;
      const done = await reload(({ feeds, lp: { prices, pairs } }) => {
        feeds['dear'] = dear.feed;
        prices['ETH'] = { sources: from(odd ? 'dear' : 'day') };
        for (const { params } of pairs) params['minSpreadBps'] = odd ? 200 : 1;
      });
      expect(done.status).toBe(0);
    }
    asking = false;
    await asker;
    const cheap = outputs.filter((output) => output > 25_900_000n && output < 26_000_000n);
    const wide = outputs.filter((output) => output > 29_300_000n && output <= 29_400_000n);
    expect([cheap.length > 0, wide.length > 0]).toEqual([true, true]);
    expect(outputs.filter((output) => !cheap.includes(output) && !wide.includes(output))).toEqual([]);
  });
});

test('docs/lp/replay.md: record, take the requests, and compare two configurations, as written', async () => {
  const exchange = await startExchange();
  const work = join(folder, 'replay');
  await mkdir(work);
  await writeFile(
    join(work, 'lp.json'),
    JSON.stringify(
      {
        ...config,
        feeds: { binance: { kind: 'binance', url: exchange.url } },
        lp: {
          ...config.lp,
          prices: { USD: { fixed: '1' }, ETH: { sources: [{ feed: 'binance', symbol: 'ETHUSDC' }] } },
          assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
        },
      },
      null,
      2,
    ),
  );
  const shell = openShell(work);
  await shell.run(`firmquote() { "${process.execPath}" "${PROGRAM}" "$@"; }`);
  const [record = '', ...rest] = await blocksOf('docs/lp/replay.md', 'sh');

  const recorded = shell.run(record);
  await exchange.connected(1);
  const play = setInterval(() => {
    const at = Date.now() / 1000;
    const bid = (2500 + Math.sin(at)).toFixed(2);
    const data = {
      u: Math.round(at * 1000),
      s: 'ETHUSDC',
      b: bid,
      B: '1',
      a: (Number(bid) + 0.01).toFixed(2),
      A: '1',
    };
    exchange.say({ stream: 'ethusdc@bookTicker', data });
  }, 100);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (let asked = 0; asked < 5; asked++) {
    await outputOf(sell(WETH / 10n));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  shell.interrupt();
  const { status, output } = await recorded;
  clearInterval(play);
  await exchange.close();
  expect([status, output]).toEqual([0, expect.stringMatching(/"symbols":\["ETHUSDC"\],"messages":\d\d,/)]);

  const prints = [
    /mid .* ETHUSDC 2\d{3}\.\d+ \(2[\s\S]*"clockSteps":0/,
    /^$/,
    /^$/,
    /5 requests from rfqs\.jsonl.*; 5 were answered[\s\S]*mean spread D, bps/,
  ];
  expect(rest).toHaveLength(prints.length);
  for (const [at, block] of rest.entries()) {
    const said = await shell.run(block);
    expect([block, said.status, said.output]).toEqual([
      block,
      0,
      expect.stringMatching(prints[at] as RegExp),
    ]);
  }
  shell.end();
});

test('drain waits for the last live quote, the pause survives a restart, and the audit log records it', async () => {
  await outputOf(sell(WETH / 10n));
  const late = await lpCommandHere('drain', '-c', file, '--timeout', '0.1');
  expect([late.status, late.stderr]).toEqual([1, expect.stringMatching(/Not drained after .* live quotes/)]);
  const drained = await lpCommandHere('drain', '-c', file, '--note', 'upgrade');
  expect([drained.status, drained.stdout]).toEqual([
    0,
    expect.stringMatching(/live quotes, 0 open orders\n[\s\S]*Drained after \d+ s/),
  ]);
  expect(
    (await json<{ buckets: { held: string }[] }>('inventory')).buckets.every(({ held }) => held === '0'),
  ).toBe(true);

  expect(await lp.stop()).toBe(0);
  lp = await start();
  expect(await json('status')).toMatchObject({
    status: 'standby',
    pause: { note: 'upgrade', by: expect.stringMatching(/^cli/) },
  });
  expect((await lpCommandHere('resume', '-c', file)).status).toBe(0);
  await venue.until(({ status }) => status === 'active');

  const entries = await json<
    {
      what: string;
      who: string;
      note: string | null;
      configSha256: string | null;
      changes: { path: string }[];
    }[]
  >('audit', '--limit', '100');
  const acts = entries.toReversed().map(({ what }) => what);
  expect(acts[0]).toBe('start');
  expect(acts.slice(-5)).toEqual(['pause', 'pause', 'stop', 'start', 'resume']);
  expect(entries.find(({ who }) => who === 'SIGHUP')?.changes.map(({ path }) => path)).toEqual([
    'lp.chains.41101.buffers.USDC',
    'lp.pairs.WETH-USDC.params.minSpreadBps',
  ]);
  expect(entries.filter(({ what }) => what === 'reload_refused')).toHaveLength(6);
  expect(
    entries
      .filter(({ what }) => what === 'start')
      .every(({ configSha256 }) => /^[0-9a-f]{64}$/.test(configSha256 ?? '')),
  ).toBe(true);
  const db = await postgres.database('lp', LP_MIGRATIONS, 'lp_operator');
  // P0001: raised by the table's own trigger.
  for (const forgery of ['delete from lp_audit', "update lp_audit set who = 'nobody'", 'truncate lp_audit'])
    await expect(db.query(forgery)).rejects.toThrow('P0001');
  expect(await db.query('select 1 from lp_audit')).toHaveLength(entries.length);
});

test("error: the owner's key is refused as an operator's key", async () => {
  const alone = join(folder, 'owner.json');
  await writeFile(
    alone,
    JSON.stringify({
      ...config,
      ops: { port: await freePort() },
      lp: { ...config.lp, chains: config.lp.chains.map((each) => ({ ...each, account: operator.address })) },
    }),
  );
  const { status, stdout } = await run(['lp', '-c', alone], { DATABASE_URL: databaseUrl });
  expect([status, stdout]).toEqual([1, expect.stringContaining('which can withdraw everything')]);
});
