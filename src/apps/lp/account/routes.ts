/** The routes of an `LpAccount` that the configured bridges need. */

import type { BridgeTransports } from '../../config/bridges.ts';
import type { BridgeChain } from '../../wiring/bridges.ts';
import type { TransferRoute } from './lp-account-owner.ts';

/** Circle's fee may rise by so much between the estimate and the burn (src/adapters/bridges/cctp). */
const CCTP_FEE_FACTOR = 1.1;
const MOST_BPS = 10_000;

const wholeBps = (bps: number): number => Math.min(MOST_BPS, Math.ceil(Number(bps.toFixed(6))));

/** Lists the routes from the chain to all others. */
export function routesFrom(
  chainId: number,
  { cctp, oft }: BridgeTransports,
  sections: readonly BridgeChain[],
): TransferRoute[] {
  const here = sections.find(({ id }) => id === chainId);
  const others = sections.filter(({ id }) => id !== chainId);
  const place = here?.cctp ?? null;
  const ofCctp =
    cctp === null || place === null
      ? []
      : others.flatMap(({ slug, cctp: there, cctpDomain }): TransferRoute[] =>
          there === null || cctpDomain === null
            ? []
            : [
                {
                  ...{ list: 'cctpRoute', asset: place.token, destination: cctpDomain },
                  ...{ via: place.messenger, feeBps: wholeBps(cctp.maxFeeBps * CCTP_FEE_FACTOR) },
                  name: `by CCTP to ${slug}`,
                },
              ],
        );
  const ofOfts = oft.flatMap(({ asset, maxFeeBps, chains }) => {
    const from = chains.find((each) => each.chainId === chainId);
    return chains.flatMap(({ chainId: to, eid }): TransferRoute[] => {
      const slug = others.find(({ id }) => id === to)?.slug;
      if (from === undefined || slug === undefined) return [];
      return [
        {
          ...{ list: 'oftRoute', asset: from.oft, destination: eid },
          ...{ via: from.token, feeBps: wholeBps(maxFeeBps) },
          name: `${asset} by LayerZero to ${slug}`,
        },
      ];
    });
  });
  return [...ofCctp, ...ofOfts];
}
