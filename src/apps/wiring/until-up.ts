/** Opens what is outside this process, and waits for it where it is down at the start. */

import { UpstreamError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Life } from './process.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

export const mayPass = (error: unknown): boolean =>
  error instanceof Error && 'retry' in error && error.retry === 'later';

/** Repeats after errors that may pass (`retry` `later`), with growing pauses. Throws all others. */
export async function untilUp<T>(
  open: () => Promise<T>,
  { life, log, what, facts = {} }: { life: Life; log: Log; what: string; facts?: object },
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; !life.stopping; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await open();
    } catch (error) {
      if (!mayPass(error)) throw error;
      log.warn({ ...facts, err: error, pauseMs }, `${what} does not answer yet; retrying`);
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  throw new UpstreamError('The process is stopping.', { code: 'stopping' });
}
