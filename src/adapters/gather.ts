/**
 * Calls of the same time as one: while one round is under way, what is asked meanwhile collects for the next.
 * Under load a round costs little more than a call did.
 */

export interface GatherOptions<T> {
  /** In one round. */
  most: number;
  /** Those with the same name never share a round. */
  nameOf?: (item: T) => string;
}

/**
 * `run` answers in the order of its items, with what may still be a promise of its own; when it throws, all
 * of them hear that.
 */
export function createGather<T, R>(
  run: (items: readonly T[]) => Promise<readonly (R | Promise<R>)[]>,
  { most, nameOf }: GatherOptions<T>,
): (item: T) => Promise<R> {
  let waiting: { item: T; resolve(result: R | Promise<R>): void; reject(error: unknown): void }[] = [];
  let running = false;

  function nextRound(): typeof waiting {
    const [round, rest]: [typeof waiting, typeof waiting] = [[], []];
    const names = new Set<string>();
    for (const each of waiting) {
      const name = nameOf?.(each.item);
      const fits = round.length < most && (name === undefined || !names.has(name));
      if (name !== undefined) names.add(name);
      (fits ? round : rest).push(each);
    }
    waiting = rest;
    return round;
  }

  async function rounds(): Promise<void> {
    while (waiting.length > 0) {
      const round = nextRound();
      try {
        const results = await run(round.map(({ item }) => item));
        for (const [index, { resolve }] of round.entries()) resolve(results[index] as R | Promise<R>);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      // Those who ask in this very moment come along.
      setImmediate(() => void rounds());
    });
}
