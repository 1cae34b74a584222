/**
 * The operator's brake on transactions: while it is held nothing new is sent from this process, so
 * cross-chain fills wait and may lapse into refunds. A sender that is held counts as unable to send, so the
 * LP stops promising cross-chain fills by itself.
 */

import { UpstreamError } from '../../domain/errors.ts';
import type { Transactor } from '../../ports/transactor.ts';

export interface Brake {
  held(): boolean;
  hold(): void;
  free(): void;
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
        // What has its bytes already goes on: taking back is not possible, and not knowing is worse.
        if (held && (await transactor.status(intent.key)) === undefined)
          throw new UpstreamError(
            'Sending is held by the operator. Free it at the admin door: POST /fills/resume.',
            { code: 'sending_held' },
          );
        return transactor.submit(intent);
      },
    }),
  };
}
