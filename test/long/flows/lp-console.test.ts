/**
 * The LP's console as its operator uses it, in a real browser beside a real LP that trades: every page, who
 * may do what, and what a foreign page cannot do. `npm run docs` renews its pictures.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request as askOver } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { PROGRAM } from '../../support/build.ts';
import {
  faultsOfAccess,
  openBrowser,
  type Screen,
  SCREEN_NAMES,
  SCREENS,
  shownOn,
} from '../../support/browser.ts';
import { patiently } from '../../faults/support/client.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import { firmquote } from '../../support/command.ts';

const IMAGES = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const PAGES = ['Now', 'Quotes', 'Inventory', 'Profit', 'Pricing', 'Risk', 'Audit log'] as const;

let folder: string;
let world: World;
let browser: Browser;
let url: string;
let tokens: { operator: string; viewer: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-console-'));
  const port = await freePort();
  const files = { operator: join(folder, 'operator.token'), viewer: join(folder, 'viewer.token') };
  [world, browser] = await Promise.all([
    startWorld({
      chainIds: [31_681],
      program: PROGRAM,
      configure: (part, config) =>
        part === 'alpha'
          ? {
              ...config,
              admin: {
                ...(config['admin'] as object),
                console: { port, tokenFile: files.operator, viewerTokenFile: files.viewer },
              },
            }
          : config,
    }),
    openBrowser(),
  ]);
  await world.startAll();
  url = `http://127.0.0.1:${port}`;
  tokens = {
    operator: (await readFile(files.operator, 'utf8')).trim(),
    viewer: (await readFile(files.viewer, 'utf8')).trim(),
  };
  // Something to look at: a quote, and a request that is too small.
  const client = await world.client();
  const [chain] = world.devnet.chains;
  const asset = (token: { address: string }) => `eip155:${chain?.chain.id}/erc20:${token.address}`;
  const body = (amount: string) => ({
    input: { asset: asset(chain?.usdc ?? { address: '' }), amount },
    output: { asset: asset(chain?.weth ?? { address: '' }) },
  });
  await patiently(() => client.taker.quote(body('500000000')).catch(() => undefined));
  await client.taker.quote(body('1')).catch(() => undefined);
  // A trade, for the page Profit.
  const id = await client.insist(await client.prepare({ usdc: 500n }), 'console');
  await client.ended(id ?? '');
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** `faults`: requests to other hosts, and what the browser calls an error. */
async function open(screen: Screen, token?: string) {
  const context = await browser.newContext(SCREENS[screen]);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('request', (each) => {
    const asked = new URL(each.url());
    if (!['data:', 'blob:'].includes(asked.protocol) && asked.origin !== url)
      faults.push(`asked ${asked.href}`);
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${url}/console/`);
  if (token !== undefined) {
    await page.getByLabel(/Token/).fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('navigation').waitFor();
  }
  return { context, page, faults };
}

async function visit(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 2 }).first().waitFor();
  await page
    .getByRole('table')
    .or(page.getByText(/^(?:No|Nothing) /))
    .first()
    .waitFor();
}

describe.each(SCREEN_NAMES)('%s', (screen) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(screen, tokens.operator);
  });
  afterAll(() => opened.context.close());

  test.each(shownOn(screen, PAGES))('the page %s shows itself, and axe finds nothing wrong', async (name) => {
    const { page } = opened;
    await visit(page, name);
    expect(await faultsOfAccess(page)).toEqual([]);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(wide).toBeLessThanOrEqual(0);
    if (RENEW)
      await page.screenshot({
        path: join(IMAGES, `lp-${name.toLowerCase().replace(' ', '-')}-${screen}.jpg`),
        type: 'jpeg',
        quality: 60,
      });
  });

  test('nothing was asked of another host, and the browser had no complaint', () => {
    expect(opened.faults).toEqual([]);
  });
});

test('a wrong token is refused in words, and the page stays the login', async () => {
  const { page, context } = await open('light');
  await page.getByLabel(/Token/).fill('0'.repeat(64));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').getByText('This is not the token of the console.').waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  await context.close();
});

test('an operator pauses with a reason and resumes; the audit log has both', async () => {
  const { page, context } = await open('light', tokens.operator);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByLabel(/Reason/).fill('a look at the books');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByText('a look at the books').first().waitFor();
  await page.getByRole('status').getByText('standby').waitFor();
  expect(await faultsOfAccess(page)).toEqual([]);
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('status').getByText('active').waitFor();
  await visit(page, 'Audit log');
  await page.getByRole('cell', { name: 'console' }).first().waitFor();
  await page.getByRole('cell', { name: 'a look at the books' }).first().waitFor();
  await context.close();
});

test('a request opens with every term of its price, or with why it was declined', async () => {
  const { page, context } = await open('light', tokens.operator);
  await visit(page, 'Quotes');
  await page
    .getByRole('row', { name: /live|expired|accepted/ })
    .getByRole('button')
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('rowheader', { name: 'adverse selection' }).first().waitFor();
  expect(await faultsOfAccess(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page
    .getByRole('row', { name: /declined/ })
    .getByRole('button')
    .first()
    .click();
  await dialog
    .getByText(/declined|refused/i)
    .first()
    .waitFor();
  await context.close();
});

test.each([
  ['pair', 'WETH-USDC,1,'],
  ['trade', 'WETH-USDC,'],
])(
  'the profit by %s is saved as the CSV that the command prints for the same window',
  { timeout: 120_000 },
  async (by, booked) => {
    const [alpha] = world.lps;
    const words = ['--since', 'all', '--by', by, '--format', 'csv', '--admin', alpha?.adminUrl ?? ''];
    const printed = () => firmquote(['lp', 'pnl', ...words]).then(({ stdout }) => stdout);
    await patiently(async () => ((await printed()).includes(booked) ? true : undefined));
    const { page, context, faults } = await open('light', tokens.viewer);
    await visit(page, 'Profit');
    await page.getByRole('radio', { name: 'all' }).click();
    await page.getByRole('radio', { name: by }).click();
    await page.getByText('Fees of bridges').waitFor();
    for (const label of await page.getByText(/^Mark-out after/).allInnerTexts())
      expect(label).toMatch(/^Mark-out after \d+ s$/);
    // A mark-out may become known between the two.
    await patiently(async () => {
      const before = await printed();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`profit-${by}-all.csv`);
      const saved = await new Response((await download.createReadStream()) as never).text();
      return saved === before ? true : undefined;
    });
    expect(await faultsOfAccess(page)).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  },
);

describe('who may do what', () => {
  let viewer: BrowserContext;
  let cookie: string;
  beforeAll(async () => {
    viewer = (await open('light', tokens.viewer)).context;
    const [session] = await viewer.cookies();
    cookie = `${session?.name}=${session?.value}`;
    expect([session?.httpOnly, session?.sameSite]).toEqual([true, 'Strict']);
  });
  afterAll(() => viewer.close());

  const post = (headers: Record<string, string>) =>
    fetch(`${url}/console/api/pause`, { method: 'POST', headers, body: '{"by":"somebody"}' });

  test('a viewer sees the buttons disabled, and the server refuses as well', async () => {
    const [page] = viewer.pages();
    expect(await page?.getByRole('button', { name: 'Pause', exact: true }).isDisabled()).toBe(true);
    expect((await post({ cookie, 'x-firmquote-console': '1' })).status).toBe(403);
  });

  test.each([
    ['without a session', {}, 401],
    ['without the header of our pages', { 'x-firmquote-console': '' }, 403],
    ['from another origin', { origin: 'https://elsewhere.example' }, 403],
    ['by another name of this machine', { host: 'elsewhere.example' }, 403],
  ])('an act %s is refused', async (_, headers, status) => {
    const sent = Object.fromEntries(
      Object.entries({ 'x-firmquote-console': '1', ...headers }).filter(([, value]) => value !== ''),
    );
    expect((await askRaw(sent)).status).toBe(status);
  });

  /** `fetch` would set the host by itself. */
  function askRaw(headers: Record<string, string>): Promise<{ status: number }> {
    return new Promise((resolve, reject) => {
      const sending = askOver(`${url}/console/api/pause`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve({ status: answer.statusCode ?? 0 });
      });
      sending.on('error', reject);
      sending.end('{}');
    });
  }

  test('the LP still quotes', async () => {
    const answer = await fetch(`${url}/console/api/status`, { headers: { cookie } });
    expect(((await answer.json()) as { status: string }).status).toBe('active');
  });
});

test(
  'a lost LP is shown as lost, figures are marked as old, and both heal',
  { timeout: 120_000 },
  async () => {
    const { page, context } = await open('light', tokens.operator);
    const [alpha] = world.lps;
    await page.getByRole('status').getByText('active').waitFor();
    await alpha?.part.kill();
    await page.getByText('not connected').waitFor();
    await page
      .getByText(/These figures are .* old/)
      .first()
      .waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    await alpha?.part.start();
    // Sessions end with the process.
    await page.getByLabel(/Token/).fill(tokens.operator);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page
      .getByRole('status')
      .getByText(/active|standby/)
      .waitFor();
    await context.close();
  },
);
