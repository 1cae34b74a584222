/**
 * The client in a real browser: bundled without anything of Node, it asks, checks, refuses a lie, signs,
 * submits and follows from a web page.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { openBrowser } from '../support/browser.ts';
import { account } from '../support/devnet.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

const ROOT = join(import.meta.dirname, '../..');
const taker = account(8_800);
let v: TestVenue;
let server: Server;
let browser: Browser | undefined;

/** What the page does; it runs there, and only its text is used here. */
const PAGE = `
import { createClient } from '${ROOT}/src/client/client.ts';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

async function work({ chainId, rpcUrl, escrow, privateKey, request }) {
  const rpc = createPublicClient({ transport: http(rpcUrl), cacheTime: 0 });
  // Same origin, and no key: what serves the page adds it on the way.
  const client = createClient({ url: '', chains: { [chainId]: { rpc, escrow } } });
  const asked = { ...request, input: { ...request.input, amount: BigInt(request.input.amount) } };
  const wallet = createWalletClient({ account: privateKeyToAccount(privateKey), transport: http(rpcUrl) });
  const { quotes } = await client.requestQuotes(asked);
  const lie = structuredClone(quotes[0]);
  lie.preview.outputs[0].amount = '999000000000000000';
  const refused = await client.check(lie, { request: asked }).then(() => 'believed', (error) => [error.name, error.code].join(' '));
  const checked = await client.check(quotes[0], { request: asked });
  const { locks } = await client.runActions(checked, await client.preflight(checked), wallet);
  const order = await client.submit(checked, { signature: await client.sign(checked, wallet), ...locks });
  for await (const event of client.follow(order.id, { pollMs: 50 })) return { refused, orderId: order.id, same: order.id === checked.orderId, digest: checked.digest, event: event.type, via: event.via, node: [typeof Buffer, typeof process] };
}

const report = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
fetch('/task').then((response) => response.json()).then(work).then(report, (error) => report({ error: String(error.stack ?? error) }));
`;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_431] });
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: 399_600_000_000_000_000n }));
  await v.chain.fund(taker.address, 10_000n);
});
afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
  await v.stop();
});

test('a page requests, checks, signs, submits and follows an order', { timeout: 240_000 }, async () => {
  // Fails on any import that a browser cannot load.
  const bundle = await build({
    stdin: { contents: PAGE, resolveDir: ROOT, loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    metafile: true,
    logLevel: 'silent',
  });
  const script = bundle.outputFiles[0]?.text ?? '';
  const rooms = new Set(
    Object.keys(bundle.metafile.inputs).flatMap((path) => /^src\/([a-z]+)\//.exec(path)?.[1] ?? []),
  );
  expect([...rooms].sort()).toEqual(['client', 'domain', 'protocol']);

  const key = await v.key('service');
  const { chain, usdc, weth, anvil } = v.chain;
  const task = {
    chainId: chain.id,
    rpcUrl: anvil.url,
    escrow: chain.escrow,
    privateKey: taker.privateKey,
    request: {
      taker: taker.address,
      input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
      output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
    },
  };
  const result = await new Promise<unknown>((resolve, reject) => {
    server = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const body = Buffer.concat(chunks).toString();
        const answer = (type: string, text: string, status = 200) =>
          response.writeHead(status, { 'content-type': type }).end(text);
        if (request.url === '/')
          return answer('text/html', '<!doctype html><script type="module" src="/page.js"></script>');
        if (request.url === '/page.js') return answer('text/javascript', script);
        if (request.url === '/task') return answer('application/json', JSON.stringify(task));
        if (request.url === '/result') return answer('text/plain', 'ok') && resolve(JSON.parse(body));
        if (!request.url?.startsWith('/api/')) return answer('text/plain', 'no', 404);
        const idempotency = request.headers['idempotency-key'];
        const passed = await fetch(v.url + request.url, {
          method: request.method ?? 'GET',
          headers: {
            'x-api-key': key,
            'content-type': 'application/json',
            ...(typeof idempotency === 'string' ? { 'idempotency-key': idempotency } : {}),
          },
          ...(body === '' ? {} : { body }),
        });
        return answer('application/json', await passed.text(), passed.status);
      })().catch(reject);
    });
    server.listen(0, '127.0.0.1', () => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      void openBrowser()
        .then(async (opened) => {
          browser = opened;
          await (await opened.newPage()).goto(url);
        })
        .catch(reject);
    });
  });
  expect(result).toEqual({
    refused: 'DistrustError preview',
    orderId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    same: true,
    digest: expect.stringMatching(/^0x/),
    event: 'order.created',
    via: 'poll',
    node: ['undefined', 'undefined'],
  });
  expect(await v.store.order((result as { orderId: `0x${string}` }).orderId)).toBeTruthy();
});
