/** Builds the simulated LP from an LP's configuration file. */

import { parseUnits } from '../../../domain/amount.ts';
import type { TransferPolicy } from '../../../inventory/transfer-policy.ts';
import { limitsOf } from '../../../lp/config/limits.ts';
import { createRoutes, type LpChain } from '../../../lp/routes/route.ts';
import type { PricingParams } from '../../../pricing/params.ts';
import { parseDecimal, toNumber } from '../../../pricing/rational.ts';
import {
  type MakerPair,
  type MakerSetup,
  pairName,
  type SimRoute,
  type SimToken,
} from '../../../sim/maker/setup.ts';
import type { SimPlace, SimTransfers } from '../../../sim/transfers.ts';
import { parseConfig, readJson } from '../../config/load.ts';
import { zLpAppConfig, type LpAppConfig } from '../../lp/config.ts';
import { loadPlugin } from '../../lp/plugin.ts';
import { chainOf } from '../../wiring/networks.ts';
import { badConfig, badRequest } from '../../wiring/bad-request.ts';

interface MakerOptions {
  pair?: readonly string[] | undefined;
  capitalUsd: number;
  noiseBps: number;
  gasUsd: number;
  risk: boolean;
  /** The chains' shares of each asset count: for the starting balances, prices and sizes. */
  located?: boolean;
}

/**
 * Ignores secrets and environment; `params` replace those of each pair. `mids` are in the order of `pairsOf`.
 * Throws `RequestError`.
 */
export async function readMaker(
  file: string,
  name: string,
  mids: readonly number[],
  options: MakerOptions,
  params: Partial<PricingParams> = {},
): Promise<MakerSetup> {
  const json = await readJson(file);
  const { config: written } = parseConfig(zLpAppConfig, json, {}, file);
  const config =
    Object.keys(params).length === 0
      ? written
      : parseConfig(
          zLpAppConfig,
          withParams(json, placesOf(written.lp, file, options.pair), params),
          {},
          file,
        ).config;
  const { module } = config.lp.pricing;
  return {
    ...makerOf(config, file, name, mids, options),
    ...(module !== null && { plugin: (await loadPlugin(module)).plugin }),
  };
}

function makerOf(
  { lp, networks }: LpAppConfig,
  file: string,
  name: string,
  mids: readonly number[],
  { pair: wanted, capitalUsd, noiseBps, gasUsd, risk, located = false }: MakerOptions,
): MakerSetup {
  const pairs = placesOf(lp, file, wanted).map((place) => lp.pairs[place] as ConfiguredPair);
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
  const routesOf = (pair: ConfiguredPair, at: number): SimRoute[] => {
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
        pair: at,
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
    if (routes.length > 0) return routes;
    throw badConfig(
      `${file} has no corridor for ${pairName(pair)}: look at its chains, accounts and corridors.`,
    );
  };

  const worth = new Map(pairs.map(({ base }, at) => [base, mids[at] as number]));
  const places = chains.flatMap(({ chain, config }) =>
    chain.tokens
      .filter(({ symbol }) => pairs.some(({ base, quote }) => symbol === base || symbol === quote))
      .map((each) => ({ chain, config, each })),
  );
  const placesOfAssets = new Map(
    [...new Set(places.map(({ each }) => each.symbol))].map((symbol) => [
      symbol,
      places
        .filter(({ each }) => each.symbol === symbol)
        .map(({ chain: { id, slug } }) => placeOf(lp.assets[symbol], id, slug)),
    ]),
  );
  const start = (symbol: string, chainId: number, decimals: number): bigint => {
    const of = placesOfAssets.get(symbol) ?? [];
    const shareOf = (share: bigint | undefined): number => (located ? Number(share ?? 0n) : 1);
    const all = of.reduce((sum, { share }) => sum + shareOf(share), 0);
    const part = shareOf(of.find((place) => place.chainId === chainId)?.share) / all;
    return units((capitalUsd / (worth.get(symbol) ?? 1)) * part, decimals);
  };
  return {
    name,
    pairs: pairs.map((pair, at): MakerPair => {
      const asset = lp.assets[pair.base];
      const priceOf = lp.prices[asset?.price ?? ''];
      return {
        base: pair.base,
        quote: pair.quote,
        routes: routesOf(pair, at),
        softBand: wholeOf(asset?.softBand ?? null),
        hardBand: wholeOf(asset?.hardBand ?? null),
        // The configured target is for the real inventory; here the starting balance is the target.
        target: null,
        sigmaFloor: priceOf !== undefined && 'sigmaFloor' in priceOf ? priceOf.sigmaFloor : 0,
      };
    }),
    buckets: places.map(({ chain, config, each: { address, symbol, decimals } }) => ({
      chainId: chain.id,
      token: address,
      asset: symbol,
      decimals,
      buffer: parseUnits(config.buffers[symbol] ?? '0', decimals),
      start: start(symbol, chain.id, decimals),
    })),
    quoting: lp.quoting,
    graceSeconds: Math.max(...lp.chains.map(({ graceSeconds }) => graceSeconds ?? 15)),
    limits: limitsOf(lp),
    risk: risk ? lp.risk : null,
    adverseBps: lp.takers.startBps,
    noiseBps,
    gasUsd,
    ...(located && { places: placesOfAssets }),
  };
}

function placeOf(
  asset: LpAppConfig['lp']['assets'][string] | undefined,
  chainId: number,
  slug: string,
): SimPlace {
  const own = asset?.chains[slug];
  const millionths = (share: number): bigint => BigInt(Math.round(share * 1e6));
  const hardShare = own?.hardShare ?? null;
  return {
    ...{ chainId, slug },
    share: millionths(own?.share ?? 1),
    softShare: millionths(own?.softShare ?? 1),
    hardShare: hardShare === null ? undefined : millionths(hardShare),
    costBps: own?.transportBps ?? asset?.transportBps ?? 0,
  };
}

type ConfiguredPair = LpAppConfig['lp']['pairs'][number];

/** Reads what the configuration says of transfers between chains. Throws `RequestError`. */
export async function rebalancingOf(
  file: string,
): Promise<Pick<SimTransfers, 'rule'> & Pick<TransferPolicy, 'mostUsd' | 'mostUsdPerDay'>> {
  const { lp, transfers } = parseConfig(zLpAppConfig, await readJson(file), {}, file).config;
  const { mostUsd, mostUsdPerDay } = transfers;
  return { rule: lp.rebalancing, mostUsd, mostUsdPerDay };
}

/** The names of the wanted pairs, or of the first one of two different assets. Throws `RequestError`. */
export async function pairsOf(file: string, wanted: readonly string[] | undefined): Promise<string[]> {
  const { lp } = parseConfig(zLpAppConfig, await readJson(file), {}, file).config;
  return placesOf(lp, file, wanted).map((place) => pairName(lp.pairs[place] as ConfiguredPair));
}

/** Places in the configuration's list. */
function placesOf({ pairs }: LpAppConfig['lp'], file: string, wanted: readonly string[] = []): number[] {
  const known = pairs.filter(({ base, quote }) => base !== quote).map(pairName);
  const names = wanted.length > 0 ? wanted : known.slice(0, 1);
  const missing = names.length === 0 ? 'a pair of two assets' : names.find((name) => !known.includes(name));
  if (missing !== undefined)
    throw badConfig(`${file} makes no market in ${missing}. It has: ${known.join(', ') || 'none'}.`);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw badRequest(`--pair names ${twice} twice.`);
  const places = names.map((name) => pairs.findIndex((pair) => pairName(pair) === name));
  const quotes = new Set(places.map((place) => pairs[place]?.quote));
  if (quotes.size > 1)
    throw badRequest(
      `Pairs that are simulated together need one quote asset, which counts as a dollar. ${names.join(' and ')} have ${[...quotes].join(' and ')}. Simulate them in separate runs.`,
    );
  return places;
}

interface WrittenPair {
  params?: object;
  corridorParams?: Record<string, object>;
}

/** Sets parameters of pairs in the file's JSON, so that the whole configuration is checked with them. */
function withParams(json: unknown, places: readonly number[], params: Partial<PricingParams>): unknown {
  const copy = structuredClone(json) as { lp: { pairs: WrittenPair[] } };
  for (const place of places) {
    const pair = copy.lp.pairs[place] as WrittenPair;
    pair.params = { ...pair.params, ...params };
    // A value of a corridor would hide that of its pair.
    for (const own of Object.values(pair.corridorParams ?? {}))
      for (const [name, value] of Object.entries(params))
        if (name in own) Object.assign(own, { [name]: value });
  }
  return copy;
}

const wholeOf = (text: string | null): number | null => {
  const parsed = text === null ? undefined : parseDecimal(text);
  return parsed === undefined ? null : toNumber(parsed);
};

function units(tokens: number, decimals: number): bigint {
  const micro = BigInt(Math.round(tokens * 1e6));
  return decimals >= 6 ? micro * 10n ** BigInt(decimals - 6) : micro / 10n ** BigInt(6 - decimals);
}
