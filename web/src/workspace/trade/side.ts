/** Describes one side of a trade, a token on a chain, and how the page writes its amounts. */

import { parseUnits } from 'viem';
import type { ConsoleChain } from '../../../../src/apps/venue/console.ts';
import { assetId } from '../../../../src/domain/asset.ts';
import type { Address } from '../../../../src/domain/hex.ts';
import { short, tokens } from '../../format.ts';

export interface Side {
  chain: ConsoleChain;
  token: ConsoleChain['tokens'][number];
}

export const sidesOf = (chains: readonly ConsoleChain[]): Side[] =>
  chains.flatMap((chain) => chain.tokens.map((token) => ({ chain, token })));

export const nameOf = ({ chain, token }: Side): string => `${token.symbol} on ${chain.slug}`;

export const assetOf = ({ chain, token }: Side): string =>
  assetId({ chainId: chain.id, token: token.address as Address });

export const amountIn = (amount: string | undefined, { token }: Pick<Side, 'token'>): string =>
  amount === undefined ? 'unknown' : `${tokens(amount, token.decimals, 8)} ${token.symbol}`;

/** A leg may pass through an asset that is none of the venue's tokens: then its base units are shown. */
export function amountOfAsset(amount: string, asset: string, sides: readonly Side[]): string {
  const side = sides.find((each) => assetOf(each) === asset.toLowerCase());
  return side === undefined ? `${amount} base units of ${short(asset)}` : amountIn(amount, side);
}

/** Parses an amount; undefined: it is none of this token, such as one with more decimals than it has. */
export function parseAmount(text: string, { token }: Side): bigint | undefined {
  const [, fraction = ''] = /^\d+(?:\.(\d+))?$/.exec(text) ?? ['', '.'.repeat(100)];
  if (fraction.length > token.decimals) return undefined;
  const amount = parseUnits(text, token.decimals);
  return amount > 0n ? amount : undefined;
}
