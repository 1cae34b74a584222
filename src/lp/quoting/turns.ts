/**
 * Work that is long only where there is very much of something: done in steps, so that quotes have their turn
 * in between.
 */

import { setTimeout as rest } from 'node:timers/promises';

/** What a quote may have to wait for. */
const AT_ONCE_MS = 0.5;
/** What an operator asks for leaves nine tenths of the time to quotes. */
const UNHURRIED_AT_ONCE_MS = 0.5;
const REST_MS = 4;

/**
 * Whoever has work that can wait: one of them each turn of the loop, in their order. Several in one turn
 * would be as long as one of all.
 */
const queue: (() => void)[] = [];

function callNext(): void {
  queue.shift()?.();
  if (queue.length > 0) setImmediate(callNext);
}

/** Others have theirs now. */
export const turn = (): Promise<void> =>
  new Promise((resolve) => {
    if (queue.push(resolve) === 1) setImmediate(callNext);
  });

/** Takes the steps to their end, as many at once as fit into a moment. Throws what a step throws. */
export const inTurns = <T>(steps: Generator<void, T>): Promise<T> => taken(steps, AT_ONCE_MS, turn);

/**
 * The same for what nobody is in a hurry for, with a rest after each moment of work. The rest is not for
 * politeness only: V8 marks old memory on a thread beside the loop, and on the loop itself as much as the
 * program takes memory faster than that thread marks. The turn after it is for what came in: timers that are
 * due run one after the other, however long that takes.
 */
export const unhurried = <T>(steps: Generator<void, T>): Promise<T> =>
  taken(steps, UNHURRIED_AT_ONCE_MS, () => rest(REST_MS).then(turn));

/** Takes work, each piece in its turn. Rejects with what the work throws. */
export type Line = <T>(work: () => T | Promise<T>) => Promise<T>;

/** Many who waited for one thing go on one after the other, as many at once as fit into a moment. */
export function createLine(): Line {
  const waiting: (() => void)[] = [];
  let called = false;
  function serve(): void {
    const sinceMs = performance.now();
    while (waiting.length > 0 && performance.now() - sinceMs < AT_ONCE_MS) (waiting.shift() as () => void)();
    called = waiting.length > 0;
    if (called) void turn().then(serve);
  }
  return (work) =>
    new Promise((resolve, reject) => {
      waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (!called) void turn().then(serve);
      called = true;
    });
}

async function taken<T>(
  steps: Generator<void, T>,
  atOnceMs: number,
  pause: () => Promise<unknown>,
): Promise<T> {
  let sinceMs = performance.now();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (performance.now() - sinceMs < atOnceMs) continue;
    await pause();
    sinceMs = performance.now();
  }
}
