/** Tests several replicas: what one of them does not answer is asked of each other one. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import * as z from 'zod';
import { createTransport } from './transport.ts';

const servers: Server[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done)))));

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const zAnswer = z.object({ by: z.string(), found: z.boolean() });

/** A replica that answers `path` so, after a while; 503 to every other path. */
async function replica(
  by: string,
  answers: Record<string, { found: boolean; afterMs?: number }>,
): Promise<string> {
  const server = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response.setHeader('connection', 'close');
    void pause(answer?.afterMs ?? 0).then(() =>
      answer === undefined
        ? response.writeHead(503).end('{"error":{"code":"starting","message":"It starts."}}')
        : response.end(JSON.stringify({ by, found: answer.found })),
    );
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('each replica is asked once, although other calls leave replicas meanwhile', async () => {
  const transport = createTransport({
    url: [
      await replica('a', { '/quotes': { found: false, afterMs: 200 } }),
      await replica('b', { '/quotes': { found: true } }),
      await replica('c', { '/quotes': { found: false }, '/orders': { found: true } }),
    ],
  });
  const quotes = transport.call(zAnswer, '/quotes', {}, ({ found }) => !found);
  await pause(50);
  // It finds a and b starting, and leaves both for c.
  expect(await transport.call(zAnswer, '/orders')).toEqual({ by: 'c', found: true });
  expect(await quotes).toEqual({ by: 'b', found: true });
});

test('the next call begins where the last one was answered', async () => {
  const asked: string[] = [];
  const urls = [await replica('a', {}), await replica('b', { '/orders': { found: true } })];
  const transport = createTransport({
    url: urls,
    fetch: (url, init) => {
      asked.push(`${urls.findIndex((each) => String(url).startsWith(each))}`);
      return fetch(url, init);
    },
  });
  for (let n = 0; n < 3; n += 1) await transport.call(zAnswer, '/orders');
  expect(asked).toEqual(['0', '1', '1', '1']);
});

test('when none has the answer, that of the last one asked counts', async () => {
  const transport = createTransport({
    url: [
      await replica('a', { '/quotes': { found: false } }),
      await replica('b', { '/quotes': { found: false } }),
    ],
  });
  expect(await transport.call(zAnswer, '/quotes', {}, ({ found }) => !found)).toEqual({
    by: 'b',
    found: false,
  });
});
