/**
 * A chain as the venue and its LPs agree on it: its public name, its escrow and the clock margins that hold
 * there.
 */

import { convertUp } from './amount.ts';
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

/** The currency in which gas is paid. One whole unit is 10^18 wei, whatever the decimals of `token`. */
export interface NativeCurrency {
  symbol: string;
  /** The reference price symbol, such as "ETH" or "USD". */
  priceSymbol: string;
  /** The ERC-20 contract that shows and moves the same balance (USDC on Arc). null: there is none. */
  token: { address: Address; decimals: number } | null;
}

export const ETHER: NativeCurrency = { symbol: 'ETH', priceSymbol: 'ETH', token: null };

export const FINALITY_TAGS = ['safe', 'finalized'] as const;
export type FinalityTag = (typeof FINALITY_TAGS)[number];

/**
 * A fact of at least this value is final under so many blocks, or at or below the block that nodes call so.
 */
export type FinalityStep = { aboveUsd: number } & (
  | { depth: number }
  /** `seconds`: how long that takes as a rule. */
  | { tag: FinalityTag; seconds: number }
);

export interface Chain extends ClockMargins {
  id: number;
  /** Short public name, such as "base"; half of a corridor's slug. */
  slug: string;
  /** Shown to test keys only. */
  sandbox: boolean;
  escrow: Address;
  oracle: Address;
  permit2: Address;
  /** The contract that holds the bonds of LPs. Without it no bond is demanded of them. */
  quoteBond?: Address | null;
  /** Blocks on top before a fact of this chain counts as final for us. */
  depth: number;
  /** The stricter finality that facts of higher values need, ascending by value. */
  finality?: readonly FinalityStep[];
  blockTimeMs: number;
  native: NativeCurrency;
  tokens: readonly TokenInfo[];
}

/** The last step for an unknown value. undefined: `depth` is enough. */
export const finalityStep = (
  { finality = [] }: Pick<Chain, 'finality'>,
  valueUsd: number | undefined,
): FinalityStep | undefined =>
  finality.findLast(({ aboveUsd }) => valueUsd === undefined || valueUsd >= aboveUsd);

/** Returns how long a fact of this value usually takes to be final, in seconds, rounded up. */
export function secondsToFinalUp(
  chain: Pick<Chain, 'finality' | 'depth' | 'blockTimeMs'>,
  valueUsd: number | undefined,
): number {
  const ofDepth = (depth: number) => Math.ceil((depth * chain.blockTimeMs) / 1_000);
  const step = finalityStep(chain, valueUsd);
  if (step === undefined) return ofDepth(chain.depth);
  return Math.max(ofDepth(chain.depth), 'tag' in step ? step.seconds : ofDepth(step.depth));
}

/**
 * Seconds from the last valid second of an order across chains until its last fill. Beyond
 * `landingMarginSeconds`, which leaves time for `depth`, the LP needs as long as its value takes to be final.
 */
export const crossLandingSeconds = (
  chain: Pick<Chain, 'finality' | 'depth' | 'blockTimeMs' | 'landingMarginSeconds'>,
  valueUsd: number | undefined,
): number =>
  chain.landingMarginSeconds +
  secondsToFinalUp(chain, valueUsd) -
  secondsToFinalUp({ ...chain, finality: [] }, valueUsd);

/** Names a token in messages; a token that is not configured is named by its address. */
export const tokenOrAddress = (chain: Chain, address: Address): { symbol: string; decimals: number | null } =>
  tokenOf(chain, address) ?? { symbol: address, decimals: null };

/**
 * Converts wei to base units of the native currency's token, rounded up. undefined where there is no such
 * token.
 */
export function nativeTokenUnitsUp({ token }: NativeCurrency, wei: bigint): bigint | undefined {
  return token === null ? undefined : convertUp(wei, 18, token.decimals);
}

export function tokenOf(chain: Chain, address: Address): TokenInfo | undefined {
  return chain.tokens.find((token) => token.address === address);
}
