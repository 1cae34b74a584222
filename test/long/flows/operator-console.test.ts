/**
 * The console of administrators as they use it, in a real browser at the admin door of a real venue: a chain
 * that stands still leaves an order stuck, and a solver is disabled and enabled again. `npm run docs` renews
 * its pictures.
 */

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { patiently } from '../../faults/support/client.ts';
import { steadyPort } from '../../faults/support/process.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import {
  faultsOfAccess,
  openBrowser,
  type Screen,
  SCREEN_NAMES,
  SCREENS,
  screens,
  shownOn,
} from '../../support/browser.ts';
import { PROGRAM } from '../../support/build.ts';

const IMAGES = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const KEY = 'ab'.repeat(32);
const PAGES = ['Orders', 'Solvers', 'Chains and queues', 'Audit log'] as const;

let folder: string;
let world: World;
let browser: Browser;
let url: string;
let stuckId: string;

async function admin<T>(method: string, path: string, body?: object): Promise<T> {
  const answer = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as T;
}
const openOrders = async () =>
  (await admin<{ orders: { id: string; stuck: boolean }[] }>('GET', '/orders')).orders;

const mineEvery = (seconds: number) =>
  Promise.all(world.devnet.chains.map(({ anvil }) => anvil.rpc('evm_setIntervalMining', [seconds])));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-operator-'));
  await chmod(folder, 0o755);
  const [file, port] = [join(folder, 'secrets', 'admin'), await steadyPort()];
  url = `http://127.0.0.1:${port}`;
  await writeSecretFile(file, KEY);
  [world, browser] = await Promise.all([
    startWorld({
      chainIds: [31_693],
      lps: ['alpha', 'beta'],
      program: PROGRAM,
      configure: (part, config) =>
        part === 'venue'
          ? { ...config, admin: { port, console: true, keys: [{ id: 'ops', secret: { file } }] } }
          : config,
    }),
    openBrowser(),
  ]);
  await world.startAll();
  await admin('POST', '/solvers', { id: 'gamma', name: 'Gamma' });
  const client = await world.client();
  await client.ended((await client.insist(await client.prepare({ usdc: 500n }), 'operator-1')) ?? '');
  const prepared = await client.prepare({ usdc: 700n });
  // The chain stands still: the venue sends the settlement, and no block takes it.
  await mineEvery(0);
  stuckId = (await client.insist(prepared, 'operator-2')) ?? '';
  await patiently(async () =>
    (await openOrders()).some(({ id, stuck }) => id === stuckId && stuck) ? true : undefined,
  );
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** `faults`: requests to other hosts, and what the browser calls an error. */
async function open(screen: Screen, key = KEY) {
  const context = await browser.newContext(SCREENS[screen]);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('request', (each) => {
    const asked = new URL(each.url());
    if (!['data:', 'blob:'].includes(asked.protocol) && asked.host !== new URL(url).host)
      faults.push(`asked ${asked.href}`);
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${url}/console/`);
  await page.getByLabel(/Admin key/).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  if (key === KEY) await page.getByRole('navigation').waitFor();
  return { context, page, faults };
}

async function visit(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 2, name }).waitFor();
  await page.getByRole('table').first().waitFor();
}

const rowOf = (page: Page, table: string, name: string | RegExp) =>
  page.getByRole('region', { name: `Table: ${table}` }).getByRole('row', { name });

async function photograph(page: Page, name: string, screen: string): Promise<void> {
  if (RENEW)
    await page.screenshot({
      path: join(IMAGES, `operator-${name.toLowerCase().replaceAll(' ', '-')}-${screen}.jpg`),
      type: 'jpeg',
      quality: 60,
    });
}

describe.each(SCREEN_NAMES)('%s', (screen) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(screen);
  });
  afterAll(() => opened.context.close());

  test.each(shownOn(screen, PAGES))('the page %s shows itself, and axe finds nothing wrong', async (name) => {
    const { page } = opened;
    await visit(page, name);
    if (name === 'Orders') await rowOf(page, 'Open orders', /stuck/).waitFor();
    if (name === 'Solvers') await rowOf(page, 'Solvers', /gamma.*issue its key/).waitFor();
    if (name === 'Chains and queues') await rowOf(page, 'Chains', /no new block/).waitFor();
    if (name === 'Audit log') await rowOf(page, 'Changes', /admin:ops.*solver\.add.*gamma/).waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wide).toBeLessThanOrEqual(0);
    await photograph(page, name, screen);
  });

  if (screens.includes(screen))
    test('a stuck order opens with its next step and what stands in the way', async () => {
      const { page } = opened;
      await visit(page, 'Orders');
      await page.getByRole('status').getByText('1 order is stuck').waitFor();
      await rowOf(page, 'Open orders', /stuck/).getByRole('button').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(stuckId, { exact: true }).waitFor();
      await dialog
        .getByText(/A worker sends the settlement on .* Transaction 0x[0-9a-f]{64} was sent/)
        .waitFor();
      await dialog.getByText(/has shown no new block for \d+ s/).waitFor();
      expect(await faultsOfAccess(page)).toEqual([]);
      await photograph(page, 'order', screen);
      await dialog.getByRole('button', { name: 'Close' }).click();
    });

  test('nothing was asked of another host, and the browser had no complaint', () => {
    expect(opened.faults).toEqual([]);
  });
});

test('a key that is no admin key is refused in words, and a reload forgets the key', async () => {
  const other = await open('light', world.apiKey);
  await other.page.getByRole('alert').getByText('valid admin key').waitFor();
  expect(await other.page.getByRole('navigation').count()).toBe(0);
  await other.context.close();
  const { page, context } = await open('light');
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  expect(
    await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
  ).not.toContain(KEY);
  await context.close();
});

test('when blocks come again, the order ends and leaves the page', { timeout: 120_000 }, async () => {
  const { page, context } = await open('light');
  await mineEvery(1);
  await page.getByRole('status').getByText('no order is stuck').waitFor({ timeout: 90_000 });
  await page.getByText('No order is open.').waitFor();
  expect((await world.store.order(stuckId as `0x${string}`))?.facts.length).toBeGreaterThan(1);
  await context.close();
});

test(
  'a solver is disabled and enabled again, and the audit log says who did it',
  { timeout: 120_000 },
  async () => {
    await world.quoting();
    const { page, context } = await open('light');
    await visit(page, 'Solvers');
    const status = async () => {
      const answer = await fetch(`${world.venueUrl()}/api/v1/solvers`, {
        headers: { 'x-api-key': world.apiKey },
      });
      const { solvers } = (await answer.json()) as { solvers: { id: string; status: string }[] };
      return solvers.find(({ id }) => id === 'beta')?.status;
    };
    await page.getByRole('button', { name: 'Disable beta' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await rowOf(page, 'Solvers', /beta disabled/).waitFor();
    await patiently(async () => ((await status()) === 'offline' ? true : undefined));
    const client = await world.client();
    expect((await client.prepare({ usdc: 100n })).candidate.solverId).toBe('alpha');
    await page.getByRole('button', { name: 'Enable beta' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Enable' }).click();
    await rowOf(page, 'Solvers', /beta active/).waitFor({ timeout: 60_000 });
    expect(await status()).toBe('active');
    await visit(page, 'Audit log');
    await rowOf(page, 'Changes', /admin:ops.*solver\.set.*beta.*disabled: false → true/).waitFor();
    await rowOf(page, 'Changes', /admin:ops.*solver\.set.*beta.*disabled: true → false/).waitFor();
    await context.close();
  },
);
