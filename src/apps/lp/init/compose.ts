/** Composes the default parts of a first configuration. */

import { ETHER } from '../../../domain/chain.ts';
import { readPreset } from '../../config/presets.ts';
import type { ChainFacts, TokenFacts, VenueFacts } from './probe.ts';

export type NetworkSection = Record<string, unknown> & {
  preset?: string;
  id: number;
  slug: string;
  tokens: { symbol: string }[];
  proofWindowSeconds: number;
  landingMarginSeconds: number;
};

export function networkOf(
  { chainId, slug, escrow, oracle, quoteBond }: VenueFacts['chains'][number],
  { preset, blockTimeMs, minProofWindowSeconds }: ChainFacts,
  rpcUrl: string,
  tokens: (TokenFacts & { priceSymbol: string })[],
): NetworkSection {
  return {
    ...(preset !== undefined && { preset }),
    id: chainId,
    slug,
    escrow,
    oracle,
    quoteBond: quoteBond ?? null,
    ...(preset === undefined && { blockTimeMs }),
    landingMarginSeconds: 30,
    proofWindowSeconds: minProofWindowSeconds,
    tokens,
    rpcUrls: [rpcUrl],
  };
}

/** The symbol of what gas is paid in. */
export const gasSymbolOf = ({ preset }: NetworkSection): string =>
  typeof preset === 'string' ? readPreset(preset).native.symbol : ETHER.symbol;

/** Pairs every asset with every dollar token, and the first dollar token across chains. */
export function defaultPairs(
  networks: readonly NetworkSection[],
  isDollar: (symbol: string) => boolean,
  params: object,
): { base: string; quote: string; params: object }[] {
  const symbols = [...new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))];
  const [dollars, others] = [symbols.filter(isDollar), symbols.filter((symbol) => !isDollar(symbol))];
  const [first] = dollars;
  const crossing =
    first !== undefined &&
    networks.filter(({ tokens }) => tokens.some(({ symbol }) => symbol === first)).length > 1;
  return [
    ...others.flatMap((base) => dollars.map((quote) => ({ base, quote, params }))),
    ...(crossing ? [{ base: first, quote: first, params: {} }] : []),
  ];
}

/** Proof and claim must fit between fill and refund; a fill must land within the landing margin. */
export function quotingFor(networks: readonly NetworkSection[]): object {
  const shortest = (of: 'proofWindowSeconds' | 'landingMarginSeconds') =>
    Math.min(...networks.map((network) => network[of]));
  return {
    claimSeconds: Math.max(1, Math.min(60, Math.floor(shortest('proofWindowSeconds') / 3))),
    fillMarginSeconds: Math.max(1, Math.min(4, Math.floor(shortest('landingMarginSeconds') / 4))),
  };
}
