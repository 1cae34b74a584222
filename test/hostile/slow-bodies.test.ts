/**
 * Clients that send one byte at a time, read nothing, read a download for ever, or hold many connections:
 * each is disconnected, and the next client is answered.
 */

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { attestationRoutes } from '../../src/adapters/attestations/routes.ts';
import { startOps } from '../../src/adapters/http/ops.ts';
import { startHttp } from '../../src/adapters/http/server.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createAdminGate } from '../../src/venue/admin/gate.ts';
import type { ApiCaller, Route, SocketRoute } from '../../src/ports/http.ts';
import { recordEscapes } from '../support/escapes.ts';
import { silentLog } from '../support/silent.ts';

const KEY = 'k'.repeat(64);
const MOST_OF_ADDRESS = 60;
/** Of connections that are open at a time. */
const SLOW = 40;
/** More than the kernel keeps for a reader, in as many answers. */
const [ANSWERS, ANSWER_BYTES] = [400, 64 * 1024];
const LIMITS = { headersTimeoutMs: 1_000, requestTimeoutMs: 1_500, stalledMs: 1_500 };
const escapes = recordEscapes();

interface Door {
  name: string;
  port: number;
  /** Answered with 200. */
  honest: string;
  /** A head without its end, and a whole head that announces a body. */
  slow: readonly string[];
  /** Answered with `ANSWER_BYTES`. */
  large: string;
}

const doors: Door[] = [];
const closers: (() => Promise<unknown>)[] = [];
const downloads = { open: 0, ended: 0 };
/** Answers made by each door, and slots of the venue in use. */
const made: Record<string, number> = { venue: 0, 'LP admin door': 0, attester: 0 };
let slots = 0;
const turnedAway = { connections: 0, unread: 0 };
const heard: SocketRoute<ApiCaller> = {
  ...{ path: '/ws', keyKinds: ['admin'], maxPayloadBytes: 1_024, maxPerKey: 100 },
  open: () => ({ message: () => {}, pong: () => {}, closed: () => {} }),
};
const route = (change: Partial<Route<unknown, unknown, unknown, ApiCaller>>) => ({
  ...{
    method: 'GET' as const,
    keyKinds: ['admin' as const],
    rate: 'read' as const,
    summary: '',
    tag: 'test',
  },
  ...{ path: '/', response: z.any() as never, handle: async () => ({}) },
  ...change,
});

beforeAll(async () => {
  const venue = await startHttp<ApiCaller>(
    {
      routes: [
        route({ path: '/post', method: 'POST', body: z.any() as never }),
        route({ path: '/large', handle: async () => JSON.stringify(large('venue')) }),
        route({ path: '/slow', handle: () => new Promise((done) => setTimeout(done, 300, '{}')) }),
        route({ path: '/checked', query: z.strictObject({}) as never }),
        route({
          path: '/download',
          handle: async () => ({ contentType: 'text/csv', filename: 'x.csv', chunks: endless() }),
        }),
      ],
      socketRoutes: [heard],
      gate: {
        ...createAdminGate(
          { clock: systemClock, log: silentLog },
          { keys: [{ id: 'ops', secret: KEY }], requestsPerSecond: 100_000 },
        ),
        turnedAway: (why) => void (turnedAway[why] += 1),
        async takeSlot() {
          slots += 1;
          let held = true;
          return () => {
            if (held) slots -= 1;
            held = false;
          };
        },
      },
      ...{ clock: systemClock, log: silentLog },
    },
    { port: 0, ...LIMITS, downloadTimeoutMs: 1_500, maxConnectionsPerAddress: MOST_OF_ADDRESS },
  );
  const ops = {
    host: '127.0.0.1',
    port: 0,
    log: silentLog,
    ...LIMITS,
    maxConnectionsPerAddress: MOST_OF_ADDRESS,
  };
  const lp = await startOps({
    ...ops,
    ...{ localOnly: true, token: KEY },
    routes: [
      { method: 'GET', path: '/status', handle: async () => ({ status: 200, body: large('LP admin door') }) },
      { method: 'POST', path: '/pause', handle: async ({ body }) => ({ status: 200, body }) },
    ],
  });
  const attester = await startOps({
    ...ops,
    routes: attestationRoutes({
      address: `0x${'11'.repeat(20)}`,
      attestList: async () => ({ kind: 'refused', reason: 'a test' }) as const,
      attest: async () => ({ kind: 'refused', reason: large('attester') }),
    }),
  });
  closers.push(
    () => venue.close(),
    () => lp.close(),
    () => attester.close(),
  );
  const attest =
    `/attestations?oracleChainId=1&oracle=0x${'11'.repeat(20)}&remoteChainId=2` +
    `&application=0x${'22'.repeat(32)}&payloadHash=0x${'33'.repeat(32)}`;
  for (const [name, { port }, key, get, post] of [
    ['venue', venue, `X-API-Key: ${KEY}`, '/large', '/post'],
    ['LP admin door', lp, `Authorization: Bearer ${KEY}`, '/status', '/pause'],
    ['attester', attester, 'X: y', attest, attest],
  ] as const) {
    const head = (method: string, path: string) =>
      `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${key}\r\n`;
    const method = name === 'attester' ? 'GET' : 'POST';
    const type = 'Content-Type: application/json\r\n';
    doors.push({
      ...{ name, port },
      honest: `${head('GET', get)}Connection: close\r\n\r\n`,
      slow: [
        '',
        head('GET', get),
        `${head(method, post)}${type}Content-Length: 10000\r\n\r\n{`,
        `${head(method, post)}${type}Transfer-Encoding: chunked\r\n\r\n`,
      ],
      large: `${head('GET', get)}\r\n`,
    });
  }
});
afterAll(async () => {
  for (const close of closers) await close();
  escapes.stop();
});

function large(door: string): string {
  made[door] = (made[door] ?? 0) + 1;
  return 'x'.repeat(ANSWER_BYTES);
}

async function* endless(): AsyncGenerator<string> {
  downloads.open += 1;
  try {
    for (;;) yield 'x'.repeat(64 * 1024);
  } finally {
    downloads.ended += 1;
  }
}

function dial(port: number, from = '127.0.0.2'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  return socket.on('error', () => {});
}
const closed = (socket: Socket) => new Promise<void>((done) => socket.once('close', () => done()));

async function statusOf(port: number, text: string, from = '127.0.0.1'): Promise<string | undefined> {
  const socket = dial(port, from);
  let said = '';
  socket.on('data', (data) => (said += data.subarray(0, 40).toString('latin1')));
  socket.write(text);
  await closed(socket);
  return /^HTTP\/1\.1 (\d+)/.exec(said)?.[1];
}

/** A busy machine may take longer than the short limits of this test. */
const answered = (port: number, text: string, from?: string) =>
  expect.poll(() => statusOf(port, text, from), { timeout: 15_000 }).toBe('200');

/** Of these clients, those whose connection the server still has. */
function connectionsFrom(clients: readonly Socket[], port: number): number {
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  const established = lines.map((line) => line.trim().split(/\s+/)).filter(([, , , state]) => state === '01');
  return clients.filter(({ localPort }) =>
    established.some(
      ([, local, remote]) => local?.endsWith(`:${hex(port)}`) && remote?.endsWith(`:${hex(localPort ?? 0)}`),
    ),
  ).length;
}

const each = ['venue', 'LP admin door', 'attester'] as const;
const doorOf = (name: (typeof each)[number]) => doors.find((door) => door.name === name) as Door;

describe.each(each)('%s', (name) => {
  test('slow headers, slow bodies and silence are disconnected, and others are answered', async () => {
    const { port, slow, honest } = doorOf(name);
    const sockets = Array.from({ length: SLOW }, (_, n) => {
      const socket = dial(port).resume();
      socket.write(slow[n % slow.length] as string);
      const drip = setInterval(() => socket.write('1'), 50);
      socket.once('close', () => clearInterval(drip));
      return closed(socket);
    });
    await answered(port, honest);
    await Promise.all(sockets);
    await answered(port, honest, '127.0.0.2');
  });

  test('a client that asks much and reads nothing is disconnected', async () => {
    const { port, large: request, honest } = doorOf(name);
    const before = made[name] ?? 0;
    const readers = Array.from({ length: 4 }, () => {
      const socket = dial(port).pause();
      socket.write(request.repeat(ANSWERS));
      return socket;
    });
    await answered(port, honest);
    // A paused client does not notice that it was disconnected; the operating system does.
    const open = () => connectionsFrom(readers, port);
    expect(slots).toBe(0);
    await expect.poll(open, { timeout: 15_000, interval: 100 }).toBe(0);
    if (name === 'venue') expect(turnedAway.unread).toBeGreaterThan(0);
    else expect((made[name] ?? 0) - before).toBeLessThan(readers.length * ANSWERS);
    for (const reader of readers) reader.destroy();
    await answered(port, honest, '127.0.0.2');
    expect(slots).toBe(0);
  });

  test('connections of one address are limited, and those of another are not affected', async () => {
    const { port, honest } = doorOf(name);
    const sockets = Array.from({ length: 2 * MOST_OF_ADDRESS }, () => dial(port).resume());
    let gone = 0;
    const all = sockets.map((socket) => closed(socket).then(() => (gone += 1)));
    await expect.poll(() => gone, { interval: 5 }).toBeGreaterThanOrEqual(MOST_OF_ADDRESS);
    await answered(port, honest);
    await Promise.all(all);
    await answered(port, honest, '127.0.0.2');
    if (name === 'venue') expect(turnedAway.connections).toBeGreaterThanOrEqual(MOST_OF_ADDRESS);
  });
});

test('a download that is read too slowly ends, and frees its slot', async () => {
  const { port } = doorOf('venue');
  const socket = dial(port);
  socket.write(`GET /download HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${KEY}\r\n\r\n`);
  // Never idle for long, so that only the limit of the whole download can end it.
  const sip = setInterval(() => {
    socket.resume();
    setTimeout(() => socket.pause(), 1);
  }, 100);
  socket.once('close', () => clearInterval(sip));
  await closed(socket);
  await expect.poll(() => [downloads, slots]).toEqual([{ open: 1, ended: 1 }, 0]);
});

test.each(['/slow', '/large', '/checked?unknown=1', '/download'])(
  'requests to %s that wait behind others when the client hangs up free their slots',
  async (path) => {
    const { port } = doorOf('venue');
    const head = (of: string) => `GET ${of} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${KEY}\r\n\r\n`;
    const socket = dial(port).pause();
    socket.write(`${head('/slow')}${head(path).repeat(20)}`);
    await expect.poll(() => slots, { interval: 2 }).toBeGreaterThan(0);
    socket.destroy();
    await expect.poll(() => slots, { timeout: 5_000 }).toBe(0);
  },
);

test('WebSockets that are opened slowly, or never, count as connections of their address', async () => {
  const { port } = doorOf('venue');
  const head = `GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n`;
  const sockets = Array.from({ length: SLOW }, () => {
    const socket = dial(port).resume();
    socket.write(head);
    return closed(socket);
  });
  const honest = new WebSocket(`ws://127.0.0.1:${port}/ws`, { headers: { 'X-API-Key': KEY } });
  await new Promise((done, failed) => honest.once('open', done).once('error', failed));
  honest.terminate();
  await Promise.all(sockets);
  expect(escapes.seen).toEqual([]);
});
