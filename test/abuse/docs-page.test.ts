/**
 * A48: whatever stands in the documents is text on the page, in a real browser: nothing runs, nothing loads,
 * nothing leaves.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { DOCS_POLICY, docsPage, type Streams } from '../../src/adapters/http/docs-page.ts';
import type { OpenApi } from '../../src/adapters/http/openapi.ts';

const EVIL = [
  '<script>document.title="ran"</script>',
  '<img src=x onerror=\'document.title="ran"\'>',
  '"><svg onload=document.title="ran">',
  '</pre></style><script>fetch("/stolen")</script>',
  '`<iframe src="/stolen">`',
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
const STREAMS: Streams = {
  channels: {
    x: {
      address: EVIL,
      title: EVIL,
      description: EVIL,
      messages: { [EVIL]: { summary: EVIL, examples: [{ payload: { note: EVIL } }] } },
    },
  },
};

async function dumped(page: string, policy: string | undefined): Promise<{ dom: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    // A client of another test may still call a node whose port this server got.
    const isBrowser = /chrome/i.test(request.headers['user-agent'] ?? '');
    if (isBrowser && request.url !== '/docs') asked.push(request.url ?? '');
    response.writeHead(request.url === '/docs' ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      ...(policy && { 'content-security-policy': policy }),
    });
    response.end(request.url === '/docs' ? page : '');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const folder = await mkdtemp(join(tmpdir(), 'fq-docs-'));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`;
    const { stdout } = await promisify(execFile)(
      'chromium',
      [
        '--headless=new',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--no-first-run',
        '--disable-extensions',
        `--user-data-dir=${folder}`,
        '--dump-dom',
        url,
      ],
      { maxBuffer: 64 * 1024 * 1024, env: { ...process.env, HOME: folder } },
    );
    return { dom: stdout, asked: asked.filter((path) => path !== '/favicon.ico') };
  } finally {
    server.close();
    server.closeAllConnections();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

test('A48: the docs page shows hostile names and examples as text', { timeout: 240_000 }, async () => {
  const page = docsPage(DOCUMENT, STREAMS);
  const { dom, asked } = await dumped(page, DOCS_POLICY);
  expect(dom).not.toMatch(/<title>ran<\/title>/);
  expect(dom).not.toMatch(/<(?:script|img|svg|iframe)\b/);
  expect(dom).toContain('&lt;script&gt;');
  expect(asked).toEqual([]);
  // The policy is a second wall: a script that did get in would not run, and the page's own style still does.
  const inside = await dumped(
    page.replace('<main>', '<main><script>document.title="ran"</script><img src="/stolen">'),
    DOCS_POLICY,
  );
  expect(inside.dom).not.toMatch(/<title>ran<\/title>/);
  expect(inside.asked).toEqual([]);
  // And this browser would have told: without either wall it runs.
  const open = await dumped(
    '<!doctype html><title>x</title><script>document.title="ran"</script><img src="/stolen">',
    undefined,
  );
  expect(open.dom).toMatch(/<title>ran<\/title>/);
  expect(open.asked).toEqual(['/stolen']);
});
