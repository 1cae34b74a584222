/** Repeats a task after a pause, until it is stopped. A failure does not end it. */

export function repeat(
  pauseMs: number | (() => number),
  task: () => Promise<unknown>,
  trouble: (error: unknown) => void = () => {},
): { readonly stopped: boolean; stop(): void } {
  let [stopped, timer] = [false, undefined as NodeJS.Timeout | undefined];
  const round = async (): Promise<void> => {
    await task().catch(trouble);
    if (!stopped) timer = setTimeout(() => void round(), typeof pauseMs === 'number' ? pauseMs : pauseMs());
  };
  void round();
  return {
    get stopped() {
      return stopped;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
