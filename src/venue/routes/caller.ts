/** The caller of a trading route. */

import type { ApiKey, Workspace } from '../../ports/stores/store.ts';
import type { Workspaces } from '../access/workspaces.ts';

export type Namespace = 'rfq' | 'router';

export interface TradingCaller {
  key: ApiKey;
  workspace: Workspace;
  namespace: Namespace;
}

export const callerOf = async (
  workspaces: Workspaces,
  key: ApiKey,
  namespace: Namespace,
): Promise<TradingCaller> => ({ key, workspace: await workspaces.of(key), namespace });
