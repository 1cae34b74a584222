/**
 * POST /router/quotes: parse, gather candidates, rank, record promises, seal. Also quotes the next leg of a
 * route.
 */

import type { Counter } from '../../ports/metrics.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import { rank } from '../../auction/rank.ts';
import { type Asset, assetId, parseAssetId } from '../../domain/asset.ts';
import { corridorOf } from '../../domain/corridor.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import { ROUTE_VENUE_ID, type RouteVenue } from '../../ports/route-venue.ts';
import type { ApiKey, OrderRecord, Workspace } from '../../ports/stores/store.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import { type RouterCandidate, type SealedRoute, zRouterCandidate } from '../../protocol/api/router.ts';
import type { VenueDeps } from '../deps.ts';
import { type Breaker, createBreaker } from '../solvers/breaker.ts';
import { chainNow } from '../market/chain-now.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import type { RequestParser } from '../quoting/parse-request.ts';
import { noQuotes, type QuoteOutcome, type QuoteResponder } from '../quoting/response.ts';
import type { RfqSource } from '../quoting/rfq-source.ts';
import type { PairRequest } from '../quoting/solver-request.ts';
import type { ListedAsset, Markets } from '../market/markets.ts';
import { openQuoteLimits, sidesOf } from '../market/key-quotes.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import type { BreakerOptions, FanOutOptions, RateOptions, RouterOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import type { LaterLeg, SealOwner, Sealing } from '../quoting/sealing.ts';
import type { TakerNonces } from '../quoting/taker-nonces.ts';
import { promisedMeanwhile, unavailable } from '../quoting/unavailable.ts';
import {
  createGatherer,
  type Gatherer,
  MODELS,
  type RouteCandidate,
  type RouteCandidates,
} from './gather.ts';
import { createStandbyVenues, type StandbyVenues } from './standby-venues.ts';
import { createRfqRouteSource, RFQ_VENUE } from './rfq.ts';
import type { RouteSource } from './source.ts';
import { routerTerms } from './terms.ts';
import { createVenueSource } from './venue-source.ts';

type RouterDeps = Pick<VenueDeps, 'chains' | 'routeVenues' | 'clock' | 'random' | 'log' | 'metrics'> & {
  source: RfqSource;
  markets: Markets;
  parser: RequestParser;
  responder: QuoteResponder;
  sealing: Sealing;
  relayFees: RelayFees;
  prices: Prices;
  openQuotes: OpenQuotes;
  nonces: TakerNonces;
};

interface RouterSettings {
  router: RouterOptions;
  fanOut: FanOutOptions;
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>;
  breaker: BreakerOptions;
}

/** Others stand in where the best has lost its backing. */
const LEG_CANDIDATES = 5;

type KeyedRequest = PairRequest & { key: ApiKey };

/** The parts of the router, and what it remembers and counts. */
interface RouterState {
  readonly breakers: ReadonlyMap<string, Breaker>;
  readonly standbyVenues: StandbyVenues;
  readonly gatherer: Gatherer;
  readonly quotedAtMs: Map<string, number>;
  readonly chosen: Counter;
}

interface Caller {
  key: ApiKey;
  workspace: Workspace;
}

/** The next quote of a route, or why there is none. */
type NextLeg = { why: ProductUnavailable; candidate?: never } | { candidate: RouterCandidate; why?: never };

export interface Router {
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<string>;
  /** Quotes the second leg for what the first one delivered. Throws 429. */
  nextLeg(parent: OrderRecord, leg: LaterLeg, delivered: bigint, caller: Caller): Promise<NextLeg>;
  breakerOf(venueId: string): Breaker | undefined;
  standbyReasonOf(venueId: string): string | undefined;
  lastQuoteAtMs(venueId: string): number | undefined;
}

export function createRouter(deps: RouterDeps, settings: RouterSettings): Router {
  requireDistinct(deps.routeVenues);
  const breakers = new Map(deps.routeVenues.map(({ id }) => [id, createBreaker(settings.breaker)]));
  const standbyVenues = createStandbyVenues(deps.clock);
  const sources: RouteSource[] = [
    createRfqRouteSource(deps.source),
    ...deps.routeVenues.map((venue) =>
      createVenueSource(venue, {
        chains: deps.chains,
        relayFees: deps.relayFees,
        prices: deps.prices,
        breaker: breakers.get(venue.id) as Breaker,
        standbyVenues,
        clock: deps.clock,
        random: deps.random,
        log: deps.log,
        metrics: deps.metrics,
      }),
    ),
  ];
  const state: RouterState = {
    breakers,
    standbyVenues,
    gatherer: createGatherer(
      {
        sources,
        relayFees: deps.relayFees,
        nonces: deps.nonces,
        clock: deps.clock,
        random: deps.random,
        log: deps.log,
      },
      settings.router,
    ),
    quotedAtMs: new Map<string, number>(),
    chosen: deps.metrics.counter(
      'firmquote_venue_route_candidates_total',
      'Candidates by source of the first leg',
      { source: [RFQ_VENUE, ...deps.routeVenues.map(({ id }) => id)], model: MODELS },
    ),
  };
  return {
    quote: (request, key, workspace) => quote(deps, settings, state, request, key, workspace),
    nextLeg: (parent, leg, delivered, caller) =>
      nextLeg(deps, settings, state, parent, leg, delivered, caller),
    breakerOf: (venueId) => breakers.get(venueId),
    standbyReasonOf: (venueId) => standbyVenues.of(venueId),
    lastQuoteAtMs: (venueId) => state.quotedAtMs.get(venueId),
  };
}

async function quote(
  deps: RouterDeps,
  settings: RouterSettings,
  state: RouterState,
  request: QuoteRequest,
  key: ApiKey,
  workspace: Workspace,
): Promise<string> {
  const response = deps.responder.begin();
  const outcome = await findRoutes(deps, settings, state, response.requestId, request, key, workspace);
  return deps.responder.finish(response, outcome);
}

async function findRoutes(
  deps: RouterDeps,
  settings: RouterSettings,
  state: RouterState,
  requestId: string,
  request: QuoteRequest,
  key: ApiKey,
  workspace: Workspace,
): Promise<QuoteOutcome> {
  const { parsed, why } = await deps.parser.parse(requestId, request, key, workspace);
  if (!parsed) return noQuotes(why);
  deps.openQuotes.reserve(key.id, parsed.openQuoteLimits, parsed.now);
  try {
    const nonce = deps.nonces.next(parsed.input.chain.id, parsed.taker);
    const { candidates, refusal, ...reasons } = await state.gatherer.gather(parsed, nonce);
    if (candidates.length === 0 && refusal) throw refusal;
    if (candidates.length === 0) return noQuotes(whyNot(reasons, parsed.corridor));
    const best = await promised(rank(parsed.side, candidates), request.maxCandidates);
    if (best.length === 0) return noQuotes(promisedMeanwhile(parsed.corridor));

    addOpenQuote(deps, settings, parsed, nonce, best);
    const { settlement, solvers } = request;
    const next = { settlement, include: solvers?.include ?? null, exclude: solvers?.exclude ?? [] };
    const quotes = best.map((candidate) =>
      seal(deps, settings, state, parsed, candidate, {
        next: candidate.model === 'sequential' ? next : null,
        parent: null,
        ...(request.referenceId !== undefined && { referenceId: request.referenceId }),
      }),
    );
    return { quotes, productUnavailable: null };
  } finally {
    deps.openQuotes.release(key.id);
  }
}

/** Keeps the best candidates that their sources promise; the next ones replace those that are gone. */
async function promised(ranked: readonly RouteCandidate[], most: number): Promise<readonly RouteCandidate[]> {
  const kept: RouteCandidate[] = [];
  const left = ranked.filter(({ first }) => first.isStillBacked());
  while (kept.length < most && left.length > 0) {
    const tried = left.splice(0, most - kept.length);
    const stands = await Promise.all(tried.map(({ first }) => first.promise()));
    // LPs may have promised the same money elsewhere while a venue answered.
    const backed = tried.filter(({ first }, index) => stands[index] && first.isStillBacked());
    for (const { first } of backed) first.recordPromise();
    kept.push(...backed);
  }
  return kept;
}

function addOpenQuote(
  deps: RouterDeps,
  settings: RouterSettings,
  { key, workspace, input, output, taker }: KeyedRequest,
  nonce: bigint,
  best: readonly RouteCandidate[],
): void {
  deps.openQuotes.addOfKey(
    nonceGroupOf(input.chain.id, taker, nonce),
    key.id,
    deps.prices.estimateUsd(sidesOf(best, input.token, output.token)) ??
      openQuoteLimits(workspace, settings.rates).notionalUsd,
    Math.max(...best.map(({ validUntil }) => validUntil)),
  );
}

function seal(
  deps: RouterDeps,
  settings: RouterSettings,
  state: RouterState,
  intent: KeyedRequest,
  candidate: RouteCandidate,
  link: Pick<SealedRoute, 'next' | 'parent' | 'referenceId'>,
  delivered: RouterCandidate['composite'] = null,
): string {
  const { first, model } = candidate;
  state.quotedAtMs.set(first.source, deps.clock.nowMs());
  state.chosen.add({ source: first.source, model });
  const owner: SealOwner = { account: intent.workspace.id, namespace: 'router', mode: intent.key.mode };
  const plain =
    first.settledBy === null && link.next === null && link.parent === null && link.referenceId === undefined;
  const route: SealedRoute | null = plain
    ? null
    : { venue: null, through: null, ...first.settledBy, ...link };
  return deps.sealing.seal(
    owner,
    routerTerms(intent, candidate, {
      prices: deps.prices,
      options: settings.fanOut,
      delivered: delivered?.legs ?? [],
      native: (chainId) => deps.chains.get(chainId)?.chain.native,
    }),
    first.commitments,
    route,
  );
}

async function nextLeg(
  deps: RouterDeps,
  settings: RouterSettings,
  state: RouterState,
  parent: OrderRecord,
  { input, output, receiver, terms }: LaterLeg,
  delivered: bigint,
  { key, workspace }: { key: ApiKey; workspace: Workspace },
) {
  const [from, to] = [market(deps, input, key), market(deps, output, key)];
  if (!from || !to)
    return {
      why: unavailable('pair_not_supported', 'The venue does not list one of these assets any more.', null),
    };
  const intent = legIntent(deps, settings, parent.order.user, receiver, from, to, delivered, terms, {
    key,
    workspace,
  });
  deps.openQuotes.reserve(key.id, openQuoteLimits(workspace, settings.rates), intent.now);
  const nonce = deps.nonces.next(intent.input.chain.id, intent.taker);
  const { candidates, refusal, ...reasons } = await state.gatherer
    .gather(intent, nonce, { twoLegs: false, passed: passedBefore(parent) })
    .finally(() => deps.openQuotes.release(key.id));
  if (candidates.length === 0 && refusal) throw refusal;
  const [best] = await promised(rank(intent.side, candidates), 1);
  if (!best)
    return {
      why: candidates.length > 0 ? promisedMeanwhile(intent.corridor) : whyNot(reasons, intent.corridor),
    };
  addOpenQuote(deps, settings, intent, nonce, [best]);
  const { composite } = JSON.parse(parent.candidate) as RouterCandidate;
  const done = composite && {
    ...composite,
    legs: composite.legs
      .slice(0, 1)
      .map((leg) => ({ ...leg, output: { ...leg.output, amount: delivered.toString() } })),
  };
  const link = {
    next: null,
    parent: parent.orderId,
    ...(parent.referenceId !== null && { referenceId: parent.referenceId }),
  };
  const text = seal(deps, settings, state, intent, best, link, done);
  return { candidate: zRouterCandidate.parse(JSON.parse(text)) };
}

function market(deps: RouterDeps, asset: Asset, { mode }: ApiKey): ListedAsset | undefined {
  const placed = deps.markets.find(assetId(asset), mode);
  return placed.kind === 'market' ? placed.market : undefined;
}

function legIntent(
  deps: RouterDeps,
  settings: RouterSettings,
  taker: Address,
  receiver: Address,
  input: ListedAsset,
  output: ListedAsset,
  amount: bigint,
  { settlement, include, exclude }: LaterLeg['terms'],
  { key, workspace }: { key: ApiKey; workspace: Workspace },
): KeyedRequest {
  const now = chainNow(deps.clock, deps.chains.get(input.chain.id));
  return {
    requestId: deps.random.bytes32().slice(2, 34),
    request: {
      splitFill: 'never',
      settlement,
      solvers: { ...(include && { include }), exclude },
      maxCandidates: LEG_CANDIDATES,
    },
    key,
    workspace,
    input,
    output,
    corridor: corridorOf(input.chain, output.chain),
    side: 'exactInput',
    amount,
    taker,
    receiver,
    minValidUntil: null,
    now,
    latestValidUntil: now + settings.fanOut.maxValiditySeconds,
  };
}

/** Returns the assets that led to the parent's output. */
const passedBefore = ({ candidate }: OrderRecord): Asset[] =>
  ((JSON.parse(candidate) as RouterCandidate).composite?.legs.slice(0, 1) ?? []).flatMap(({ input }) => {
    const asset = parseAssetId(input.asset);
    return asset ? [asset] : [];
  });

/** Says beside it which rails are closed, and until when. */
export function whyNot(
  { whys, closed }: Pick<RouteCandidates, 'whys' | 'closed'>,
  corridor: string,
): ProductUnavailable {
  if (closed.length === 0) return mostTelling(whys, corridor);
  const rails = closed.map(({ message }) => message).join(' ');
  const open = whys.filter(({ code }) => code !== 'no_eligible_solver' && code !== 'pair_not_supported');
  const why = open.length === 0 ? undefined : mostTelling(open, corridor);
  return why ? { ...why, message: `${why.message} ${rails}` } : unavailable('no_quotes', rails, corridor);
}

function mostTelling(whys: readonly ProductUnavailable[], corridor: string): ProductUnavailable {
  const order: ProductUnavailable['code'][] = [
    'amount_too_large',
    'amount_too_small',
    'validity_unavailable',
    'no_quotes',
    'no_eligible_solver',
    'pair_not_supported',
  ];
  const [first] = [...whys].sort((x, y) => order.indexOf(x.code) - order.indexOf(y.code));
  return (
    first ??
    unavailable(
      'no_eligible_solver',
      'No solver and no venue serves this pair for you right now. GET /api/v1/router/solvers shows the roster.',
      corridor,
    )
  );
}

/** Refuses two venues of one id, because one would settle the other's orders. */
function requireDistinct(venues: readonly RouteVenue[]) {
  const ids = venues.map(({ id }) => id);
  const wrong = ids.find(
    (id, index) => !ROUTE_VENUE_ID.test(id) || id === RFQ_VENUE || ids.indexOf(id) !== index,
  );
  if (wrong !== undefined)
    throw new InvariantError(
      `"${wrong}" cannot be the id of a route venue: write lower-case letters, digits and dashes, another one for each venue, and not "${RFQ_VENUE}".`,
    );
}
