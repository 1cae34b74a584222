/** How soon a dead connection is noticed: at once by requests of clients, later by administration. */

import { expect, test } from 'vitest';
import { type Database, silenceLimitMs, type Statement } from '../pool.ts';
import { createVenueStore } from './venue-store.ts';

const UNNAMED_MS = 35_000;

/** Answers every statement with no rows and records it. */
function recording() {
  const statements: (Statement | string)[] = [];
  const query = async (statement: Statement | string) => {
    statements.push(statement);
    return [];
  };
  return { statements, store: createVenueStore({ query } as unknown as Database) };
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
