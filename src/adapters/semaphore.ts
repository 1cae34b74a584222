/**
 * A counting semaphore limits how many callers do something at the same time; the others wait in their order.
 * Our own 40 lines, because neither p-limit nor async-sema ends a wait after a time, or takes our clock.
 */

import type { Clock } from '../ports/clock.ts';

export interface Semaphore {
  /** Waits for a permit, or `withinMs` at most. false: no permit, because the time was over. */
  acquire(withinMs?: number): Promise<boolean>;
  /** Gives an acquired permit back. */
  release(): void;
}

export function createSemaphore(permits: number, clock: Clock): Semaphore {
  let free = permits;
  const waiting = new Set<() => void>();
  return {
    async acquire(withinMs) {
      if (free > 0) {
        free -= 1;
        return true;
      }
      if (withinMs !== undefined && withinMs <= 0) return false;
      return new Promise((resolve) => {
        let cancel = () => {};
        const enter = () => {
          cancel();
          resolve(true);
        };
        waiting.add(enter);
        if (withinMs === undefined) return;
        cancel = clock.after(withinMs, () => {
          waiting.delete(enter);
          resolve(false);
        });
      });
    },
    release() {
      const [next] = waiting;
      if (next === undefined) free += 1;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
