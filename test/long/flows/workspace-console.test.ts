/**
 * What the people of a workspace do in its console: keys, members and webhooks, by role; and a connection
 * that is lost and heals. `npm run docs` renews its pictures.
 */

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patiently } from '../../faults/support/client.ts';
import { faultsOfAccess, type Screen, screens } from '../../support/browser.ts';
import {
  expectAccessible,
  type Keys,
  openConsole,
  photograph,
  startWorkspaceWorld,
  visit,
  workspaceKey,
  type WorkspaceWorld,
} from '../../support/workspace-console.ts';

let w: WorkspaceWorld;
beforeAll(async () => {
  w = await startWorkspaceWorld(31691);
}, 300_000);
afterAll(() => w?.stop());

const open = (screen: Screen, keys?: Keys) => openConsole(w, screen, keys);

describe('the workspace page', () => {
  const dialogOf = (page: Page) => page.getByRole('alertdialog');
  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });

  test('an admin issues a key, which works, and revokes it', async () => {
    const { page, context, faults } = await open('light', w.owner);
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
    const ask = async () =>
      (await fetch(`${w.url}/api/v1/solvers`, { headers: { 'x-api-key': key } })).status;
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
      const { page, context } = await open(screen, w.owner);
      await visit(page, 'Workspace');
      w.receiver.answer(`/${screen}`, (response) => void response.writeHead(500).end());
      await page.getByRole('button', { name: 'Create a webhook' }).click();
      await dialogOf(page)
        .getByLabel('Address')
        .fill(w.receiver.url(`/${screen}`));
      await dialogOf(page).getByRole('button', { name: 'Create a webhook' }).click();
      expect(await dialogOf(page).getByLabel('Secret').inputValue()).toMatch(/^whsec_/);
      await dialogOf(page).getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: w.receiver.url(`/${screen}`) }).click();
      const opened = page.getByRole('dialog');
      await opened.getByRole('button', { name: 'Send a test' }).click();
      await dialogOf(page).getByRole('button', { name: 'Send a test' }).click();
      await dialogOf(page).waitFor({ state: 'detached' });
      await opened.getByRole('cell', { name: /500/ }).waitFor({ timeout: 60_000 });
      await opened.getByText('No delivery has worked since').waitFor({ timeout: 60_000 });
      expect(w.receiver.received(`/${screen}`).map(({ json }) => json['type'])).toContain('webhook.test');
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
    const { page, context, faults } = await open(screen, w.owner);
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
    const { page, context } = await open('light', w.owner);
    await visit(page, 'Workspace');
    await row(page, 'jane@example.com').getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByText('This is you.').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByRole('alert').getByText('the last owner').waitFor();
    await context.close();
    const admin = await open('light', { workspace: await workspaceKey(w.world, 'admin', null) });
    await visit(admin.page, 'Workspace');
    await row(admin.page, 'jane@example.com').waitFor();
    expect(await row(admin.page, 'jane@example.com').getByRole('button').count()).toBe(0);
    await admin.page.getByRole('button', { name: 'Add a member' }).click();
    const roles = await dialogOf(admin.page).getByRole('option').allInnerTexts();
    expect(roles).toEqual(['viewer', 'member', 'admin']);
    await admin.context.close();
  });

  test('what the venue refuses is said in the dialog', async () => {
    const { page, context } = await open('light', w.owner);
    await visit(page, 'Workspace');
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    await dialogOf(page).getByLabel('Address').fill('nowhere');
    await dialogOf(page).getByRole('button', { name: 'Create a webhook' }).click();
    await page.getByRole('alert').getByText('must be a URL').waitFor();
    await context.close();
  });

  test('a viewer sees the fee and the keys without their members, and can change nothing', async () => {
    const { page, context } = await open('light', w.viewer);
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
  'a lost venue is shown as lost, moves nothing under the finger, marks figures as old, and heals',
  { timeout: 120_000 },
  async () => {
    const { page, context } = await open('light', w.owner);
    const phone = await open('phone', w.owner);
    const placeOfPages = async () => (await phone.page.getByRole('navigation').boundingBox())?.y;
    for (const each of [page, phone.page]) await each.getByRole('status').getByText('live').waitFor();
    const before = await placeOfPages();
    await w.world.venue().kill();
    for (const each of [page, phone.page]) await each.getByText('connection lost').waitFor();
    expect(await placeOfPages()).toBe(before);
    await phone.context.close();
    await page
      .getByText(/These figures are .* old/)
      .first()
      .waitFor();
    expect(await faultsOfAccess(page)).toEqual([]);
    await w.world.venue().start();
    await page.getByRole('status').getByText('live').waitFor();
    await patiently(async () =>
      (await page.getByText(/These figures are/).count()) === 0 ? true : undefined,
    );
    await context.close();
  },
);
