/** Shared by the stores of the venue and of administrators. */

import type { ApiKey, SolverRecord, Workspace } from '../../../ports/stores/store.ts';
import type { Queryable } from '../pool.ts';
import { put, select } from '../rows.ts';

/**
 * Columns are named because the next release may add some: a loaded row must not carry those when it is
 * written back.
 */
export const KEY_COLUMNS =
  'id, kind, mode, workspace_id, role, member_id, solver_id, lookup, sha256, label, created_at_ms, revoked_at_ms';
export const MEMBER_COLUMNS =
  'workspace_id, id, first_name, last_name, email, role, kyc_status, joined_at_ms, removed_at_ms';
export const SOLVER_COLUMNS = 'id, name, kind, corridors, disabled, first_seen_at_ms, last_quote_at_ms';
const WORKSPACE_COLUMNS =
  'id, name, platform_fee_bps, eligible_solvers, max_open_quotes, max_open_notional_usd, travel_rule_threshold_usd';

export const addKey = (db: Queryable, key: ApiKey): Promise<void> => put(db, 'api_key', key);

export const putWorkspace = (db: Queryable, { limits, ...workspace }: Workspace): Promise<void> =>
  put(
    db,
    'workspace',
    { ...workspace, maxOpenQuotes: limits.openQuotes, maxOpenNotionalUsd: limits.openNotionalUsd },
    { key: 'id' },
  );

export async function selectWorkspaces(
  db: Queryable,
  where: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<Workspace[]> {
  const text = `select ${WORKSPACE_COLUMNS} from workspace where ${where} order by id`;
  type Columns = Omit<Workspace, 'limits'> & {
    maxOpenQuotes: number | null;
    maxOpenNotionalUsd: number | null;
  };
  return (await select<Columns>(db, name === undefined ? text : { name, text }, values)).map(
    ({ maxOpenQuotes: openQuotes, maxOpenNotionalUsd: openNotionalUsd, ...workspace }) => ({
      ...workspace,
      limits: { openQuotes, openNotionalUsd },
    }),
  );
}

export const putSolver = (
  db: Queryable,
  { id, name, kind, corridors, disabled }: Omit<SolverRecord, 'firstSeenAtMs' | 'lastQuoteAtMs'>,
): Promise<void> => put(db, 'solver', { id, name, kind, corridors, disabled }, { key: 'id' });
