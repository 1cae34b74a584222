/** The edge itself: keys, bodies, media types, paths, sockets and slow or greedy clients (A1-A3, A9, A23-A32, A39-A44). */

import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { assetId } from '../../src/domain/asset.ts';
import { KEYS_TOPIC } from '../../src/venue/keys.ts';
import { account } from '../support/devnet.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let body: Record<string, unknown>;

beforeAll(async () => {
  v = await startTestVenue({ sockets: { pingEveryMs: 200, maxPerKey: 8, maxFramesPerSecond: 50 } });
  key = await v.key('service');
  const { chain, usdc, weth } = v.chain;
  body = { taker: account(1).address, input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' }, output: { asset: assetId({ chainId: chain.id, token: weth.address }) } };
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }));
});
afterAll(() => v.stop());

const QUOTES = '/api/v1/rfq/quotes';
const raw = (text: string | Buffer, headers: Record<string, string> = {}) => v.call('POST', QUOTES, { key, raw: text, headers });
const refusal = ({ status, json }: { status: number; json: Json }): [number, unknown] => [status, json?.['detail']?.[0]?.['type'] ?? json?.['error']?.['code']];

describe('A1-A3: keys', () => {
  test('no key, and every key that is none, answer the same', async () => {
    const nearly = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    const revoked = await v.key('service');
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key: revoked })).status).toBe(200);
    const record = (await v.store.listKeys()).at(-1);
    await v.store.revokeKey(record?.id ?? '', Date.now());
    await v.bus.publish(KEYS_TOPIC, '');
    await until(async () => (await v.call('GET', '/api/v1/rfq/pairs', { key: revoked })).status === 401);
    const answers = await Promise.all(['', 'x', 'k'.repeat(10_000), nearly, revoked, key.replace('test', 'live'), ` ${key} x`, undefined].map((one) => v.call('POST', QUOTES, { key: one ?? null, body })));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['401 {"error":{"code":"unauthorized","message":"This needs a valid API key in the X-API-Key header."}}']));
  });

  test('a key of the wrong kind', async () => {
    for (const kind of ['workspace', 'solver'] as const) {
      const other = await v.key(kind, { solverId: 'lp-1' });
      for (const [method, path] of [['POST', QUOTES], ['POST', '/api/v1/rfq/orders'], ['POST', '/api/v1/rfq/orders/preflight'], ['GET', '/api/v1/rfq/orders/x'], ['GET', '/api/v1/solvers'], ['GET', '/api/v1/rfq/pairs']] as const) {
        expect(refusal(await v.call(method, path, { key: other, ...(method === 'POST' ? { body } : {}) }))).toEqual([403, 'wrong_key_kind']);
      }
    }
  });
});

describe('A27-A32: bodies and paths', () => {
  test('size before key, key before parsing', async () => {
    const huge = 'x'.repeat(256 * 1024 + 1);
    expect(refusal(await v.call('POST', QUOTES, { key: null, raw: huge }))).toEqual([413, 'body_too_large']);
    expect(refusal(await v.call('POST', QUOTES, { key: null, raw: '{broken' }))).toEqual([401, 'unauthorized']);
    expect(refusal(await raw(`"${'x'.repeat(256 * 1024 - 2)}"`))).toEqual([422, 'value_error'.replace('value_error', 'object_type')]);
  });

  test('a chunked body without end is cut off', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(v.http.port, '127.0.0.1');
      let text = '';
      socket.on('data', (data) => (text += data.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', (error: NodeJS.ErrnoException) => (text ? resolve(text) : reject(error)));
      socket.write(`POST ${QUOTES} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
      const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
      const push = () => {
        while (socket.writable && socket.write(chunk));
        if (socket.writable) socket.once('drain', push);
      };
      push();
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413/);
    expect(answer).toMatch(/connection: close/i);
  });

  test.each([
    ['text/plain', { 'Content-Type': 'text/plain' }, 415],
    ['multipart', { 'Content-Type': 'multipart/form-data; boundary=x' }, 415],
    ['another charset', { 'Content-Type': 'application/json; charset=utf-16' }, 415],
    ['gzip', { 'Content-Encoding': 'gzip' }, 415],
    ['method override', { 'X-HTTP-Method-Override': 'DELETE' }, 200],
  ])('%s', async (_, headers, status) => {
    const payload = 'Content-Encoding' in headers ? gzipSync(JSON.stringify(body)) : JSON.stringify(body);
    expect((await raw(payload, headers as unknown as Record<string, string>)).status).toBe(status);
  });

  test.each([
    ['GET', QUOTES, 405],
    ['DELETE', '/api/v1/rfq/orders', 405],
    ['POST', '/api/v1/solvers', 405],
    ['GET', '/api/v1/nothing', 404],
    ['GET', '/api/v1//solvers', 404],
    ['GET', '/api/v1/solvers/', 404],
    ['GET', '/API/v1/solvers', 404],
    ['GET', '/metrics', 404],
    ['GET', '/api/v1/%zz', 404],
  ])('%s %s is %i', async (method, path, status) => {
    const answer = await v.call(method, path, { key });
    expect(answer.status).toBe(status);
    expect(answer.json['error']?.['code']).toBe(status === 405 ? 'method_not_allowed' : 'not_found');
  });

  test('a GET with a body; dots in a path that no client folded', async () => {
    const say = (head: string, payload = '') =>
      new Promise<string>((resolve) => {
        const socket = connect(v.http.port, '127.0.0.1');
        socket.on('data', (data) => resolve(data.toString()));
        socket.write(`${head} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`);
      });
    expect(await say('GET /api/v1/solvers', '{}')).toMatch(/^HTTP\/1\.1 415/);
    for (const path of ['/api/v1/rfq/%2e%2e/solvers', '/api/v1/rfq/../solvers', '/./api/v1/solvers']) expect(await say(`GET ${path}`)).toMatch(/^HTTP\/1\.1 404/);
  });

  test.each([
    ['[]', 'object_type'],
    ['null', 'object_type'],
    ['""', 'object_type'],
    ['{"a":1,}', 'json_invalid'],
    ['', 'json_invalid'],
    ['{"taker":1,"taker":2}', 'json_invalid'],
    ['{"__proto__":{"polluted":1}}', 'json_invalid'],
    ['{"constructor":{"prototype":{"polluted":1}}}', 'json_invalid'],
    [`${'['.repeat(100_000)}`, 'too_deep'],
    [`[${'0,'.repeat(6_000)}0]`, 'too_large'],
    ['{"toString":1}', 'missing'],
  ])('body %.30s is 422 %s', async (text, type) => {
    expect(refusal(await raw(text))).toEqual([422, type]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('keys named like methods, NUL, lone surrogates, bad UTF-8 and a BOM', async () => {
    expect((await raw(JSON.stringify({ ...body, toString: 1 }))).json['detail']?.[0]).toMatchObject({ loc: ['body', 'toString'], type: 'extra_forbidden' });
    for (const bad of [Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from('\ufeff{}'), '{"a":"\\u0000"}', '{"a":"\\ud800"}']) expect(refusal(await raw(bad))).toEqual([422, 'json_invalid']);
  });

  test('the 422 of a request names the place', async () => {
    for (const amount of ['-1', '0x10', '1e18', '1.0', '', ' 5 ', '+1', '01', '9'.repeat(79), (2n ** 256n).toString(), 5, null, '５']) {
      const answer = await v.call('POST', QUOTES, { key, body: { ...body, input: { ...(body['input'] as object), amount } } });
      expect([answer.status, answer.json['detail']?.[0]?.['loc']]).toEqual([422, ['body', 'input', 'amount']]);
    }
    expect((await v.call('GET', '/api/v1/solvers?status=busy', { key })).json['detail']?.[0]?.['loc']).toEqual(['query', 'status']);
    expect((await v.call('GET', '/api/v1/solvers?corridor=a-b', { key })).json['detail']?.[0]?.['loc']).toEqual(['query', 'corridor']);
    expect((await v.call('GET', '/api/v1/solvers?nope=1', { key })).json['detail']?.[0]?.['type']).toBe('extra_forbidden');
  });
});

describe('the roster and the pairs', () => {
  test('filters, and the shape of an entry', async () => {
    const all = await v.call('GET', '/api/v1/solvers', { key });
    expect(all.json).toEqual({ solvers: [{ id: 'lp-1', status: 'active', kind: 'lp', corridors: ['chain1-chain1'], firstSeenAt: expect.stringMatching(/Z$/), lastQuoteAt: all.json['solvers']?.[0]?.['lastQuoteAt'], eligibilityNote: null }] });
    const ids = async (query: string) => ((await v.call('GET', `/api/v1/rfq/solvers${query}`, { key })).json['solvers'] as unknown as Json[]).map(({ id }) => id);
    expect(await ids('?status=active&corridor=chain1-chain1')).toEqual(['lp-1']);
    expect(await ids('?status=offline&status=standby')).toEqual([]);
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key })).json).toEqual({ chain1: v.chain.chain.id, 'tron-shasta': 2_494_104_990 });
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key: await v.key('service', { mode: 'live' }) })).json).toEqual({});
  });

  test('the OpenAPI document describes every route', async () => {
    const { json, status } = await v.call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(json['openapi']).toBe('3.1.0');
    const listed = Object.entries(json['paths'] as unknown as Record<string, Record<string, Json>>).flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`));
    expect(listed.sort()).toEqual(v.venue.routes.map(({ method, path }) => `${method} ${path.replace(':id', '{id}')}`).sort());
    expect((await v.call('GET', '/docs')).text).toContain('POST /api/v1/rfq/quotes');
  });
});

describe('A39-A42: sockets', () => {
  const dial = (headers: Record<string, string>, path = '/api/v1/ws') => new WebSocket(v.url.replace('http', 'ws') + path, { headers });
  const refused = (socket: WebSocket) =>
    new Promise<number>((resolve, reject) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => reject(new Error('let in')));
      socket.on('error', () => {});
    });
  const opened = (socket: WebSocket) => new Promise<WebSocket>((resolve, reject) => socket.on('open', () => resolve(socket)).on('error', reject));
  const closedWith = (socket: WebSocket) => new Promise<number>((resolve) => socket.on('close', resolve).on('error', () => {}));
  const answerTo = (socket: WebSocket, text: string) =>
    new Promise<Json>((resolve) => {
      socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString()) as Json));
      socket.send(text);
    });

  test('refused before the upgrade', async () => {
    expect(await refused(dial({}))).toBe(401);
    expect(await refused(dial({ 'X-API-Key': 'fq_test_nope' }))).toBe(401);
    expect(await refused(dial({ 'X-API-Key': key, Origin: 'https://example.com' }))).toBe(401);
    expect(await refused(dial({}, `/api/v1/ws?key=${key}`))).toBe(400);
    expect(await refused(dial({ 'X-API-Key': key }, '/api/v1/other'))).toBe(404);
    expect(await refused(dial({ 'X-API-Key': key }, '/api/v1/solver/ws'))).toBe(403);
    expect(await refused(dial({ 'X-API-Key': await v.key('solver', { solverId: 'lp-1' }) }))).toBe(403);
  });

  test('frames that are none, topics that are not ours', async () => {
    const socket = await opened(dial({ 'X-API-Key': key }));
    expect(await answerTo(socket, 'hello')).toMatchObject({ op: 'error', error: { code: 'bad_request' }, id: null });
    expect(await answerTo(socket, '{"op":"subscribe","topics":["orders:*"],"id":"a"}')).toMatchObject({ op: 'error', error: { code: 'bad_request' }, id: 'a' });
    expect(await answerTo(socket, `{"op":"subscribe","topics":["orders:0x${'12'.repeat(32)}"],"id":1}`)).toMatchObject({ op: 'error', error: { code: 'not_found' }, id: 1 });
    expect(await answerTo(socket, JSON.stringify({ op: 'subscribe', topics: Array.from({ length: 101 }, () => 'orders') }))).toMatchObject({ op: 'error' });
    expect(await answerTo(socket, JSON.stringify({ op: 'subscribe', topics: ['orders', 'solvers'] }))).toEqual({ op: 'subscribed', topics: ['orders', 'solvers'], cursor: '0', id: null });
    expect(await answerTo(socket, JSON.stringify({ op: 'unsubscribe', topics: ['orders'], id: 2 }))).toEqual({ op: 'unsubscribed', topics: ['orders'], id: 2 });
    socket.close();
  });

  test('too large, binary, too many, too fragmented', async () => {
    const big = await opened(dial({ 'X-API-Key': key }));
    big.send('x'.repeat(16 * 1024 + 1));
    expect(await closedWith(big)).toBe(1009);
    const binary = await opened(dial({ 'X-API-Key': key }));
    binary.send(Buffer.from([1, 2, 3]));
    expect(await closedWith(binary)).toBe(1003);
    const flood = await opened(dial({ 'X-API-Key': key }));
    for (let n = 0; n < 200; n++) flood.send('{}');
    expect(await closedWith(flood)).toBe(1008);
    const crumbs = await opened(dial({ 'X-API-Key': key }));
    for (let n = 0; n < 100; n++) crumbs.send('x', { fin: false });
    expect([1008, 1009, 1006, 1002]).toContain(await closedWith(crumbs));
  });

  test('a client that answers no ping is let go; a key has so many sockets and no more', async () => {
    const sleepy = await opened(dial({ 'X-API-Key': key }));
    (sleepy as unknown as { _receiver: { removeAllListeners(event: string): void } })._receiver.removeAllListeners('ping');
    expect(await closedWith(sleepy)).toBe(1006);
    const other = await v.key('service');
    const eight = await Promise.all(Array.from({ length: 8 }, () => opened(dial({ 'X-API-Key': other }))));
    expect(await refused(dial({ 'X-API-Key': other }))).toBe(429);
    for (const socket of eight) socket.terminate();
    await until(() => opened(dial({ 'X-API-Key': other })).then((socket) => (socket.terminate(), true), () => false));
  });
});

describe('A43, A44: slow and greedy', () => {
  test('too many headers, or garbage, and the socket is closed with the API\'s own error', async () => {
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(v.http.port, '127.0.0.1');
        let answer = '';
        socket.on('data', (data) => (answer += data.toString()));
        socket.on('close', () => resolve(answer));
        socket.on('error', () => resolve(answer));
        socket.write(text);
      });
    expect(await say(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`)).toContain('header_too_large');
    expect(await say('EHLO there\r\n\r\n')).toContain('bad_request');
  });

  test('a key that holds too many live quotes has to wait', async () => {
    await v.workspace('greedy', { limits: { openQuotes: 3, openNotionalUsd: null } });
    const greedy = await v.key('service', { workspaceId: 'greedy' });
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await v.call('POST', QUOTES, { key: greedy, body }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[3]?.json).toMatchObject({ error: { code: 'rate_limited' } });
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    await v.workspace('rich', { limits: { openQuotes: null, openNotionalUsd: 1_500 } });
    const rich = await v.key('service', { workspaceId: 'rich' });
    const notional = [];
    for (let n = 0; n < 3; n++) notional.push((await v.call('POST', QUOTES, { key: rich, body })).status);
    expect(notional).toEqual([200, 200, 429]);
  });
});

test('rates: per key after authentication, per address before it', async () => {
  const slow = await startTestVenue({ chainIds: [31_402], rates: { quotesPerSecond: 1, readsPerSecond: 2, perIpPerSecond: 20, burst: 1 } });
  try {
    const one = await slow.key('service');
    const reads = await Promise.all(Array.from({ length: 4 }, () => slow.call('GET', '/api/v1/rfq/pairs', { key: one })));
    const statuses = reads.map(({ status }) => status).sort();
    expect(statuses).toEqual([200, 200, 429, 429]);
    const limited = reads.find(({ status }) => status === 429);
    expect(limited?.headers.get('retry-after')).toBe('1');
    expect(reads.find(({ status }) => status === 200)?.headers.get('ratelimit-limit')).toBe('2');
    const knocks = await Promise.all(Array.from({ length: 40 }, () => slow.call('GET', '/api/v1/rfq/pairs', { key: 'wrong' })));
    expect(new Set(knocks.map(({ status }) => status))).toEqual(new Set([401, 429]));
  } finally {
    await slow.stop();
  }
});
