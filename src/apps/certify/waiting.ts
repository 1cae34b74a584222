/** Waiting for something that a solver or a chain does. */

import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/** Resolves to true when the condition became true in time. */
export async function becomesTrue(ms: number, what: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + ms;
  for (;;) {
    if (await what()) return true;
    if (performance.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
}
