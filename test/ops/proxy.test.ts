/**
 * The reverse proxies of `ops/proxy` before a real venue: TLS, WebSockets, limits by the client's address and
 * not by the proxy's, and errors in the form of the API.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type OpsServer, healthRoutes, startOps } from '../../src/adapters/http/ops.ts';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { KEEP_ALIVE_MS } from '../../src/adapters/http/server.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { LINK_PATH } from '../../src/protocol/link/link.ts';
import { ERROR_STATUS } from '../../src/protocol/errors.ts';
import { PUBLIC_NAME, REPLICA_NAME, type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';
import { silentLog } from '../support/silent.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const PAIRS = '/api/v1/rfq/pairs';
const QUOTES = '/api/v1/rfq/quotes';

let v: TestVenue;
let key: string;
let ops: OpsServer;
let reasons: string[] = [];
let clients = 2;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_451],
    http: { trustProxy: ['127.0.0.1'] },
    // A bucket of 40 that fills slowly.
    rates: { perIpPerSecond: 2, burst: 20 },
  });
  key = await v.key('service');
  ops = await startOps({
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    routes: healthRoutes({ ready: async () => reasons, metrics: createMetrics() }),
  });
});
afterAll(async () => {
  await ops.close();
  await v.stop();
});

/** Each test is a client of its own address. */
const nextClient = () => `127.0.0.${clients++}`;

interface Asked {
  body?: string;
  headers?: Record<string, string>;
}

const connection = ({ port, ca }: ReverseProxy, from: string, name = PUBLIC_NAME) => ({
  host: '127.0.0.1',
  port,
  servername: name,
  ca,
  localAddress: from,
  agent: false as const,
});

function askThrough(
  proxy: ReverseProxy,
  from: string,
  path: string,
  { body, headers = {} }: Asked = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; text: string }> {
  const length = body !== undefined && {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        ...connection(proxy, from),
        path,
        method: body === undefined ? 'GET' : 'POST',
        headers: { Host: PUBLIC_NAME, 'X-API-Key': key, ...length, ...headers },
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** 101, or the status that refused the upgrade. */
const upgrade = (socket: WebSocket): Promise<number> =>
  new Promise((resolve, reject) => {
    socket.on('open', () => resolve(101));
    socket.on('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    socket.on('error', reject);
  });

describe.each(['nginx', 'haproxy'] as const)('%s', (kind) => {
  let proxy: ReverseProxy;
  beforeAll(async () => {
    proxy = await startReverseProxy(kind, { venuePort: v.http.port, opsPort: ops.port });
    await until(async () => (await askThrough(proxy, nextClient(), PAIRS)).status === 200);
  });
  afterAll(() => proxy.stop());

  const ask = (from: string, path: string, asked?: Asked) => askThrough(proxy, from, path, asked);
  const dial = (from: string, path: string, name = PUBLIC_NAME, apiKey = key) =>
    new WebSocket(`wss://127.0.0.1:${proxy.port}${path}`, {
      ...connection(proxy, from, name),
      headers: { Host: name, 'X-API-Key': apiKey },
    });

  test('requests and refusals of the venue arrive', async () => {
    const client = nextClient();
    expect(await ask(client, PAIRS)).toMatchObject({ status: 200 });
    expect(await ask(client, PAIRS, { headers: { 'X-API-Key': 'no' } })).toMatchObject({ status: 401 });
  });

  test('a stream of events stays open and answers', async () => {
    const socket = dial(nextClient(), '/api/v1/ws');
    expect(await upgrade(socket)).toBe(101);
    const answer = new Promise<string>((resolve) => {
      socket.once('message', (data: Buffer) => resolve(data.toString()));
    });
    socket.send(JSON.stringify({ op: 'subscribe', topics: ['orders'] }));
    expect(await answer).toContain('"op":"subscribed"');
    socket.close();
  });

  test('limits count for the address of the client, whatever it claims, and for sockets too', async () => {
    const [storm, other] = [nextClient(), nextClient()];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        ask(storm, PAIRS, { headers: { 'X-Forwarded-For': `198.51.100.${n}` } }),
      ),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect(await upgrade(dial(storm, '/api/v1/ws'))).toBe(429);
    expect(await ask(other, PAIRS)).toMatchObject({ status: 200 });
    const socket = dial(other, '/api/v1/ws');
    expect(await upgrade(socket)).toBe(101);
    socket.close();
  });

  test("a body over the venue's limit is refused in the form of the API, and one within it arrives", async () => {
    const client = nextClient();
    const padded = (bytes: number) => JSON.stringify({ pad: 'x'.repeat(bytes - '{"pad":""}'.length) });
    expect(await ask(client, QUOTES, { body: padded(256 * 1024) })).toMatchObject({ status: 422 });
    const over = await ask(client, QUOTES, { body: padded(256 * 1024 + 1) });
    expect(over.status).toBe(ERROR_STATUS.body_too_large);
    expect(JSON.parse(over.text)).toMatchObject({ error: { code: 'body_too_large' } });
  });

  test('a solver reaches one replica by its own name, and not through the balancer', async () => {
    const solverKey = await v.key('solver', { solverId: 'lp-1' });
    const socket = dial(nextClient(), LINK_PATH, REPLICA_NAME, solverKey);
    expect(await upgrade(socket)).toBe(101);
    socket.close();
    expect(await upgrade(dial(nextClient(), LINK_PATH, PUBLIC_NAME, solverKey))).toBe(404);
    expect(await upgrade(dial(nextClient(), '/api/v1/ws', REPLICA_NAME))).toBe(404);
  });
});

const unavailable = { status: ERROR_STATUS.unavailable, headers: { 'retry-after': '1' } };
const errorIn = ({ text }: { text: string }) => (JSON.parse(text) as Json)['error'];

test('sockets may be silent for two pings, and connections to the venue close before it closes them', async () => {
  const root = join(import.meta.dirname, '..', '..');
  const [nginx, haproxy, example] = await Promise.all(
    ['ops/proxy/nginx.conf', 'ops/proxy/haproxy.cfg', 'config/venue.example.json'].map((file) =>
      readFile(join(root, file), 'utf8'),
    ),
  );
  const { sockets } = JSON.parse(example ?? '') as { sockets: { pingEveryMs: number } };
  const seconds = (pattern: RegExp, text = '') => Number(pattern.exec(text)?.[1]);
  expect(seconds(/proxy_read_timeout (\d+)s/, nginx) * 1_000).toBeGreaterThan(2 * sockets.pingEveryMs);
  expect(seconds(/timeout tunnel (\d+)s/, haproxy) * 1_000).toBeGreaterThan(2 * sockets.pingEveryMs);
  expect(seconds(/^ {2}keepalive_timeout (\d+)s/m, nginx) * 1_000).toBeLessThan(KEEP_ALIVE_MS);
});

test('haproxy sends nothing to a replica that drains', async () => {
  const proxy = await startReverseProxy('haproxy', { venuePort: v.http.port, opsPort: ops.port });
  const status = async () => (await askThrough(proxy, nextClient(), PAIRS)).status;
  try {
    await expect.poll(status).toBe(200);
    reasons = ['stopping'];
    await expect.poll(status).toBe(503);
    reasons = [];
    await expect.poll(status).toBe(200);
  } finally {
    reasons = [];
    await proxy.stop();
  }
});

test.each(['nginx', 'haproxy'] as const)(
  '%s without a replica says so in the form of the API',
  async (kind) => {
    const proxy = await startReverseProxy(kind, { venuePort: await freePort(), opsPort: ops.port });
    try {
      const answer = await askThrough(proxy, nextClient(), PAIRS);
      expect(answer).toMatchObject(unavailable);
      expect(errorIn(answer)).toMatchObject({ code: 'unavailable' });
    } finally {
      await proxy.stop();
    }
  },
);
