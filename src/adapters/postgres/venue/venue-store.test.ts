/**
 * Tests how soon a dead connection is noticed: immediately by requests of clients, later by administration.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { VENUE_MIGRATIONS } from '../migrations/venue.ts';
import { type Database, silenceLimitMs, type Statement } from '../pool.ts';
import { createVenueStore } from './venue-store.ts';

const UNNAMED_MS = 35_000;

let postgres: TestPostgres;
let db: Database;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
});
afterAll(() => postgres.stop());

/** The store, and every statement that it sends to the database. */
function recording() {
  const statements: (Statement | string)[] = [];
  const recorded: Database = {
    ...db,
    query(statement, values) {
      statements.push(statement);
      return db.query(statement, values);
    },
  };
  return { statements, store: createVenueStore(recorded) };
}

test('statements of requests are named, so that a dead connection is noticed after 12 seconds', async () => {
  const { statements, store } = recording();
  await store.findKey('lookup');
  await store.workspace('w1');
  await store.member('w1', 'm1');
  await store.listMembers('w1');
  expect(statements.map((statement) => (statement as Statement).name)).toEqual([
    'key-find',
    'workspace-one',
    'member-one',
    'member-list',
  ]);
  expect(new Set(statements.map((statement) => silenceLimitMs(statement, UNNAMED_MS)))).toEqual(
    new Set([12_000]),
  );
});

test('lists of every workspace, key or solver may take as long as the server allows', async () => {
  const { statements, store } = recording();
  await store.listWorkspaces();
  await store.listKeys();
  await store.listSolvers();
  expect(statements.map((statement) => silenceLimitMs(statement, UNNAMED_MS))).toEqual([
    UNNAMED_MS,
    UNNAMED_MS,
    UNNAMED_MS,
  ]);
});
