/**
 * The kill switch that works when nothing else does: while a file exists, nothing is signed. `touch` is all
 * it takes.
 */

import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LpNode } from '../../lp/node.ts';

/** Far below the tenth of a second in which a kill switch has to hold. */
const EVERY_MS = 40;
/** Seen by everybody on the roster, so it says nothing about our disk. */
const NOTE = 'stopped by the kill file';

/** Looks once at once, so that a file of before the start holds from the start; then for ever. */
export function watchKillFile(
  path: string | null,
  node: Pick<LpNode, 'kill' | 'killFileGone'>,
): { stop(): void } {
  if (path === null) return { stop: () => {} };
  let [stopped, held] = [false, false];

  function tell(there: boolean): void {
    if (there === held || stopped) return;
    held = there;
    if (there) node.kill('file', NOTE);
    else node.killFileGone();
  }

  /**
   * Whoever may not look has to assume the worst; only "no such file" and "no such folder" say that it is not
   * there.
   */
  const missing = (error: unknown): boolean =>
    ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');

  try {
    statSync(path);
    tell(true);
  } catch (error) {
    tell(!missing(error));
  }
  const timer = setInterval(() => {
    stat(path).then(
      () => tell(true),
      (error: unknown) => tell(!missing(error)),
    );
  }, EVERY_MS);
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
