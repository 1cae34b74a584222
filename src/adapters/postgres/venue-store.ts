/** The venue's memory: keys, workspaces and solvers here, orders and members beside it. */

import type { ApiKey, SolverRecord, VenueStore, Workspace } from '../../ports/store.ts';
import { createMemberStore } from './member-rows.ts';
import { createOrderStore } from './order-store.ts';
import type { Database, Row } from './pool.ts';

/** Takes a database that `migrate` brought up to date with `VENUE_MIGRATIONS`. */
export function createVenueStore(db: Database): VenueStore {
  return {
    ...createOrderStore(db),
    ...createMemberStore(db),

    async findKey(lookup) {
      return (await db.query<KeyRow>({ name: 'key-find', text: 'select * from api_key where lookup = $1' }, [lookup])).map(toKey);
    },
    async addKey(key) {
      await db.query(
        'insert into api_key (id, kind, mode, workspace_id, role, member_id, solver_id, lookup, sha256, label, created_at_ms, revoked_at_ms) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)',
        [key.id, key.kind, key.mode, key.workspaceId, key.role, key.memberId, key.solverId, key.lookup, key.sha256, key.label, key.createdAtMs, key.revokedAtMs],
      );
    },
    async revokeKey(id, atMs) {
      return (await db.query('update api_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null returning id', [id, atMs])).length === 1;
    },
    async listKeys() {
      return (await db.query<KeyRow>('select * from api_key order by created_at_ms, id')).map(toKey);
    },

    async workspace(id) {
      const [row] = await db.query<WorkspaceRow>({ name: 'workspace-one', text: 'select * from workspace where id = $1' }, [id]);
      return row && toWorkspace(row);
    },
    async putWorkspace({ id, name, platformFeeBps, eligibleSolvers, limits }) {
      await db.query(
        `insert into workspace (id, name, platform_fee_bps, eligible_solvers, max_open_quotes, max_open_notional_usd) values ($1,$2,$3,$4,$5,$6)
         on conflict (id) do update set name = excluded.name, platform_fee_bps = excluded.platform_fee_bps, eligible_solvers = excluded.eligible_solvers,
           max_open_quotes = excluded.max_open_quotes, max_open_notional_usd = excluded.max_open_notional_usd`,
        [id, name, platformFeeBps, eligibleSolvers, limits.openQuotes, limits.openNotionalUsd],
      );
    },
    async listWorkspaces() {
      return (await db.query<WorkspaceRow>('select * from workspace order by id')).map(toWorkspace);
    },

    async listSolvers() {
      return (await db.query<SolverRow>('select * from solver order by id')).map(toSolver);
    },
    async putSolver({ id, name, kind, corridors, disabled }) {
      await db.query(
        `insert into solver (id, name, kind, corridors, disabled) values ($1,$2,$3,$4,$5)
         on conflict (id) do update set name = excluded.name, kind = excluded.kind, corridors = excluded.corridors, disabled = excluded.disabled`,
        [id, name, kind, corridors, disabled],
      );
    },
    async solverSeen(id, atMs) {
      await db.query('update solver set first_seen_at_ms = $2 where id = $1 and first_seen_at_ms is null', [id, atMs]);
    },
    async solverQuoted(id, atMs) {
      await db.query('update solver set last_quote_at_ms = greatest(last_quote_at_ms, $2) where id = $1', [id, atMs]);
    },
    async addTransition({ solverId, from, to, reason, atMs }) {
      await db.query('insert into roster_transition (solver_id, from_status, to_status, reason, at_ms) values ($1,$2,$3,$4,$5)', [solverId, from, to, reason, atMs]);
    },

    async ping() {
      await db.query('select 1');
    },
    close: () => db.close(),
  };
}

interface KeyRow extends Row {
  id: string;
  kind: ApiKey['kind'];
  mode: ApiKey['mode'];
  workspace_id: string | null;
  role: ApiKey['role'];
  member_id: string | null;
  solver_id: string | null;
  lookup: string;
  sha256: string;
  label: string;
  created_at_ms: number;
  revoked_at_ms: number | null;
}

const toKey = (row: KeyRow): ApiKey => ({
  id: row.id,
  kind: row.kind,
  mode: row.mode,
  workspaceId: row.workspace_id,
  role: row.role,
  memberId: row.member_id,
  solverId: row.solver_id,
  lookup: row.lookup,
  sha256: row.sha256,
  label: row.label,
  createdAtMs: row.created_at_ms,
  revokedAtMs: row.revoked_at_ms,
});

interface WorkspaceRow extends Row {
  id: string;
  name: string;
  platform_fee_bps: number;
  eligible_solvers: string[] | null;
  max_open_quotes: number | null;
  max_open_notional_usd: number | null;
}

const toWorkspace = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  name: row.name,
  platformFeeBps: row.platform_fee_bps,
  eligibleSolvers: row.eligible_solvers,
  limits: { openQuotes: row.max_open_quotes, openNotionalUsd: row.max_open_notional_usd },
});

interface SolverRow extends Row {
  id: string;
  name: string;
  kind: SolverRecord['kind'];
  corridors: string[] | null;
  disabled: boolean;
  first_seen_at_ms: number | null;
  last_quote_at_ms: number | null;
}

const toSolver = (row: SolverRow): SolverRecord => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  corridors: row.corridors,
  disabled: row.disabled,
  firstSeenAtMs: row.first_seen_at_ms,
  lastQuoteAtMs: row.last_quote_at_ms,
});
