/** Runs a piece of work one pass at a time, however often it is asked for. */

export interface Passes {
  /** Resolves after a pass that began after this call; rejects when a pass does. */
  run(): Promise<void>;
  /** The promise of the passes that run now; undefined while none does. */
  readonly running: Promise<void> | undefined;
}

/** A request during a pass starts one more after it and shares its promise. */
export function createPasses(pass: () => Promise<void>): Passes {
  let running: Promise<void> | undefined;
  let again = false;

  async function work(): Promise<void> {
    try {
      do {
        again = false;
        await pass();
      } while (again);
    } finally {
      // Synchronous with the last check of `again`, so that no request is missed.
      running = undefined;
    }
  }

  return {
    run(): Promise<void> {
      again = true;
      return (running ??= work());
    },
    get running() {
      return running;
    },
  };
}
