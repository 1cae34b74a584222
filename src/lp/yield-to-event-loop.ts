/** For the few loops over everything: await this after each batch so that quotes are answered in between. */

import { setImmediate } from 'node:timers/promises';

export const yieldToEventLoop = (): Promise<void> => setImmediate();
