/** A workspace's console in a browser, as its people open it: keys, pages, and pictures for the docs. */

import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { Role } from '../../src/ports/stores/store.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import type { World } from '../faults/support/world.ts';
import { faultsOfAccess, type Screen, SCREENS } from './browser.ts';

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

/** `nodes`: URLs of other hosts that the page may ask. `install`: before the page loads. */
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

/** Nothing that axe finds, and nothing wider than the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await faultsOfAccess(page)).toEqual([]);
  const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect(wide).toBeLessThanOrEqual(0);
}

/** With `RENEW_DOCS=yes`, for the docs. */
export async function photograph(page: Page, name: string, screen: Screen): Promise<void> {
  if (RENEW)
    await page.screenshot({
      path: join(IMAGES, `workspace-${name.toLowerCase()}-${screen}.jpg`),
      type: 'jpeg',
      quality: 60,
    });
}
