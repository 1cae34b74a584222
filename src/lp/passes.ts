/** Runs `pass` one at a time. A request during a pass starts one more after it and shares its promise. */
export function createPasses(pass: () => Promise<void>) {
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
