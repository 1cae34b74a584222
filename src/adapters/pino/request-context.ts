/** Remembers which request the process answers now, so that each line logged on its behalf names it. */

import { AsyncLocalStorage } from 'node:async_hooks';

export interface RequestIds {
  requestId: string;
  /** The id of the caller's trace, when it sent one. */
  traceId?: string;
}

const current = new AsyncLocalStorage<RequestIds>();

/** Runs `work` so that every line it logs, now or after an await, has these ids. */
export const inRequest = <T>(ids: RequestIds, work: () => T): T => current.run(ids, work);

export const currentRequestIds = (): RequestIds | undefined => current.getStore();
