/**
 * The API page as an integrator uses it, in a real browser: it loads from the venue alone, fits a phone, and
 * a call that is tried there is answered. `npm run docs` renews its pictures.
 */

import { resolve } from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser } from '../../support/browser.ts';
import { startTestVenue, type TestVenue } from '../../support/venue.ts';

const IMAGES = resolve(import.meta.dirname, '..', '..', '..', 'docs', 'images');
const RENEW = process.env['RENEW_DOCS'] === 'yes';
const DESKTOP = { viewport: { width: 1_280, height: 800 } };
const PHONE = { viewport: { width: 360, height: 740 } };

let v: TestVenue;
let browser: Browser;

beforeAll(async () => {
  [v, browser] = await Promise.all([startTestVenue({ chainIds: [31_474] }), openBrowser()]);
});
afterAll(async () => {
  await browser.close();
  await v.stop();
});

/** `faults`: requests to other hosts, failed requests, and what the console calls an error or a warning. */
async function open(
  where: string,
  options: BrowserContextOptions,
): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.protocol !== 'data:' && url.origin !== v.url) faults.push(`asked ${url.href}`);
  });
  page.on('requestfailed', (request) => faults.push(`failed ${request.url()}`));
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  await page.goto(`${v.url}/docs${where}`, { waitUntil: 'networkidle' });
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  return { page, faults };
}

const picture = async (page: Page, name: string): Promise<void> => {
  if (RENEW) await page.screenshot({ path: `${IMAGES}/${name}.jpg`, type: 'jpeg', quality: 60 });
};

const SCREENS = [
  ['on a desktop', 'api-page', { ...DESKTOP, colorScheme: 'light' }],
  ['on a desktop, dark', 'api-page-dark', { ...DESKTOP, colorScheme: 'dark' }],
  ['on a phone, 360 px wide', 'api-page-phone', { ...PHONE, colorScheme: 'light' }],
] as const;

test.each(SCREENS)(
  '%s, the page loads from the venue alone, without an error, and fits',
  { timeout: 240_000 },
  async (_, name, options) => {
    const { page, faults } = await open('', options);
    expect(await page.getByRole('heading', { level: 1 }).first().innerText()).toBe('firmquote venue');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    // Scalar's own fonts come from its servers; the page has the system's.
    expect(await page.evaluate('[...document.fonts].length')).toBe(0);
    expect(await page.locator('body.dark-mode').count()).toBe(options.colorScheme === 'dark' ? 1 : 0);
    expect(faults).toEqual([]);
    await picture(page, name);
    await page.context().close();
  },
);

test('the WebSockets are on the page too, at its own address', { timeout: 240_000 }, async () => {
  const { page, faults } = await open('?api=websockets', { ...DESKTOP });
  const main = page.locator('main');
  for (const text of ['firmquote venue: streams', 'Events for takers', 'The solver link'])
    await main.getByText(text, { exact: true }).first().waitFor();
  await main.getByText(v.url.replace('http', 'ws')).first().waitFor();
  expect(faults).toEqual([]);
  await page.context().close();
});

test.each(SCREENS.filter(([, , { colorScheme }]) => colorScheme === 'light'))(
  '%s, a call is tried with a key, is answered, and the key is not kept',
  { timeout: 240_000 },
  async (_, name, options) => {
    const key = await v.key('service');
    const { page, faults } = await open('#http/tag/rfq/GET/api/v1/rfq/pairs', options);
    await page.getByRole('button', { name: /Test Request.*get .api.v1.rfq.pairs/i }).click();
    const client = page.getByRole('dialog');
    await client.getByPlaceholder('QUxM').fill(key);
    const answered = page.waitForResponse(`${v.url}/api/v1/rfq/pairs`);
    await client.getByRole('button', { name: /^Send/ }).first().click();
    const answer = await answered;
    expect([answer.status(), await answer.json()]).toEqual([
      200,
      { chain1: 31_474, 'tron-shasta': 2_494_104_990 },
    ]);
    await client.getByText('200 OK').waitFor();
    await picture(page, `${name}-try`);
    expect(faults).toEqual([]);
    const stored = String(
      await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
    );
    expect(stored).not.toContain(key);
    await page.context().close();
  },
);
