/**
 * A workspace's console as its people use it, in a real browser beside a real venue that trades: every page,
 * which key opens what, and a connection that is lost and heals. `npm run docs` renews its pictures.
 */

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import type { Member } from '../../src/ports/stores/members.ts';
import { patiently } from '../faults/support/client.ts';
import { startWorld, type World } from '../faults/support/world.ts';
import { faultsOfAccess, openBrowser, type Screen, screens } from '../support/browser.ts';
import { PROGRAM } from '../support/build.ts';
import { type Receiver, startReceiver } from '../support/webhook-receiver.ts';
import {
  expectAccessible,
  type Keys,
  openConsole,
  photograph,
  visit,
  workspaceKey,
} from '../support/workspace-console.ts';

const PAGES = ['History', 'Trade', 'Solvers', 'Workspace'] as const;
const WORKSPACE = 'w1';

let world: World;
let browser: Browser;
let url: string;
let owner: Keys;
let viewer: Keys;
let receiver: Receiver;

beforeAll(async () => {
  [world, browser, receiver] = await Promise.all([
    startWorld({
      chainIds: [31_691],
      lps: ['alpha', 'beta'],
      program: PROGRAM,
      configure: (part, config) =>
        part === 'venue'
          ? {
              ...config,
              http: { ...(config['http'] as object), console: {} },
              keys: { ...(config['keys'] as object), webhooks: [{ id: 'w1', secret: { env: 'SEAL' } }] },
              webhooks: { allowPrivate: true, allowHttp: true },
            }
          : config,
    }),
    openBrowser(),
    startReceiver(),
  ]);
  const jane: Member = {
    workspaceId: WORKSPACE,
    id: 'jane',
    firstName: 'Jane',
    lastName: 'Doe',
    email: 'jane@example.com',
    role: 'owner',
    kycStatus: 'verified',
    joinedAtMs: Date.now(),
    removedAtMs: null,
  };
  await createAdminStore(world.database).change((tx) => tx.putMember(jane));
  await world.startAll();
  url = world.venueUrl();
  owner = { workspace: await workspaceKey(world, 'owner', 'jane'), service: world.apiKey };
  viewer = { workspace: await workspaceKey(world, 'viewer', null) };
  // Something to look at.
  const client = await world.client();
  for (const usdc of [500n, 700n, 900n]) {
    const id = await client.insist(await client.prepare({ usdc }), `console-${usdc}`);
    await client.ended(id ?? '');
  }
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await world?.stop();
  await receiver?.stop();
});

const open = (screen: Screen, keys?: Keys) => openConsole({ browser, url }, screen, keys);

const settled = (page: Page) =>
  page.getByRole('row').filter({ has: page.getByRole('cell', { name: 'Settled', exact: true }) });

describe.each(screens)('%s', (screen) => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    opened = await open(screen, owner);
  });
  afterAll(() => opened.context.close());

  test.each(PAGES)('the page %s shows itself, and axe finds nothing wrong', async (name) => {
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
  const { page, context } = await open('light', owner);
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
  const { page, context } = await open('light', owner);
  await page.getByRole('status').getByText('live').waitFor();
  await page.getByText('3 trades match').waitFor();
  const client = await world.client();
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
    const { page, context } = await open('light', viewer);
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
    const { page, context } = await open('light', owner);
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(
      await page.evaluate('JSON.stringify([localStorage, sessionStorage, document.cookie])'),
    ).not.toMatch(/fq_test/);
    await context.close();
  });
});

describe('the workspace page', () => {
  const dialogOf = (page: Page) => page.getByRole('alertdialog');
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('an admin issues a key, which works, and revokes it', async () => {
    const { page, context, faults } = await open('light', owner);
    await visit(page, 'Workspace');
    await page.getByText('2 bps of the input: $2 of $10,000').waitFor();
    await page.getByRole('cell', { name: 'Jane Doe' }).first().waitFor();
    await page.getByRole('button', { name: 'Issue a key' }).click();
    await dialogOf(page).getByLabel('Note').fill('Trading bot');
    await dialogOf(page).getByRole('button', { name: 'Issue a key' }).click();
    const key = await dialogOf(page).getByLabel('Secret').inputValue();
    expect(key).toMatch(/^fq_test_/);
    expect(await faultsOfAccess(page)).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Done' }).click();
    expect(await page.content()).not.toContain(key);
    const ask = async () => (await fetch(`${url}/api/v1/solvers`, { headers: { 'x-api-key': key } })).status;
    expect(await ask()).toBe(200);
    await row(page, 'Trading bot').getByRole('button', { name: 'Revoke' }).click();
    await dialogOf(page).getByRole('button', { name: 'Revoke' }).click();
    await row(page, 'Trading bot').waitFor({ state: 'detached' });
    await patiently(async () => ((await ask()) === 401 ? true : undefined));
    expect(faults).toEqual([]);
    await context.close();
  });

  test.each(screens)(
    'an admin creates a webhook, sends a test, sees it fail, and disables and removes it: %s',
    { timeout: 120_000 },
    async (screen) => {
      const { page, context } = await open(screen, owner);
      await visit(page, 'Workspace');
      receiver.answer(`/${screen}`, (response) => void response.writeHead(500).end());
      await page.getByRole('button', { name: 'Create a webhook' }).click();
      await dialogOf(page)
        .getByLabel('Address')
        .fill(receiver.url(`/${screen}`));
      await dialogOf(page).getByRole('button', { name: 'Create a webhook' }).click();
      expect(await dialogOf(page).getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
      await dialogOf(page).getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: receiver.url(`/${screen}`) }).click();
      const opened = page.getByRole('dialog');
      await opened.getByRole('button', { name: 'Send a test' }).click();
      await dialogOf(page).getByRole('button', { name: 'Send a test' }).click();
      await dialogOf(page).waitFor({ state: 'detached' });
      await opened.getByRole('cell', { name: /500/ }).waitFor({ timeout: 60_000 });
      await opened.getByText('No delivery has worked since').waitFor({ timeout: 60_000 });
      expect(receiver.received(`/${screen}`).map(({ json }) => json['type'])).toContain('webhook.test');
      expect(await faultsOfAccess(page)).toEqual([]);
      await photograph(page, 'webhook', screen);
      await opened.getByRole('button', { name: 'Disable' }).click();
      await dialogOf(page).getByRole('button', { name: 'Disable' }).click();
      await opened.getByText('Disabled by a request').waitFor();
      expect(await opened.getByRole('button', { name: 'Send a test' }).isDisabled()).toBe(true);
      await opened.getByRole('button', { name: 'Remove' }).click();
      await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
      await page.getByText('No webhook yet.').waitFor();
      await context.close();
    },
  );

  test.each(screens)('an owner adds a member, changes the role, and removes them: %s', async (screen) => {
    const { page, context, faults } = await open(screen, owner);
    await visit(page, 'Workspace');
    const address = `joe-${screen}@acme.example`;
    await page.getByRole('button', { name: 'Add a member' }).click();
    await dialogOf(page).getByLabel('First name').fill('Joe');
    await dialogOf(page).getByLabel('Last name').fill('Bloggs');
    await dialogOf(page).getByLabel('Email').fill(address);
    await dialogOf(page).getByLabel('Role').selectOption('admin');
    expect(await faultsOfAccess(page)).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Add a member' }).click();
    await row(page, address).getByRole('cell', { name: 'admin', exact: true }).waitFor();
    await row(page, address).getByRole('cell', { name: 'none', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Members' }).scrollIntoViewIfNeeded();
    await expectAccessible(page);
    await photograph(page, 'members', screen);
    await row(page, address).getByRole('button', { name: 'Change role' }).click();
    await dialogOf(page).getByLabel('Role').selectOption('viewer');
    await dialogOf(page).getByRole('button', { name: 'Change role' }).click();
    await row(page, address).getByRole('cell', { name: 'viewer', exact: true }).waitFor();
    await row(page, address).getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
    await row(page, address).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('the last owner stays, and an admin is offered no change of an owner', async () => {
    const { page, context } = await open('light', owner);
    await visit(page, 'Workspace');
    await row(page, 'jane@example.com').getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByText('This is you.').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByRole('alert').getByText('the last owner').waitFor();
    await context.close();
    const admin = await open('light', { workspace: await workspaceKey(world, 'admin', null) });
    await visit(admin.page, 'Workspace');
    await row(admin.page, 'jane@example.com').waitFor();
    expect(await row(admin.page, 'jane@example.com').getByRole('button').count()).toBe(0);
    await admin.page.getByRole('button', { name: 'Add a member' }).click();
    const roles = await dialogOf(admin.page).getByRole('option').allInnerTexts();
    expect(roles).toEqual(['viewer', 'member', 'admin']);
    await admin.context.close();
  });

  test('what the venue refuses is said in the dialog', async () => {
    const { page, context } = await open('light', owner);
    await visit(page, 'Workspace');
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    await dialogOf(page).getByLabel('Address').fill('nowhere');
    await dialogOf(page).getByRole('button', { name: 'Create a webhook' }).click();
    await page.getByRole('alert').getByText('must be a URL').waitFor();
    await context.close();
  });

  test('a viewer sees the fee and the keys without their members, and can change nothing', async () => {
    const { page, context } = await open('light', viewer);
    await visit(page, 'Workspace');
    await page.getByText('2 bps of the input').waitFor();
    await page.getByRole('cell', { name: 'owner', exact: true }).first().waitFor();
    expect(await page.getByText('Jane Doe').count()).toBe(0);
    await page.getByText('Members and webhooks are for owners and admins').waitFor();
    for (const name of ['Issue a key', 'Revoke', 'Create a webhook', 'Add a member', 'Change role'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    await context.close();
  });
});

test(
  'a lost venue is shown as lost, figures are marked as old, and both heal',
  { timeout: 120_000 },
  async () => {
    const { page, context } = await open('light', owner);
    await page.getByRole('status').getByText('live').waitFor();
    await world.venue().kill();
    await page.getByText('connection lost').waitFor();
    await page
      .getByText(/These figures are .* old/)
      .first()
      .waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    await world.venue().start();
    await page.getByRole('status').getByText('live').waitFor();
    await patiently(async () =>
      (await page.getByText(/These figures are/).count()) === 0 ? true : undefined,
    );
    await context.close();
  },
);
