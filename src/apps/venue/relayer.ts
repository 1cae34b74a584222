/** Tells an api process, by balance, whether a relayer can pay for one more transaction. */

import { firstFees } from '../../adapters/evm/transactor/fees.ts';
import { SPARE_GAS } from '../../adapters/evm/transactor/transactor.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Relayer } from '../../venue/deps.ts';

/** Throws `UpstreamError` when the chain does not answer. */
export async function relayerGas(
  chain: ChainPort,
  addresses: readonly Address[],
  maxFeePerGasCap: bigint,
): Promise<{ address: Address; balanceWei: bigint; costWei: bigint }[]> {
  const [fees, ...balances] = await Promise.all([
    chain.fees(),
    ...addresses.map((address) => chain.nativeBalance(address)),
  ]);
  const costWei = SPARE_GAS * firstFees(fees, maxFeePerGasCap).maxFeePerGas;
  return addresses.map((address, n) => ({ address, balanceWei: balances[n] as bigint, costWei }));
}

export function watchRelayers(
  chain: ChainPort,
  addresses: readonly Address[],
  { maxFeePerGasCap, leastBalance }: { maxFeePerGasCap: bigint; leastBalance: bigint },
): Relayer & { stop(): void } {
  let funded = false;
  let asking = false;
  async function isFunded(): Promise<boolean> {
    const accounts = await relayerGas(chain, addresses, maxFeePerGasCap);
    return accounts.some(({ balanceWei, costWei }) => balanceWei >= costWei && balanceWei >= leastBalance);
  }
  function checkFunds(): void {
    if (asking) return;
    asking = true;
    // Unknown counts as unable: then takers broadcast themselves, which always works.
    void isFunded()
      .then(
        (answer) => (funded = answer),
        () => (funded = false),
      )
      .finally(() => (asking = false));
  }
  // A quiet chain has no new block for long: hence the timer.
  checkFunds();
  const stop = chain.onHead(checkFunds);
  return { healthy: () => funded, stop };
}
