/**
 * The page History of a workspace's console with 10,000 trades: it shows the right rows wherever the reader
 * scrolls, sorts or filters, and it draws only the rows in view.
 */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seedPeople, seedTrades } from '../../../bench/trade-seed.ts';
import type { TradeLine } from '../../../src/protocol/api/trades/bulk.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import { openBrowser } from '../../support/browser.ts';
import { PROGRAM } from '../../support/build.ts';
import { expectAccessible, openConsole, workspaceKey } from '../../support/workspace-console.ts';

const ROWS = 10_000;
const DAYS = 20;
/** The rows in view, and some more beyond each edge. */
const MOST_ROWS = 60;
const PATIENT = { timeout: 180_000 };

let world: World;
let browser: Browser;
let page: Page;
let faults: string[];
/** Of an export, newest first. */
let trades: TradeLine[];

beforeAll(async () => {
  [world, browser] = await Promise.all([
    startWorld({
      chainIds: [31_773],
      lps: [],
      // Nobody settles or fails the seeded orders that are open.
      venues: { venue: 'api' },
      program: PROGRAM,
      configure: (_, config) => ({ ...config, http: { ...(config['http'] as object), console: {} } }),
    }),
    openBrowser(),
  ]);
  await seedTrades(world.database, {
    ...{ book: { workspaceId: 'w1', mode: 'test' }, rows: ROWS, seed: 11, days: DAYS, untilMs: Date.now() },
    ...{ chains: world.devnet.chains.map(({ chain }) => chain), usd: { USD: 1, ETH: 2_500 } },
    ...(await seedPeople(world.database, 'w1')),
  });
  await world.startAll();
  const workspace = await workspaceKey(world, 'owner', null);
  const lines = await fetch(`${world.venueUrl()}/api/v1/workspaces/w1/trades/export?format=ndjson`, {
    headers: { 'x-api-key': workspace },
  });
  trades = (await lines.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as TradeLine);
  ({ page, faults } = await openConsole({ browser, url: world.venueUrl() }, 'light', { workspace }));
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
});

const table = () => page.getByRole('region', { name: 'Table: Trades' });
/** As the page writes it. */
const shortId = ({ orderId }: TradeLine) => `${orderId.slice(0, 8)}…${orderId.slice(-4)}`;
const usd = (amount: number) => `$${amount.toLocaleString('en-US', { maximumFractionDigits: 2 })}`;

/** Shares of the whole height, 0 to 1. */
const scrollTo = (share: number) =>
  table().evaluate((region, to) => {
    (region as unknown as { scrollTop: number }).scrollTop =
      to * (region as unknown as { scrollHeight: number }).scrollHeight;
  }, share);

/** All cells of the rows that are drawn. undefined while a row is still read. */
async function drawn(): Promise<string[][] | undefined> {
  const rows = await table().evaluate((region) =>
    [...(region as unknown as ParentNodeLike).querySelectorAll('tbody tr:not([aria-hidden])')].map((row) =>
      [...row.querySelectorAll('td')].map(({ textContent }) => textContent ?? ''),
    ),
  );
  return rows.length > 0 && rows.every((cells) => cells.length > 1) ? rows : undefined;
}
interface ParentNodeLike {
  querySelectorAll(of: string): Iterable<ParentNodeLike & { textContent: string | null }>;
}

/** Scrolls there, and compares what is drawn with these trades, in this order. */
async function expectRows(share: number, expected: readonly TradeLine[]): Promise<void> {
  await scrollTo(share);
  const at = Math.min(expected.length - 1, Math.floor(share * expected.length));
  const wanted = shortId(expected[at] as TradeLine);
  await expect.poll(async () => (await drawn())?.map(([id]) => id)).toContain(wanted);
  const rows = (await drawn()) ?? [];
  expect(rows.length).toBeLessThanOrEqual(MOST_ROWS);
  const from = expected.findIndex((trade) => shortId(trade) === rows[0]?.[0]);
  const same = expected.slice(from, from + rows.length);
  expect(rows.map(([id]) => id)).toEqual(same.map(shortId));
  expect(rows.map((cells) => cells[6])).toEqual(
    same.map(({ amountUsd }) => (amountUsd === null ? '' : usd(amountUsd))),
  );
  expect(rows.map((cells) => cells[2])).toEqual(
    same.map(({ lifecycleStatus }) => lifecycleStatus.primary.label),
  );
}

const PLACES = [0, 0.013, 0.31, 0.5, 0.77, 0.999, 1, 0.25, 0];

test('every part of the list shows its trades, and the page stays small', PATIENT, async () => {
  expect(trades).toHaveLength(ROWS);
  await page.getByText('10,000 trades match').waitFor();
  for (const share of PLACES) await expectRows(share, trades);
  expect(await page.locator('*').count()).toBeLessThan(2_500);
  await expectAccessible(page);
});

test('a reader who scrolls on without waiting ends at the right rows', PATIENT, async () => {
  for (let step = 0; step <= 60; step++) await scrollTo(step / 80);
  await expectRows(0.75, trades);
  expect(await page.locator('*').count()).toBeLessThan(2_500);
});

test('the keyboard reaches the end', PATIENT, async () => {
  await table().focus();
  await page.keyboard.press('End');
  await page.getByRole('button', { name: shortId(trades.at(-1) as TradeLine) }).waitFor();
  await page.keyboard.press('Home');
  await page.getByRole('button', { name: shortId(trades[0] as TradeLine) }).waitFor();
});

test('the list is sorted by what a head names, in both directions', PATIENT, async () => {
  /** A trade without a value counts as the smallest. */
  const worth = ({ amountUsd }: TradeLine) => amountUsd ?? -1;
  await scrollTo(0);
  await page.getByRole('button', { name: 'USD', exact: true }).click();
  await expectSorted(worth, 'down');
  await scrollTo(0);
  await page.getByRole('button', { name: 'USD ↓' }).click();
  await expectSorted(worth, 'up');
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  await expectRows(0, trades);
});

/** Trades of equal value may be in any order, so the values are compared. */
async function expectSorted(valueOf: (trade: TradeLine) => number, direction: 'down' | 'up'): Promise<void> {
  const byId = new Map(trades.map((trade) => [shortId(trade), valueOf(trade)]));
  const values = trades.map(valueOf).toSorted((a, b) => (direction === 'down' ? b - a : a - b));
  for (const share of [0, 0.4, 1]) {
    await scrollTo(share);
    const at = Math.min(ROWS - 1, share * ROWS);
    await expect
      .poll(async () => {
        const shown = (await drawn())?.map(([id = '']) => byId.get(id)) ?? [];
        // The row at this place is one of those that are drawn.
        return shown.some((_, before) =>
          shown.every((value, index) => value === values[at - before + index]),
        );
      })
      .toBe(true);
  }
}

test('while another order is read, the page says so and claims nothing', PATIENT, async () => {
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  const requests = /\/trades\?.*sort=lp_name/;
  await page.route(requests, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'LP', exact: true }).click();
  await page.getByText('Reading …').first().waitFor();
  expect(await page.getByText('No trade matches.').count()).toBe(0);
  expect(await page.getByText(/trades match/).count()).toBe(0);
  answer();
  await page.getByText('10,000 trades match').waitFor();
  await page.unroute(requests);
  await page.getByRole('button', { name: 'Time', exact: true }).click();
  await expectRows(0, trades);
});

test('filters leave the trades that match, with their number and totals', PATIENT, async () => {
  const settled = trades.filter(({ lifecycleStatus }) => lifecycleStatus.primary.label === 'Settled');
  await page.getByLabel('Status').selectOption('settled');
  await page.getByText(`${settled.length.toLocaleString('en-US')} trades match`).waitFor();
  for (const share of [0, 0.6, 1]) await expectRows(share, settled);
  const large = settled.filter(({ amountUsd }) => amountUsd !== null && amountUsd >= 5_000);
  await page.getByLabel('Least USD').fill('5000');
  await page.getByText(`${large.length.toLocaleString('en-US')} trades match`).waitFor();
  const sum = large.reduce((all, { amountUsd }) => all + (amountUsd ?? 0), 0);
  await page.getByText(`${large.length.toLocaleString('en-US')} trades, ${usd(sum)}`).waitFor();
  for (const share of [0, 0.5, 1]) await expectRows(share, large);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('10,000 trades match').waitFor();
  expect(faults).toEqual([]);
});

test('a filter that the venue refuses is said, and can be changed', PATIENT, async () => {
  await page.getByLabel('Least USD').fill('1e3');
  await page.getByRole('alert').filter({ hasText: 'must be a decimal number of USD' }).first().waitFor();
  expect(await page.getByText('Reading …').count()).toBe(0);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('10,000 trades match').waitFor();
  await expectRows(0, trades);
  expect(faults.filter((fault) => !fault.includes('422'))).toEqual([]);
});
