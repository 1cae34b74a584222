/** The venue's admin door against web pages that rebind a name to it, and against guesses of its key. */

import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpServer, startHttp } from '../../src/adapters/http/server.ts';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { createAdmin } from '../../src/venue/admin/admin.ts';
import { createAdminGate } from '../../src/venue/admin/gate.ts';
import { venueAdminRoutes } from '../../src/venue/admin/routes.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog } from '../support/silent.ts';

const KEY = 'k'.repeat(64);
let postgres: TestPostgres;
let door: HttpServer;

beforeAll(async () => {
  postgres = await startTestPostgres();
  const db = await postgres.database('venue', [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  const admin = createAdmin({
    store: createAdminStore(db),
    venue: createVenueStore(db),
    clock: systemClock,
    random: systemRandom,
    feeCaps: async () => [],
  });
  const gate = createAdminGate(
    { clock: systemClock, log: silentLog },
    { keys: [{ id: 'ops', secret: KEY }], requestsPerSecond: 20 },
  );
  door = await startHttp(
    { routes: venueAdminRoutes(admin), socketRoutes: [], gate, clock: systemClock, log: silentLog },
    { port: 0, hostNames: ['admin.example'], bodyLimitBytes: 64 * 1024 },
  );
});
afterAll(async () => {
  await door.close();
  await postgres.stop();
});

function ask(key: string, host: string, from = '127.0.0.1'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-api-key': key };
    request(
      { port: door.port, host: '127.0.0.1', localAddress: from, path: '/admin/v1/workspaces', headers },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      },
    )
      .on('error', reject)
      .end();
  });
}

test.each([
  ['127.0.0.1:9101', 200],
  ['localhost', 200],
  ['[::1]:9101', 200],
  ['ADMIN.example:9101', 200],
  ['evil.example', 404],
  ['127.0.0.1.evil.example:9101', 404],
  ['localhost.evil.example', 404],
  ['192.168.1.4:9101', 404],
])('Host %s with the right key is %i', async (host, status) => {
  expect(await ask(KEY, host)).toBe(status);
});

test('guesses exhaust the limit of guessers, not of the right key', async () => {
  const guesses = await Promise.all(Array.from({ length: 300 }, (_, n) => ask(`guess ${n}`, 'localhost')));
  expect(new Set(guesses)).toEqual(new Set([401, 429]));
  // The last guess was refused, and no time passes that would refill the limit.
  const [again, right, elsewhere] = await Promise.all([
    Promise.all(Array.from({ length: 200 }, () => ask('guess', 'localhost'))),
    ask(KEY, 'localhost'),
    ask(KEY, 'localhost', '127.0.0.2'),
  ]);
  expect(again).toContain(429);
  expect([right, elsewhere]).toEqual([200, 200]);
});

test('a chunked body beyond the limit of this door is refused with that limit', async () => {
  const body = new Blob(['x'.repeat(65 * 1024)]).stream();
  const response = await fetch(`${door.url}/admin/v1/workspaces`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit);
  expect([response.status, await response.text()]).toEqual([413, expect.stringContaining('exceeds 64 KB')]);
});
