/** Tells the client in the page where it reads each chain, and which contracts it expects there. */

import { createPublicClient, custom, type EIP1193RequestFn, http } from 'viem';
import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import type { TrustedChains } from '../../../../src/client/client.ts';
import type { Connected } from './wallets.ts';

/** Chains that the wallet is not on and for which the venue lists no node cannot be read. */
export const trustedChains = (
  wallet: Connected,
  chains: readonly ConsoleChain[],
  source: ConsoleChain,
): TrustedChains =>
  Object.fromEntries(
    chains
      .filter(({ id, rpcUrl }) => id === source.id || rpcUrl !== null)
      .map((chain) => {
        const { id, escrow, oracle, permit2, quoteBond } = chain;
        const rpc = readerOf(wallet, chain);
        return [
          id,
          { rpc, escrow, oracles: [oracle], permit2, ...(quoteBond !== null && { quoteBond }) },
        ] as const;
      }),
  );

/** Reads through the wallet while it is on this chain, and else through the node that the venue lists. */
function readerOf({ provider }: Connected, { id, slug, rpcUrl }: ConsoleChain) {
  const node = rpcUrl === null ? undefined : createPublicClient({ transport: http(rpcUrl) });
  const request = async (asked: { method: string; params?: unknown }): Promise<unknown> => {
    const current = Number(await provider.request({ method: 'eth_chainId' }));
    const by = current === id ? provider : node;
    if (by === undefined)
      throw new Error(`The wallet has left ${slug}, and the venue lists no node for it. Switch it back.`);
    return (by.request as EIP1193RequestFn)(asked as never);
  };
  return createPublicClient({ transport: custom({ request }), cacheTime: 0 });
}
