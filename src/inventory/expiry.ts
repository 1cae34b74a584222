/**
 * A queue of things that are due at whole seconds of one chain's clock: a list per second and a binary heap
 * of the seconds in use.
 */

import type { UnixSeconds } from '../domain/time.ts';

export interface ExpiryQueue<T> {
  schedule(at: UnixSeconds, thing: T): void;
  /** Removes and returns at most `most` things due at `now`, by second, then in order of scheduling. */
  due(now: UnixSeconds, most?: number): readonly T[];
}

const NOTHING: readonly never[] = [];

export function createExpiryQueue<T>(): ExpiryQueue<T> {
  const bySecond = new Map<UnixSeconds, { things: T[]; taken: number }>();
  const heap: UnixSeconds[] = [];

  return {
    schedule(at, thing) {
      const list = bySecond.get(at);
      if (list !== undefined) {
        list.things.push(thing);
        return;
      }
      bySecond.set(at, { things: [thing], taken: 0 });
      push(heap, at);
    },
    due(now, most = Number.POSITIVE_INFINITY) {
      const first = heap[0];
      if (first === undefined || first > now) return NOTHING;
      const due: T[] = [];
      for (let second = heap[0]; second !== undefined && second <= now; second = heap[0]) {
        const list = bySecond.get(second);
        if (list !== undefined) {
          // Starts where the last call stopped: cutting the list would move all that is left of it.
          const end = Math.min(list.things.length, list.taken + most - due.length);
          for (; list.taken < end; list.taken += 1) due.push(list.things[list.taken] as T);
          if (list.taken < list.things.length) break;
        }
        pop(heap);
        bySecond.delete(second);
      }
      return due;
    },
  };
}

function push(heap: number[], value: number): void {
  let hole = heap.length;
  heap.push(value);
  while (hole > 0) {
    const parent = (hole - 1) >> 1;
    const above = heap[parent] as number;
    if (above <= value) break;
    heap[hole] = above;
    hole = parent;
  }
  heap[hole] = value;
}

function pop(heap: number[]): void {
  const last = heap.pop() as number;
  const size = heap.length;
  if (size === 0) return;
  let hole = 0;
  for (let child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && (heap[child + 1] as number) < (heap[child] as number)) child += 1;
    if ((heap[child] as number) >= last) break;
    heap[hole] = heap[child] as number;
    hole = child;
  }
  heap[hole] = last;
}
