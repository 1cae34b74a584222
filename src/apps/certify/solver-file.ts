/** Writes what a solver has to know of local chains, as docs/examples/solver.mjs reads it. */

import { assetId } from '../../domain/asset.ts';
import type { CertifyDevnet, SolverKeys } from './devnet.ts';

/** Prices in dollars with eight decimals. */
const USD_E8: Readonly<Record<string, number>> = { USD: 100_000_000, ETH: 250_000_000_000 };

/** Returns JSON text. `keys`: those of the first account by default. */
export function solverFile(
  { url, key, solverId }: { url: string; key: string; solverId: string },
  { world, solvers }: CertifyDevnet,
  keys: SolverKeys | undefined = solvers[0],
): string {
  const config = {
    urls: [url],
    key,
    solverId,
    account: keys?.owner.address,
    operatorKey: keys?.operator.privateKey,
    spreadBps: 10,
    validSeconds: 60,
    chains: Object.fromEntries(
      world.chains.map(({ chain, rpcUrl }) => [
        chain.id,
        { rpc: rpcUrl, escrow: chain.escrow, oracle: chain.oracle, depth: chain.depth },
      ]),
    ),
    assets: Object.fromEntries(
      world.chains.flatMap(({ chain }) =>
        chain.tokens.map(({ address, decimals, priceSymbol }) => [
          assetId({ chainId: chain.id, token: address }),
          { decimals, usdE8: USD_E8[priceSymbol ?? ''] ?? USD_E8['USD'] },
        ]),
      ),
    ),
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
