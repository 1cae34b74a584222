/** Holds all new transactions. The LP then stops quoting cross-chain fills. */

import { UpstreamError } from '../../domain/errors.ts';
import type { Transactor } from '../../ports/transactor.ts';

export type Brake = ReturnType<typeof createBrake>;

export function createBrake() {
  let held = false;
  return {
    held: (): boolean => held,
    hold: () => void (held = true),
    free: () => void (held = false),
    on: (transactor: Transactor): Transactor => ({
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
