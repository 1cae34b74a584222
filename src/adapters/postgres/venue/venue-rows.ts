/** Converts keys, workspaces and solvers to and from rows. */

import type { ApiKey, SolverRecord, Workspace } from '../../../ports/stores/store.ts';
import type { Queryable, Row } from '../pool.ts';

export async function addKey(db: Queryable, key: ApiKey): Promise<void> {
  await db.query(
    'insert into api_key (id, kind, mode, workspace_id, role, member_id, solver_id, lookup, sha256, ' +
      'label, created_at_ms, revoked_at_ms) values ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)',
    [
      key.id,
      key.kind,
      key.mode,
      key.workspaceId,
      key.role,
      key.memberId,
      key.solverId,
      key.lookup,
      key.sha256,
      key.label,
      key.createdAtMs,
      key.revokedAtMs,
    ],
  );
}

export async function putWorkspace(
  db: Queryable,
  { id, name, platformFeeBps, eligibleSolvers, limits, travelRuleThresholdUsd }: Workspace,
): Promise<void> {
  await db.query(
    `insert into workspace (id, name, platform_fee_bps, eligible_solvers, max_open_quotes, max_open_notional_usd, travel_rule_threshold_usd) values ($1,$2,$3,$4,$5,$6,$7)
     on conflict (id) do update set name = excluded.name, platform_fee_bps = excluded.platform_fee_bps, eligible_solvers = excluded.eligible_solvers,
       max_open_quotes = excluded.max_open_quotes, max_open_notional_usd = excluded.max_open_notional_usd, travel_rule_threshold_usd = excluded.travel_rule_threshold_usd`,
    [
      id,
      name,
      platformFeeBps,
      eligibleSolvers,
      limits.openQuotes,
      limits.openNotionalUsd,
      travelRuleThresholdUsd,
    ],
  );
}

export async function putSolver(
  db: Queryable,
  { id, name, kind, corridors, disabled }: Omit<SolverRecord, 'firstSeenAtMs' | 'lastQuoteAtMs'>,
): Promise<void> {
  await db.query(
    `insert into solver (id, name, kind, corridors, disabled) values ($1,$2,$3,$4,$5)
     on conflict (id) do update set name = excluded.name, kind = excluded.kind, corridors = excluded.corridors, disabled = excluded.disabled`,
    [id, name, kind, corridors, disabled],
  );
}

export interface KeyRow extends Row {
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

export const toKey = (row: KeyRow): ApiKey => ({
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

export interface WorkspaceRow extends Row {
  id: string;
  name: string;
  platform_fee_bps: number;
  eligible_solvers: string[] | null;
  max_open_quotes: number | null;
  max_open_notional_usd: number | null;
  travel_rule_threshold_usd: number | null;
}

export const toWorkspace = (row: WorkspaceRow): Workspace => ({
  id: row.id,
  name: row.name,
  platformFeeBps: row.platform_fee_bps,
  eligibleSolvers: row.eligible_solvers,
  limits: { openQuotes: row.max_open_quotes, openNotionalUsd: row.max_open_notional_usd },
  travelRuleThresholdUsd: row.travel_rule_threshold_usd,
});

export interface SolverRow extends Row {
  id: string;
  name: string;
  kind: SolverRecord['kind'];
  corridors: string[] | null;
  disabled: boolean;
  first_seen_at_ms: number | null;
  last_quote_at_ms: number | null;
}

export const toSolver = (row: SolverRow): SolverRecord => ({
  id: row.id,
  name: row.name,
  kind: row.kind,
  corridors: row.corridors,
  disabled: row.disabled,
  firstSeenAtMs: row.first_seen_at_ms,
  lastQuoteAtMs: row.last_quote_at_ms,
});
