/** Limits concurrent work per key, so that one slow chain cannot occupy the capacity of the others. */

import { ApiError } from '../../protocol/errors.ts';

export interface Bulkhead<K> {
  /** Throws 503 while as many calls of the key are at work as may be. */
  run<T>(key: K, work: () => Promise<T>): Promise<T>;
}

export function createBulkhead<K>(most: number, message: string): Bulkhead<K> {
  const atWork = new Map<K, number>();
  return {
    async run<T>(key: K, work: () => Promise<T>): Promise<T> {
      const inside = atWork.get(key) ?? 0;
      if (inside >= most) throw new ApiError('unavailable', message, { retryAfterSeconds: 2 });
      atWork.set(key, inside + 1);
      try {
        return await work();
      } finally {
        const left = (atWork.get(key) ?? 1) - 1;
        if (left > 0) atWork.set(key, left);
        else atWork.delete(key);
      }
    },
  };
}
