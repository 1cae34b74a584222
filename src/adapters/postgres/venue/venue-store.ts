/**
 * The venue's store in PostgreSQL: keys, workspaces and solvers here, the rest composed from the files beside
 * it.
 */

import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { createEventStore } from './event-store.ts';
import { createMemberStore } from './member-rows.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createOrderStore } from './order-store.ts';
import { createTradeStore } from '../trades/trade-store.ts';
import { createTravelRuleStore } from './travel-rule-store.ts';
import type { Database } from '../pool.ts';
import {
  addKey,
  type KeyRow,
  putSolver,
  putWorkspace,
  type SolverRow,
  toKey,
  toSolver,
  toWorkspace,
  type WorkspaceRow,
} from './venue-rows.ts';

/** The database must be migrated with `VENUE_MIGRATIONS`. */
export function createVenueStore(db: Database): VenueStore {
  return {
    ...createOrderStore(db),
    ...createDeliveryStore(db),
    ...createTravelRuleStore(db),
    ...createEventStore(db),
    ...createMemberStore(db),
    trades: createTradeStore(db),

    async findKey(lookup) {
      return (
        await db.query<KeyRow>({ name: 'key-find', text: 'select * from api_key where lookup = $1' }, [
          lookup,
        ])
      ).map(toKey);
    },
    addKey: (key) => addKey(db, key),
    async revokeKey(id, atMs) {
      return (
        (
          await db.query(
            'update api_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null returning id',
            [id, atMs],
          )
        ).length === 1
      );
    },
    async liveKeys(ids) {
      return (
        await db.query<{ id: string }>(
          { name: 'keys-live', text: 'select id from api_key where id = any($1) and revoked_at_ms is null' },
          [ids],
        )
      ).map(({ id }) => id);
    },
    async listKeys() {
      return (await db.query<KeyRow>('select * from api_key order by created_at_ms, id')).map(toKey);
    },

    async workspace(id) {
      const [row] = await db.query<WorkspaceRow>(
        { name: 'workspace-one', text: 'select * from workspace where id = $1' },
        [id],
      );
      return row && toWorkspace(row);
    },
    putWorkspace: (workspace) => putWorkspace(db, workspace),
    async listWorkspaces() {
      return (await db.query<WorkspaceRow>('select * from workspace order by id')).map(toWorkspace);
    },

    async listSolvers() {
      return (await db.query<SolverRow>('select * from solver order by id')).map(toSolver);
    },
    putSolver: (solver) => putSolver(db, solver),
    async solverSeen(id, atMs) {
      await db.query(
        'update solver set first_seen_at_ms = $2 where id = $1 and (first_seen_at_ms is null or ' +
          'first_seen_at_ms > $2)',
        [id, atMs],
      );
    },
    async solverQuoted(id, atMs) {
      await db.query('update solver set last_quote_at_ms = greatest(last_quote_at_ms, $2) where id = $1', [
        id,
        atMs,
      ]);
    },
    async addTransition({ solverId, from, to, reason, atMs }) {
      await db.query(
        'insert into roster_transition (solver_id, from_status, to_status, reason, at_ms) values ' +
          '($1,$2,$3,$4,$5)',
        [solverId, from, to, reason, atMs],
      );
    },

    async ping() {
      await db.query('select 1');
    },
    close: () => db.close(),
  };
}
