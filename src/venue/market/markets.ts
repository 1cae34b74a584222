/** The chains and tokens of this venue: which a key can see, and on which it may trade. */

import { type Asset, parseAssetId } from '../../domain/asset.ts';
import { type Chain, tokenOf, type TokenInfo } from '../../domain/chain.ts';
import type { KeyMode } from '../../ports/stores/store.ts';

export interface ListedAsset {
  asset: Asset;
  chain: Chain;
  token: TokenInfo;
}

type Lookup = { kind: 'market'; market: ListedAsset } | { kind: 'unsupported' } | { kind: 'unknown_chain' };

export interface Markets {
  readonly chains: Map<number, Chain>;
  find(assetId: string, mode: KeyMode): Lookup;
  pairs(mode: KeyMode): Record<string, number>;
}

/** Test keys trade on sandbox chains, live keys on production chains. */
export const tradesOn = ({ sandbox }: { sandbox: boolean }, mode: KeyMode): boolean =>
  sandbox === (mode === 'test');

export function createMarkets(
  chains: Iterable<Chain>,
  listed: readonly { slug: string; id: number; sandbox: boolean }[] = [],
): Markets {
  const byId = new Map([...chains].map((chain) => [chain.id, chain]));
  const roster = [...[...byId.values()].map(({ slug, id, sandbox }) => ({ slug, id, sandbox })), ...listed];
  const named = new Map(roster.map((entry) => [entry.id, entry]));
  // A test key sees production chains too, to prepare for a live key.
  const isListed = ({ sandbox }: { sandbox: boolean }, mode: KeyMode) => mode === 'test' || !sandbox;
  return {
    chains: byId,
    find(assetId: string, mode: KeyMode): Lookup {
      const asset = parseAssetId(assetId);
      const entry = asset && named.get(asset.chainId);
      if (!asset || !entry || !isListed(entry, mode)) return { kind: 'unknown_chain' };
      const chain = byId.get(asset.chainId);
      if (!chain) return { kind: 'unsupported' };
      if (!tradesOn(chain, mode)) return { kind: 'unknown_chain' };
      const token = tokenOf(chain, asset.token);
      return token ? { kind: 'market', market: { asset, chain, token } } : { kind: 'unsupported' };
    },
    pairs: (mode: KeyMode) =>
      Object.fromEntries(roster.filter((entry) => isListed(entry, mode)).map(({ slug, id }) => [slug, id])),
  };
}
