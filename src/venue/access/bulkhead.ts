/** Limits concurrent work per key, so that one slow chain cannot occupy the capacity of the others. */

import { ApiError } from '../../protocol/errors.ts';

export type Bulkhead<K> = ReturnType<typeof createBulkhead<K>>;

export function createBulkhead<K>(most: number, message: string) {
  const atWork = new Map<K, number>();
  return {
    async run<T>(room: K, work: () => Promise<T>) {
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
