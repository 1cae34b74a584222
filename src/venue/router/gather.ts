/**
 * Asks sources for the whole request, and pairs of sources for two legs across a middle asset, under one
 * deadline. A late or failing source loses only its own offer.
 */

import { setMaxListeners } from 'node:events';
import { rank, type Ranked } from '../../auction/rank.ts';
import { type Asset, assetId } from '../../domain/asset.ts';
import type { ProductUnavailable } from '../../protocol/api/quote.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import type { ListedAsset } from '../market/markets.ts';
import type { RouterOptions } from '../options.ts';
import { firstLeg, makesSense, middlesOf, secondLeg, serving } from './middles.ts';
import type { PairRequest } from '../quoting/solver-request.ts';
import type { TakerNonces } from '../quoting/taker-nonces.ts';
import type { Found, RouteLeg, RouteOffer, RouteSource } from './source.ts';

/** `sequential`: later legs are orders of their own. */
export const MODELS = ['atomic', 'sequential'] as const;

export interface RouteCandidate extends Ranked {
  first: RouteOffer;
  legs: readonly RouteLeg[];
  model: (typeof MODELS)[number];
  /** The gas that the taker's wallet pays for each of its transactions; none on apiSubmit. */
  gas: readonly GasCost[];
}

interface GasCost {
  chainId: number;
  wei: bigint;
  /** true for the gas of the second leg. */
  later: boolean;
}

export interface RouteCandidates {
  candidates: RouteCandidate[];
  /** The reasons why direct sources had no offer. */
  whys: ProductUnavailable[];
  /** Rails, also of single legs, that do not work at this hour. */
  closed: ProductUnavailable[];
  /** The refusal of a source that did not ask, because the caller holds too much. */
  refusal?: ApiError;
}

type GathererDeps = Pick<VenueDeps, 'clock' | 'random' | 'log'> & {
  nonces: TakerNonces;
  sources: readonly RouteSource[];
  relayFees: Pick<RelayFees, 'takerGas'>;
};

interface LegSearch {
  leftMs(): number;
  signal: AbortSignal;
  noteClosed(found: Found): void;
}

const FIRST_SHARE = 0.5;

export interface Gatherer {
  /** All orders that are signed first share `nonce`. */
  gather(intent: PairRequest, nonce: bigint, search?: Search): Promise<RouteCandidates>;
}

interface Search {
  /** The router tries routes over two legs too, unless this is false. */
  twoLegs?: boolean;
  /** Assets that no route may come back to. */
  passed?: readonly Asset[];
}

export function createGatherer(deps: GathererDeps, options: RouterOptions): Gatherer {
  return { gather: (intent, nonce, search) => gather(deps, options, intent, nonce, search) };
}

async function gather(
  deps: GathererDeps,
  options: RouterOptions,
  intent: PairRequest,
  nonce: bigint,
  { twoLegs = true, passed = [] }: Search = {},
): Promise<RouteCandidates> {
  const gathered: RouteCandidates = { candidates: [], whys: [], closed: [] };
  const endsAtMs = deps.clock.monotonicMs() + options.timeoutMs;
  const leftMs = () => Math.max(1, endsAtMs - deps.clock.monotonicMs());
  const over = new AbortController();
  // Every source adds a listener to the signal.
  setMaxListeners(0, over.signal);

  const direct = async (source: RouteSource): Promise<void> => {
    const found = await source.find(intent, nonce, leftMs(), over.signal);
    gathered.candidates.push(...found.offers.filter(avoiding(passed)).map(directCandidate));
    if (found.isClosed) noteClosed(found);
    else if (found.why) gathered.whys.push(found.why);
  };
  const noteClosed = ({ why, isClosed }: Found): void => {
    if (isClosed && why && gathered.closed.every(({ message }) => message !== why.message))
      gathered.closed.push({ ...why, corridor: intent.corridor });
  };
  const across = async (middle: ListedAsset): Promise<void> => {
    const legs = await twoLegsAcross(deps, middle, intent, nonce, {
      leftMs,
      signal: over.signal,
      noteClosed,
    });
    if (legs) gathered.candidates.push(joined(deps, intent, legs[0], legs[1]));
  };
  const safely = (what: string, task: Promise<void>) =>
    task.catch((error: unknown) => {
      if (error instanceof ApiError) gathered.refusal = error;
      else deps.log.error({ what, error }, 'a source of the router failed');
    });
  const tasks = [
    ...serving(intent, deps.sources).map((source) => safely(source.id, direct(source))),
    ...(twoLegs
      ? middlesOf(intent, deps.sources, options).map((middle) => safely(middle.token.symbol, across(middle)))
      : []),
  ];
  await inTime(deps, tasks, options.timeoutMs);
  over.abort();
  // Copies, because late sources still add to the originals.
  return {
    ...gathered,
    candidates: [...gathered.candidates],
    whys: [...gathered.whys],
    closed: [...gathered.closed],
  };
}

/** Asks first for the leg whose amount the taker fixed. */
async function twoLegsAcross(
  deps: GathererDeps,
  middle: ListedAsset,
  intent: PairRequest,
  nonce: bigint,
  { leftMs, signal, noteClosed }: LegSearch,
): Promise<[RouteOffer, RouteOffer] | undefined> {
  const forwards = intent.side === 'exactInput';
  const legs = [firstLeg(intent, middle), secondLeg(intent, middle)] as const;
  const [fixed, open] = forwards ? legs : ([legs[1], legs[0]] as const);
  const nonceOf = (leg: PairRequest) =>
    leg === legs[0] ? nonce : deps.nonces.next(leg.input.chain.id, leg.taker);
  // No path visits an asset twice: each leg keeps off the other's far end, and off what the other passes.
  const end = avoiding([forwards ? intent.output.asset : intent.input.asset]);
  const search = (withinMs: number, isAllowed: (offer: RouteOffer) => boolean) => ({
    ...{ withinMs, signal, isAllowed, noteClosed },
  });
  const one = await best(
    deps,
    fixed,
    serving(fixed, deps.sources),
    nonceOf(fixed),
    search(leftMs() * FIRST_SHARE, end),
  );
  if (!one || signal.aborted) return undefined;
  const leg = { ...open, amount: forwards ? one.offer.minimumOutput : one.offer.inputAmount };
  const fitting = serving(leg, deps.sources).filter((source) =>
    forwards ? makesSense(one.source, source) : makesSense(source, one.source),
  );
  const elsewhere = avoiding(
    assetsOf(one.offer.legs).filter((asset) => assetId(asset) !== assetId(middle.asset)),
  );
  const other = await best(deps, leg, fitting, nonceOf(open), search(leftMs(), elsewhere));
  if (!other) return undefined;
  return forwards ? [one.offer, other.offer] : [other.offer, one.offer];
}

async function best(
  deps: GathererDeps,
  leg: PairRequest,
  asked: readonly RouteSource[],
  nonce: bigint,
  {
    withinMs,
    signal,
    isAllowed,
    noteClosed,
  }: Pick<LegSearch, 'signal' | 'noteClosed'> & {
    withinMs: number;
    isAllowed: (offer: RouteOffer) => boolean;
  },
): Promise<{ source: RouteSource; offer: RouteOffer } | undefined> {
  // Each request to solvers needs its own id.
  const found = await Promise.all(
    asked.map((source) =>
      source.find({ ...leg, requestId: deps.random.bytes32().slice(2, 34) }, nonce, withinMs, signal),
    ),
  );
  found.forEach(noteClosed);
  const [offer] = rank(
    leg.side,
    found.flatMap(({ offers }) => offers.filter(isAllowed)),
  );
  const source = offer && asked.find(({ id }) => id === offer.source);
  return offer && source && { source, offer };
}

function joined(
  deps: GathererDeps,
  intent: PairRequest,
  first: RouteOffer,
  second: RouteOffer,
): RouteCandidate {
  const { side, input, output } = intent;
  const gasOn = (offer: RouteOffer) =>
    deps.relayFees.takerGas(
      {
        side,
        origin: { id: Number(offer.order.originChainId) },
        inputToken: input.token,
        outputToken: output.token,
      },
      offer.relayTerms,
    );
  return {
    quoteId: first.quoteId,
    inputAmount: first.inputAmount,
    outputAmount: second.outputAmount,
    takerGas: gasOn(first) + gasOn(second),
    eta: first.eta === null || second.eta === null ? null : first.eta + second.eta,
    fillRateBps: Math.min(first.fillRateBps, second.fillRateBps),
    validUntil: first.validUntil,
    first,
    legs: followedBy(
      first.legs,
      second.legs.map((leg) => ({ ...leg, output: { ...leg.output, minimum: null } })),
    ),
    model: 'sequential',
    gas: [...gasCosts(first), ...gasCosts(second, true)],
  };
}

function inTime(deps: GathererDeps, tasks: readonly Promise<void>[], ms: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = deps.clock.after(ms, resolve);
    void Promise.all(tasks).then(() => {
      cancel();
      resolve();
    });
  });
}

export function followedBy(earlier: readonly RouteLeg[], later: readonly RouteLeg[]): RouteLeg[] {
  return [
    ...earlier,
    ...later.map((leg) => ({
      ...leg,
      dependsOn:
        leg.dependsOn.length === 0
          ? [earlier.length - 1]
          : leg.dependsOn.map((index) => index + earlier.length),
    })),
  ];
}

export const directCandidate = (offer: RouteOffer): RouteCandidate => ({
  quoteId: offer.quoteId,
  inputAmount: offer.inputAmount,
  outputAmount: offer.outputAmount,
  takerGas: offer.takerGas,
  eta: offer.eta,
  fillRateBps: offer.fillRateBps,
  validUntil: offer.validUntil,
  first: offer,
  legs: offer.legs,
  model: 'atomic',
  gas: gasCosts(offer),
});

const gasCosts = ({ order, relayTerms: { takerGasWei: wei } }: RouteOffer, later = false): GasCost[] =>
  wei === 0n ? [] : [{ chainId: Number(order.originChainId), wei, later }];

const assetsOf = (legs: readonly RouteLeg[]): Asset[] =>
  legs.flatMap(({ input, output }) => [input.asset, output.asset]);

function avoiding(assets: readonly Asset[]): (offer: RouteOffer) => boolean {
  const shunned = new Set(assets.map(assetId));
  return ({ legs }) => !assetsOf(legs).some((asset) => shunned.has(assetId(asset)));
}
