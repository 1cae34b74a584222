/** The file kill switch: while the file exists, nothing is signed. */

import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LpNode } from '../../lp/node/interface.ts';

/** Well below the 100 ms within which a kill switch must act. */
const EVERY_MS = 40;
/** Public on the roster, so it does not name the path. */
const NOTE = 'stopped by the kill file';

/** Checks once synchronously: an existing file holds from the start. */
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

  /** Any other error counts as "the file exists": the safe assumption. */
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
