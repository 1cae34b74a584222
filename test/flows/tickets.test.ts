/**
 * Tickets open one WebSocket each, as the key that asked, at any replica, from pages of listed origins; and
 * nothing else.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createLog } from '../../src/adapters/pino/log.ts';
import { TICKET } from '../../src/protocol/api/tickets.ts';
import { KEYS_TOPIC } from '../../src/venue/access/keys.ts';
import { type Json, type Replica, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const PAGE = 'https://app.example.com';
const lines: string[] = [];
let v: TestVenue;
let other: Replica;
let key: string;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_473],
    http: { origins: [PAGE] },
    log: createLog({
      app: 'venue',
      level: 'debug',
      destination: { write: (line: string) => void lines.push(line) },
    }),
  });
  other = await v.replica();
  key = await v.key('service');
});
afterAll(async () => {
  await other.stop();
  await v.stop();
});

const ask = (apiKey: string | null = key) => v.call('POST', '/api/v1/ws/tickets', { key: apiKey });
const ticket = async (apiKey = key): Promise<string> =>
  (await ask(apiKey)).json['ticket'] as unknown as string;

interface Dialled {
  /** 101 when let in. */
  status: number;
  body: Json;
  socket: WebSocket;
}

/** As a browser does: protocols and an Origin, and no other header. */
function dial(
  url: string,
  protocols: string[],
  { origin = PAGE, path = '/api/v1/ws' }: { origin?: string | null; path?: string } = {},
): Promise<Dialled> {
  const socket = new WebSocket(
    url.replace('http', 'ws') + path,
    protocols,
    origin === null ? {} : { origin },
  );
  return new Promise((resolve) => {
    socket.on('open', () => resolve({ status: 101, body: null as unknown as Json, socket }));
    socket.on('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (data: Buffer) => (text += data.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Json, socket }),
      );
    });
    socket.on('error', () => {});
  });
}
const refusal = ({ status, body }: Dialled) => [status, body?.['error']?.['code']];
const firstFrame = (socket: WebSocket, frame: object) =>
  new Promise<Json>((resolve) => {
    socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString()) as Json));
    socket.send(JSON.stringify(frame));
  });

describe('a ticket', () => {
  test('opens one stream at any replica, as its key, and is never the chosen protocol', async () => {
    const { status, json, headers } = await ask();
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(json).toEqual({
      ticket: expect.stringMatching(TICKET),
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const one = json['ticket'] as unknown as string;
    const { status: opened, socket } = await dial(other.url, [one, 'firmquote']);
    expect([opened, socket.protocol]).toEqual([101, 'firmquote']);
    expect(await firstFrame(socket, { op: 'subscribe', topics: ['orders'], id: 1 })).toMatchObject({
      op: 'subscribed',
    });
    socket.terminate();
    // A second use is refused everywhere.
    for (const url of [v.url, other.url]) {
      const again = await dial(url, ['firmquote', one]);
      expect(refusal(again)).toEqual([401, 'ticket_invalid']);
      expect(again.body['error']?.['message']).toContain('has been used');
    }
  });

  test('lets in one of many that come at once', async () => {
    const one = await ticket();
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, n) => dial(n % 2 ? v.url : other.url, ['firmquote', one])),
    );
    expect(all.filter(({ status }) => status === 101)).toHaveLength(1);
    expect(all.filter(({ status }) => status === 401)).toHaveLength(11);
    for (const { socket } of all) socket.terminate();
  });

  test('is refused when it comes late, is invented, or its key was revoked', async () => {
    const late = await ticket();
    // As if its seconds had passed.
    await v.db.query('update ws_ticket set expires_at = now() where not used');
    const told = await dial(v.url, ['firmquote', late]);
    expect(refusal(told)).toEqual([401, 'ticket_invalid']);
    expect(told.body['error']?.['message']).toContain('has expired');
    for (const made of [`fq_ticket_${'A'.repeat(43)}`, 'fq_ticket_short', 'fq_ticket_'])
      expect(refusal(await dial(v.url, ['firmquote', made]))).toEqual([401, 'ticket_invalid']);

    const gone = await v.key('service');
    const orphan = await ticket(gone);
    const kept = await dial(v.url, ['firmquote', await ticket(gone)]);
    expect(kept.status).toBe(101);
    const closed = new Promise<number>((resolve) => kept.socket.on('close', resolve));
    await v.store.revokeKey((await v.store.listKeys()).at(-1)?.id ?? '', Date.now());
    await v.bus.publish(KEYS_TOPIC, '');
    expect(refusal(await dial(v.url, ['firmquote', orphan]))).toEqual([401, 'ticket_invalid']);
    // Nor does a stream outlive its key.
    expect(await closed).toBe(1008);
  });

  test('has the scope, mode and workspace of its key, and is for event streams only', async () => {
    const solver = await v.key('solver', { solverId: 'lp-1' });
    expect((await ask(solver)).status).toBe(403);
    expect((await ask(null)).status).toBe(401);
    expect(refusal(await dial(v.url, ['firmquote', await ticket()], { path: '/api/v1/solver/ws' }))).toEqual([
      401,
      'unauthorized',
    ]);
    expect(
      refusal(await dial(v.url, ['firmquote', await ticket()], { path: '/api/v1/solver/ws', origin: null })),
    ).toEqual([401, 'unauthorized']);
    // A test chain is not there for a live key.
    for (const mode of ['test', 'live'] as const) {
      const { socket } = await dial(v.url, [
        'firmquote',
        await ticket(await v.key('workspace', { mode, role: 'viewer' })),
      ]);
      const answer = await firstFrame(socket, {
        op: 'subscribe',
        topics: ['prices:chain1-chain1:USDC-WETH'],
      });
      expect([mode, answer['op']]).toEqual([mode, mode === 'test' ? 'subscribed' : 'error']);
      socket.terminate();
    }
  });

  test('is no API key, and no log line holds one', async () => {
    const one = await ticket();
    expect((await v.call('GET', '/api/v1/rfq/pairs', { key: one })).status).toBe(401);
    expect((await dial(v.url, ['firmquote', one], { path: `/api/v1/ws?ticket=${one}` })).status).toBe(400);
    expect(refusal(await dial(v.url, [one]))).toEqual([400, 'bad_request']);
    // None of these spent it.
    const { status, socket } = await dial(v.url, ['firmquote', one], { origin: null });
    expect(status).toBe(101);
    socket.terminate();
    await until(() => lines.some((line) => line.includes('/api/v1/ws/tickets')));
    expect(lines.filter((line) => /fq_ticket_[A-Za-z0-9_-]{8}/.test(line))).toEqual([]);
  });
});

describe('a web page', () => {
  test.each(['https://evil.example', 'null', `${PAGE}.evil.example`])('of %s is refused', async (origin) => {
    const one = await ticket();
    expect(refusal(await dial(v.url, ['firmquote', one], { origin }))).toEqual([401, 'unauthorized']);
    const kept = await dial(v.url, ['firmquote', one]);
    expect(kept.status).toBe(101);
    kept.socket.terminate();
  });

  test('of a listed origin learns how to connect', async () => {
    const told = await dial(v.url, ['firmquote']);
    expect(refusal(told)).toEqual([401, 'unauthorized']);
    expect(told.body['error']?.['message']).toContain('POST /api/v1/ws/tickets');
  });
});
