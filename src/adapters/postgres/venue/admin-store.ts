/** Writes change, audit entry and announcement in one transaction. */

import type { AdminEntry, AdminStore, AdminTx } from '../../../ports/stores/admin-store.ts';
import type { Member } from '../../../ports/stores/members.ts';
import type { ApiKey, SolverRecord } from '../../../ports/stores/store.ts';
import { channelOf } from '../bus.ts';
import type { Database, Queryable } from '../pool.ts';
import { put, select } from '../rows.ts';
import {
  addKey,
  KEY_COLUMNS,
  MEMBER_COLUMNS,
  putSolver,
  putWorkspace,
  selectWorkspaces,
  SOLVER_COLUMNS,
} from './venue-rows.ts';

export function createAdminStore(db: Database): AdminStore {
  return {
    change: (work) =>
      db.transaction(async (session) => {
        // One at a time, also where no row exists to lock.
        await session.query('select pg_advisory_xact_lock(hashtext($1))', [`${db.schema} admin`]);
        return work(transactionOn(session, db.schema));
      }),
    changes: ({ workspaceId, limit }) =>
      select<AdminEntry>(
        db,
        `select at_ms, who, what, workspace_id, subject, subject_id, before, after from admin_audit
         where $1::text is null or workspace_id = $1 order by id desc limit $2`,
        [workspaceId ?? null, limit],
      ),
  };
}

function transactionOn(session: Queryable, schema: string): AdminTx {
  return {
    async workspace(id) {
      return (await selectWorkspaces(session, 'id = $1', [id]))[0];
    },
    putWorkspace: (workspace) => putWorkspace(session, workspace),
    async solver(id) {
      return (
        await select<SolverRecord>(session, `select ${SOLVER_COLUMNS} from solver where id = $1`, [id])
      )[0];
    },
    putSolver: (solver) => putSolver(session, solver),
    members: (workspaceId) =>
      select<Member>(
        session,
        `select ${MEMBER_COLUMNS} from member where workspace_id = $1 order by joined_at_ms, id`,
        [workspaceId],
      ),
    putMember: (member) => put(session, 'member', member, { key: 'workspace_id, id' }),
    async key(id) {
      return (await select<ApiKey>(session, `select ${KEY_COLUMNS} from api_key where id = $1`, [id]))[0];
    },
    addKey: (key) => addKey(session, key),
    async revokeKey(id, atMs) {
      await session.query('update api_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null', [
        id,
        atMs,
      ]);
    },
    keysOf: (workspaceId, memberId) =>
      select<ApiKey>(
        session,
        `select ${KEY_COLUMNS} from api_key where workspace_id = $1 and member_id = $2 and revoked_at_ms is null
         order by created_at_ms, id`,
        [workspaceId, memberId],
      ),
    async countLiveKeys(workspaceId, mode) {
      const [row] = await session.query<{ n: number }>(
        `select count(*)::int as n from api_key where workspace_id = $1 and mode = $2 and revoked_at_ms is null`,
        [workspaceId, mode],
      );
      return row?.n ?? 0;
    },
    async setKeyRole(id, role) {
      await session.query('update api_key set role = $2 where id = $1', [id, role]);
    },
    record: (entry) => put(session, 'admin_audit', entry),
    async announce(topic, payload) {
      await session.query('select pg_notify($1, $2)', [channelOf(schema, topic), payload]);
    },
  };
}
