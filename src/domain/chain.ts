/**
 * A chain as the venue and its LPs agree on it: its public name, its escrow and the clock margins that hold
 * there.
 */

import type { Address } from './hex.ts';
import type { ClockMargins } from './time.ts';

export interface TokenInfo {
  address: Address;
  symbol: string;
  name: string;
  decimals: number;
  /** Has `receiveWithAuthorization` (EIP-3009); its EIP-712 domain name and version when it does. */
  eip3009: { name: string; version: string } | null;
  /** The reference price symbol, such as "ETH" or "USD". null: no reference price. */
  priceSymbol: string | null;
}

export interface Chain extends ClockMargins {
  id: number;
  /** Short public name, such as "base"; half of a corridor's slug. */
  slug: string;
  /** Shown to test keys only. */
  sandbox: boolean;
  escrow: Address;
  oracle: Address;
  permit2: Address;
  /** What LPs answer with for their promises; without it nothing is demanded of them. */
  quoteBond?: Address | null;
  /** Blocks on top before a fact of this chain counts as final for us. */
  depth: number;
  blockTimeMs: number;
  tokens: readonly TokenInfo[];
}

/** For messages: a token that is not configured is named by its address. */
export const tokenOrAddress = (chain: Chain, address: Address): { symbol: string; decimals: number | null } =>
  tokenOf(chain, address) ?? { symbol: address, decimals: null };

export function tokenOf(chain: Chain, address: Address): TokenInfo | undefined {
  return chain.tokens.find((token) => token.address === address);
}
