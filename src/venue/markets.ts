/** Which chains and tokens this venue knows, and which of them a key may see. */

import { type Asset, parseAssetId } from '../domain/asset.ts';
import { type Chain, tokenOf, type TokenInfo } from '../domain/chain.ts';
import type { KeyMode } from '../ports/store.ts';

export interface Market {
  asset: Asset;
  chain: Chain;
  token: TokenInfo;
}

/** A chain of ours, one that is only listed, or none that this key knows. */
export type Placed = { kind: 'market'; market: Market } | { kind: 'unsupported' } | { kind: 'unknown_chain' };

export interface Markets {
  readonly chains: ReadonlyMap<number, Chain>;
  place(assetId: string, mode: KeyMode): Placed;
  pairs(mode: KeyMode): Record<string, number>;
}

export function createMarkets(chains: Iterable<Chain>, listed: readonly { slug: string; id: number; sandbox: boolean }[] = []): Markets {
  const byId = new Map([...chains].map((chain) => [chain.id, chain]));
  const roster = [...[...byId.values()].map(({ slug, id, sandbox }) => ({ slug, id, sandbox })), ...listed];
  const visible = (sandbox: boolean, mode: KeyMode) => mode === 'test' || !sandbox;
  const named = new Map(roster.map((entry) => [entry.id, entry]));
  return {
    chains: byId,
    place(assetId, mode) {
      const asset = parseAssetId(assetId);
      const entry = asset && named.get(asset.chainId);
      if (!asset || !entry || !visible(entry.sandbox, mode)) return { kind: 'unknown_chain' };
      const chain = byId.get(asset.chainId);
      const token = chain && tokenOf(chain, asset.token);
      return chain && token ? { kind: 'market', market: { asset, chain, token } } : { kind: 'unsupported' };
    },
    pairs: (mode) => Object.fromEntries(roster.filter(({ sandbox }) => visible(sandbox, mode)).map(({ slug, id }) => [slug, id])),
  };
}
