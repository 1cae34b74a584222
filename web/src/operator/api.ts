/** Calls of the venue's admin API with the key that was given to the page, which it keeps in memory only. */

import { createContext, useContext } from 'react';
import type { OperatorSetup } from '../../../src/apps/venue/admin.ts';
import type { ChangeView, OnboardedView, WorkspaceView } from '../../../src/protocol/admin/admin.ts';
import type {
  ChainRow,
  OpenOrderView,
  QueueRow,
  RatesView,
  RosterRow,
} from '../../../src/protocol/admin/operations.ts';
import { useRead } from '../workspace/live.ts';
import { call } from '../workspace/api.ts';

interface Answers {
  '/orders': { orders: OpenOrderView[]; more: boolean };
  '/roster': { solvers: RosterRow[] };
  '/chains': { chains: ChainRow[] };
  '/queues': { queues: QueueRow[] };
  '/limits': RatesView;
  '/workspaces': { workspaces: WorkspaceView[] };
  '/audit?limit=1000': { changes: ChangeView[] };
}

const BASE = '/admin/v1';

export const KeyContext = createContext('');

export const readSetup = (): Promise<OperatorSetup> => call('', 'GET', '/console/setup.json');

/** Throws when the key is not an admin key. */
export async function signIn(key: string): Promise<string> {
  await call(key, 'GET', `${BASE}/limits`);
  return key;
}

export function useAdmin<Path extends keyof Answers>(path: Path) {
  const key = useContext(KeyContext);
  return useRead([path], () => call<Answers[Path]>(key, 'GET', `${BASE}${path}`));
}

/** A disabled solver's connections are closed, and it is not asked again until it is enabled. */
export const setDisabled = (key: string, solver: string, disabled: boolean) =>
  call<OnboardedView>(key, 'PATCH', `${BASE}/solvers/${encodeURIComponent(solver)}`, { disabled });
