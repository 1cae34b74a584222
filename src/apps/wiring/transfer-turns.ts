/** Takes the steps of transfers in turns, for a venue's floats and an LP's inventory alike. */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Transactor } from '../../ports/transactor.ts';

interface TransferTurns {
  /**
   * Runs work between two turns. Turns and new transfers never overlap: two would see the same free money.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Starts the transactors, then takes a turn, and another one `everyMs` after each has ended. Resolves with
   * a function that waits for the last turn and stops them.
   */
  start(turn: () => Promise<void>): Promise<() => Promise<void>>;
}

interface TurnsDeps {
  transactors: ReadonlyMap<number, Transactor>;
  clock: Clock;
  log: Log;
}

/** `failed`: the warning of a turn that rejects. */
export function createTransferTurns(
  { transactors, clock, log }: TurnsDeps,
  { everyMs, failed }: { everyMs: number; failed: string },
): TransferTurns {
  let last: Promise<unknown> = Promise.resolve();
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const mine = last.then(work);
    last = mine.catch(() => {});
    return mine;
  }
  return {
    alone,
    async start(turn) {
      await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
      let stopped = false;
      let cancel = (): void => {};
      const run = async (): Promise<void> => {
        await alone(turn).catch((error: unknown) => log.warn({ error }, failed));
        if (!stopped) cancel = clock.after(everyMs, () => void run());
      };
      void run();
      return async () => {
        stopped = true;
        cancel();
        await last;
        await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
      };
    },
  };
}
