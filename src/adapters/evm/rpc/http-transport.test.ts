/**
 * Tests the JSON-RPC transport over real connections: batching, matching of answers, limits and broken
 * connections.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
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

/** A node that answers with what `answer` returns; `bodies` are the requests it received. */
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

test('calls of one tick share one request, and answers in any order reach their calls', async () => {
  const { ask, bodies } = await node(echo);
  expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
  expect(bodies.map((body) => (body as Call[]).map(({ method }) => method))).toEqual([['a', 'b', 'c']]);
  expect(new Set((bodies[0] as Call[]).map(({ id }) => id)).size).toBe(3);
});

test('a single call is sent without a batch, and its result may be null', async () => {
  const { ask, bodies } = await node(([call]) => ({ jsonrpc: '2.0', id: call?.id, result: null }));
  expect(await ask('a')).toBeNull();
  expect(Array.isArray(bodies[0])).toBe(false);
});

test('a batch has at most 100 calls', async () => {
  const { ask, bodies } = await node((calls) => (calls.length === 1 ? echo(calls)[0] : echo(calls)));
  const methods = Array.from({ length: 201 }, (_, at) => `m${at}`);
  expect(await Promise.all(methods.map(ask))).toEqual(methods);
  expect(bodies.map((body) => (Array.isArray(body) ? body.length : 1)).sort()).toEqual([1, 100, 100]);
});

test('an error in a batch rejects only its own call, with code, message and data of the node', async () => {
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

test('an error without an id rejects every call of the batch', async () => {
  const { ask } = await node((_, response) => {
    response.statusCode = 429;
    return { jsonrpc: '2.0', id: null, error: { code: -32_005, message: 'limit exceeded' } };
  });
  expect(await Promise.all(['a', 'b'].map((method) => said(ask(method))))).toEqual([
    expect.objectContaining({ code: -32_005 }),
    expect.objectContaining({ code: -32_005 }),
  ]);
});

const MOST = 3;
test.each<[string, (calls: Call[], response: ServerResponse) => unknown]>([
  ['one error', () => ({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'Invalid Request' } })],
  [
    'an error for each call',
    (calls) =>
      calls.map(({ id }) => ({
        id,
        error: { code: -32_005, message: 'Number of requests exceeds max batch size' },
      })),
  ],
  [
    'HTTP 413 and a page',
    (_, response) => {
      response.statusCode = 413;
      return '<html>413 Request Entity Too Large</html>';
    },
  ],
  ['an empty batch', () => []],
])('a node that refuses batches of more than 3 by %s is asked for fewer from then on', async (_, refuse) => {
  const { ask, bodies } = await node((calls, response) =>
    calls.length > MOST ? refuse(calls, response) : calls.length === 1 ? echo(calls)[0] : echo(calls),
  );
  const methods = Array.from({ length: 60 }, (_each, at) => `m${at}`);
  expect(await Promise.all(methods.map(ask))).toEqual(methods);
  bodies.length = 0;
  expect(await Promise.all(methods.map(ask))).toEqual(methods);
  expect(bodies.every((body) => !Array.isArray(body) || body.length <= MOST)).toBe(true);
});

test('a node that is broken for a while gets batches as large as before afterwards', async () => {
  let broken = true;
  const { ask, bodies } = await node((calls) =>
    broken
      ? { id: null, error: { code: -32_000, message: 'the moon is in the wrong house' } }
      : calls.length === 1
        ? echo(calls)[0]
        : echo(calls),
  );
  const methods = Array.from({ length: 60 }, (_each, at) => `m${at}`);
  const refused = await Promise.all(methods.map((method) => said(ask(method))));
  expect(refused.every((answer) => 'code' in answer && answer.code === -32_000)).toBe(true);
  broken = false;
  bodies.length = 0;
  expect(await Promise.all(methods.map(ask))).toEqual(methods);
  expect(bodies).toHaveLength(1);
});

test('a node that refuses every batch gets single calls', async () => {
  const { ask } = await node((calls) =>
    calls.length > 1
      ? { id: null, error: { code: -32_005, message: 'Batched requests are not supported by this server' } }
      : echo(calls)[0],
  );
  expect(await Promise.all(['a', 'b', 'c'].map(ask))).toEqual(['a', 'b', 'c']);
});

test('HTTP 429 without a JSON-RPC body is a refusal, with the wait that the node asks for', async () => {
  const { transport } = await node((_, response) => {
    response.statusCode = 429;
    response.setHeader('retry-after', '7');
    return '<html>slow down</html>';
  });
  await expect(transport.request({ method: 'a', params: [] })).rejects.toMatchObject({
    code: 429,
    retryAfterMs: 7_000,
  });
});

test.each([
  ['an HTML page', '<html>502</html>', 'not JSON'],
  ['a truncated body', '{"jsonrpc":"2.0","id":1,"res', 'not JSON'],
  ['another JSON object', '{"ok":true}', 'not a JSON-RPC response'],
  ['an error that is a text', '{"error":"rate limit"}', 'not a JSON-RPC response'],
  ['answers with other ids', '[{"id":99999,"result":1},{"id":"x","result":2}]', 'no answer to a'],
  ['an empty batch', '[]', 'no answer to a'],
])('%s rejects the call', async (_, text, why) => {
  const { ask } = await node(() => text);
  const answer = await said(ask('a'));
  expect(answer).toMatchObject({ code: undefined, message: expect.stringContaining(why) });
});

test('a repeated answer is ignored', async () => {
  const { ask } = await node(([call]) => [1, 2].map((result) => ({ id: call?.id, result })));
  expect(await ask('a')).toBe(1);
});

test('a node that never answers times out, and an endless response is cut off', async () => {
  const silent = await node(() => undefined, { timeoutMs: 100 });
  expect(await said(silent.ask('a'))).toEqual({
    code: undefined,
    message: 'no answer within 100 ms',
    data: undefined,
  });
  const endless = await node(
    (_, response) => {
      const more = setInterval(() => response.write(Buffer.alloc(1024 * 1024, 32)), 1);
      response.on('close', () => clearInterval(more));
    },
    { timeoutMs: 60_000 },
  );
  expect(await said(endless.ask('a'))).toMatchObject({ code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' });
});

test('connections stay open; a request on a connection that the node closed is repeated once', async () => {
  const sockets = new Set<unknown>();
  let resets = 0;
  const { ask } = await node((calls, _, request) => {
    sockets.add(request.socket);
    if (calls[0]?.method === 'reset' && (resets += 1) < 9) return void request.socket.destroy();
    return echo(calls)[0];
  });
  expect([await ask('a'), await ask('b'), sockets.size]).toEqual(['a', 'b', 1]);
  expect(await said(ask('reset'))).toMatchObject({
    code: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/),
  });
  expect(resets).toBe(2);
  expect(await ask('c')).toBe('c');
});

test('user name and password of the URL are sent as basic authentication', async () => {
  const { ask } = await node(
    ([call], _, request) => ({ id: call?.id, result: [request.headers.authorization, request.url] }),
    { login: 'user:p%40ss@' },
  );
  expect(await ask('a')).toEqual([`Basic ${Buffer.from('user:p@ss').toString('base64')}`, '/v2/KEY']);
});

test('close ends every connection and rejects calls in flight', async () => {
  const { ask, transport, server } = await node(() => undefined);
  const waiting = said(ask('a'));
  const connections = () => new Promise<number>((done) => server.getConnections((_, count) => done(count)));
  await expect.poll(connections).toBe(1);
  transport.close();
  expect(await waiting).toMatchObject({ code: 'UND_ERR_DESTROYED' });
  await expect.poll(connections).toBe(0);
});

test('a request above the size limit is refused without being sent', async () => {
  const { transport, bodies } = await node(echo);
  const params = ['x'.repeat(1024 * 1024)];
  await expect(transport.request({ method: 'a', params })).rejects.toThrow('larger than');
  expect(bodies).toEqual([]);
});

test('calls that exceed the size limit together are split into several requests', async () => {
  const { transport, bodies } = await node((calls) => echo(calls)[0]);
  const params = ['x'.repeat(700 * 1024)];
  const methods = ['a', 'b'];
  expect(await Promise.all(methods.map((method) => transport.request({ method, params })))).toEqual(methods);
  expect(bodies).toHaveLength(2);
});

test('an early answer followed by a reset connection rejects the call and never escapes as an exception', async () => {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n');
      setTimeout(() => socket.resetAndDestroy(), 5);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const uncaught: unknown[] = [];
  const record = (error: unknown) => void uncaught.push(error);
  process.on('uncaughtException', record);
  const transport = createHttpTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    timeoutMs: 2_000,
  });
  for (let round = 0; round < 10; round += 1) {
    const params = ['x'.repeat(1000 * 1024)];
    const answer = await said(transport.request({ method: 'a', params }));
    expect(answer).toHaveProperty('message');
    await new Promise((done) => setTimeout(done, 10));
  }
  transport.close();
  process.off('uncaughtException', record);
  await new Promise((done) => server.close(done));
  expect(uncaught).toEqual([]);
});
