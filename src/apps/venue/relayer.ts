/** What an api replica needs to know of the relayer, whose transactions a worker sends: can it pay for gas? Asked now and then. */

import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Relayer } from '../../venue/gas.ts';

const MIN_BALANCE_WEI = 10n ** 15n;

export function watchRelayer(chain: ChainPort, address: Address): Relayer & { stop(): void } {
  let funded = false;
  let asking = false;
  const stop = chain.onHead(() => {
    if (asking) return;
    asking = true;
    // Unknown counts as unable: then takers broadcast themselves, which always works.
    void chain
      .nativeBalance(address)
      .then((wei) => (funded = wei >= MIN_BALANCE_WEI), () => (funded = false))
      .finally(() => (asking = false));
  });
  return { healthy: () => funded, stop };
}
