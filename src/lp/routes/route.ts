/** Routes: every input and output token that this LP quotes, with all that never changes about the trade. */

import { type Corridor, corridorOf } from '../../domain/corridor.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { type AssetId, assetId } from '../../domain/asset.ts';
import type { EscrowDomain } from '../../domain/escrow-domain.ts';
import { RequestError } from '../../domain/errors.ts';
import { addressToBytes32, type Address, type Bytes32 } from '../../domain/hex.ts';
import type { PricingParams } from '../../pricing/params.ts';
import type { LpChainConfig, LpConfig, LpPairConfig } from '../config/config.ts';
import { pricingParams } from '../config/params.ts';

export interface QuoteRoute {
  input: AssetId;
  output: AssetId;
  pair: LpPairConfig;
  pairName: string;
  params: PricingParams;
  market: { readonly pair: string; readonly corridor: string };
  /** Seconds from fill to claim on this corridor; undefined: the general setting. */
  lockSeconds: number | undefined;
  lp: 'buy' | 'sell';
  baseDecimals: number;
  quoteDecimals: number;
  origin: Chain;
  dest: Chain;
  sameChain: boolean;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  /** The account that pays on the destination and is credited on the origin: one address on both. */
  account: Address;
  domain: EscrowDomain;

  /* Constant fields of every order on this route, in the encoding of the contract. */
  inputWord: bigint;
  outputWord: Bytes32;
  settlerWord: Bytes32;
  oracleWord: Bytes32;
  inputOracle: Address;
  outputOracle: Address;
  originChainId: bigint;
  destChainId: bigint;
}

export interface LpChain {
  config: LpChainConfig;
  chain: Chain;
}

export interface Routes {
  readonly all: readonly QuoteRoute[];
  readonly corridors: readonly Corridor[];
  /** Called several times for each request. */
  find(input: string, output: string): QuoteRoute | undefined;
}

/**
 * Throws `RequestError` when a pair names a token that no chain has, or overrides a corridor it does not
 * serve.
 */
export function createRoutes(chains: readonly LpChain[], pairs: LpConfig['pairs']): Routes {
  const all = pairs.flatMap((pair) => routesOf(chains, pair));
  const byAssets = new Map<string, Map<string, QuoteRoute>>();
  for (const route of all) {
    let byOutput = byAssets.get(route.input);
    if (byOutput === undefined) byAssets.set(route.input, (byOutput = new Map()));
    byOutput.set(route.output, route);
  }
  return {
    all,
    corridors: [...new Set(all.map(({ origin, dest }) => corridorOf(origin, dest)))],
    find: (input, output) => byAssets.get(input)?.get(output),
  };
}

function routesOf(chains: readonly LpChain[], pair: LpPairConfig): QuoteRoute[] {
  for (const symbol of [pair.base, pair.quote]) {
    if (!chains.some(({ chain }) => named(chain, symbol)))
      throw new RequestError(
        `No chain has a token ${symbol}, which a pair names: correct the pair or add the token.`,
        { code: 'bad_config' },
      );
  }
  const known = new Set(
    chains.flatMap((from) => chains.map((to) => corridorOf(from.chain, to.chain) as string)),
  );
  for (const corridor of Object.keys(pair.corridorParams)) {
    if (!known.has(corridor) || !(pair.corridors?.includes(corridor) ?? true)) {
      throw new RequestError(
        `Pair ${pair.base}-${pair.quote} has corridorParams for ${corridor}, which it does not serve: ` +
          `write one of ${(pair.corridors ?? [...known]).join(', ')}, or take it out.`,
        { code: 'bad_config' },
      );
    }
  }
  return chains.flatMap((from) =>
    chains.flatMap((to) => {
      // The escrow credits the account that paid, so our address must be the same on both chains.
      if (from.config.account !== to.config.account) return [];
      if (pair.corridors !== null && !pair.corridors.includes(corridorOf(from.chain, to.chain))) return [];
      const buy = route(from, to, pair, 'buy');
      const sell = pair.base === pair.quote ? undefined : route(from, to, pair, 'sell');
      return [buy, sell].filter((made) => made !== undefined);
    }),
  );
}

function route(from: LpChain, to: LpChain, pair: LpPairConfig, lp: 'buy' | 'sell'): QuoteRoute | undefined {
  const [taken, given] = lp === 'buy' ? [pair.base, pair.quote] : [pair.quote, pair.base];
  const [inputToken, outputToken] = [named(from.chain, taken), named(to.chain, given)];
  const sameChain = from.chain.id === to.chain.id;
  if (inputToken === undefined || outputToken === undefined || (sameChain && taken === given))
    return undefined;
  const [base, quote] = lp === 'buy' ? [inputToken, outputToken] : [outputToken, inputToken];
  const [inputOracle, outputOracle] = sameChain
    ? [from.chain.escrow, from.chain.escrow]
    : [from.chain.oracle, to.chain.oracle];
  const pairName = `${pair.base}-${pair.quote}`;
  const corridor = corridorOf(from.chain, to.chain);
  const own = pair.corridorParams[corridor] ?? {};
  return {
    input: assetId({ chainId: from.chain.id, token: inputToken.address }),
    output: assetId({ chainId: to.chain.id, token: outputToken.address }),
    pair,
    pairName,
    params: pricingParams(pair.params, own),
    market: { pair: pairName, corridor },
    lockSeconds: own.lockSeconds,
    lp,
    baseDecimals: base.decimals,
    quoteDecimals: quote.decimals,
    origin: from.chain,
    dest: to.chain,
    sameChain,
    inputToken,
    outputToken,
    account: from.config.account,
    domain: { chainId: from.chain.id, escrow: from.chain.escrow },
    inputWord: BigInt(inputToken.address),
    outputWord: addressToBytes32(outputToken.address),
    settlerWord: addressToBytes32(to.chain.escrow),
    oracleWord: addressToBytes32(outputOracle),
    inputOracle,
    outputOracle,
    originChainId: BigInt(from.chain.id),
    destChainId: BigInt(to.chain.id),
  };
}

const named = (chain: Chain, symbol: string): TokenInfo | undefined =>
  chain.tokens.find((token) => token.symbol === symbol);
