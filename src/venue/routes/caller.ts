/** The caller of a trading route. */

import type { ApiKey } from '../../ports/stores/store.ts';
import type { Workspaces } from '../access/workspaces.ts';
import type { TradingCaller } from '../orders/submit.ts';

export type Namespace = TradingCaller['namespace'];

export const callerOf = async (
  workspaces: Workspaces,
  key: ApiKey,
  namespace: Namespace,
): Promise<TradingCaller> => ({ key, workspace: await workspaces.of(key), namespace });
