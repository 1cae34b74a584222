/**
 * Long work is a generator: whoever runs it lets others have their turn between two steps, or, where nobody
 * waits, does it at once.
 */

/** Visits them all, `most` in a step. */
export function* eachOf<T>(items: Iterable<T>, most: number, visit: (item: T) => void): Generator<void> {
  let left = most;
  for (const item of items) {
    visit(item);
    if (--left > 0) continue;
    left = most;
    yield;
  }
}

/** Takes every step now. Throws what a step throws. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
