/**
 * A workspace's console as its people look at it, in a real browser beside a real venue that trades: every
 * page, which key opens what, and a trade. `npm run docs` renews its pictures.
 */

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultsOfAccess, type Screen, SCREEN_NAMES, screens, shownOn } from '../../support/browser.ts';
import { CONNECT, installWallet } from '../../support/browser-wallet.ts';
import {
  expectAccessible,
  type Keys,
  openConsole,
  photograph,
  startWorkspaceWorld,
  visit,
  type WorkspaceWorld,
} from '../../support/workspace-console.ts';

const PAGES = ['History', 'Trade', 'Solvers', 'Workspace'] as const;

let w: WorkspaceWorld;
beforeAll(async () => {
  w = await startWorkspaceWorld(31790);
}, 300_000);
afterAll(() => w?.stop());

const open = (screen: Screen, keys?: Keys) => openConsole(w, screen, keys);

const settled = (page: Page) =>
  page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Settled', exact: true }) });

describe.each(SCREEN_NAMES)('%s', (screen) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(screen, w.owner);
  });
  afterAll(() => opened.context.close());

  test.each(shownOn(screen, PAGES))('the page %s shows itself, and axe finds nothing wrong', async (name) => {
    const { page } = opened;
    await visit(page, name);
    if (name === 'History') await settled(page).first().waitFor();
    if (name === 'Workspace') await page.getByRole('cell', { name: 'Jane Doe' }).first().waitFor();
    if (name === 'Solvers')
      await page
        .getByRole('row', { name: /active/ })
        .first()
        .waitFor();
    await expectAccessible(page);
    await photograph(page, name, screen);
  });

  if (screens.includes(screen))
    test('a trade opens with its timeline and cost', async () => {
      const { page } = opened;
      await visit(page, 'History');
      await settled(page).first().getByRole('button').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('rowheader', { name: 'paid out' }).waitFor();
      await dialog.getByRole('heading', { name: 'Cost' }).waitFor();
      expect(await faultsOfAccess(page)).toEqual([]);
      await photograph(page, 'dossier', screen);
      await dialog.getByRole('button', { name: 'Close' }).click();
    });

  if (screens.includes(screen))
    test('a solver opens with its promises', async () => {
      const { page } = opened;
      await visit(page, 'Solvers');
      await page.getByRole('button', { name: 'alpha' }).click();
      const dialog = page.getByRole('dialog');
      await dialog
        .getByText(/\d awarded, \d settled, 0 failed by its fault/)
        .first()
        .waitFor();
      expect(await faultsOfAccess(page)).toEqual([]);
      await photograph(page, 'firmness', screen);
      await dialog.getByRole('button', { name: 'Close' }).click();
    });

  test('nothing was asked of another host, and the browser had no complaint', () => {
    expect(opened.faults).toEqual([]);
  });
});

test('the list follows its filters and its order, and the CSV has the same trades', async () => {
  const { page, context } = await open('light', w.owner);
  const rows = settled(page);
  await page.getByText('3 trades match').waitFor();
  await page.getByLabel('Least USD').fill('600');
  await page.getByText('2 trades match').waitFor();
  await page.getByText('2 trades, $1,600').waitFor();
  await page.getByRole('button', { name: 'USD', exact: true }).click();
  await rows.first().getByText('$900').waitFor();
  await page.getByRole('button', { name: 'USD ↓' }).click();
  await rows.first().getByText('$700').waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const text = await new Response((await download.createReadStream()) as never).text();
  expect(text.trim().split('\n')).toHaveLength(1 + 2);
  await page.getByLabel('Status').selectOption('failed');
  await page.getByText('No trade matches.').waitFor();
  await context.close();
});

test('a new trade appears without a reload', async () => {
  const { page, context } = await open('light', w.owner);
  await page.getByRole('status').getByText('live').waitFor();
  await page.getByText('3 trades match').waitFor();
  const client = await w.world.client();
  await client.insist(await client.prepare({ usdc: 400n }), 'console-400');
  await page.getByText('4 trades match').waitFor();
  await context.close();
});

describe('which key opens what', () => {
  test('a wrong key is refused in words, and the page stays the sign-in', async () => {
    const { page, context } = await open('light');
    await page.getByLabel(/Workspace key/).fill(`fq_test_${'x'.repeat(43)}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('valid API key').waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await context.close();
  });

  test('a viewer sees trades, but neither who traded nor what it cost, and no page of another key', async () => {
    const { page, context } = await open('light', w.viewer);
    expect(await page.getByLabel('Member').count()).toBe(0);
    await settled(page).first().getByRole('button').click();
    await page.getByRole('dialog').getByRole('rowheader', { name: 'paid out' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Cost' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('link', { name: 'Solvers' }).click();
    await page.getByText('This page needs a service key').waitFor();
    await context.close();
  });

  test('a reload forgets the keys', async () => {
    const { page, context } = await open('light', w.owner);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(
      await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
    ).not.toMatch(/fq_test/);
    await context.close();
  });
});

test(
  'a taker signs with a browser wallet, and the trade is followed to its settlement',
  { timeout: 120_000 },
  async () => {
    const { wallet: taker } = await w.world.client();
    const { page, context, wallet, faults } = await openConsole(w, 'light', w.owner, (browser) =>
      installWallet(browser, taker, w.world.devnet.chains),
    );
    await visit(page, 'Trade');
    await page.getByRole('button', { name: CONNECT }).click();
    await page.getByLabel(/^Amount of/).fill('250');
    await page.getByRole('button', { name: 'Ask for quotes' }).click();
    await page
      .getByRole('button', { name: /^Sign and trade with/ })
      .first()
      .click();
    await page.getByText('Settled, and confirmed by reading the chain').waitFor({ timeout: 60_000 });
    expect(wallet.asked).toContain('eth_signTypedData_v4');
    expect(faults).toEqual([]);
    await context.close();
  },
);
