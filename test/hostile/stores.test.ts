/** PostgreSQL and Redis that hang up, answer nonsense or go on for ever: calls fail and the process lives. */

import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { createBullQueue } from '../../src/adapters/bullmq/queue.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { createSharedInventory } from '../../src/adapters/redis/shared-inventory.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { recordEscapes } from '../support/escapes.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';

const escapes = recordEscapes();
const closers: (() => unknown)[] = [];
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  escapes.stop();
});

type Play = (socket: Socket, said: Buffer) => unknown;

async function server(play: Play): Promise<{ port: number; accepted: () => number; open: () => number }> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const listening = createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.on('data', (said) => play(socket, said));
  });
  await new Promise<void>((done) => listening.listen(0, '127.0.0.1', done));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  const { port } = listening.address() as AddressInfo;
  return { port, accepted: () => accepted, open: () => sockets.size };
}
const failed = (answer: Promise<unknown>) =>
  answer.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );
const message = (type: string, body: Buffer | string) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(Buffer.byteLength(body) + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body)]);
};
const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', 'I')]);
/** Lets a client in, then plays. */
const after =
  (play: Play): Play =>
  (socket, said) =>
    said.length > 8 && said.readInt32BE(4) === 196_608 ? socket.write(WELCOME) : play(socket, said);

const POSTGRES: Record<string, Play> = {
  'hangs up': (socket) => socket.destroy(),
  'resets later': after((socket) => socket.resetAndDestroy()),
  'answers garbage': (socket) => socket.write('\0garbage that is no message\r\n'.repeat(100)),
  'sends what no protocol has': after((socket) => socket.write(message('R', Buffer.from([0, 0, 0, 99])))),
  'asks for an unknown login': (socket) => socket.write(message('R', Buffer.from([0, 0, 0, 99]))),
  'sends notices that nobody hears': after((socket) => {
    socket.write(message('N', 'Mx\0\0'));
    socket.write(message('A', Buffer.from('\0\0\0\0chan\0payload\0')));
    socket.end(message('E', 'SFATAL\0C57P01\0Mterminating\0\0'));
  }),
};

test.concurrent.each(Object.entries(POSTGRES))(
  'a PostgreSQL that %s',
  async (_, play) => {
    const { port } = await server(play);
    const db = connectDatabase({ url: `postgres://u:p@127.0.0.1:${port}/d`, schema: 's', log: silentLog });
    const bus = createPostgresBus(db, silentLog, { silenceMs: 300, everyMs: 50 });
    closers.push(() => bus.close().then(() => db.close()));
    const asked = [
      failed(db.query('select 1')),
      failed(db.query({ name: 'n', text: 'select 2' })),
      failed(db.transaction((session) => session.query('select 3'))),
      failed(bus.subscribe('t', () => {})),
    ];
    expect(await Promise.all(asked)).toEqual(asked.map(() => 'database_unavailable'));
    expect(escapes.seen).toEqual([]);
  },
  20_000,
);

const REDIS: Record<string, Play> = {
  'hangs up': (socket) => socket.destroy(),
  'resets in the middle of an answer': (socket) => (socket.write('$1000\r\nabc'), socket.resetAndDestroy()),
  'answers garbage': (socket) => socket.write('\0garbage\r\n'),
  'answers wrong types': (socket, said) =>
    socket.write('*1\r\n:7\r\n'.repeat(said.toString().split('*').length)),
  'says more than it was asked': (socket) => socket.write('+OK\r\n'.repeat(200)),
  'announces an endless answer': (socket) => socket.write('*1000000000\r\n'),
  'says nothing': () => {},
  'tells nothing of itself': (socket, said) => {
    for (const [command] of said.toString().matchAll(/\*\d+\r\n(?:\$\d+\r\n[^\r]*\r\n)+/g))
      socket.write(/^\*1\r\n\$4\r\ninfo/i.test(command) ? '$14\r\nrole_of:nobody\r\n' : '+OK\r\n');
  },
};

test.concurrent.each(Object.entries(REDIS))(
  'a Redis that %s',
  async (_, play) => {
    const { port, accepted } = await server(play);
    const url = `redis://127.0.0.1:${port}`;
    const shared = createSharedInventory(
      { clock: systemClock, random: systemRandom, log: silentLog, metrics: silentMetrics },
      { url, name: 'lp', timeoutMs: 200 },
    );
    const queue = createBullQueue({ connection: { kind: 'redis', url, prefix: 'q' }, log: silentLog });
    closers.push(() => Promise.all([shared.close(), queue.close()]));
    await queue.process('t', 1, async () => {});
    // A lost wake-up is harmless.
    expect(await failed(queue.wake('t', 'id'))).toMatch(/queue_unavailable|done/);
    expect(accepted()).toBeGreaterThan(0);
    expect(await failed(shared.join('1', new Map()))).toBe('redis_unavailable');
    expect(shared.state().state).not.toBe('ready');
    expect(escapes.seen).toEqual([]);
  },
  20_000,
);
