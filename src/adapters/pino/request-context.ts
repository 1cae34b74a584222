/** Which request the process answers now, so that each line logged on its behalf names it. */

import { AsyncLocalStorage } from 'node:async_hooks';

const current = new AsyncLocalStorage<string>();

/** Every line that `work` logs, now or after an await, has this `requestId`. */
export const inRequest = <T>(requestId: string, work: () => T): T => current.run(requestId, work);

export const currentRequestId = (): string | undefined => current.getStore();
