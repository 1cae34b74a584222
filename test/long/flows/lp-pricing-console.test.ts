/**
 * Pricing parameters changed in the console of a real LP: simulated, applied, taken back, and refused, with
 * its configuration file and its quotes. `npm run docs` renews the pictures.
 */

import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import type { VersionView } from '../../../src/apps/lp/pricing/versions.ts';
import type { PairPreview } from '../../../src/lp/quoting/preview.ts';
import type { AuditEntry } from '../../../src/ports/stores/audit-log.ts';
import type { Address } from '../../../src/domain/hex.ts';
import { faultsOfAccess, openBrowser, type Screen, SCREENS, screens } from '../../support/browser.ts';
import { lpCommandHere, type Running, startFirmquote } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { random32, request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';

const IMAGES = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const owner = account(2_431);
const operator = account(2_432);
const WETH = 10n ** 18n;
/** 0.2 WETH at the fixed price of 2,500 USD. */
const AT_MID = 500_000_000;

type Session = Record<string, string>;
interface Pricing {
  configSha256: string;
  blocked: { code: string; message: string } | null;
  parameters: { name: string; unit: string; meaning: string; preset: unknown; least: number | null }[];
  pairs: { pair: string; own: object; effective: Record<string, unknown>; corridors: object[] }[];
  versions: VersionView[];
}
interface Answer {
  status: number;
  body: {
    error?: { code: string; message: string };
    changes?: { path: string; from: string; to: string }[];
    pairs?: PairPreview[];
  };
}

let folder: string;
let file: string;
/** The configuration as its operator wrote it. */
let original: string;
let devnet: Devnet;
let chain: TestChain;
let postgres: TestPostgres;
let venue: ScriptedVenue;
let lp: Running;
let url: string;
let sessions: { operator: Session; viewer: Session };
let environment: Record<string, string>;

async function start(): Promise<void> {
  lp = startFirmquote(['lp', '-c', file], environment);
  await lp.says('LP is running');
  await venue.until(({ status }) => status === 'active');
  sessions = { operator: await logIn('operator'), viewer: await logIn('viewer') };
}

async function logIn(role: 'operator' | 'viewer'): Promise<Session> {
  const answer = await fetch(`${url}/session`, {
    method: 'POST',
    headers: { 'x-firmquote-console': '1' },
    body: await readFile(join(folder, `${role}.token`), 'utf8'),
  });
  expect(answer.status).toBe(200);
  return { cookie: (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '', 'x-firmquote-console': '1' };
}

async function read<T>(path: string, session = sessions.viewer): Promise<T> {
  const answer = await fetch(`${url}/api${path}`, { headers: session });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}
const pricing = () => read<Pricing>('/pricing');
async function send(path: string, body: object, session = sessions.operator): Promise<Answer> {
  const init = { method: 'POST', headers: session, body: JSON.stringify(body) };
  const answer = await fetch(`${url}/api/pricing/${path}`, init);
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}
const least = (minSpreadBps: unknown) => ({ 'WETH-USDC': { params: { minSpreadBps } } });

const ask = (amount = WETH / 5n) =>
  venue.ask(
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain.weth,
      take: chain.usdc,
      amount,
      taker: random32().slice(0, 42) as Address,
    }),
  );
async function quotedBps(): Promise<number> {
  const answer = await ask();
  if (answer.type !== 'quote') throw new Error(JSON.stringify(answer));
  return (1 - Number(answer.order.outputs[0]?.amount) / AT_MID) * 10_000;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-pricing-'));
  file = join(folder, 'lp.json');
  [devnet, postgres] = await Promise.all([
    startDevnet([31_682], { blockTimeSeconds: 1, landingMarginSeconds: 3 }),
    startTestPostgres(),
  ]);
  chain = devnet.chains[0] as TestChain;
  await chain.fundAll([
    { address: owner.address, wholeTokens: 1_000_000n },
    { address: operator.address, wholeTokens: 0n },
  ]);
  await Promise.all([
    chain.deposit(owner.address, chain.usdc.address, 500_000_000_000n),
    chain.deposit(owner.address, chain.weth.address, 200n * WETH),
    chain.setOperator(owner.address, operator.address),
  ]);
  await chain.anvil.mine(2);
  venue = await startScriptedVenue([chain.chain]);
  const port = await freePort();
  url = `http://127.0.0.1:${port}/console`;
  environment = {
    DATABASE_URL: await postgres.server.database('lp_pricing'),
    OPERATOR: operator.privateKey,
    VENUE_KEY: 'fq_test_0123456789012345678901234567890123456789',
  };
  const { id, slug, escrow, oracle, permit2, tokens, depth, blockTimeMs } = chain.chain;
  const { landingMarginSeconds, proofWindowSeconds } = chain.chain;
  const network = {
    ...{ id, slug, escrow, oracle, permit2, tokens, depth, blockTimeMs },
    ...{ landingMarginSeconds, proofWindowSeconds, rpcUrls: [chain.anvil.url] },
  };
  const config = {
    app: 'lp',
    ops: { port: await freePort() },
    admin: {
      port: await freePort(),
      tokenFile: join(folder, 'operator.token'),
      console: { port, viewerTokenFile: join(folder, 'viewer.token') },
    },
    keys: { operator: { env: 'OPERATOR', development: true } },
    venues: [{ name: 'scripted', url: venue.url, apiKey: { env: 'VENUE_KEY' } }],
    networks: [network],
    lp: {
      solver: { id: 'pricer', name: 'Pricer' },
      chains: [{ chainId: chain.chain.id, account: owner.address, maxHeadAgeMs: 30_000, graceSeconds: 1 }],
      prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
      assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
      pairs: [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 20, maxSize: 100_000 } }],
      quoting: { validitySeconds: 2, pointsSeconds: [] },
      pricing: { calibration: { mode: 'off' } },
    },
  };
  // Not as a program would write it: what the operator did not change must stay.
  original = `${JSON.stringify(config, null, 3).replace('"USDC": {', '"USDC" :   {')}\n\n`;
  await writeFile(file, original);
  await start();
}, 120_000);

afterAll(async () => {
  await lp?.stop();
  await venue?.stop();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** Each test begins with the file as its operator wrote it, and the LP as the file says. */
beforeEach(async () => {
  await writeFile(file, original);
  expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
});

test('shows each parameter in force with unit and meaning, and what the file sets', async () => {
  const { parameters, pairs, blocked } = await pricing();
  expect(blocked).toBeNull();
  expect(parameters.find(({ name }) => name === 'minSpreadBps')).toMatchObject({
    unit: 'bps',
    meaning: expect.stringContaining('least all-in spread') as string,
    preset: 0.5,
    least: -100,
  });
  expect(pairs).toEqual([
    expect.objectContaining({
      pair: 'WETH-USDC',
      own: { minSpreadBps: 20, maxSize: 100_000 },
      effective: expect.objectContaining({ minSpreadBps: 20, maxSize: 100_000, gamma: 0.0005 }) as object,
    }),
  ]);
  expect(Object.keys(pairs[0]?.effective ?? {}).sort()).toEqual(
    parameters
      .map(({ name }) => name)
      .filter((name) => name !== 'lockSeconds')
      .sort(),
  );
});

test(
  'a change is simulated over recent requests, applied, and taken back',
  { timeout: 120_000 },
  async () => {
    const before = await quotedBps();
    expect(before).toBeGreaterThan(19.9);
    expect(await ask(60n * WETH)).toMatchObject({ type: 'decline', reason: 'size_above_max' });
    const { configSha256, versions } = await pricing();
    const change = {
      configSha256,
      pairs: { 'WETH-USDC': { params: { minSpreadBps: 55, maxSize: 200_000 } } },
    };

    const preview = await send('preview', change);
    expect(preview).toMatchObject({
      status: 200,
      body: {
        changes: [
          { path: 'lp.pairs.WETH-USDC.params.minSpreadBps', from: '20', to: '55' },
          { path: 'lp.pairs.WETH-USDC.params.maxSize', from: '100000', to: '200000' },
        ],
        pairs: [{ pair: 'WETH-USDC', declined: {}, refused: { requests: 1, quoted: 1 } }],
      },
    });
    const [simulated] = preview.body.pairs ?? [];
    expect(simulated?.quotes).toBeGreaterThan(0);
    expect(simulated?.newSpreadBps).toBeGreaterThanOrEqual(55);
    expect(simulated?.spreadBps).toBeLessThan(55);
    expect(await readFile(file, 'utf8')).toBe(original);
    expect(Math.abs((await quotedBps()) - before)).toBeLessThan(1);

    const note = 'volatile afternoon';
    expect((await send('apply', { ...change, note, by: 'console' })).status).toBe(200);
    expect(await quotedBps()).toBeGreaterThan(54.9);
    expect((await ask(60n * WETH)).type).toBe('quote');
    // Exactly the two values, as an editor would.
    expect(await readFile(file, 'utf8')).toBe(
      original
        .replace('"minSpreadBps": 20', '"minSpreadBps": 55')
        .replace('"maxSize": 100000', '"maxSize": 200000')
        .replace(/"pairs": \[[\s\S]*?\n {6}\],/, (pairs) => reindented(pairs)),
    );
    expect((await lpCommandHere('reload', '-c', file)).stdout).toContain('Nothing changed');
    const { entries } = await read<{ entries: AuditEntry[] }>('/audit');
    expect(entries.find(({ what }) => what === 'pricing')).toMatchObject({
      who: 'console',
      address: '127.0.0.1',
      note,
      changes: preview.body.changes,
    });

    const after = await pricing();
    expect(after.versions[0]).toMatchObject({ who: 'console', note, current: true });
    const { configSha256: now } = after;
    const back = { configSha256: now, version: versions[0]?.n, note: 'calm again' };
    expect((await send('preview', back)).body.pairs?.[0]?.newSpreadBps).toBeLessThan(55);
    expect((await send('apply', back)).status).toBe(200);
    expect(Math.abs((await quotedBps()) - before)).toBeLessThan(1);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(original));
    expect((await pricing()).versions[0]).toMatchObject({ note: 'calm again' });
  },
);

/** The pair that was edited is written two spaces deep. */
const reindented = (pairs: string): string => {
  const [pair] = (JSON.parse(`{${pairs.replace(/,$/, '')}}`) as { pairs: object[] }).pairs;
  const text = JSON.stringify(pair, null, 2).replaceAll('\n', `\n${' '.repeat(9)}`);
  return `"pairs": [\n${' '.repeat(9)}${text}\n      ],`;
};

test('a change survives a crash, and the next start adds no version', { timeout: 120_000 }, async () => {
  const { configSha256 } = await pricing();
  expect((await send('apply', { configSha256, pairs: least(70), note: 'wide' })).status).toBe(200);
  const { versions } = await pricing();
  lp.child.kill('SIGKILL');
  await lp.ended;
  await start();
  expect((await pricing()).versions).toEqual(versions);
  expect((await pricing()).pairs[0]?.effective['minSpreadBps']).toBe(70);
});

test('a reload by hand becomes a version, which can be taken back', async () => {
  await writeFile(file, original.replace('"minSpreadBps": 20', '"minSpreadBps": 33'));
  expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
  const { versions, configSha256 } = await pricing();
  expect(versions[0]?.changes).toEqual([{ path: 'WETH-USDC.params.minSpreadBps', from: '20', to: '33' }]);
  const version = versions[1]?.n;
  expect((await send('apply', { configSha256, version, note: 'no' })).status).toBe(200);
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(original));
});

describe('error: nothing changes', () => {
  const unchanged = async () => {
    const { configSha256, versions, pairs } = await pricing();
    return { configSha256, versions, pairs, text: await readFile(file, 'utf8') };
  };

  test.each<[string, object, string, string]>([
    ['a value beyond its bounds', { pairs: least(-101) }, 'invalid_parameters', 'minSpreadBps'],
    ['a value of another kind', { pairs: least('20') }, 'bad_request', 'minSpreadBps'],
    ['values that contradict each other', { pairs: least(400) }, 'invalid_parameters', 'maxSpreadBps'],
    [
      'a parameter that does not exist',
      { pairs: { 'WETH-USDC': { params: { minSpreadBp: 1 } } } },
      'invalid_parameters',
      'did you mean',
    ],
    [
      'a corridor that does not exist',
      { pairs: { 'WETH-USDC': { corridorParams: { 'a-b': { omega: 1 } } } } },
      'invalid_parameters',
      'no corridor',
    ],
    ['an unknown pair', { pairs: { constructor: { params: {} } } }, 'unknown_pair', 'WETH-USDC'],
    ['an unknown version', { version: 999_999 }, 'unknown_version', '999999'],
    ['the values in force', { pairs: least(20) }, 'no_change', 'so already'],
    ['neither pairs nor a version', {}, 'bad_request', 'either pairs or version'],
    ['another field', { pairs: least(30), force: true }, 'bad_request', 'force'],
  ])('%s', async (_, change, code, says) => {
    const before = await unchanged();
    const { configSha256 } = before;
    for (const path of ['preview', 'apply']) {
      const { status, body } = await send(path, { configSha256, note: 'a try', ...change });
      expect([status >= 400 && status < 500, body.error?.code]).toEqual([true, code]);
      expect(body.error?.message).toContain(says);
    }
    expect(await unchanged()).toEqual(before);
  });

  test('no reason', async () => {
    const before = await unchanged();
    const { configSha256 } = before;
    expect(await send('apply', { configSha256, pairs: least(30) })).toMatchObject({
      status: 400,
      body: { error: { code: 'bad_request', message: expect.stringContaining('reason') as string } },
    });
    expect(await unchanged()).toEqual(before);
  });

  test('a viewer, or a request without the header of our pages', async () => {
    const before = await unchanged();
    const { configSha256 } = before;
    const { cookie = '' } = sessions.operator;
    for (const session of [sessions.viewer, { cookie }])
      for (const path of ['preview', 'apply'])
        expect((await send(path, { configSha256, pairs: least(30), note: 'a try' }, session)).status).toBe(
          403,
        );
    expect(await unchanged()).toEqual(before);
  });

  test('a file that somebody changed by hand is not overwritten, until it is reloaded', async () => {
    const { configSha256 } = await pricing();
    const byHand = original.replace('"maxSize": 100000', '"maxSize": 90000');
    await writeFile(file, byHand);
    for (const path of ['preview', 'apply'])
      expect(await send(path, { configSha256, pairs: least(30), note: 'a try' })).toMatchObject({
        status: 409,
        body: { error: { code: 'config_changed', message: expect.stringContaining('lp reload') as string } },
      });
    expect(await readFile(file, 'utf8')).toBe(byHand);
    expect((await pricing()).blocked?.code).toBe('config_changed');
    expect((await lpCommandHere('reload', '-c', file)).status).toBe(0);
    // Made from parameters that are not in force any more.
    expect((await send('apply', { configSha256, pairs: least(30), note: 'a try' })).status).toBe(409);
    const { configSha256: now } = await pricing();
    expect((await send('apply', { configSha256: now, pairs: least(30), note: 'a try' })).status).toBe(200);
    expect((await pricing()).pairs[0]?.own).toEqual({ minSpreadBps: 30, maxSize: 90_000 });
  });

  test('of two changes at once one is applied, and the other is told of it', async () => {
    const { configSha256 } = await pricing();
    const both = [31, 32].map((bps) => send('apply', { configSha256, pairs: least(bps), note: 'a race' }));
    const answers = await Promise.all(both);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const inForce = (await pricing()).pairs[0]?.effective['minSpreadBps'];
    expect(inForce).toBe(answers[0]?.status === 200 ? 31 : 32);
    expect(await readFile(file, 'utf8')).toContain(`"minSpreadBps": ${String(inForce)}`);
  });

  test('a file that cannot be replaced', async () => {
    const before = await unchanged();
    await mkdir(`${file}.new`);
    const { configSha256 } = before;
    expect(await send('apply', { configSha256, pairs: least(30), note: 'a try' })).toMatchObject({
      status: 409,
      body: { error: { code: 'config_not_writable' } },
    });
    await rmdir(`${file}.new`);
    expect(await unchanged()).toEqual(before);
  });
});

describe('the page', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  async function open(screen: Screen, role: 'operator' | 'viewer') {
    const context = await browser.newContext(SCREENS[screen]);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())));
    await page.goto(`${url}/pricing`);
    await page.getByLabel(/Token/).fill(await readFile(join(folder, `${role}.token`), 'utf8'));
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Parameters' }).waitFor();
    return { context, page, faults };
  }

  test.each(screens)(
    '%s: an operator simulates a change, applies it with a reason, and goes back',
    { timeout: 180_000 },
    async (screen) => {
      const before = await quotedBps();
      const { context, page, faults } = await open(screen, 'operator');
      await page.getByLabel('New value of minSpreadBps').fill('45');
      await page.getByLabel('New value of invPassThrough').selectOption('true');
      await page.getByRole('button', { name: 'Simulate 2 changes' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('cell', { name: '45', exact: true }).first().waitFor();
      await dialog.getByRole('heading', { name: 'The last hour, priced again' }).waitFor();
      expect(await dialog.getByRole('button', { name: 'Apply' }).isDisabled()).toBe(true);
      await dialog.getByLabel(/Reason/).fill(`wider (${screen})`);
      const box = await dialog.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? Infinity)).toBeLessThanOrEqual(SCREENS[screen].viewport.width);
      expect(await faultsOfAccess(page)).toEqual([]);
      if (RENEW) await page.screenshot(picture(`lp-pricing-change-${screen}`));
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('cell', { name: `wider (${screen})` }).waitFor();
      expect(await quotedBps()).toBeGreaterThan(44.9);

      const { versions } = await pricing();
      await page.getByRole('button', { name: `To version ${versions[1]?.n}`, exact: true }).click();
      await dialog.getByLabel(/Reason/).fill('back');
      await dialog.getByRole('button', { name: 'Apply' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect(Math.abs((await quotedBps()) - before)).toBeLessThan(1);
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(original));
      expect(await faultsOfAccess(page)).toEqual([]);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(wide).toBeLessThanOrEqual(0);
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  test('an invalid value is refused in words, and changes nothing', { timeout: 120_000 }, async () => {
    const { context, page } = await open('light', 'operator');
    await page.getByLabel('New value of minSpreadBps').fill('-500');
    await page.getByRole('button', { name: 'Simulate 1 change' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/Nothing changed.*minSpreadBps/)
      .waitFor();
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Apply' }).count()).toBe(0);
    expect(await readFile(file, 'utf8')).toBe(original);
    await context.close();
  });

  test('a viewer sees everything and can change nothing', { timeout: 120_000 }, async () => {
    const { context, page } = await open('light', 'viewer');
    expect(await page.getByLabel('New value of minSpreadBps').isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Simulate' }).isDisabled()).toBe(true);
    for (const back of await page.getByRole('button', { name: /To version/ }).all())
      expect(await back.isDisabled()).toBe(true);
    expect(await faultsOfAccess(page)).toEqual([]);
    await context.close();
  });

  test(
    'a file that was changed by hand is named, and no change can be made',
    { timeout: 120_000 },
    async () => {
      await writeFile(file, original.replace('"maxSize": 100000', '"maxSize": 90000'));
      const { context, page } = await open('light', 'operator');
      await page
        .getByRole('status')
        .getByText(/lp reload/)
        .waitFor();
      expect(await faultsOfAccess(page)).toEqual([]);
      await page.getByLabel('New value of minSpreadBps').fill('30');
      expect(await page.getByRole('button', { name: 'Simulate 1 change' }).isDisabled()).toBe(true);
      await context.close();
    },
  );
});

const picture = (name: string) => ({ path: join(IMAGES, `${name}.jpg`), type: 'jpeg', quality: 60 }) as const;
