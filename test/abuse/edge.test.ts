/** The edge itself: keys, bodies, media types, paths, and what the public port does not answer. */

import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { KEYS_TOPIC } from '../../src/venue/access/keys.ts';
import { account } from '../support/devnet.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let body: Record<string, unknown>;

beforeAll(async () => {
  v = await startTestVenue();
  key = await v.key('service');
  const { chain, usdc, weth } = v.chain;
  body = {
    taker: account(1).address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }));
});
afterAll(() => v.stop());

const QUOTES = '/api/v1/rfq/quotes';
const raw = (text: string | Buffer, headers: Record<string, string> = {}) =>
  v.call('POST', QUOTES, { key, raw: text, headers });
/** What a socket is told to exactly these bytes, until it is closed or has answered `answers` requests. */
const say = (text: string, answers = Number.POSITIVE_INFINITY): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(v.http.port, '127.0.0.1');
    let heard = '';
    const end = () => resolve(heard);
    socket.on('data', (data) => {
      heard += data.toString();
      if (heard.split('HTTP/1.1 ').length > answers) socket.destroy();
    });
    socket.on('close', end);
    socket.on('error', end);
    socket.write(text, 'latin1');
  });
const refusal = ({ status, json }: { status: number; json: Json }): [number, unknown] => [
  status,
  json?.['detail']?.[0]?.['type'] ?? json?.['error']?.['code'],
];

describe('keys', () => {
  test('A1, A2: a missing key and every invalid key get the same answer', async () => {
    const nearly = key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A');
    const revoked = await v.key('service');
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key: revoked })).status).toBe(200);
    const record = (await v.store.listKeys()).at(-1);
    await v.store.revokeKey(record?.id ?? '', Date.now());
    await v.bus.publish(KEYS_TOPIC, '');
    await until(async () => (await v.call('GET', '/api/v1/rfq/pairs', { key: revoked })).status === 401);
    const answers = await Promise.all(
      [
        '',
        'x',
        'k'.repeat(10_000),
        nearly,
        revoked,
        key.replace('test', 'live'),
        ` ${key} x`,
        'k\u00e9y',
        'tab\there',
        undefined,
      ].map((one) => v.call('POST', QUOTES, { key: one ?? null, body })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([
        '401 {"error":{"code":"unauthorized","message":"This needs a valid API key in the X-API-Key header."}}',
      ]),
    );
  });

  test('A1: a key with control bytes is refused as an invalid header and never echoed', async () => {
    for (const byte of ['\x00', '\x01', '\x1b[31m', '\x7f']) {
      const answer = await say(
        `GET /api/v1/rfq/pairs HTTP/1.1\r\nHost: x\r\nX-API-Key: fq_test_${byte}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 40[01] /);
      expect(answer).not.toContain(byte);
    }
  });

  test('A2: the database stores a hash of a key and a short prefix', async () => {
    const rows = JSON.stringify(await v.db.query('select * from api_key'));
    expect(rows).not.toContain(key);
    expect(rows).not.toContain(key.slice(8, 20));
    expect(rows).toContain(`"lookup":"${key.slice(8, 16)}"`);
  });

  test('A3: every route refuses keys of the wrong kind before any other check', async () => {
    const keys = {
      service: key,
      workspace: await v.key('workspace'),
      solver: await v.key('solver', { solverId: 'lp-1' }),
    };
    for (const { method, path, keyKinds } of v.venue.routes) {
      for (const kind of ['service', 'workspace', 'solver'] as const) {
        if (keyKinds.includes(kind)) continue;
        const answer = await v.call(method, path.replace(/:[A-Za-z]+/g, 'x'), {
          key: keys[kind],
          ...(method === 'POST' ? { raw: '{broken' } : {}),
        });
        expect([path, kind, ...refusal(answer)]).toEqual([path, kind, 403, 'wrong_key_kind']);
      }
    }
  });

  test('A3: key of the wrong kind', async () => {
    for (const kind of ['workspace', 'solver'] as const) {
      const other = await v.key(kind, { solverId: 'lp-1' });
      for (const [method, path] of [
        ['POST', QUOTES],
        ['POST', '/api/v1/rfq/orders'],
        ['POST', '/api/v1/rfq/orders/preflight'],
        ['GET', '/api/v1/rfq/orders/x'],
        ['GET', '/api/v1/solvers'],
        ['GET', '/api/v1/rfq/pairs'],
      ] as const) {
        expect(
          refusal(await v.call(method, path, { key: other, ...(method === 'POST' ? { body } : {}) })),
        ).toEqual([403, 'wrong_key_kind']);
      }
    }
  });
});

describe('bodies and paths', () => {
  test('A27: the size is checked before the key, and the key before parsing', async () => {
    const huge = 'x'.repeat(256 * 1024 + 1);
    expect(refusal(await v.call('POST', QUOTES, { key: null, raw: huge }))).toEqual([413, 'body_too_large']);
    expect(refusal(await v.call('POST', QUOTES, { key: null, raw: '{broken' }))).toEqual([
      401,
      'unauthorized',
    ]);
    expect(refusal(await raw(`"${'x'.repeat(256 * 1024 - 2)}"`))).toEqual([
      422,
      'value_error'.replace('value_error', 'object_type'),
    ]);
  });

  test('A27: bodies whose length differs from the announced length are refused', async () => {
    const head = `POST ${QUOTES} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n`;
    expect(await say(`${head}Content-Length: 2\r\n\r\n{}GARBAGE\r\n\r\n`)).toMatch(/HTTP\/1\.1 400 /);
    expect(await say(`${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4(?:15|22) /);
    expect(await say(`${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await say(`${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`)).toMatch(
      /^HTTP\/1\.1 400 /,
    );
    expect(await say(`${head}Content-Length: -1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('A27: an endless chunked body is cut off', async () => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(v.http.port, '127.0.0.1');
      let text = '';
      socket.on('data', (data) => (text += data.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', (error: NodeJS.ErrnoException) => (text ? resolve(text) : reject(error)));
      socket.write(
        `POST ${QUOTES} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
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
  ])('A28, A32: %s', async (_, headers, status) => {
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
    ['GET', '/healthz', 404],
    ['GET', '/readyz', 404],
    ['GET', '/admin/v1/workspaces', 404],
    ['POST', '/api/v1/quotes', 404],
    ['POST', '/api/v1/orders', 404],
    ['GET', '/api/v1/orders/x', 404],
    ['GET', '/api/v1/8453/quotes', 404],
    ['GET', '/api/v1/pairs', 404],
    ['GET', '/api/v1/%zz', 404],
  ])('A32, A49: %s %s is %i', async (method, path, status) => {
    const answer = await v.call(method, path, { key });
    expect(answer.status).toBe(status);
    expect(answer.json['error']?.['code']).toBe(status === 405 ? 'method_not_allowed' : 'not_found');
  });

  test('A32: GET with a body and unresolved dots in a path', async () => {
    const ask = (head: string, payload = '') =>
      say(
        `${head} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${payload.length}\r\n\r\n${payload}`,
        1,
      );
    expect(await ask('GET /api/v1/solvers', '{}')).toMatch(/^HTTP\/1\.1 415/);
    for (const path of ['/api/v1/rfq/%2e%2e/solvers', '/api/v1/rfq/../solvers', '/./api/v1/solvers'])
      expect(await ask(`GET ${path}`)).toMatch(/^HTTP\/1\.1 404/);
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
    ['{"taker":NaN}', 'json_invalid'],
    [`{"taker":"${'x'.repeat(200_000)}"}`, 'value_error'],
    [`{${Array.from({ length: 20_000 }, (_, n) => `"${n}":0`).join(',')}}`, 'too_large'],
    [`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, 'too_deep'],
  ])('A29, A30, A31: body %.30s is 422 %s', async (text, type) => {
    expect(refusal(await raw(text))).toEqual([422, type]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('A30, A31: keys named like methods, NUL, lone surrogates, bad UTF-8 and a BOM', async () => {
    expect((await raw(JSON.stringify({ ...body, toString: 1 }))).json['detail']?.[0]).toMatchObject({
      loc: ['body', 'toString'],
      type: 'extra_forbidden',
    });
    for (const bad of [
      Buffer.from([0x7b, 0xff, 0x7d]),
      Buffer.from('\ufeff{}'),
      '{"a":"\\u0000"}',
      '{"a":"\\ud800"}',
    ])
      expect(refusal(await raw(bad))).toEqual([422, 'json_invalid']);
  });

  test('A23, A25: a 422 names the path of the invalid field', async () => {
    for (const amount of [
      '0',
      '-1',
      '0x10',
      '1e18',
      '1.0',
      '',
      ' 5 ',
      '+1',
      '01',
      '9'.repeat(79),
      (2n ** 256n).toString(),
      5,
      null,
      '５',
    ]) {
      const answer = await v.call('POST', QUOTES, {
        key,
        body: { ...body, input: { ...(body['input'] as object), amount } },
      });
      expect([answer.status, answer.json['detail']?.[0]?.['loc']]).toEqual([
        422,
        ['body', 'input', 'amount'],
      ]);
    }
    for (const asset of [
      '',
      'USDC',
      `eip155:0/erc20:0x${'ab'.repeat(20)}`,
      `eip155:01/erc20:0x${'ab'.repeat(20)}`,
      `eip155:${2 ** 53}/erc20:0x${'ab'.repeat(20)}`,
      `eip155:1/erc20:0x${'00'.repeat(20)}`,
      `eip155:1/erc20:0x${'00'.repeat(19)}01`,
      `eip155:1/erc721:0x${'ab'.repeat(20)}`,
      `eip155:1/erc20:${'ab'.repeat(20)}`,
      7,
    ]) {
      const answer = await v.call('POST', QUOTES, { key, body: { ...body, output: { asset } } });
      expect([asset, answer.status, answer.json['detail']?.[0]?.['loc']]).toEqual([
        asset,
        422,
        ['body', 'output', 'asset'],
      ]);
    }
    const same = await v.call('POST', QUOTES, {
      key,
      body: { ...body, output: { asset: (body['input'] as { asset: string }).asset } },
    });
    expect([same.status, same.json['detail']?.[0]?.['loc']?.[0]]).toEqual([422, 'body']);
    expect(
      (await v.call('GET', '/api/v1/solvers?status=busy', { key })).json['detail']?.[0]?.['loc'],
    ).toEqual(['query', 'status']);
    expect(
      (await v.call('GET', '/api/v1/solvers?corridor=a-b', { key })).json['detail']?.[0]?.['loc'],
    ).toEqual(['query', 'corridor']);
    expect((await v.call('GET', '/api/v1/solvers?nope=1', { key })).json['detail']?.[0]?.['type']).toBe(
      'extra_forbidden',
    );
  });
});

describe('roster and pairs', () => {
  test('filters and the shape of an entry', async () => {
    const all = await v.call('GET', '/api/v1/solvers', { key });
    expect(all.json).toEqual({
      solvers: [
        {
          id: 'lp-1',
          status: 'active',
          kind: 'lp',
          corridors: ['chain1-chain1'],
          firstSeenAt: expect.stringMatching(/Z$/),
          lastQuoteAt: all.json['solvers']?.[0]?.['lastQuoteAt'],
          eligibilityNote: null,
        },
      ],
    });
    const ids = async (query: string) =>
      (
        (await v.call('GET', `/api/v1/rfq/solvers${query}`, { key })).json['solvers'] as unknown as Json[]
      ).map(({ id }) => id);
    expect(await ids('?status=active&corridor=chain1-chain1')).toEqual(['lp-1']);
    expect(await ids('?status=offline&status=standby')).toEqual([]);
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key })).json).toEqual({
      chain1: v.chain.chain.id,
      'tron-shasta': 2_494_104_990,
    });
    expect(
      (await v.call('GET', '/api/v1/rfq/pairs', { key: await v.key('service', { mode: 'live' }) })).json,
    ).toEqual({});
  });

  test('the OpenAPI document describes every route', async () => {
    const { json, status } = await v.call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(json['openapi']).toBe('3.1.0');
    const listed = Object.entries(json['paths'] as unknown as Record<string, Record<string, Json>>).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(listed.sort()).toEqual(
      v.venue.routes.map(({ method, path }) => `${method} ${path.replace(/:([A-Za-z]+)/g, '{$1}')}`).sort(),
    );
    expect((await v.call('GET', '/docs')).text).toContain('/api/v1/rfq/quotes');
  });
});

test('rates: by key after authentication, by address before it', async () => {
  const slow = await startTestVenue({
    chainIds: [31_402],
    rates: { quotesPerSecond: 1, readsPerSecond: 2, perIpPerSecond: 20, burst: 1 },
  });
  try {
    const one = await slow.key('service');
    const reads = await Promise.all(
      Array.from({ length: 15 }, () => slow.call('GET', '/api/v1/rfq/pairs', { key: one })),
    );
    // Two at once, and whatever came back while a slow machine answered; never all.
    expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200, 429]));
    const limited = reads.find(({ status }) => status === 429);
    expect(limited?.headers.get('retry-after')).toBe('1');
    // No answer claims more than its limit, and a refusal says where the caller stands.
    const rates = (headers: Headers) =>
      ['policy', 'limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`));
    expect(rates(limited?.headers as Headers)).toEqual(['2;w=1;burst=2', '2', '0', '1']);
    for (const { headers } of reads)
      expect(Number(headers.get('ratelimit-remaining'))).toBeLessThanOrEqual(
        Number(headers.get('ratelimit-limit')),
      );
    expect(reads.find(({ status }) => status === 200)?.headers.get('ratelimit-limit')).toBe('2');
    const knocks = new Set<number>();
    let stopped: Headers | undefined;
    // However slow the machine, enough of them at once come faster than twenty a second.
    while (knocks.size < 2)
      for (const { status, headers } of await Promise.all(
        Array.from({ length: 40 }, () => slow.call('GET', '/api/v1/rfq/pairs', { key: 'wrong' })),
      )) {
        knocks.add(status);
        if (status === 429) stopped = headers;
      }
    expect(rates(stopped as Headers)).toEqual(['20;w=1;burst=20', '20', '0', '1']);
    expect(knocks).toEqual(new Set([401, 429]));
  } finally {
    await slow.stop();
  }
});
