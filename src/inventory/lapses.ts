/**
 * What ends when: things scheduled at whole seconds of one chain's clock. One list for each second and a heap
 * of the seconds in use, so that scheduling and ending cost the same whether ten things wait or a hundred
 * thousand.
 */

import type { UnixSeconds } from '../domain/time.ts';

export interface Lapses<T> {
  schedule(at: UnixSeconds, thing: T): void;
  /**
   * Takes out what was scheduled at or before `now`, earliest first, in the order it was scheduled, and at
   * most `most` of it.
   */
  due(now: UnixSeconds, most?: number): T[];
}

const NOTHING: never[] = [];

export function createLapses<T>(): Lapses<T> {
  const at = new Map<UnixSeconds, { things: T[]; taken: number }>();
  const heap: UnixSeconds[] = [];

  return {
    schedule(second, thing) {
      const list = at.get(second);
      if (list !== undefined) {
        list.things.push(thing);
        return;
      }
      at.set(second, { things: [thing], taken: 0 });
      push(heap, second);
    },
    due(now, most = Number.POSITIVE_INFINITY) {
      const first = heap[0];
      if (first === undefined || first > now) return NOTHING;
      const out: T[] = [];
      for (let second = heap[0]; second !== undefined && second <= now; second = heap[0]) {
        const list = at.get(second);
        if (list !== undefined) {
          // Taken from where the last step stopped: cutting a crowd's list short would cost its whole length
          // each time.
          const end = Math.min(list.things.length, list.taken + most - out.length);
          for (; list.taken < end; list.taken += 1) out.push(list.things[list.taken] as T);
          if (list.taken < list.things.length) break;
        }
        pop(heap);
        at.delete(second);
      }
      return out;
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
