/**
 * Slow, greedy and hostile callers, and what the venue lets slip about any of them: nothing that hangs,
 * nothing that fills up, nothing in a log.
 */

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/adapters/pino/log.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { zVenueConfig } from '../../src/apps/venue/config.ts';
import { assetId } from '../../src/domain/asset.ts';
import { account } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const MAX_CONNECTIONS = 60;
let v: TestVenue;
let key: string;
let body: Record<string, unknown>;
let solver: Awaited<ReturnType<TestVenue['solver']>>;
const lines: string[] = [];
const metrics = createMetrics();

beforeAll(async () => {
  const log = createLog({
    app: 'abused',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  v = await startTestVenue({
    chainIds: [31_451],
    log,
    metrics,
    http: { maxConnections: MAX_CONNECTIONS, headersTimeoutMs: 400, requestTimeoutMs: 900 },
  });
  key = await v.key('service');
  const { chain, usdc, weth } = v.chain;
  body = {
    taker: account(8_200).address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };
  await v.chain.fund(account(8_200).address, 10_000n);
  solver = await v.solver(1, (rfq, make) =>
    make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }),
  );
});
afterAll(() => v.stop());

const QUOTES = '/api/v1/rfq/quotes';
const ask = (as: string, more: object = {}) =>
  v.call('POST', QUOTES, { key: as, body: { ...body, ...more } });

/** Sends, then a little more every now and then, until the venue has closed the socket. */
function drip(first: string, more: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(v.http.port, '127.0.0.1');
    let heard = '';
    const timer = more === '' ? undefined : setInterval(() => socket.write(more), 50);
    const end = () => {
      clearInterval(timer);
      resolve(heard);
    };
    socket.on('data', (data) => (heard += data.toString()));
    socket.on('error', () => {});
    socket.on('close', end);
    socket.write(first);
  });
}

describe('slow clients', () => {
  test('A43: endless headers, endless bodies and silent connections are closed', async () => {
    const head = `POST ${QUOTES} HTTP/1.1\r\nHost: x\r\n`;
    const whole = `${head}X-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`;
    const [headers, slowBody, silent] = await Promise.all([
      drip(head, 'X-A: b\r\n'),
      drip(whole, ' '),
      drip('', ''),
    ]);
    for (const heard of [headers, slowBody]) expect(heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(silent === '' || silent.startsWith('HTTP/1.1 408 ')).toBe(true);
    expect((await ask(key)).status).toBe(200);
  });

  test('A43: idle connections beyond the limit are dropped and free their slots', async () => {
    const heard = await Promise.all(Array.from({ length: MAX_CONNECTIONS * 3 }, () => drip('GET /', '')));
    expect(heard.filter((text) => text === '').length).toBeGreaterThan(0);
    await until(() =>
      ask(key).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  });

  test('A43: pipelined requests are answered in order', async () => {
    const one = (last: boolean) =>
      `GET /api/v1/rfq/pairs HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
    const heard = await drip(`${one(false).repeat(49)}${one(true)}`, '');
    expect(heard.match(/HTTP\/1\.1 200 /g)).toHaveLength(50);
  });

  test("A43: too many headers or invalid HTTP get the API's error and a closed socket", async () => {
    expect(await drip(`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, '')).toContain(
      'header_too_large',
    );
    expect(await drip('EHLO there\r\n\r\n', '')).toContain('bad_request');
  });
});

describe('greedy clients', () => {
  test('A44: a key with too many live quotes is refused until some expire', async () => {
    await v.workspace('greedy', { limits: { openQuotes: 3, openNotionalUsd: null } });
    const greedy = await v.key('service', { workspaceId: 'greedy' });
    const answers = [];
    for (let n = 0; n < 4; n++) answers.push(await ask(greedy));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[3]?.json).toMatchObject({ error: { code: 'rate_limited' } });
    expect(Number(answers[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    await v.workspace('rich', { limits: { openQuotes: null, openNotionalUsd: 1_500 } });
    const rich = await v.key('service', { workspaceId: 'rich' });
    const notional = [];
    for (let n = 0; n < 3; n++) notional.push((await ask(rich)).status);
    expect(notional).toEqual([200, 200, 429]);
  });

  test('A44: concurrent requests do not exceed the limit of live quotes', async () => {
    await v.workspace('hasty', { limits: { openQuotes: 3, openNotionalUsd: null } });
    const hasty = await v.key('service', { workspaceId: 'hasty' });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(hasty)));
    const granted = answers.filter(({ status }) => status === 200);
    expect([
      granted.length > 0 && granted.length <= 3,
      answers.every(({ status }) => status === 200 || status === 429),
    ]).toEqual([true, true]);
    expect((await ask(hasty)).status).toBe(429);
  });
});

describe('hostile solvers', () => {
  test('A46: nonsense, deep nesting, invalid numbers and oversized frames harm only the solver that sends them', async () => {
    const rude = await v.solver(
      2,
      (rfq) =>
        [
          `{"type":"quote","rfqId":"${rfq.rfqId}","validUntil":NaN}`,
          `{"type":"quote","rfqId":"${rfq.rfqId}","eta":1e999,"__proto__":{"polluted":1}}`,
          `{"type":"partial","rfqId":"${rfq.rfqId}","ladder":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
          `{"type":"decline","rfqId":"${rfq.rfqId}","reason":"because","maxAmount":-1}`,
        ] as never,
    );
    const answers = await Promise.all(Array.from({ length: 3 }, () => ask(key)));
    for (const { status, json } of answers)
      expect([status, (json['quotes'] as unknown as Json[]).map(({ solverId }) => solverId)]).toEqual([
        200,
        [solver.id],
      ]);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    await until(() => v.venue.roster.entry(rude.id)?.status !== 'active');
    rude.say(`{"type":"status","status":"active","note":"${'x'.repeat(70_000)}"}`);
    expect((await rude.closed).code).toBe(1009);
    expect(((await ask(key)).json['quotes'] as unknown as Json[]).map(({ solverId }) => solverId)).toEqual([
      solver.id,
    ]);
  });
});

describe('information leaks', () => {
  test('A47: every log line is one JSON object, and no log, metric or answer contains a key, a signature or a lock', async () => {
    const taker = account(8_200);
    const quote = (await ask(key)).json['quotes']?.[0] as Json;
    const plan = (
      await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } })
    ).json;
    const submission = await signPlan(taker, quote, plan);
    const authorization = submission['eip3009Authorization'] as { signature: string };
    const answers = [
      await v.call('POST', '/api/v1/rfq/orders', {
        key,
        body: { ...submission, signature: `0x${'ab'.repeat(65)}` },
      }),
      await v.call('POST', '/api/v1/rfq/orders', { key, body: submission }),
      await v.call('POST', '/api/v1/rfq/orders', { key: `${key}x`, body: submission }),
      await v.call('POST', '/api/v1/rfq/orders', { key, body: { ...submission, [key]: 1 } }),
      await v.call('GET', `/api/v1/rfq/orders/%0d%0a%1b%5b31m{"level":"fatal"}`, { key }),
      await v.call('GET', '/api/v1/%0d%0aSet-Cookie:%20a=b', {
        key,
        headers: { 'User-Agent': '{"level":"fatal"}', 'Idempotency-Key': '%1b[31m' },
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 200, 401, 422, 404, 404]);
    for (const raw of ['X-Evil: a\x1b[31mb', 'X-Evil: a\x00b', 'User-Agent: x\x0by'])
      await drip(
        `GET /api/v1/rfq/pairs HTTP/1.1\r\nHost: x\r\n${raw}\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`,
        '',
      );
    solver.say(`{"type":"\x1b[31m${solver.apiKey}","note":"\\r\\n{\\"level\\":\\"fatal\\"}"}`);
    solver.say({ type: 'status', status: 'standby', note: 'line\r\n{"level":"fatal"}' });
    await until(() => v.venue.roster.entry(solver.id)?.status === 'standby');
    solver.say({ type: 'status', status: 'active', note: null });
    await until(() => v.venue.roster.entry(solver.id)?.status === 'active');
    await until(() => lines.some((line) => line.includes('order accepted')));
    for (const line of lines) {
      expect(line.endsWith('\n') && [...line.slice(0, -1)].every((character) => character >= ' ')).toBe(true);
      expect((JSON.parse(line) as { level: string }).level).not.toBe('fatal');
    }
    const secrets = [
      key,
      solver.apiKey,
      submission['signature'] as string,
      authorization.signature,
      taker.privateKey.slice(2),
      v.db.url,
    ].flatMap((secret) => [secret, secret.slice(0, -1)]);
    const told = [
      lines.join(''),
      await metrics.text(),
      ...answers.slice(0, 1).map(({ text }) => text),
      ...answers.slice(2, 3).map(({ text }) => text),
      ...answers.slice(4).map(({ text }) => text),
    ];
    for (const secret of secrets) for (const text of told) expect(text.includes(secret)).toBe(false);
    expect(answers.every(({ headers }) => headers.get('set-cookie') === null)).toBe(true);
  });

  test('A48: names are served as text and cannot run as code', async () => {
    const name = '<script>alert(1)</script>';
    await v.store.putSolver({ id: solver.id, name, kind: 'lp', corridors: null, disabled: false });
    await v.workspace('w1', { name });
    for (const path of ['/api/v1/solvers', '/api/v1/rfq/pairs', '/openapi.json', '/docs', '/nothing']) {
      const { headers, text } = await v.call('GET', path, { key });
      expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
      expect(text).not.toContain(name);
      if (path !== '/docs')
        expect([path, headers.get('content-type')]).toEqual([
          path,
          expect.stringMatching(/^application\/json/),
        ]);
      const policy = headers.get('content-security-policy') ?? '';
      const scripts =
        /script-src ([^;]*)/.exec(policy)?.[1] ?? /default-src ([^;]*)/.exec(policy)?.[1] ?? '*';
      expect([path, /unsafe|\*|https?:|data:/.test(scripts)]).toEqual([path, false]);
    }
  });

  test('A49: operator and admin listeners bind to loopback by default, and an admin listener needs a key', () => {
    const { ops, admin, http } = zVenueConfig.parse({
      app: 'venue',
      venueId: 'x',
      keys: { relayer: { env: 'K', development: true }, seals: [{ id: 'k1', secret: { env: 'S' } }] },
      chains: [
        {
          id: 1,
          slug: 'a',
          escrow: v.chain.chain.escrow,
          oracle: v.chain.chain.oracle,
          tokens: v.chain.chain.tokens,
          rpcUrls: ['http://x'],
        },
      ],
    });
    expect([ops.host, admin.host, http.host, admin.keys]).toEqual([
      '127.0.0.1',
      '127.0.0.1',
      '127.0.0.1',
      [],
    ]);
    expect(new Set([ops.port, admin.port, http.port]).size).toBe(3);
  });
});
