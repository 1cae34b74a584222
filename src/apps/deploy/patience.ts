/** Limits how long a run waits for nodes that refuse and for blocks that do not come. */

import { BaseError, UpstreamError } from '../../domain/errors.ts';

const MOST_PAUSE_MS = 10_000;

export interface Patience {
  /** Starts a wait; what it returns throws `no_progress` when called too long afterwards. */
  start(): (why: string, cause?: unknown) => void;
  /** Repeats work that fails with an error to retry later. */
  patiently<T>(work: () => Promise<T>): Promise<T>;
  pause(ms?: number): Promise<void>;
}

export function createPatience({
  slug,
  report,
  patienceMs,
  pollMs,
}: {
  slug: string;
  report: (line: string) => void;
  patienceMs: number;
  pollMs: number;
}): Patience {
  const pause = (ms = pollMs) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  function start() {
    const sinceMs = performance.now();
    return (why: string, cause?: unknown) => {
      if (performance.now() - sinceMs > patienceMs)
        throw new UpstreamError(
          `${slug}: ${why} Nothing is lost: run again, and it goes on from what is on the chain.`,
          { code: 'no_progress', cause, retry: 'never' },
        );
    };
  }
  return {
    start,
    pause,
    async patiently(work) {
      const goOn = start();
      let said = '';
      for (let pauseMs = pollMs; ; pauseMs = Math.min(pauseMs * 2, MOST_PAUSE_MS)) {
        try {
          return await work();
        } catch (error) {
          if (!(error instanceof BaseError) || error.retry !== 'later') throw error;
          goOn(error.message, error);
          if (error.message !== said) report(`${slug}: ${error.message} Asking again.`);
          said = error.message;
          await pause(pauseMs);
        }
      }
    },
  };
}
