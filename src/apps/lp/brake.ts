/** Holds all new transactions. The LP then stops quoting cross-chain fills. */

import { UpstreamError } from '../../domain/errors.ts';
import type { Transactor } from '../../ports/transactor.ts';

export interface Brake {
  held(): boolean;
  hold(): void;
  free(): void;
  /** The transactor with this brake: while it is held, `submit` throws `UpstreamError`. */
  on(transactor: Transactor): Transactor;
}

export function createBrake(): Brake {
  let held = false;
  return {
    held: () => held,
    hold: () => void (held = true),
    free: () => void (held = false),
    on: (transactor) => ({
      ...transactor,
      healthy: () => !held && transactor.healthy(),
      holds: () => transactor.holds(),
      async submit(intent) {
        // A transaction that was already signed cannot be taken back; it is followed to its end.
        if (held && (await transactor.status(intent.key)) === undefined)
          throw new UpstreamError(
            'The operator holds transactions. Release them at the admin API: POST /fills/resume.',
            { code: 'sending_held' },
          );
        return transactor.submit(intent);
      },
    }),
  };
}
