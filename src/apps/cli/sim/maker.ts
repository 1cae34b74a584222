/** Builds the simulated LP from an LP's configuration file. */

import { parseUnits } from '../../../domain/amount.ts';
import type { Cap, Limits } from '../../../inventory/limits.ts';
import { createRoutes, type LpChain } from '../../../lp/quoting/route.ts';
import type { PricingParams } from '../../../pricing/params.ts';
import { parseDecimal, toNumber } from '../../../pricing/rational.ts';
import type { MakerSetup, SimRoute, SimToken } from '../../../sim/maker.ts';
import { parseConfig, readJson } from '../../config/load.ts';
import { zLpAppConfig, type LpAppConfig } from '../../lp/config.ts';
import { loadPlugin } from '../../lp/plugin.ts';
import { chainOf } from '../../networks.ts';
import { badConfig } from '../../bad-request.ts';

interface MakerOptions {
  pair?: string | undefined;
  capitalUsd: number;
  noiseBps: number;
  gasUsd: number;
  risk: boolean;
}

/** Ignores secrets and environment; `params` replace those of the pair. Throws `RequestError`. */
export async function readMaker(
  file: string,
  name: string,
  mid: number,
  options: MakerOptions,
  params: Partial<PricingParams> = {},
): Promise<MakerSetup> {
  const json = await readJson(file);
  const { config: written } = parseConfig(zLpAppConfig, json, {}, file);
  const config =
    Object.keys(params).length === 0
      ? written
      : parseConfig(zLpAppConfig, withParams(json, pairOf(written.lp, file, options.pair), params), {}, file)
          .config;
  const { module } = config.lp.pricing;
  return {
    ...makerOf(config, file, name, mid, options),
    ...(module !== null && { plugin: (await loadPlugin(module)).plugin }),
  };
}

function makerOf(
  { lp, networks }: LpAppConfig,
  file: string,
  name: string,
  mid: number,
  { pair: wanted, capitalUsd, noiseBps, gasUsd, risk }: MakerOptions,
): MakerSetup {
  const pair = lp.pairs[pairOf(lp, file, wanted)] as LpAppConfig['lp']['pairs'][number];
  const chains: LpChain[] = lp.chains.map((config) => {
    const section = networks.find(({ id }) => id === config.chainId);
    if (section === undefined)
      throw badConfig(`${file} trades on chain ${config.chainId} and describes no such network.`);
    return { config, chain: chainOf(section) };
  });
  const token = (
    chainId: number,
    { address, symbol, decimals }: { address: `0x${string}`; symbol: string; decimals: number },
  ): SimToken => ({ chainId, token: address, symbol, decimals });
  const routes = createRoutes(chains, [pair]).all.map(
    ({
      market,
      sameChain,
      lp: side,
      origin,
      dest,
      inputToken,
      outputToken,
      params,
      lockSeconds,
    }): SimRoute => ({
      corridor: market.corridor,
      sameChain,
      lp: side,
      params,
      input: token(origin.id, inputToken),
      output: token(dest.id, outputToken),
      lockSeconds: lockSeconds ?? lp.quoting.lockSeconds,
      landingSeconds: Math.min(origin.landingMarginSeconds, lp.quoting.maxLandingMarginSeconds),
    }),
  );
  if (routes.length === 0)
    throw badConfig(
      `${file} has no corridor for ${pair.base}-${pair.quote}: look at its chains, accounts and corridors.`,
    );

  const places = chains.flatMap(({ chain, config }) =>
    chain.tokens
      .filter(({ symbol }) => symbol === pair.base || symbol === pair.quote)
      .map((each) => ({ chain, config, each })),
  );
  const start = (symbol: string, decimals: number): bigint => {
    const parts = places.filter(({ each }) => each.symbol === symbol).length;
    return units(capitalUsd / (symbol === pair.base ? mid : 1) / parts, decimals);
  };
  const asset = lp.assets[pair.base];
  const priceOf = lp.prices[asset?.price ?? ''];
  return {
    name,
    base: pair.base,
    quote: pair.quote,
    routes,
    buckets: places.map(({ chain, config, each: { address, symbol, decimals } }) => ({
      chainId: chain.id,
      token: address,
      asset: symbol,
      decimals,
      buffer: parseUnits(config.buffers[symbol] ?? '0', decimals),
      start: start(symbol, decimals),
    })),
    softBand: wholeOf(asset?.softBand ?? null),
    hardBand: wholeOf(asset?.hardBand ?? null),
    // The configured target is for the real inventory; here the starting balance is the target.
    target: null,
    quoting: lp.quoting,
    graceSeconds: Math.max(...lp.chains.map(({ graceSeconds }) => graceSeconds ?? 15)),
    limits: limitsOf(lp.limits),
    risk: risk ? lp.risk : null,
    sigmaFloor: priceOf !== undefined && 'sigmaFloor' in priceOf ? priceOf.sigmaFloor : 0,
    adverseBps: lp.takers.startBps,
    noiseBps,
    gasUsd,
  };
}

/** The index of the wanted pair, or of the first of two different assets. */
function pairOf({ pairs }: LpAppConfig['lp'], file: string, wanted: string | undefined): number {
  const index = pairs.findIndex(
    ({ base, quote }) => base !== quote && (wanted === undefined || wanted === `${base}-${quote}`),
  );
  if (index >= 0) return index;
  const known = pairs
    .filter(({ base, quote }) => base !== quote)
    .map(({ base, quote }) => `${base}-${quote}`);
  throw badConfig(
    `${file} makes no market in ${wanted ?? 'a pair of two assets'}. It has: ${known.join(', ') || 'none'}.`,
  );
}

interface WrittenPair {
  params?: object;
  corridorParams?: Record<string, object>;
}

/** Sets parameters of a pair in the file's JSON, so that the whole configuration is checked with them. */
function withParams(json: unknown, index: number, params: Partial<PricingParams>): unknown {
  const copy = structuredClone(json) as { lp: { pairs: WrittenPair[] } };
  const pair = copy.lp.pairs[index] as WrittenPair;
  pair.params = { ...pair.params, ...params };
  // A value of a corridor would hide that of its pair.
  for (const own of Object.values(pair.corridorParams ?? {}))
    for (const [name, value] of Object.entries(params))
      if (name in own) Object.assign(own, { [name]: value });
  return copy;
}

function limitsOf(limits: LpAppConfig['lp']['limits']): Limits {
  const cap = ({
    count,
    notionalUsd,
  }: { count?: number | undefined; notionalUsd?: number | undefined } = {}): Cap => ({
    ...(count !== undefined && { count }),
    ...(notionalUsd !== undefined && { notional: BigInt(notionalUsd) * 1_000_000n }),
  });
  return {
    perTaker: cap(limits.perTaker),
    perTakerPair: cap(limits.perTakerPair),
    perPair: cap(limits.perPair),
    perPairSide: cap(limits.perPairSide),
    total: cap(limits.total),
  };
}

const wholeOf = (text: string | null): number | null => {
  const parsed = text === null ? undefined : parseDecimal(text);
  return parsed === undefined ? null : toNumber(parsed);
};

function units(tokens: number, decimals: number): bigint {
  const micro = BigInt(Math.round(tokens * 1e6));
  return decimals >= 6 ? micro * 10n ** BigInt(decimals - 6) : micro / 10n ** BigInt(6 - decimals);
}
