/** DEX liquidity as a route venue: the best path over listed pools at the pinned block. */

import type { Decline } from '../../domain/decline.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { RouteAsk, RoutePair, RouteQuote, RouteVenue } from '../../ports/route-venue.ts';
import { findPaths, type Hop } from './paths.ts';
import { createPoolReader, type DexKind, type ListedPool, type PoolReader, type PoolState } from './pools.ts';

interface DexPlace {
  chain: ChainPort;
  factory: Address;
  filler: Address;
  pools: readonly ListedPool[];
}

export interface DexVenueOptions {
  id: string;
  name: string;
  kind: DexKind;
  places: readonly DexPlace[];
  /** Adverse move of pools beyond which the order can no longer be filled. */
  toleranceBps: number;
  maxMoveBps: number;
  validSeconds: number;
  limits: Pick<RouteVenue['limits'], 'timeoutMs' | 'maxInFlight'>;
}

type Path = readonly Hop<ListedPool>[];
type States = ReadonlyMap<ListedPool, PoolState | undefined>;
type Walk =
  | { amounts: readonly bigint[]; fees: readonly bigint[]; crossed: number }
  | 'too_much'
  | 'too_little'
  | 'no_pool';

interface Offer {
  path: Path;
  inputAmount: bigint;
  outputAmount: bigint;
  minimumOutput: bigint;
  via: RouteQuote['via'];
  fees: RouteQuote['fees'];
  gas: bigint;
}

const MAX_HOPS = 3;
const BPS = 10_000n;
/** Gas of `fillThrough`, measured with the real contracts, plus a margin for expensive tokens. */
const GAS: Readonly<Record<DexKind, { base: bigint; hop: bigint; crossed: bigint }>> = {
  constant_product: { base: 90_000n, hop: 135_000n, crossed: 0n },
  concentrated: { base: 110_000n, hop: 105_000n, crossed: 35_000n },
};
/** Asks pin the newest block or one just before. */
const BLOCKS_KEPT = 8;

export function createDexVenue({
  id,
  name,
  kind,
  places,
  toleranceBps,
  maxMoveBps,
  validSeconds,
  limits,
}: DexVenueOptions): RouteVenue {
  const byChain = new Map(
    places.map((place) => [place.chain.chain.id, createPlace(kind, place, maxMoveBps)]),
  );
  const tolerance = BigInt(toleranceBps);

  const pathsOf = ({ input, output }: RoutePair): readonly Path[] =>
    input.chainId === output.chainId
      ? (byChain.get(input.chainId)?.paths(input.token, output.token) ?? [])
      : [];

  return {
    id,
    name,
    kind: 'dex',
    limits: { ...limits, maxSlackBps: toleranceBps },
    serves: (pair) => pathsOf(pair).length > 0,
    async quote(ask) {
      const paths = pathsOf({
        input: { chainId: ask.origin.id, token: ask.inputToken.address },
        output: { chainId: ask.dest.id, token: ask.outputToken.address },
      });
      const place = byChain.get(ask.origin.id);
      if (!place || paths.length === 0) return { declined: 'pair' };
      const states = await place.statesAt(
        ask.at.origin,
        new Set(paths.flatMap((path) => path.map(({ pool }) => pool))),
      );
      if (states === undefined)
        return { declined: 'stale_price', detail: 'the pinned block is not on the chain any more' };
      const offers = paths.map((path) =>
        ask.side === 'exactInput'
          ? offerForInput(kind, path, states, ask, tolerance)
          : offerForOutput(kind, path, states, ask, tolerance),
      );
      const best = offers.reduce<Offer | undefined>(
        (so, offer) => (typeof offer === 'string' || (so && !isBetter(offer, so)) ? so : offer),
        undefined,
      );
      if (best === undefined)
        return declineOf(
          offers.filter((offer) => typeof offer === 'string'),
          maxMoveBps,
        );
      return {
        inputAmount: best.inputAmount,
        outputAmount: best.outputAmount,
        minimumOutput: best.minimumOutput,
        validUntil: Math.min(
          ask.validity.to,
          Math.max(ask.validity.from, ask.at.origin.timestamp + validSeconds),
        ),
        eta: Math.ceil(ask.origin.blockTimeMs / 1_000),
        via: best.via,
        fees: best.fees,
        execution: { kind: 'through', filler: place.filler, data: encodePath(best.path), gas: best.gas },
      };
    },
  };
}

function createPlace(kind: DexKind, { chain, factory, filler, pools }: DexPlace, maxMoveBps: number) {
  const readers = new Map<ListedPool, PoolReader>(
    pools.map((pool) => [pool, createPoolReader(chain, kind, pool, { factory, maxMoveBps })]),
  );
  const known = new Map<string, readonly Path[]>();
  const blocks = new Map<Hex, Map<ListedPool, Promise<PoolState | undefined>>>();

  async function read(block: Block, missing: readonly ListedPool[]): Promise<States> {
    const states = await Promise.all(
      missing.map(async (pool) => [pool, await readers.get(pool)?.read(block.number)] as const),
    );
    // Nodes are asked by number.
    if ((await chain.block(block.number))?.hash !== block.hash) throw new Reorganised();
    return new Map(states);
  }

  return {
    filler,
    paths(from: Address, to: Address): readonly Path[] {
      const key = `${from}${to}`;
      let paths = known.get(key);
      if (paths === undefined) {
        paths = findPaths(pools, from, to, MAX_HOPS);
        // Requests can name any pair, so pairs without a path are not cached.
        if (paths.length > 0) known.set(key, paths);
      }
      return paths;
    },
    async statesAt(block: Block, wanted: ReadonlySet<ListedPool>): Promise<States | undefined> {
      let states = blocks.get(block.hash);
      if (states === undefined) {
        states = new Map();
        blocks.set(block.hash, states);
        for (const oldest of [...blocks.keys()].slice(0, -BLOCKS_KEPT)) blocks.delete(oldest);
      }
      const missing = [...wanted].filter((pool) => !states.has(pool));
      if (missing.length > 0) {
        const reading = read(block, missing);
        for (const pool of missing)
          states.set(
            pool,
            reading.then((read) => read.get(pool)),
          );
        reading.catch(() => missing.forEach((pool) => states.delete(pool)));
      }
      try {
        return new Map(
          await Promise.all([...wanted].map(async (pool) => [pool, await states.get(pool)] as const)),
        );
      } catch (error) {
        if (error instanceof Reorganised) return undefined;
        throw error;
      }
    },
  };
}

class Reorganised extends Error {}

/** Promises slightly less than the output for all of the input that arrives. */
function offerForInput(
  kind: DexKind,
  path: Path,
  states: States,
  { amount, fees }: RouteAsk,
  tolerance: bigint,
): Offer | Exclude<Walk, object> {
  const most = walkPath(path, states, amount, 'forwards');
  if (typeof most === 'string') return most;
  const gas = gasOf(kind, path, most.crossed);
  const walk = walkPath(path, states, fees.handedOver(amount, gas), 'forwards');
  if (typeof walk === 'string') return walk;
  const outputAmount = walk.amounts.at(-1) as bigint;
  return {
    path,
    inputAmount: amount,
    outputAmount,
    minimumOutput: divideUp(outputAmount * (BPS - tolerance), BPS),
    via: stopsOf(path, walk.amounts),
    fees: feesOf(walk.fees),
    gas,
  };
}

function offerForOutput(
  kind: DexKind,
  path: Path,
  states: States,
  { amount, fees }: RouteAsk,
  tolerance: bigint,
): Offer | Exclude<Walk, object> {
  const wanted = amount + divideUp(amount * tolerance, BPS);
  // The quoted input may return one unit less.
  for (let more = 0n; more <= MOST_ROUNDING; more = more === 0n ? 1n : more * 2n) {
    const back = walkPath(path, states, wanted + more, 'backwards');
    if (typeof back === 'string') return back;
    const gas = gasOf(kind, path, back.crossed);
    const inputAmount = fees.inputFor(back.amounts[0] as bigint, gas);
    const walk = walkPath(path, states, fees.handedOver(inputAmount, gas), 'forwards');
    if (typeof walk === 'string') return walk;
    if ((walk.amounts.at(-1) as bigint) >= wanted)
      return {
        path,
        inputAmount,
        outputAmount: amount,
        minimumOutput: amount,
        via: stopsOf(path, walk.amounts),
        fees: feesOf(walk.fees),
        gas,
      };
  }
  return 'too_little';
}

const MOST_ROUNDING = 1n << 20n;

function walkPath(path: Path, states: States, amount: bigint, way: 'forwards' | 'backwards'): Walk {
  if (amount <= 0n) return 'too_little';
  const amounts = [amount];
  const fees: bigint[] = [];
  let crossed = 0;
  for (const { pool, tokenIn } of way === 'forwards' ? path : path.toReversed()) {
    const state = states.get(pool);
    if (state === undefined) return 'no_pool';
    const swap =
      way === 'forwards'
        ? state.give(tokenIn, amounts.at(-1) as bigint)
        : state.take(tokenIn, amounts[0] as bigint);
    if (swap === undefined) return 'too_much';
    if (swap.amountOut === 0n) return 'too_little';
    if (way === 'forwards') amounts.push(swap.amountOut);
    else amounts.unshift(swap.amountIn);
    if (way === 'forwards') fees.push(swap.fee);
    else fees.unshift(swap.fee);
    crossed += swap.crossed;
  }
  return { amounts, fees, crossed };
}

const isBetter = (offer: Offer, than: Offer): boolean =>
  offer.outputAmount > than.outputAmount ||
  (offer.outputAmount === than.outputAmount && offer.inputAmount < than.inputAmount);

function declineOf(reasons: readonly Exclude<Walk, object>[], maxMoveBps: number): Decline {
  if (reasons.includes('too_much'))
    return {
      declined: 'size_above_max',
      detail: `no pool carries this within ${maxMoveBps} bps of its price`,
    };
  return reasons.includes('too_little')
    ? { declined: 'size_below_min' }
    : { declined: 'pair', detail: 'no pool on the way exists' };
}

const gasOf = (kind: DexKind, path: Path, crossed: number): bigint =>
  GAS[kind].base + GAS[kind].hop * BigInt(path.length) + GAS[kind].crossed * BigInt(crossed);

const stopsOf = (path: Path, amounts: readonly bigint[]): RouteQuote['via'] =>
  path.slice(0, -1).map(({ tokenOut }, index) => ({ token: tokenOut, amount: amounts[index + 1] as bigint }));

const feesOf = (fees: readonly bigint[]): RouteQuote['fees'] =>
  fees.map((amount) => ({ in: 'input', amount }));

function encodePath(path: Path): Hex {
  const hops = path.map(
    ({ pool, tokenOut }) =>
      `${pool.fee === null ? '' : pool.fee.toString(16).padStart(6, '0')}${tokenOut.slice(2)}`,
  );
  return `0x${(path[0] as Hop<ListedPool>).tokenIn.slice(2)}${hops.join('')}`;
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
