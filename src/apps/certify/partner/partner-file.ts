/** Writes what a partner has to know of local chains, as docs/examples/partner.mjs reads it. */

import { assetId } from '../../../domain/asset.ts';
import type { CertifyDevnet, SolverKeys } from '../devnet.ts';
import { seconds } from './asking.ts';

const HOUR = 3_600;

/** Returns JSON text. `keys`: those of the first account by default. */
export function partnerFile(
  {
    partner,
    listen,
    venueKey,
    privateKey,
  }: { partner: string; listen: { host: string; port: number }; venueKey: string; privateKey: string },
  { world, solvers }: CertifyDevnet,
  keys: SolverKeys | undefined = solvers[0],
): string {
  const [first, second] = world.chains.map(({ chain: { id, tokens } }) =>
    assetId({ chainId: id, token: tokens[0]?.address ?? '0x' }),
  );
  const pair = { minAmountIn: '1000', maxAmountIn: '400000000000' };
  const config = {
    partner,
    kind: 'bridge',
    listen,
    venueKeys: [venueKey],
    privateKey,
    account: keys?.owner.address,
    operatorKey: keys?.operator.privateKey,
    feeBps: 10,
    validSeconds: 60,
    journal: null,
    callback: null,
    chains: Object.fromEntries(
      world.chains.map(({ chain, rpcUrl }) => [
        chain.id,
        { rpc: rpcUrl, escrow: chain.escrow, oracle: chain.oracle, depth: chain.depth },
      ]),
    ),
    assets: Object.fromEntries([first, second].map((asset) => [asset, { decimals: 6, usdE8: 100_000_000 }])),
    pairs: [
      { input: first, output: second, ...pair },
      { input: second, output: first, ...pair },
    ],
    hours: [{ from: seconds() - HOUR, cutOff: seconds() + 24 * HOUR, to: seconds() + 25 * HOUR }],
    payouts: [{ asset: second, currency: 'EUR', perToken: 0.9, fee: 1 }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}
