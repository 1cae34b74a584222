/** The file kill switch: while the file exists, nothing is signed. */

import { statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { LpNode } from '../../lp/node/interface.ts';

/** Well below the 100 ms within which a kill switch must act. */
const EVERY_MS = 40;
/** Public on the roster, so it does not name the path. */
const NOTE = 'stopped by the kill file';

export interface KillFile {
  /**
   * Watches this path instead of the one before. Checks once synchronously: an existing file holds from the
   * start.
   */
  watch(path: string | null): void;
  stop(): void;
}

export function createKillFile(node: Pick<LpNode, 'kill' | 'killFileGone'>): KillFile {
  let held = false;
  let cancel = () => {};

  function tell(there: boolean): void {
    if (there === held) return;
    held = there;
    if (there) node.kill('file', NOTE);
    else node.killFileGone();
  }

  return {
    watch(path) {
      cancel();
      if (path === null) return tell(false);
      let over = false;
      const note = (there: boolean): void => {
        if (!over) tell(there);
      };
      try {
        statSync(path);
        note(true);
      } catch (error) {
        note(!missing(error));
      }
      const timer = setInterval(() => {
        stat(path).then(
          () => note(true),
          (error: unknown) => note(!missing(error)),
        );
      }, EVERY_MS);
      cancel = () => {
        over = true;
        clearInterval(timer);
      };
    },
    stop: () => cancel(),
  };
}

/**
 * Returns true when the error says that there is no file. Any other error counts as "the file exists": the
 * safe assumption.
 */
const missing = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
