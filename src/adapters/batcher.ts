/**
 * Groups calls into batches: calls made while one batch is running form the next, or, where a call must not
 * wait for it, calls of one turn of the event loop. Under load a batch costs little more than a single call.
 */

interface BatchOptions<T> {
  max: number;
  /** The pause after each batch, in which calls gather for the next; ms. A call after it is run at once. */
  pauseMs?: number;
  /** Batches run beside each other: a slow one delays no later call. */
  overlap?: boolean;
  /** Items with equal keys never share a batch; they run in the order of their calls. */
  keyOf?: (item: T) => string;
  /**
   * Returns true when each item of a failed batch is to run by itself after this error. By default all items
   * fail with it.
   */
  retryAlone?: (error: unknown) => boolean;
}

/** `run` returns one result per item, in order. */
export function createBatcher<T, R>(
  run: (items: readonly T[]) => Promise<readonly R[]>,
  { max, pauseMs = 0, overlap = false, keyOf, retryAlone = () => false }: BatchOptions<T>,
): (item: T) => Promise<R> {
  type Call = { item: T; resolve(result: R): void; reject(error: unknown): void };
  let waiting: Call[] = [];
  let running = false;

  function takeBatch(): Call[] {
    const batch: Call[] = [];
    const rest: Call[] = [];
    const keys = new Set<string>();
    for (const call of waiting) {
      const key = keyOf?.(call.item);
      const fits = batch.length < max && (key === undefined || !keys.has(key));
      if (key !== undefined) keys.add(key);
      (fits ? batch : rest).push(call);
    }
    waiting = rest;
    return batch;
  }

  async function runBatch(batch: readonly Call[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => resolve(results[index] as R));
    } catch (error) {
      if (batch.length > 1 && retryAlone(error)) await Promise.all(batch.map((call) => runBatch([call])));
      else for (const { reject } of batch) reject(error);
    }
  }

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      const ended = runBatch(takeBatch());
      if (!overlap) await ended;
      if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs));
    }
    running = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running) return;
      running = true;
      // Calls made in the same event-loop tick join the first batch.
      setImmediate(() => void runAll());
    });
}
