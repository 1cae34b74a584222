/** Runs a task immediately, and again a pause after each end of it, until it is stopped. */

/**
 * The task must catch its errors: its rejection is not handled here. `stopped` lets a long task end early.
 * The first run starts before `repeat` returns.
 */
export function repeat(
  pauseMs: number,
  task: (stopped: () => boolean) => Promise<unknown>,
): { stop(): void } {
  let [stopped, timer] = [false, undefined as NodeJS.Timeout | undefined];
  const round = async (): Promise<void> => {
    await task(() => stopped);
    if (!stopped) timer = setTimeout(() => void round(), pauseMs);
  };
  void round();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
