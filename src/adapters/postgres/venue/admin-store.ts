/** Administrative changes in PostgreSQL: change, audit entry and announcement in one transaction. */

import type { AdminEntry, AdminStore, AdminTx } from '../../../ports/stores/admin-store.ts';
import { channelOf } from '../bus.ts';
import { type MemberRow, toMember } from './member-rows.ts';
import type { Database, Queryable, Row } from '../pool.ts';
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
export function createAdminStore(db: Database): AdminStore {
  return {
    change: (work) =>
      db.transaction(async (session) => {
        // Changes are rare, so they run one at a time: none can come between another's read and write, even
        // where no row exists to lock.
        await session.query('select pg_advisory_xact_lock(hashtext($1))', [`${db.schema} admin`]);
        return work(transactionOn(session, db.schema));
      }),
    async changes({ workspaceId, limit }) {
      const rows = await db.query<EntryRow>(
        'select * from admin_audit where $1::text is null or workspace_id = $1 order by id desc limit $2',
        [workspaceId ?? null, limit],
      );
      return rows.map(toEntry);
    },
  };
}

function transactionOn(session: Queryable, schema: string): AdminTx {
  return {
    async workspace(id) {
      const [row] = await session.query<WorkspaceRow>('select * from workspace where id = $1', [id]);
      return row && toWorkspace(row);
    },
    putWorkspace: (workspace) => putWorkspace(session, workspace),
    async solver(id) {
      const [row] = await session.query<SolverRow>('select * from solver where id = $1', [id]);
      return row && toSolver(row);
    },
    putSolver: (solver) => putSolver(session, solver),
    async members(workspaceId) {
      return (
        await session.query<MemberRow>(
          'select * from member where workspace_id = $1 order by joined_at_ms, id',
          [workspaceId],
        )
      ).map(toMember);
    },
    async putMember({
      workspaceId,
      id,
      firstName,
      lastName,
      email,
      role,
      kycStatus,
      joinedAtMs,
      removedAtMs,
    }) {
      await session.query(
        `insert into member (workspace_id, id, first_name, last_name, email, role, kyc_status, joined_at_ms, removed_at_ms) values ($1,$2,$3,$4,$5,$6,$7,$8,$9)
         on conflict (workspace_id, id) do update set first_name = excluded.first_name, last_name = excluded.last_name, email = excluded.email, role = excluded.role,
           kyc_status = excluded.kyc_status, joined_at_ms = excluded.joined_at_ms, removed_at_ms = excluded.removed_at_ms`,
        [workspaceId, id, firstName, lastName, email, role, kycStatus, joinedAtMs, removedAtMs],
      );
    },
    async key(id) {
      const [row] = await session.query<KeyRow>('select * from api_key where id = $1', [id]);
      return row && toKey(row);
    },
    addKey: (key) => addKey(session, key),
    async revokeKey(id, atMs) {
      await session.query('update api_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null', [
        id,
        atMs,
      ]);
    },
    async keysOf(workspaceId, memberId) {
      const rows = await session.query<KeyRow>(
        'select * from api_key where workspace_id = $1 and member_id = $2 and revoked_at_ms is null ' +
          'order by created_at_ms, id',
        [workspaceId, memberId],
      );
      return rows.map(toKey);
    },
    async setKeyRole(id, role) {
      await session.query('update api_key set role = $2 where id = $1', [id, role]);
    },
    async record({ atMs, who, what, workspaceId, subject, subjectId, before, after }) {
      await session.query(
        'insert into admin_audit (at_ms, who, what, workspace_id, subject, subject_id, before, ' +
          'after) values ($1,$2,$3,$4,$5,$6,$7,$8)',
        [
          atMs,
          who,
          what,
          workspaceId,
          subject,
          subjectId,
          before && JSON.stringify(before),
          after && JSON.stringify(after),
        ],
      );
    },
    async announce(topic, payload) {
      await session.query('select pg_notify($1, $2)', [channelOf(schema, topic), payload]);
    },
  };
}

interface EntryRow extends Row {
  at_ms: number;
  who: string;
  what: string;
  workspace_id: string | null;
  subject: AdminEntry['subject'];
  subject_id: string;
  before: object | null;
  after: object | null;
}

const toEntry = (row: EntryRow): AdminEntry => ({
  atMs: row.at_ms,
  who: row.who,
  what: row.what,
  workspaceId: row.workspace_id,
  subject: row.subject,
  subjectId: row.subject_id,
  before: row.before,
  after: row.after,
});
