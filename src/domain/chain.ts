/**
 * A chain as the venue and its LPs agree on it: its public name, its escrow and the clock margins that hold
 * there.
 */

import { divUp } from './amount.ts';
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

/** What gas is paid in. One whole unit is 10^18 wei, whatever the decimals of `token`. */
export interface NativeCurrency {
  symbol: string;
  /** The reference price symbol, such as "ETH" or "USD". */
  priceSymbol: string;
  /** The ERC-20 contract that shows and moves the same balance (USDC on Arc). null: there is none. */
  token: { address: Address; decimals: number } | null;
}

export const ETHER: NativeCurrency = { symbol: 'ETH', priceSymbol: 'ETH', token: null };

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
  native: NativeCurrency;
  tokens: readonly TokenInfo[];
}

/** For messages: a token that is not configured is named by its address. */
export const tokenOrAddress = (chain: Chain, address: Address): { symbol: string; decimals: number | null } =>
  tokenOf(chain, address) ?? { symbol: address, decimals: null };

/** Base units of the native currency's token, rounded up. undefined where there is no such token. */
export function nativeTokenUnitsUp({ token }: NativeCurrency, wei: bigint): bigint | undefined {
  return token === null ? undefined : divUp(wei, 10n ** BigInt(18 - token.decimals));
}

export function tokenOf(chain: Chain, address: Address): TokenInfo | undefined {
  return chain.tokens.find((token) => token.address === address);
}
