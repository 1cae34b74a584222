/** Opens a workspace's console in a browser, as its people do: keys, pages, and pictures for the docs. */

import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { Role } from '../../src/ports/stores/store.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import type { Member } from '../../src/ports/stores/members.ts';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { startWorld, type World } from '../faults/support/world.ts';
import { PROGRAM } from './build.ts';
import { type Receiver, startReceiver } from './webhook-receiver.ts';
import { faultsOfAccess, openBrowser, type Screen, SCREENS } from './browser.ts';

const IMAGES = resolve(import.meta.dirname, '../../docs/images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const WORKSPACE = 'w1';

export interface Keys {
  workspace?: string;
  service?: string;
}

export async function workspaceKey(
  { store }: Pick<World, 'store'>,
  role: Role,
  memberId: string | null,
): Promise<string> {
  const { text, record } = mintKey(
    { random: systemRandom, clock: systemClock },
    {
      ...{ kind: 'workspace', mode: 'test', workspaceId: WORKSPACE, role, memberId },
      ...{ solverId: null, label: 'console' },
    },
  );
  await store.addKey(record);
  return text;
}

export interface Opened<W> {
  context: BrowserContext;
  page: Page;
  /** Requests to hosts that the page has no business with, and what the browser calls an error. */
  faults: string[];
  wallet: W;
}

/**
 * Opens the console. `nodes`: URLs of other hosts that the page may ask. `install`: runs before the page
 * loads.
 */
export async function openConsole<W = undefined>(
  { browser, url, nodes = [] }: { browser: Browser; url: string; nodes?: readonly string[] },
  screen: Screen,
  keys?: Keys,
  install?: (context: BrowserContext) => Promise<W>,
): Promise<Opened<W>> {
  const context = await browser.newContext({ ...SCREENS[screen], acceptDownloads: true });
  const wallet = (await install?.(context)) as W;
  const page = await context.newPage();
  const faults: string[] = [];
  const hosts = new Set([url, ...nodes].map((each) => new URL(each).host));
  page.on('request', (each) => {
    const asked = new URL(each.url());
    if (!['data:', 'blob:'].includes(asked.protocol) && !hosts.has(asked.host))
      faults.push(`asked ${asked.href}`);
  });
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text());
  });
  await page.goto(`${url}/console/`);
  if (keys !== undefined) await signIn(page, keys);
  return { context, page, faults, wallet };
}

async function signIn(page: Page, { workspace = '', service = '' }: Keys): Promise<void> {
  await page.getByLabel(/Workspace key/).fill(workspace);
  await page.getByLabel(/Service key/).fill(service);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation').waitFor();
}

export async function visit(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { level: 2, name }).waitFor();
  await page
    .getByRole('table')
    .or(page.getByRole('button', { name: 'Ask for quotes' }))
    .first()
    .waitFor();
}

/** Expects that axe finds nothing, and that nothing is wider than the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await faultsOfAccess(page)).toEqual([]);
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(wide).toBeLessThanOrEqual(0);
}

/** Takes a picture for the docs with `RENEW_DOCS=yes`. */
export async function photograph(page: Page, name: string, screen: Screen): Promise<void> {
  if (RENEW)
    await page.screenshot({
      path: join(IMAGES, `workspace-${name.toLowerCase()}-${screen}.jpg`),
      type: 'jpeg',
      quality: 60,
    });
}

export interface WorkspaceWorld {
  world: World;
  browser: Browser;
  url: string;
  /** Jane Doe's keys, and a service key. */
  owner: Keys;
  /** Keys of no member. */
  viewer: Keys;
  receiver: Receiver;
  stop(): Promise<void>;
}

/** A venue that has settled three trades of the workspace, and takes webhooks to this machine. */
export async function startWorkspaceWorld(chainId: number): Promise<WorkspaceWorld> {
  const [world, browser, receiver] = await Promise.all([
    startWorld({
      chainIds: [chainId],
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
  const client = await world.client();
  for (const usdc of [500n, 700n, 900n]) {
    const id = await client.insist(await client.prepare({ usdc }), `console-${usdc}`);
    await client.ended(id ?? '');
  }
  return {
    ...{ world, browser, receiver, url: world.venueUrl() },
    owner: { workspace: await workspaceKey(world, 'owner', 'jane'), service: world.apiKey },
    viewer: { workspace: await workspaceKey(world, 'viewer', null) },
    async stop() {
      await browser.close();
      await world.stop();
      await receiver.stop();
    },
  };
}
