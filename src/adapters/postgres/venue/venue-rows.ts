/** Shared by the stores of the venue and of administrators. */

import type { ApiKey, SolverRecord, Workspace } from '../../../ports/stores/store.ts';
import type { Queryable } from '../pool.ts';
import { put, select } from '../rows.ts';

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
): Promise<Workspace[]> {
  const statement = {
    name: `workspace ${where}`,
    text: `select * from workspace where ${where} order by id`,
  };
  type Columns = Omit<Workspace, 'limits'> & {
    maxOpenQuotes: number | null;
    maxOpenNotionalUsd: number | null;
  };
  return (await select<Columns>(db, statement, values)).map(
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
