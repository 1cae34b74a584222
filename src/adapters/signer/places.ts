/** A limited number of places: whoever finds none waits, first come, first served, for a limited time. */

import type { Clock } from '../../ports/clock.ts';

export interface Places {
  /** false: none became free within `withinMs`. */
  take(withinMs: number): Promise<boolean>;
  /** Gives back a place that was taken. */
  give(): void;
}

export function createPlaces(most: number, clock: Clock): Places {
  let free = most;
  const waiting = new Set<() => void>();
  return {
    async take(withinMs) {
      if (free > 0) {
        free -= 1;
        return true;
      }
      if (withinMs <= 0) return false;
      return new Promise((resolve) => {
        const cancel = clock.after(withinMs, () => {
          waiting.delete(enter);
          resolve(false);
        });
        const enter = () => {
          cancel();
          resolve(true);
        };
        waiting.add(enter);
      });
    },
    give() {
      const [next] = waiting;
      if (next === undefined) free += 1;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
