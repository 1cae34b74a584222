/** Puts the demo's vault and peg-stability module on a chain. */

import { deployIssuers, type IssuersDeployment } from '../../../adapters/evm/deploy/deploy-issuers.ts';
import type { DevAccess } from '../../../adapters/evm/deploy/deploy.ts';
import { parseUnits } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { DemoConfig } from '../config.ts';

export interface IssuersState extends IssuersDeployment {
  share: { symbol: string; name: string; address: Address; decimals: number; eip3009: null };
  asset: { symbol: string; address: Address };
  gem: Address;
  dai: Address;
}

interface SetUpIssuers {
  state: IssuersState;
  /** Base units of a token that were minted for it. */
  minted(token: Address): bigint;
}

const WAD_PER_BPS = 10n ** 14n;

/** Sets up the issuers; undefined: the chain has none. */
export async function setUpIssuers(
  on: DevAccess & { escrow: Address },
  issuers: DemoConfig['chains'][number]['issuers'],
  tokens: readonly TokenInfo[],
): Promise<SetUpIssuers | undefined> {
  if (issuers === null) return undefined;
  const { vault, psm } = issuers;
  const tokenOf = (symbol: string): TokenInfo => {
    const token = tokens.find((one) => one.symbol === symbol);
    if (!token) throw new Error(`The demo has an issuer of ${symbol}, which is not among its tokens.`);
    return token;
  };
  const [asset, gem, dai] = [tokenOf(vault.asset), tokenOf(psm.gem), tokenOf(psm.dai)];
  const inAsset = (whole: string) => parseUnits(whole, asset.decimals);
  const amounts = [
    parseUnits(psm.amounts[0], gem.decimals),
    parseUnits(psm.amounts[1], dai.decimals),
  ] as const;
  const [deposited, earned] = [inAsset(vault.deposited), inAsset(vault.earned)];
  const fee = BigInt(psm.feeBps) * WAD_PER_BPS;
  const made = await deployIssuers({
    ...on,
    vault: {
      ...{ asset: asset.address, name: vault.name, symbol: vault.symbol },
      ...{ deposited, earned, cap: inAsset(vault.cap) },
    },
    psm: { gem: gem.address, dai: dai.address, amounts, tin: fee, tout: fee },
  });
  return {
    state: {
      ...made,
      share: {
        ...{ symbol: vault.symbol, name: vault.name, address: made.vault.address },
        ...{ decimals: asset.decimals, eip3009: null },
      },
      asset: { symbol: asset.symbol, address: asset.address },
      gem: gem.address,
      dai: dai.address,
    },
    minted: (token) =>
      (token === asset.address ? deposited + earned : 0n) +
      (token === gem.address ? amounts[0] : 0n) +
      (token === dai.address ? amounts[1] : 0n),
  };
}
