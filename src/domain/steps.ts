/** Long work is a generator: whoever runs it lets others have their turn between two steps, or, where nobody waits, does it at once. */

/** Takes every step now. Throws what a step throws. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
