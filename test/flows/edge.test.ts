/**
 * What integrators rely on at the edge: an id on every answer and log line, private answers that no cache
 * keeps, and web pages of configured origins only.
 */

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../../src/adapters/pino/log.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

const PAGE = 'https://app.example.com';
const lines: Record<string, unknown>[] = [];
const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
let v: TestVenue;
let key: string;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_471],
    http: { origins: [PAGE] },
    log: createLog({ app: 'venue', level: 'debug', destination }),
  });
  key = await v.key('service');
});
afterAll(() => v.stop());

const pairs = (headers: Record<string, string> = {}, apiKey: string | null = key) =>
  v.call('GET', '/api/v1/rfq/pairs', { key: apiKey, headers });
const MADE = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('x-request-id', () => {
  test('is taken when sane, made otherwise, and never the same twice', async () => {
    for (const id of ['order-7', '01J9ZC:web/1', 'Root=1-67891233-abcdef012345678912345678'])
      expect((await pairs({ 'X-Request-Id': id })).headers.get('x-request-id')).toBe(id);
    const made = await Promise.all(
      [{}, ...['', ' ', 'a b', '<i>', `${'x'.repeat(129)}`, '"}'].map((id) => ({ 'X-Request-Id': id }))].map(
        async (headers) => (await pairs(headers)).headers.get('x-request-id'),
      ),
    );
    for (const id of made) expect(id).toMatch(MADE);
    expect(new Set(made).size).toBe(made.length);
  });

  test('is in every answer, with api-version, and no private answer may be kept', async () => {
    const post = (body: string, headers: Record<string, string> = {}) =>
      v.call('POST', '/api/v1/rfq/quotes', { key, raw: body, headers });
    const answers = [
      ['200', await pairs()],
      ['401', await pairs({}, null)],
      ['403', await pairs({}, await v.key('workspace'))],
      ['404', await v.call('GET', '/nothing', { key })],
      ['404', await v.call('GET', '/api/%zz', { key })],
      ['405', await v.call('GET', '/api/v1/rfq/quotes', { key })],
      ['413', await post('x'.repeat(300_000))],
      ['415', await post('{}', { 'Content-Type': 'text/plain' })],
      ['422', await post('{}')],
      ['200', await v.call('GET', '/api/v1/workspaces/w1/trades/export', { key: await v.key('workspace') })],
    ] as const;
    for (const [status, { status: got, headers }] of answers)
      expect([
        String(got),
        headers.get('api-version'),
        headers.get('cache-control'),
        headers.get('x-request-id'),
      ]).toEqual([status, '1', 'no-store', expect.stringMatching(MADE)]);
    const document = await v.call('GET', '/openapi.json');
    expect(document.headers.get('cache-control')).toBe('public, max-age=300');
    expect(document.headers.get('x-request-id')).toMatch(MADE);
  });

  test('is in what is said before there is a request, and on sockets', async () => {
    const say = (text: string) =>
      new Promise<string>((resolve) => {
        let heard = '';
        const socket = connect(v.http.port, '127.0.0.1', () => socket.write(text));
        socket.on('data', (data) => (heard += data.toString()));
        socket.on('close', () => resolve(heard));
      });
    expect(await say('EHLO\r\n\r\n')).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/im);
    const half = await say(
      `GET /api/v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-API-Key: ${key}\r\nX-Request-Id: half\r\n\r\n`,
    );
    expect(half).toMatch(/^HTTP\/1\.1 400 [\s\S]*^x-request-id: half\r$[\s\S]*"code":"bad_request"/im);
    const dial = (headers: Record<string, string>) =>
      new Promise<[number, unknown]>((resolve) => {
        const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/ws`, {
          headers: { 'X-Request-Id': 'dial-1', ...headers },
        });
        socket.on('upgrade', ({ statusCode = 0, headers: told }) => {
          resolve([statusCode, told['x-request-id']]);
          socket.terminate();
        });
        socket.on('unexpected-response', (_, { statusCode = 0, headers: told }) =>
          resolve([statusCode, told['x-request-id']]),
        );
        socket.on('error', () => {});
      });
    expect(await dial({ 'X-API-Key': key })).toEqual([101, 'dial-1']);
    expect(await dial({})).toEqual([401, 'dial-1']);
  });

  test('is in every line that is logged for the request', async () => {
    const about = (id: string) => lines.filter(({ requestId }) => requestId === id);
    await pairs({ 'X-Request-Id': 'see-log-1' });
    expect(about('see-log-1')).toEqual([expect.objectContaining({ msg: 'request', status: 200 })]);
    // A handler whose log knows nothing of requests, and one that breaks.
    const route = v.venue.routes.find(({ path }) => path === '/api/v1/rfq/pairs');
    if (!route) throw new Error('no such route');
    const { handle } = route;
    const log = createLog({ app: 'deep', destination });
    try {
      route.handle = async () => {
        await new Promise((resolve) => setImmediate(resolve));
        log.child({ part: 'deep' }).warn({}, 'from far below');
        throw new TypeError('broken');
      };
      expect((await pairs({ 'X-Request-Id': 'see-log-2' })).status).toBe(500);
    } finally {
      route.handle = handle;
    }
    expect(about('see-log-2').map(({ msg }) => msg)).toEqual([
      'from far below',
      'a request failed because of an internal error',
      'request',
    ]);
    log.warn({}, 'of no request');
    expect(lines.at(-1)).not.toHaveProperty('traceId');
    expect(lines.at(-1)).not.toHaveProperty('requestId');
  });
});

describe('traceparent', () => {
  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  const logged = async (id: string, traceparent: string) => {
    await pairs({ 'X-Request-Id': id, traceparent });
    return lines.find(({ requestId }) => requestId === id)?.['traceId'];
  };

  test("the caller's trace id is in every line that is logged for the request", async () => {
    expect(await logged('trace-1', `00-${TRACE}-00f067aa0ba902b7-01`)).toBe(TRACE);
    expect(await logged('trace-2', `cc-${TRACE}-00f067aa0ba902b7-00-of a later version`)).toBe(TRACE);
  });

  test.each([
    ['trace-3', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['trace-4', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['trace-5', `ff-${TRACE}-00f067aa0ba902b7-01`],
    ['trace-6', `00-${TRACE.toUpperCase()}-00f067aa0ba902b7-01`],
    ['trace-7', `00-${TRACE}-00f067aa0ba902b7`],
    ['trace-8', '{"$gt":""}'],
  ])('what is no trace id is ignored (%s)', async (id, traceparent) => {
    expect(await logged(id, traceparent)).toBeUndefined();
    expect(lines.some(({ requestId }) => requestId === id)).toBe(true);
  });
});

describe('web pages', () => {
  const preflight = (origin: string, path = '/api/v1/rfq/quotes') =>
    v.call('OPTIONS', path, {
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-api-key,content-type',
      },
    });
  const allowed = (headers: Headers) => headers.get('access-control-allow-origin');

  test('of a configured origin may call, send a key, and read the headers that matter', async () => {
    const { status, headers } = await preflight(PAGE);
    expect([status, allowed(headers)]).toEqual([200, PAGE]);
    expect(headers.get('access-control-allow-methods')?.split(', ').sort()).toEqual(
      [...new Set(v.venue.routes.map(({ method }) => method))].sort(),
    );
    for (const name of ['X-API-Key', 'Content-Type', 'Idempotency-Key', 'X-Request-Id', 'traceparent'])
      expect(headers.get('access-control-allow-headers')).toContain(name);
    expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
    for (const answer of [await pairs({ Origin: PAGE }), await pairs({ Origin: PAGE }, null)]) {
      expect(allowed(answer.headers)).toBe(PAGE);
      expect(answer.headers.get('vary')).toMatch(/\bOrigin\b/);
      for (const name of ['X-Request-Id', 'RateLimit-Remaining', 'Retry-After'])
        expect(answer.headers.get('access-control-expose-headers')).toContain(name);
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test.each(['https://evil.example', `${PAGE}.evil.example`, 'http://app.example.com', 'null'])(
    'of %s may not',
    async (origin) => {
      expect(allowed((await preflight(origin)).headers)).toBeNull();
      expect((await preflight(origin)).status).toBe(405);
      expect(allowed((await pairs({ Origin: origin })).headers)).toBeNull();
    },
  );

  test('may see why they are refused, and their preflights count against their address', async () => {
    const tight = await v.replica({ rates: { perIpPerSecond: 0.001, burst: 3_000 } as never });
    const knock = () =>
      fetch(`${tight.url}/api/v1/rfq/pairs`, {
        method: 'OPTIONS',
        headers: { Origin: PAGE, 'Access-Control-Request-Method': 'GET' },
      });
    const statuses = [];
    for (let n = 0; n < 5; n++) statuses.push((await knock()).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const refused = await knock();
    expect([allowed(refused.headers), refused.headers.get('retry-after')]).toEqual([
      PAGE,
      expect.any(String),
    ]);
    await tight.stop();
  });
});

test('without configured origins, no page may call', async () => {
  const plain = await startTestVenue({ chainIds: [31_472] });
  try {
    const { status, headers } = await plain.call('OPTIONS', '/api/v1/rfq/quotes', {
      headers: { Origin: PAGE, 'Access-Control-Request-Method': 'POST' },
    });
    expect([status, headers.get('access-control-allow-origin'), headers.get('allow')]).toEqual([
      405,
      null,
      'POST',
    ]);
  } finally {
    await plain.stop();
  }
});
