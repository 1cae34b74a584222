/** Tells an api process, by balance, whether a relayer can pay for gas. */

import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Relayer } from '../../venue/deps.ts';

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
  // A quiet chain has no new block for long: hence the timer.
  look();
  const stop = chain.onHead(look);
  return { healthy: () => funded, stop };
}
