/**
 * The connection that listens for events: who cannot have it is told so in our words, and one that fell
 * silent is replaced.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../../../test/faults/support/tcp-proxy.ts';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { silentLog } from '../../../test/support/silent.ts';
import type { Bus } from '../../ports/bus.ts';
import { createPostgresBus } from './bus.ts';
import type { Database } from './pool.ts';

let postgres: TestPostgres;
let db: Database;
let proxy: TcpProxy;
let bus: Bus | undefined;

/** Opens a bus that listens by way of the proxy. */
const listening = () =>
  (bus = createPostgresBus({ ...db, url: proxied(db.url) }, silentLog, { silenceMs: 500, everyMs: 100 }));

function proxied(url: string): string {
  const changed = new URL(url);
  changed.host = `127.0.0.1:${proxy.port}`;
  return changed.href;
}

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('bus', []);
  proxy = await startTcpProxy(postgres.url);
});
afterAll(async () => {
  proxy.set({ kind: 'pass' });
  await bus?.close();
  await proxy.stop();
  await postgres.stop();
});

test.each(['blackhole', 'reset'] as const)(
  'who wants to listen while the database is away (%s) is told to come again later',
  async (kind) => {
    proxy.set({ kind });
    const away = listening();
    await expect(away.subscribe('news', () => {})).rejects.toMatchObject({
      code: 'database_unavailable',
      retry: 'later',
    });
    await away.close();
  },
);

test('replaces a silent connection and receives again', async () => {
  proxy.set({ kind: 'pass' });
  const heard: string[] = [];
  await listening().subscribe('news', (payload) => heard.push(payload));
  const before = proxy.accepted();
  proxy.set({ kind: 'blackhole' });
  await expect.poll(() => proxy.accepted()).toBeGreaterThan(before);
  proxy.set({ kind: 'pass' });
  const sender = createPostgresBus(db, silentLog);
  await expect.poll(async () => (await sender.publish('news', 'after'), heard.length)).toBeGreaterThan(0);
  await sender.close();
});
