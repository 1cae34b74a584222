/** Work that is long only where there is very much of something: done in steps, so that quotes have their turn in between. */

import { setImmediate as nextTurn } from 'node:timers/promises';

/** What a quote may have to wait for. */
const AT_ONCE_MS = 1;

/** Others have theirs now. */
export const turn = nextTurn;

/** Takes the steps to their end, as many at once as fit into a moment. Throws what a step throws. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  let sinceMs = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - sinceMs < AT_ONCE_MS) continue;
    await turn();
    sinceMs = performance.now();
  }
}
