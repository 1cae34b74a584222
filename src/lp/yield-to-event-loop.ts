/**
 * Lets other work run. The few loops over everything await it after each batch, so that quotes are answered
 * in between.
 */

import { setImmediate } from 'node:timers/promises';

export const yieldToEventLoop = (): Promise<void> => setImmediate();
