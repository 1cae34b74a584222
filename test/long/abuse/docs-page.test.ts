/**
 * A48: whatever stands in the documents is text on the page, in a real browser: nothing runs, nothing loads,
 * nothing leaves.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DOCS_POLICY, docsPage, scalarScript, SCRIPT_PATH } from '../../../src/adapters/http/docs-page.ts';
import type { OpenApi } from '../../../src/adapters/http/openapi.ts';
import { openBrowser } from '../../support/browser.ts';

const EVIL = [
  '<script>globalThis.ran=1</script>',
  '<img src=x onerror="globalThis.ran=1">',
  '"><svg onload=globalThis.ran=1>',
  '</script></style><script>fetch("/stolen")</script>',
  '`<iframe src="/stolen">`',
  '![x](/stolen.png) [click](javascript:globalThis.ran=1)',
].join(' ');

/** Names, summaries, parameters, examples and schemas, all of them hostile. */
const DOCUMENT: OpenApi = {
  openapi: '3.1.0',
  info: { title: EVIL, version: EVIL, description: `${EVIL}\n\n| a |\n|---|\n| ${EVIL} |` },
  paths: {
    [`/${EVIL}`]: {
      get: {
        summary: EVIL,
        description: EVIL,
        tags: [EVIL],
        parameters: [{ name: EVIL, in: 'query', description: EVIL, schema: { enum: [EVIL] } }],
        requestBody: {
          content: { 'application/json': { schema: { title: EVIL }, example: { lpName: EVIL } } },
        },
        responses: {
          '200': { description: EVIL, content: { 'application/json': { example: { lpName: EVIL } } } },
        },
      },
    },
  },
};
const STREAMS = {
  asyncapi: '3.0.0',
  info: { title: EVIL, version: EVIL, description: EVIL },
  servers: { venue: { host: 'x', protocol: 'ws' } },
  channels: {
    x: {
      address: EVIL,
      title: EVIL,
      description: EVIL,
      messages: { [EVIL]: { summary: EVIL, examples: [{ payload: { note: EVIL } }] } },
    },
  },
};

let browser: Browser;
let script: string;

beforeAll(async () => {
  [browser, script] = await Promise.all([openBrowser(), scalarScript()]);
});
afterAll(() => browser.close());

/** Whether hostile text ran on the page, what it asked for beside the two files, and what it shows. */
async function shown(html: string, policy: string | undefined, query = '') {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0];
    const known = path === '/docs' || path === SCRIPT_PATH;
    if (!known) asked.push(request.url ?? '');
    response.writeHead(known ? 200 : 404, {
      'content-type': path === '/docs' ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8',
      ...(policy && { 'content-security-policy': policy }),
    });
    response.end(path === '/docs' ? html : known ? script : '');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const page = await browser.newPage();
  try {
    page.on('request', (request) => {
      const { hostname, href } = new URL(request.url());
      if (hostname !== '127.0.0.1' && hostname !== '') asked.push(href);
    });
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs${query}`, {
      waitUntil: 'networkidle',
    });
    return {
      ran: await page.evaluate('globalThis.ran ?? null'),
      elements: await page.locator('#app :is(script, iframe, [onload], [onerror])').count(),
      links: await page.locator('a[href^="javascript:"]').count(),
      text: await page.locator('body').innerText(),
      asked: asked.filter((path) => path !== '/favicon.ico'),
    };
  } finally {
    await page.close();
    server.close();
    server.closeAllConnections();
  }
}

test('A48: the docs page shows hostile names and examples as text', { timeout: 240_000 }, async () => {
  const html = docsPage(DOCUMENT, STREAMS);
  for (const query of ['', '?api=websockets']) {
    const page = await shown(html, DOCS_POLICY, query);
    expect(page).toMatchObject({ ran: null, elements: 0, links: 0, asked: [] });
    expect(page.text).toContain('<script>globalThis.ran=1</script>');
  }
  // The policy is a second wall: a script that did get in would not run, and the page itself still does.
  const injected =
    '<script>globalThis.ran=1</script><img src="/stolen"><img src=x onerror="globalThis.ran=1">';
  const inside = await shown(html.replace('<div id="app">', `${injected}<div id="app">`), DOCS_POLICY);
  expect(inside).toMatchObject({ ran: null, asked: [] });
  expect(inside.text).toContain('<script>globalThis.ran=1</script>');
  // And this browser would have told: without either wall it runs.
  const open = await shown(`<!doctype html><title>x</title>${injected}`, undefined);
  expect(open.ran).toBe(1);
  expect(open.asked).toEqual(expect.arrayContaining(['/stolen']));
});
