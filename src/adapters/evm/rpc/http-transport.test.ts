/**
 * Questions over a real connection: what belongs together goes together, every question has its own answer,
 * and none is left without one.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHttpTransport, type HttpTransport } from './http-transport.ts';

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

const open: { server: Server; transport: HttpTransport }[] = [];
afterEach(() => {
  for (const { server, transport } of open.splice(0)) {
    transport.close();
    server.closeAllConnections();
    server.close();
  }
});

/** A node that answers as the test says; `bodies` is what it heard. */
async function node(
  answer: (calls: Call[], response: ServerResponse, request: IncomingMessage) => unknown,
  { timeoutMs = 2_000, login = '' } = {},
) {
  const bodies: (Call | Call[])[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const asked = JSON.parse(body) as Call | Call[];
      bodies.push(asked);
      const said = answer(Array.isArray(asked) ? asked : [asked], response, request);
      if (said !== undefined) response.end(typeof said === 'string' ? said : JSON.stringify(said));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const transport = createHttpTransport(
    `http://${login}127.0.0.1:${(server.address() as AddressInfo).port}/v2/KEY`,
    { timeoutMs },
  );
  open.push({ server, transport });
  return { bodies, server, transport, ask: (method: string) => transport.request({ method, params: [] }) };
}

const echo = (calls: Call[]) =>
  calls.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: method })).reverse();
const said = (promise: Promise<unknown>) =>
  promise.then(
    (result) => ({ result }),
    (error: { code?: unknown; message: string; data?: unknown }) => ({
      code: error.code,
      message: error.message,
      data: error.data,
    }),
  );

test('what is asked in one turn is one request, and every question has its own answer, in whatever order they come', async () => {
  const { ask, bodies } = await node(echo);
  expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
  expect(bodies.map((body) => (body as Call[]).map(({ method }) => method))).toEqual([['a', 'b', 'c']]);
  expect(new Set((bodies[0] as Call[]).map(({ id }) => id)).size).toBe(3);
});

test('one question alone is no list, and its answer may be null', async () => {
  const { ask, bodies } = await node(([call]) => ({ jsonrpc: '2.0', id: call?.id, result: null }));
  expect(await ask('a')).toBeNull();
  expect(Array.isArray(bodies[0])).toBe(false);
});

test('more than a hundred are several requests', async () => {
  const { ask, bodies } = await node((calls) => (calls.length === 1 ? echo(calls)[0] : echo(calls)));
  const methods = Array.from({ length: 201 }, (_, at) => `m${at}`);
  expect(await Promise.all(methods.map(ask))).toEqual(methods);
  expect(bodies.map((body) => (Array.isArray(body) ? body.length : 1)).sort()).toEqual([1, 100, 100]);
});

test('a no is one question’s, with the node’s own words', async () => {
  const { ask } = await node((calls) =>
    calls.map(({ id, method }) =>
      method === 'bad'
        ? { id, error: { code: 3, message: 'execution reverted', data: '0x1234' } }
        : { id, result: 1 },
    ),
  );
  expect(await Promise.all(['good', 'bad'].map((method) => said(ask(method))))).toEqual([
    { result: 1 },
    { code: 3, message: 'execution reverted', data: '0x1234' },
  ]);
});

test('a no to all of them is everybody’s, an error status with one in it as well', async () => {
  const { ask } = await node((_, response) => {
    response.statusCode = 429;
    return { jsonrpc: '2.0', id: null, error: { code: -32_005, message: 'limit exceeded' } };
  });
  expect(await Promise.all(['a', 'b'].map((method) => said(ask(method))))).toEqual([
    expect.objectContaining({ code: -32_005 }),
    expect.objectContaining({ code: -32_005 }),
  ]);
});

test.each([
  ['a page', '<html>502</html>', 'no JSON'],
  ['half a text', '{"jsonrpc":"2.0","id":1,"res', 'no JSON'],
  ['something else', '{"ok":true}', 'no answer'],
  ['an error that is none of the protocol', '{"error":"rate limit"}', 'no answer'],
  ['answers to others', '[{"id":99999,"result":1},{"id":"x","result":2}]', 'leaves this question out'],
  ['a list that is empty', '[]', 'leaves this question out'],
])('%s is no answer', async (_, text, why) => {
  const { ask } = await node(() => text);
  const answer = await said(ask('a'));
  expect(answer).toMatchObject({ code: undefined, message: expect.stringContaining(why) });
});

test('an answer twice is one answer', async () => {
  const { ask } = await node(([call]) => [1, 2].map((result) => ({ id: call?.id, result })));
  expect(await ask('a')).toBe(1);
});

test('a node that does not answer, and one that sends without end, are given up', async () => {
  const silent = await node(() => undefined, { timeoutMs: 100 });
  expect(await said(silent.ask('a'))).toMatchObject({ message: expect.stringContaining('100 ms') });
  const endless = await node((_, response) => {
    const more = setInterval(() => response.write(Buffer.alloc(1024 * 1024, 32)), 1);
    response.on('close', () => clearInterval(more));
  });
  expect(await said(endless.ask('a'))).toMatchObject({ message: expect.stringContaining('more than') });
});

test('a connection stays open; one that the node closed meanwhile is made again, once', async () => {
  const sockets = new Set<unknown>();
  let resets = 0;
  const { ask } = await node((calls, _, request) => {
    sockets.add(request.socket);
    if (calls[0]?.method === 'reset' && (resets += 1) < 9) return void request.socket.destroy();
    return echo(calls)[0];
  });
  expect([await ask('a'), await ask('b'), sockets.size]).toEqual(['a', 'b', 1]);
  // Closed without a word on a connection that had been used: asked again on a fresh one, which is no idle
  // one.
  expect(await said(ask('reset'))).toMatchObject({ code: 'ECONNRESET' });
  expect(resets).toBe(2);
  expect(await ask('c')).toBe('c');
});

test('a name and a password go where they belong', async () => {
  const { ask } = await node(
    ([call], _, request) => ({ id: call?.id, result: [request.headers.authorization, request.url] }),
    { login: 'user:p%40ss@' },
  );
  expect(await ask('a')).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`, '/v2/KEY']);
});

test('closed, it leaves no connection and nobody waiting', async () => {
  const { ask, transport, server } = await node(() => undefined);
  const waiting = said(ask('a'));
  const connections = () => new Promise<number>((done) => server.getConnections((_, count) => done(count)));
  await expect.poll(connections).toBe(1);
  transport.close();
  expect(await waiting).toMatchObject({ code: 'ECONNRESET' });
  await expect.poll(connections).toBe(0);
});
