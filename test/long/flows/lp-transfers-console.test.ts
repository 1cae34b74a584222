/**
 * Rebalancing in the console of a real LP: what is advised, begun by its operator with a reason, followed to
 * its end, and kept from a viewer. `npm run docs` renews the pictures.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { patiently } from '../../faults/support/client.ts';
import { type MovingLp, startMovingLp } from '../../faults/support/moving-lp.ts';
import { faultsOfAccess, openBrowser, type Screen, SCREENS, screens } from '../../support/browser.ts';
import { PROGRAM } from '../../support/build.ts';

const IMAGES = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const WHOLE = 1_000_000n;
const transfers = { mode: 'by_hand', mostUsd: 30_000 };

let folder: string;
let m: MovingLp;
let browser: Browser;
let url: string;
let tokens: { operator: string; viewer: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-moving-'));
  const port = await freePort();
  const [tokenFile, viewerTokenFile] = [join(folder, 'operator.token'), join(folder, 'viewer.token')];
  [m, browser] = await Promise.all([
    startMovingLp({
      chainIds: [31_697, 31_698],
      program: PROGRAM,
      owned: [90_000n, 10_000n],
      transfers,
      admin: { console: { port, tokenFile, viewerTokenFile } },
    }),
    openBrowser(),
  ]);
  url = `http://127.0.0.1:${port}`;
  tokens = {
    operator: (await readFile(tokenFile, 'utf8')).trim(),
    viewer: (await readFile(viewerTokenFile, 'utf8')).trim(),
  };
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await m?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The page Inventory. `faults`: what the browser calls an error. */
async function open(screen: Screen, token: string) {
  const context = await browser.newContext(SCREENS[screen]);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${url}/console/`);
  await page.getByLabel(/Token/).fill(token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('link', { name: 'Inventory', exact: true }).click();
  await page.getByRole('heading', { level: 2, name: 'Transfers' }).waitFor();
  return { context, page, faults };
}
const planOf = (page: Page) => page.getByRole('article', { name: '40\u202f000 USDC from chain1 to chain2' });
const beginOf = (page: Page) => planOf(page).getByRole('button', { name: 'Begin' });
const dialogOf = (page: Page) => page.getByRole('alertdialog');

async function inspect(page: Page, name: string, screen: Screen): Promise<void> {
  expect(await faultsOfAccess(page)).toEqual([]);
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(wide).toBeLessThanOrEqual(0);
  if (RENEW)
    await page.screenshot({ path: join(IMAGES, `lp-${name}-${screen}.jpg`), type: 'jpeg', quality: 60 });
}

test.each(screens)('a plan says why, what it costs and what the policy says: %s', async (screen) => {
  const { page, context, faults } = await open(screen, tokens.operator);
  await planOf(page)
    .getByText(/draining chain2 costs .* a day, the move/)
    .waitFor();
  await planOf(page).getByText('up to 0 USDC').waitFor();
  await planOf(page).getByText('by hand', { exact: true }).waitFor();
  await planOf(page).getByText('transfers.mode is by_hand').waitFor();
  await page.getByText('No transfer is under way.').waitFor();
  await planOf(page).scrollIntoViewIfNeeded();
  await inspect(page, 'transfer-plan', screen);
  expect(faults).toEqual([]);
  await context.close();
});

test('a viewer sees the plan and cannot begin it, and the server refuses as well', async () => {
  const { page, context } = await open('light', tokens.viewer);
  expect(await beginOf(page).isDisabled()).toBe(true);
  const refused = await page.evaluate<number>(`fetch('/console/api/transfers', {
    method: 'POST',
    headers: { 'x-firmquote-console': '1', 'content-type': 'text/plain' },
    body: '{"asset":"USDC","from":"chain1","to":"chain2","amount":"1","note":"mine"}',
  }).then(({ status }) => status)`);
  expect(refused).toBe(403);
  expect(await m.newest()).toBeUndefined();
  await context.close();
});

test('without a reason nothing can be sent, and a refusal is said in the dialog', async () => {
  const { page, context } = await open('light', tokens.operator);
  await beginOf(page).click();
  const begin = dialogOf(page).getByRole('button', { name: 'Begin' });
  expect(await begin.isDisabled()).toBe(true);
  await dialogOf(page).getByLabel('Amount of USDC').fill('90000.5');
  await dialogOf(page)
    .getByLabel(/Reason/)
    .fill('too much');
  expect(await faultsOfAccess(page)).toEqual([]);
  await begin.click();
  await dialogOf(page).getByRole('alert').getByText('Live quotes and open orders need it.').waitFor();
  expect(await m.newest()).toBeUndefined();
  await context.close();
});

test(
  'an operator begins a transfer, sees each step with its age, and finds it in the history and the audit log',
  { timeout: 180_000 },
  async () => {
    const { page, context } = await open('light', tokens.operator);
    await beginOf(page).click();
    await dialogOf(page).getByLabel('Amount of USDC').fill('25000.5');
    await dialogOf(page)
      .getByLabel(/Reason/)
      .fill('weekend');
    await dialogOf(page).getByRole('button', { name: 'Begin' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    const { id, move } = await patiently(() => m.newest());
    expect(move.amount).toBe((250_005n * WHOLE) / 10n);
    const transfer = page.getByRole('article', { name: `Transfer ${id}` });
    await transfer.getByRole('heading', { name: '25\u202f000.5 USDC from chain1 to chain2' }).waitFor();
    await transfer.getByText('requested', { exact: true }).first().waitFor();
    await transfer.getByText(/The withdrawal is possible from .* Waiting for \d+ (s|min)\./).waitFor();
    await transfer.getByText(/, \d+ (s|min) ago/).waitFor();
    await transfer.getByText('by hand: weekend').waitFor();
    for (const screen of screens) {
      const other = await open(screen, tokens.viewer);
      const seen = other.page.getByRole('article', { name: `Transfer ${id}` });
      await seen.waitFor();
      await seen.scrollIntoViewIfNeeded();
      await inspect(other.page, 'transfers', screen);
      expect(other.faults).toEqual([]);
      await other.context.close();
    }
    expect(await m.until('deposited', { delay: false })).toBe('reached');
    await transfer.waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: /by hand: weekend/ })
      .getByRole('button')
      .click();
    await page
      .getByRole('dialog')
      .getByText('requested, withdrawn, burned, attested, minted, deposited')
      .waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'console' })
      .filter({ hasText: `${id}: weekend` })
      .waitFor();
    await context.close();
  },
);

test('with transfers off, the page says so, keeps the history, and offers nothing', async () => {
  expect(await m.lp.part.stop()).toBe(0);
  transfers.mode = 'off';
  await m.startWhole();
  // It opens after the admin API.
  await patiently(() => fetch(url).catch(() => undefined));
  const { page, context, faults } = await open('light', tokens.operator);
  await page.getByText('Transfers are off').waitFor();
  await page.getByRole('row', { name: /by hand: weekend/ }).waitFor();
  expect(await page.getByRole('button', { name: 'Begin' }).count()).toBe(0);
  await expect(m.ask('/transfers/plan')).rejects.toThrow(/400 .*Transfers are off/);
  expect(faults).toEqual([]);
  await context.close();
});
