/**
 * The chains and tokens of this venue: which of them a key can see, and on which it may trade.
 *
 * Read first in this folder; then liquidity (LP balances), prices (reference prices), levels and levels-board
 * (indicative ladders).
 */

import { type Asset, parseAssetId } from '../../domain/asset.ts';
import { type Chain, tokenOf, type TokenInfo } from '../../domain/chain.ts';
import type { KeyMode } from '../../ports/stores/store.ts';

export interface ListedAsset {
  asset: Asset;
  chain: Chain;
  token: TokenInfo;
}

/** A token that can be traded, one on a chain that is only listed, or a chain that this key cannot see. */
export type Lookup =
  | { kind: 'market'; market: ListedAsset }
  | { kind: 'unsupported' }
  | { kind: 'unknown_chain' };

export interface Markets {
  readonly chains: ReadonlyMap<number, Chain>;
  find(assetId: string, mode: KeyMode): Lookup;
  pairs(mode: KeyMode): Record<string, number>;
}

/** A test key trades on sandbox chains and a live key on production chains, never the other way round. */
export const tradesOn = ({ sandbox }: { sandbox: boolean }, mode: KeyMode): boolean =>
  sandbox === (mode === 'test');

export function createMarkets(
  chains: Iterable<Chain>,
  listed: readonly { slug: string; id: number; sandbox: boolean }[] = [],
): Markets {
  const byId = new Map([...chains].map((chain) => [chain.id, chain]));
  const roster = [...[...byId.values()].map(({ slug, id, sandbox }) => ({ slug, id, sandbox })), ...listed];
  const named = new Map(roster.map((entry) => [entry.id, entry]));
  return {
    chains: byId,
    find(assetId, mode) {
      const asset = parseAssetId(assetId);
      const entry = asset && named.get(asset.chainId);
      if (!asset || !entry || !tradesOn(entry, mode)) return { kind: 'unknown_chain' };
      const chain = byId.get(asset.chainId);
      const token = chain && tokenOf(chain, asset.token);
      return chain && token ? { kind: 'market', market: { asset, chain, token } } : { kind: 'unsupported' };
    },
    // A test key sees production chains too, to prepare for a live key.
    pairs: (mode) =>
      Object.fromEntries(
        roster.filter(({ sandbox }) => mode === 'test' || !sandbox).map(({ slug, id }) => [slug, id]),
      ),
  };
}
