/** Tests which refusals go to another endpoint, which are tried again, and which are the answer. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../../test/support/silent.ts';
import { systemClock } from '../../system/clock.ts';
import { createHealth } from './health.ts';
import { createRpc, type RpcRefusal } from './rpc.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Reply {
  status?: number;
  retryAfter?: string;
  result?: unknown;
  error?: { code: number; message: string };
}

/** Gives each request the next reply, and the last one from then on. */
async function node(...replies: readonly Reply[]) {
  const seen = { asked: 0, url: '' };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { id } = JSON.parse(body) as { id: number };
      const {
        status = 200,
        retryAfter,
        ...answer
      } = replies[Math.min(seen.asked, replies.length - 1)] as Reply;
      seen.asked += 1;
      response.statusCode = status;
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter);
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  servers.push(server);
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return seen;
}

const healthOfTwo = () =>
  createHealth(2, { chain: 'test', clock: systemClock, log: silentLog, metrics: silentMetrics });
const refused = (code: number, message: string): Reply => ({ error: { code, message } });
const BUSY = refused(-32_005, 'request rate limited');
const GOOD: Reply = { result: '0x1' };
const ask = (...urls: { url: string }[]) =>
  createRpc(urls.map(({ url }) => url)).request('eth_call', [{ to: '0x' }, 'latest']);

test.each([
  ['a rate limit', BUSY],
  ['a daily quota', refused(-32_000, 'daily quota exceeded')],
  ['an internal error', refused(-32_603, 'Internal error')],
  ['a block that one node of several has not seen', refused(-32_000, 'header not found')],
  ['words that nobody knows', refused(-32_099, 'the moon is in the wrong house')],
])('the only endpoint is asked again after %s', async (_, refusal) => {
  const only = await node(refusal, refusal, GOOD);
  expect(await ask(only)).toBe('0x1');
  expect(only.asked).toBe(3);
});

describe.each([
  ['a timeout', refused(-32_000, 'query timeout exceeded')],
  ['too many results', refused(-32_005, 'query returned more than 10000 results')],
])('%s for logs', (_, refusal) => {
  const logs = (fromBlock: string, toBlock: string, ...urls: { url: string }[]) =>
    createRpc(urls.map(({ url }) => url)).request('eth_getLogs', [{ fromBlock, toBlock }]);

  test('of one block, which cannot be fewer: the next endpoint is asked', async () => {
    const [one, two] = [await node(refusal), await node(GOOD)];
    expect(await logs('0x10', '0x10', one, two)).toBe('0x1');
    expect([one.asked, two.asked]).toEqual([1, 1]);
  });

  test('of one block at the only endpoint: asked again', async () => {
    const only = await node(refusal, refusal, GOOD);
    expect(await logs('0x10', '0x10', only)).toBe('0x1');
  });

  test('of several blocks: the caller asks for fewer', async () => {
    const [one, two] = [await node(refusal), await node(GOOD)];
    await expect(logs('0x10', '0x11', one, two)).rejects.toMatchObject({ meaning: 'smaller' });
    expect([one.asked, two.asked]).toEqual([1, 0]);
  });
});

test('an endpoint that goes on refusing ends the call, in its own words', async () => {
  const only = await node(refused(-32_099, 'the moon is in the wrong house'));
  await expect(ask(only)).rejects.toThrow('The node refused eth_call: the moon is in the wrong house');
  expect(only.asked).toBe(4);
});

test('an endpoint that asks for a longer wait than a call may take is not asked again', async () => {
  const only = await node({ ...BUSY, status: 429, retryAfter: '3600' });
  const error = (await ask(only).catch((caught: unknown) => caught)) as RpcRefusal;
  expect(error).toMatchObject({ meaning: 'not_now', retryAfterMs: 3_600_000 });
  expect(only.asked).toBe(1);
});

test.each([
  ['a revert', refused(3, 'execution reverted: rate limit')],
  ['a revert in words', refused(-32_000, 'VM Exception while processing transaction: reverted')],
])('%s is the answer: nobody is asked again', async (_, refusal) => {
  const [one, other] = [await node(refusal), await node(GOOD)];
  await expect(ask(one, other)).rejects.toMatchObject({ meaning: 'reverted' });
  expect([one.asked, other.asked]).toEqual([1, 0]);
});

test.each([
  [-32_011, 'request limit reached'],
  [-32_007, '25/second request limit reached'],
  [-32_012, 'credits quota exceeded'],
  [-32_001, 'try again later'],
  [-32_000, 'daily quota exceeded'],
])('%i %s: the other endpoint answers, and the first counts as failing', async (code, message) => {
  const [limited, good] = [await node(refused(code, message)), await node(GOOD)];
  const health = healthOfTwo();
  const rpc = createRpc([limited.url, good.url], {}, { clock: systemClock, health });
  for (let n = 0; n < 3; n += 1) expect(await rpc.request('eth_call', [])).toBe('0x1');
  expect(health.inService()).toEqual([1]);
});

test('an endpoint without the method or the block leaves the answer to the other, and stays in service', async () => {
  for (const refusal of [
    refused(-32_601, 'the method eth_feeHistory does not exist/is not available'),
    refused(-32_000, 'missing trie node 12 (path )'),
  ]) {
    const [lacking, good] = [await node(refusal), await node(GOOD)];
    const health = healthOfTwo();
    const rpc = createRpc([lacking.url, good.url], {}, { clock: systemClock, health });
    for (let n = 0; n < 4; n += 1) expect(await rpc.request('eth_call', [])).toBe('0x1');
    expect(health.inService()).toEqual([0, 1]);
  }
});

test('one endpoint is behind and the other busy: the busy one is asked again', async () => {
  const behind = await node(refused(-32_000, 'header not found'));
  const busy = await node(BUSY, GOOD);
  expect(await ask(busy, behind)).toBe('0x1');
});
