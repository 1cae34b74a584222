/**
 * What an api replica needs to know of the relayers, whose transactions a worker sends: can one of them pay
 * for gas? Asked now and then.
 */

import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Relayer } from '../../venue/quoting/relay-fee.ts';

const MIN_BALANCE_WEI = 10n ** 15n;

export function watchRelayers(chain: ChainPort, addresses: readonly Address[]): Relayer & { stop(): void } {
  let funded = false;
  let asking = false;
  function look(): void {
    if (asking) return;
    asking = true;
    // Unknown counts as unable: then takers broadcast themselves, which always works.
    void Promise.all(addresses.map((address) => chain.nativeBalance(address)))
      .then(
        (balances) => (funded = balances.some((wei) => wei >= MIN_BALANCE_WEI)),
        () => (funded = false),
      )
      .finally(() => (asking = false));
  }
  // A quiet chain brings no head for long, and until one comes takers would be told to broadcast themselves.
  look();
  const stop = chain.onHead(look);
  return { healthy: () => funded, stop };
}
