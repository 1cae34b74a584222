/** Limits concurrent work per key, so that one slow chain cannot occupy the capacity of the others. */

import { ApiError } from '../../protocol/errors.ts';

export interface Bulkhead<K> {
  /** Throws 503 when full. */
  run<T>(room: K, work: () => Promise<T>): Promise<T>;
}

export function createBulkhead<K>(most: number, message: string): Bulkhead<K> {
  const atWork = new Map<K, number>();
  return {
    async run(room, work) {
      const inside = atWork.get(room) ?? 0;
      if (inside >= most) throw new ApiError('unavailable', message, { retryAfterSeconds: 2 });
      atWork.set(room, inside + 1);
      try {
        return await work();
      } finally {
        const left = (atWork.get(room) ?? 1) - 1;
        if (left > 0) atWork.set(room, left);
        else atWork.delete(room);
      }
    },
  };
}
