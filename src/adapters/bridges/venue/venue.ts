/**
 * A route venue that carries a token between chains out of a float: its own account in the ledger of each
 * chain. It pays the taker where the output is, is credited where the input is, and charges what it costs to
 * bring the money back. Prices come from the pinned blocks; what is promised is kept in a store that all
 * processes of the venue share.
 */

import { max, min } from '../../../domain/amount.ts';
import { type NativeCurrency, secondsToFinalUp, type TokenInfo } from '../../../domain/chain.ts';
import type { Decline } from '../../../domain/decline.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Block, ChainPort } from '../../../ports/chain.ts';
import type { RouteAsk, RoutePair, RouteQuote, RouteVenue } from '../../../ports/route-venue.ts';
import type { FloatPlace, FloatStore, OriginTimes } from '../../../ports/stores/floats.ts';
import { type Float, type FloatKeeper, freeOfFloat, readFloat, readGasCosts } from './float.ts';
import { createPerBlock } from './per-block.ts';
import { chargedUp, handedForUp, payoutDown, shareUp, type TransferTerms } from './price.ts';
import type { RefillCosts } from './refill.ts';

/** Names a token and the chains on which the venue holds it. */
export interface FloatAsset {
  on: readonly {
    chainId: number;
    token: Address;
    /** Base units that are never promised. */
    keep: bigint;
    /** The float is low when less than this is free; null: never. */
    low: bigint | null;
    /** Base units of a refill that starts here. */
    lot: bigint;
    /** The smallest payout of one order here, base units. */
    least: bigint;
    most: bigint | null;
  }[];
}

interface FloatPrices {
  /** Converts wei to base units of the token, rounded up; undefined without fresh prices. */
  tokenForNativeUp(token: TokenInfo, native: NativeCurrency, wei: bigint): bigint | undefined;
  /** Values an amount in USD; null without a fresh price. */
  amountUsd(token: TokenInfo, amount: bigint): number | null;
}

export interface BridgeVenueOptions extends FloatKeeper {
  id: string;
  name: string;
  assets: readonly FloatAsset[];
  capitalBpsPerDay: number;
  marginBps: number;
  validSeconds: number;
  /** A taker that demands a longer validity gets no quote: its promise would lock the float. */
  maxValidSeconds: number;
  limits: Pick<RouteVenue['limits'], 'timeoutMs' | 'maxInFlight'>;
}

interface BridgeVenueDeps {
  chains: ReadonlyMap<number, ChainPort>;
  floats: FloatStore;
  prices: FloatPrices;
  refill: RefillCosts;
  deliver: NonNullable<RouteVenue['deliver']>;
}

/** An order accepted in the last second of its quote is stored within this time. */
const ACCEPT_SECONDS = 30;

type Place = FloatAsset['on'][number];

interface Route {
  from: Place;
  to: Place;
}

export function createBridgeVenue(
  { chains, floats, prices, refill, deliver }: BridgeVenueDeps,
  options: BridgeVenueOptions,
): RouteVenue {
  const { id, name, account, assets, validSeconds, maxValidSeconds, limits } = options;
  const readers = new Map(
    [...chains].map(([chainId, chain]) => [chainId, createReader(chain, floats, options)]),
  );
  const termsOf = createTerms({ prices, refill }, options);
  const originIds = [...new Set(assets.flatMap(({ on }) => on.map(({ chainId }) => chainId)))];

  function routeOf({ input, output }: RoutePair): Route | undefined {
    if (input.chainId === output.chainId) return undefined;
    for (const { on } of assets) {
      const at = ({ chainId, token }: RoutePair['input']) =>
        on.find((place) => place.chainId === chainId && place.token === token);
      const [from, to] = [at(input), at(output)];
      if (from && to) return { from, to };
    }
    return undefined;
  }

  const originTimes = (): OriginTimes =>
    new Map(
      originIds.flatMap((chainId) => {
        const head = chains.get(chainId)?.head();
        return head ? [[chainId, head.timestamp] as const] : [];
      }),
    );
  const placeOf = ({ chainId, token }: Place): FloatPlace => ({ venueId: id, account, chainId, token });

  async function stateOf(ask: RouteAsk, { from, to }: Route) {
    const [origin, dest] = [readers.get(from.chainId), readers.get(to.chainId)];
    const [claimWei, fillWei, float] = await Promise.all([
      origin?.claimWei(ask.at.origin),
      dest?.fillWei(ask.at.dest),
      dest?.float(ask.at.dest, to),
    ]);
    if (claimWei === undefined || fillWei === undefined || float === undefined) return undefined;
    const terms = await termsOf(ask, { lot: from.lot, claimWei, fillWei });
    return { float, terms };
  }

  async function quote(ask: RouteAsk): Promise<RouteQuote | Decline> {
    const route = routeOf(pairOf(ask));
    if (!route) return { declined: 'pair' };
    const { origin, dest, at, validity, fees } = ask;
    if ([origin, dest].some((chain) => chains.get(chain.id)?.healthIssue()))
      return { declined: 'stale_price', detail: 'a chain of this route is not followed reliably now' };
    if (validity.from > at.origin.timestamp + maxValidSeconds) return { declined: 'validity' };
    const state = await stateOf(ask, route);
    if (!state) return { declined: 'stale_price', detail: 'the pinned block is not on the chain any more' };
    const { float, terms } = state;
    if (typeof terms === 'string') return { declined: 'stale_price', detail: terms };
    if (float.issue !== undefined) return { declined: 'standby', detail: float.issue };

    const inputFor = (output: bigint): bigint | undefined => {
      const handed = handedForUp(output, terms);
      return handed === undefined ? undefined : fees.inputFor(handed, 0n);
    };
    const sized = sizeOf(ask, terms, inputFor);
    const { to } = route;
    if (!sized || sized.outputAmount < max(to.least, 1n))
      return { declined: 'size_below_min', ...leastOf(ask, to.least, inputFor) };
    const use = await floats.use(placeOf(to), float.asOf, originTimes());
    const free = max(freeOfFloat(float, use), 0n);
    const headroom = to.most === null ? free : min(free, to.most);
    if (sized.outputAmount > headroom)
      return {
        declined: free < sized.outputAmount ? 'no_inventory' : 'size_above_max',
        maxAmount: headroomOf(ask, headroom, terms, inputFor),
      };
    return {
      ...sized,
      minimumOutput: sized.outputAmount,
      validUntil: Math.min(validity.to, Math.max(validity.from, at.origin.timestamp + validSeconds)),
      eta: etaOf(ask, prices.amountUsd(ask.inputToken, sized.inputAmount) ?? undefined),
      via: [],
      fees: [
        { in: 'input', amount: chargedUp(fees.handedOver(sized.inputAmount, 0n), sized.outputAmount, terms) },
      ],
      execution: { kind: 'solver', account },
    };
  }

  return {
    id,
    name,
    kind: 'bridge',
    limits: { ...limits, maxSlackBps: 0 },
    serves: (pair) => routeOf(pair) !== undefined,
    quote,
    async promise({ ask, quote: { outputAmount, validUntil }, nonce }) {
      const route = routeOf(pairOf(ask));
      const float = route && (await readers.get(route.to.chainId)?.float(ask.at.dest, route.to));
      if (!route || !float || float.issue !== undefined) return false;
      const promise = {
        ...placeOf(route.to),
        amount: outputAmount,
        originChainId: ask.origin.id,
        taker: ask.taker,
        nonce,
        until: validUntil + ACCEPT_SECONDS,
        most: float.most,
        held: float.held,
        asOf: float.asOf,
      };
      return floats.promise(promise, originTimes());
    },
    deliver,
  };
}

interface Reader {
  /** Reads a float; undefined: the block is not on the chain any more. */
  float(block: Block, place: Place): Promise<Float | undefined>;
  fillWei(block: Block): Promise<bigint | undefined>;
  claimWei(block: Block): Promise<bigint | undefined>;
}

function createReader(
  chain: ChainPort,
  floats: FloatStore,
  { id, ...keeper }: FloatKeeper & Pick<BridgeVenueOptions, 'id' | 'assets'>,
): Reader {
  const gas = createPerBlock(chain, (block) => readGasCosts(chain, block));
  const places = new Map(
    keeper.assets
      .flatMap(({ on }) => on)
      .flatMap((place) =>
        place.chainId === chain.chain.id ? [[place.token as string, place] as const] : [],
      ),
  );
  const float = createPerBlock(chain, async (block, token) => {
    const place = places.get(token) as Place;
    const fillWei = (await gas(block))?.fill ?? 0n;
    const owed = await floats.owed({
      ...{ venueId: id, account: keeper.account, chainId: chain.chain.id, token: place.token },
    });
    return readFloat(chain, place.token, block, { ...keeper, keep: place.keep, fillWei }, owed);
  });
  return {
    float: (block, place) => float(block, place.token),
    fillWei: async (block) => (await gas(block))?.fill,
    claimWei: async (block) => (await gas(block))?.claim,
  };
}

/** The same for the same pinned blocks, although prices and estimates change in between. */
function createTerms(
  { prices, refill }: Pick<BridgeVenueDeps, 'prices' | 'refill'>,
  { capitalBpsPerDay, marginBps }: Pick<BridgeVenueOptions, 'capitalBpsPerDay' | 'marginBps'>,
) {
  type Costs = { lot: bigint; claimWei: bigint; fillWei: bigint };
  const known = new Map<string, Promise<TransferTerms | string>>();

  async function make(
    { origin, dest, inputToken, outputToken }: RouteAsk,
    { lot, claimWei, fillWei }: Costs,
  ): Promise<TransferTerms | string> {
    const back = await refill({
      from: { chain: origin, token: inputToken },
      to: { chain: dest, token: outputToken },
      lot,
    });
    if (!back) return 'the cost of moving the money back is not known now';
    const fill = prices.tokenForNativeUp(inputToken, dest.native, fillWei);
    const claim = prices.tokenForNativeUp(inputToken, origin.native, claimWei);
    if (fill === undefined || claim === undefined) return 'a price of gas or of the token is not known now';
    // The longest finality, so that the price of an amount does not depend on how it is divided.
    const secondsOut = secondsToFinalUp(origin, undefined) + secondsToFinalUp(dest, undefined) + back.seconds;
    return {
      flat: fill + claim,
      share: shareUp({ refill: back.share, capitalBpsPerDay, secondsOut, marginBps }),
      inputDecimals: inputToken.decimals,
      outputDecimals: outputToken.decimals,
    };
  }

  return (ask: RouteAsk, costs: Costs): Promise<TransferTerms | string> => {
    const { at, inputToken, outputToken } = ask;
    const name = [at.origin.hash, at.dest.hash, inputToken.address, outputToken.address].join();
    const before = known.get(name);
    if (before) return before;
    const making = make(ask, costs);
    known.set(name, making);
    for (const oldest of [...known.keys()].slice(0, -TERMS_KEPT)) known.delete(oldest);
    making.then(
      (terms) => typeof terms === 'string' && known.delete(name),
      () => known.delete(name),
    );
    return making;
  };
}

const TERMS_KEPT = 256;

type InputFor = (output: bigint) => bigint | undefined;

function sizeOf(
  { side, amount, fees }: RouteAsk,
  terms: TransferTerms,
  inputFor: InputFor,
): Pick<RouteQuote, 'inputAmount' | 'outputAmount'> | undefined {
  if (side === 'exactInput')
    return { inputAmount: amount, outputAmount: payoutDown(fees.handedOver(amount, 0n), terms) };
  const inputAmount = inputFor(amount);
  return inputAmount === undefined ? undefined : { inputAmount, outputAmount: amount };
}

/** Expresses an output as the side that the request fixed. */
const limitOf = ({ side }: RouteAsk, output: bigint, inputFor: InputFor): bigint | undefined =>
  side === 'exactOutput' ? output : inputFor(output);

function leastOf(ask: RouteAsk, least: bigint, inputFor: InputFor): { minAmount?: bigint } {
  const minAmount = limitOf(ask, max(least, 1n), inputFor);
  return minAmount === undefined ? {} : { minAmount };
}

/** The largest amount of the fixed side that pays no more than `room`. */
function headroomOf(ask: RouteAsk, headroom: bigint, terms: TransferTerms, inputFor: InputFor): bigint {
  const limit = headroom === 0n ? 0n : (limitOf(ask, headroom, inputFor) ?? 0n);
  const pays = () => payoutDown(ask.fees.handedOver(limit, 0n), terms);
  // The least input that pays `room` may pay more, where the output has more decimals.
  return ask.side === 'exactInput' && limit > 0n && pays() > headroom ? limit - 1n : limit;
}

/** The order is opened, final on its origin, and filled in a block. */
function etaOf({ origin, dest }: RouteAsk, valueUsd: number | undefined): number {
  const blocks = Math.ceil((origin.blockTimeMs + 2 * dest.blockTimeMs) / 1_000);
  return secondsToFinalUp(origin, valueUsd) + blocks;
}

const pairOf = ({ origin, dest, inputToken, outputToken }: RouteAsk): RoutePair => ({
  input: { chainId: origin.id, token: inputToken.address },
  output: { chainId: dest.id, token: outputToken.address },
});
