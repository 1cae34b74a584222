/** Compares inventory with the owner's targets: each asset over all chains, and each chain's share of it. */

import { parseUnits } from '../../domain/amount.ts';
import type { Chain } from '../../domain/chain.ts';
import { RequestError } from '../../domain/errors.ts';
import {
  type BandHeadroom,
  bandHeadroom,
  bandQ,
  chainBandOf,
  type ChainShare,
} from '../../inventory/bands.ts';
import { fromAttoDown, toAtto } from '../../inventory/bucket.ts';
import type { Exposure, Ledger } from '../../inventory/ledger.ts';
import { type ChainBand, rebalanceTerm } from '../../pricing/terms.ts';
import type { LpConfig } from '../config/config.ts';
import { pricingParams } from '../config/params.ts';
import type { QuoteRoute } from '../routes/route.ts';

/** One chain's share of an asset, in 1e-18 of a whole token. */
export interface ChainPosition {
  chainId: number;
  slug: string;
  available: bigint;
  held: bigint;
  target: bigint;
  q: number;
  room: BandHeadroom | undefined;
  costBps: number;
}

/** An asset over all chains, in 1e-18 of a whole token. */
export interface Position extends Exposure {
  asset: string;
  target: bigint;
  /** undefined without a band, or when it depends on `halfBand` and there is no price. */
  soft: bigint | undefined;
  hard: bigint | undefined;
  q: number | undefined;
  places: ChainPosition[];
}

/** The base units that a route may still receive and pay; absent: no bound. */
interface RouteHeadroom {
  input?: bigint;
  output?: bigint;
}

interface BandTerms {
  q: number;
  halfBand: number;
  room: RouteHeadroom;
  /** Cost of replacing inventory where this trade takes it, less what the trade saves. */
  rebalanceBps: number;
}

export interface Bands {
  /** Hot path: reads every bucket at one instant. */
  termsOf(route: QuoteRoute, baseUsd: number): BandTerms;
  /** Every configured asset. `usd`: of one whole token; undefined without a price. */
  positions(usd: (asset: string) => number | undefined): Position[];
  /** An asset on each of its chains. */
  places(asset: string): ChainPosition[];
}

interface BandsDeps {
  ledger: Pick<Ledger, 'exposure' | 'bucketsOf'>;
  networks: ReadonlyMap<number, Pick<Chain, 'slug'>>;
  /** Inventory at the start, 1e-18 of a whole token: the target where none is configured. */
  startedWith: ReadonlyMap<string, bigint>;
}

/** What the owner wants of one asset, in 1e-18 of a whole token. */
interface WantedBand {
  target: bigint;
  soft: bigint | undefined;
  hard: bigint | undefined;
  /** Its chains by id. */
  places: ReadonlyMap<number, ChainShare & { slug: string; costBps: number }>;
  /** The sum of the chains' shares. */
  shares: bigint;
  /** It matters on which chain the asset is: moving it costs something, or a chain has a hard band. */
  located: boolean;
}

interface HeldAsset {
  asset: string;
  want: WantedBand | undefined;
  buckets: ReturnType<Ledger['bucketsOf']>;
}

interface RouteAssets {
  base: HeldAsset;
  output: HeldAsset;
  input: HeldAsset;
}

interface BandsState {
  readonly ledger: BandsDeps['ledger'];
  readonly wanted: ReadonlyMap<string, WantedBand>;
  /** In USD, of assets that are the base of a pair. */
  readonly halfBands: ReadonlyMap<string, number>;
  readonly held: Map<string, HeldAsset>;
  readonly routes: Map<QuoteRoute, RouteAssets>;
}

const HARD_OVER_SOFT = 2;
const ATTO = 10n ** 18n;

/** Throws `RequestError` for a band on a chain that does not have the token. */
export function createBands(deps: BandsDeps, { assets, pairs }: Pick<LpConfig, 'assets' | 'pairs'>): Bands {
  const state: BandsState = {
    ledger: deps.ledger,
    wanted: new Map(
      Object.entries(assets).map(([asset, config]) => [asset, wantedBand(deps, asset, config)]),
    ),
    halfBands: new Map(
      pairs
        .filter(({ base, quote }) => base !== quote)
        .map(({ base, params }) => [base, pricingParams(params).halfBand]),
    ),
    held: new Map(),
    routes: new Map(),
  };
  return {
    termsOf: (route, baseUsd) => termsOf(state, route, baseUsd),
    positions: (usd) => [...state.wanted].map(([asset, want]) => positionOf(state, asset, want, usd(asset))),
    places: (asset) => placesOf(state, asset),
  };
}

function wantedBand(
  { ledger, networks, startedWith }: BandsDeps,
  asset: string,
  { target, softBand, hardBand, transportBps, chains }: LpConfig['assets'][string],
): WantedBand {
  const there = ledger
    .bucketsOf(asset)
    .map(({ chainId }) => ({ chainId, slug: networks.get(chainId)?.slug ?? '' }));
  const slugs = there.map(({ slug }) => slug);
  const stray = Object.keys(chains).find((slug) => !slugs.includes(slug));
  if (stray !== undefined)
    throw new RequestError(
      `Asset ${asset} has a band on ${stray}, where it is not: write one of ${slugs.join(', ')}, or take it out.`,
      { code: 'bad_config' },
    );
  const places = new Map(
    there.map(({ chainId, slug }) => {
      const { share = 1, softShare = 1, hardShare = null, transportBps: own } = chains[slug] ?? {};
      return [
        chainId,
        {
          slug,
          share: millionths(share),
          softShare: millionths(softShare),
          hardShare: hardShare === null ? undefined : millionths(hardShare),
          costBps: own ?? transportBps,
        },
      ];
    }),
  );
  return {
    target: target === null ? (startedWith.get(asset) ?? 0n) : parseUnits(target, 18),
    soft: softBand === null ? undefined : parseUnits(softBand, 18),
    hard: hardBand === null ? undefined : parseUnits(hardBand, 18),
    places,
    shares: [...places.values()].reduce((sum, { share }) => sum + share, 0n),
    located: [...places.values()].some(({ costBps, hardShare }) => costBps > 0 || hardShare !== undefined),
  };
}

function termsOf(state: BandsState, route: QuoteRoute, baseUsd: number): BandTerms {
  const { origin, dest, inputToken, outputToken, pair, params } = route;
  const { base, output: paid, input: got } = assetsOf(state, route);
  const { want } = base;
  const halfBand = want?.soft === undefined ? params.halfBand : (Number(want.soft) / 1e18) * baseUsd;
  const [drained, filled] = [located(paid, dest.id), located(got, origin.id)];
  // Held inventory counts as gone: the minimum holds even if every quote is accepted.
  const left = drained?.room && drained.room.out - drained.held;
  let output = left !== undefined && left < 0n ? 0n : left;
  let input = filled?.room?.in;
  let q = 0;
  // One asset on two chains has a location but no price risk.
  if (pair.base !== pair.quote && want !== undefined) {
    const { total } = state.ledger.exposure(pair.base);
    q = ((Number((total - want.target) / 1_000_000_000n) / 1e9) * baseUsd) / halfBand;
    output = smaller(assetHeadroom(state, paid, route, baseUsd, total)?.out, output);
    input = smaller(assetHeadroom(state, got, route, baseUsd, total)?.in, input);
  }
  const room: RouteHeadroom = {};
  if (input !== undefined) room.input = fromAttoDown(input, inputToken.decimals);
  if (output !== undefined) room.output = fromAttoDown(output, outputToken.decimals);
  return {
    q,
    halfBand,
    room,
    rebalanceBps: rebalanceTerm({ drained: chainBand(drained), filled: chainBand(filled) }),
  };
}

function assetsOf(state: BandsState, route: QuoteRoute): RouteAssets {
  let found = state.routes.get(route);
  if (found === undefined) {
    found = {
      base: heldAsset(state, route.pair.base),
      output: heldAsset(state, route.outputToken.symbol),
      input: heldAsset(state, route.inputToken.symbol),
    };
    state.routes.set(route, found);
  }
  return found;
}

function heldAsset({ held, wanted, ledger }: BandsState, asset: string): HeldAsset {
  let found = held.get(asset);
  if (found === undefined) {
    found = { asset, want: wanted.get(asset), buckets: ledger.bucketsOf(asset) };
    held.set(asset, found);
  }
  return found;
}

const located = (held: HeldAsset, chainId: number): ChainPosition | undefined =>
  held.want?.located === true ? placeOf(held, chainId) : undefined;

function placeOf({ want, buckets }: HeldAsset, chainId: number): ChainPosition | undefined {
  let [total, available, held] = [0n, 0n, 0n];
  let own: (typeof buckets)[number] | undefined;
  for (const bucket of buckets) {
    const amount = toAtto(
      bucket.base + bucket.moved - bucket.pendingOut - bucket.committed - bucket.withdrawing,
      bucket.decimals,
    );
    if (amount > 0n) total += amount;
    if (bucket.chainId !== chainId) continue;
    own = bucket;
    available = amount;
    held = toAtto(bucket.held, bucket.decimals);
  }
  const place = own && want?.places.get(chainId);
  if (place === undefined || want === undefined) return undefined;
  const { slug, costBps } = place;
  return {
    ...{ chainId, slug, available, held, costBps },
    ...chainBandOf({ available, total }, place, want.shares),
  };
}

/**
 * Returns how much one asset of the pair may still grow and shrink within its hard band. Only the base asset
 * has a default band, because it carries the price risk.
 */
function assetHeadroom(
  { ledger }: BandsState,
  { asset, want }: HeldAsset,
  { pair, params }: QuoteRoute,
  baseUsd: number,
  baseTotal: bigint,
): BandHeadroom | undefined {
  if (want === undefined || (asset !== pair.base && want.hard === undefined)) return undefined;
  const hard = want.hard ?? BigInt(HARD_OVER_SOFT) * (want.soft ?? tokens(params.halfBand, baseUsd));
  return bandHeadroom(asset === pair.base ? baseTotal : ledger.exposure(asset).total, {
    target: want.target,
    hard,
  });
}

function positionOf(state: BandsState, asset: string, want: WantedBand, price: number | undefined): Position {
  const exposure = state.ledger.exposure(asset);
  const halfBand = state.halfBands.get(asset);
  const soft =
    want.soft ?? (price === undefined || halfBand === undefined ? undefined : tokens(halfBand, price));
  const hard =
    want.hard ?? (soft === undefined || halfBand === undefined ? undefined : BigInt(HARD_OVER_SOFT) * soft);
  return {
    asset,
    ...exposure,
    target: want.target,
    soft,
    hard,
    q: soft === undefined ? undefined : bandQ(exposure.total, { target: want.target, soft }),
    places: placesOf(state, asset),
  };
}

const placesOf = (state: BandsState, asset: string): ChainPosition[] =>
  state.ledger.bucketsOf(asset).flatMap(({ chainId }) => placeOf(heldAsset(state, asset), chainId) ?? []);

/**
 * Converts the half-band in USD to 1e-18 of a whole token, rounded to 1e-6 tokens: a band needs no more
 * digits than a float has.
 */
const tokens = (halfBandUsd: number, usd: number): bigint =>
  (BigInt(Math.max(0, Math.round((halfBandUsd / usd) * 1e6))) * ATTO) / 1_000_000n;

const smaller = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined ? b : b === undefined || a < b ? a : b;

const millionths = (share: number): bigint => BigInt(Math.round(share * 1e6));

const chainBand = (place: ChainPosition | undefined): ChainBand | undefined =>
  place && { q: place.q, costBps: place.costBps };
