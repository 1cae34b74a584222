/**
 * POST /router/quotes, and the next leg of a route that is under way: the best of all sources, sealed in the
 * router namespace.
 */

import { rank } from '../../auction/rank.ts';
import { type Asset, assetId } from '../../domain/asset.ts';
import { corridorOf } from '../../domain/corridor.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import { ROUTE_VENUE_ID, type RouteVenue } from '../../ports/route-venue.ts';
import type { ApiKey, OrderRecord, Workspace } from '../../ports/stores/store.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import { type RouterCandidate, type SealedRoute, zRouterCandidate } from '../../protocol/api/router.ts';
import { type Breaker, createBreaker } from '../solvers/breaker.ts';
import { chainNow } from '../market/chain-now.ts';
import { nonceGroupOf } from '../quoting/exposure.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import type { ParsedRequest, QuoteOutcome, Reception } from '../quoting/intent.ts';
import type { ListedAsset, Markets } from '../market/markets.ts';
import type { OpenQuotes } from '../quoting/open-quotes.ts';
import type { BreakerOptions, FanOutOptions, RateOptions, RouterOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import type { LaterLeg, SealOwner, Sealing } from '../quoting/sealing.ts';
import { promisedMeanwhile, unavailable } from '../quoting/unavailable.ts';
import { createGatherer, type RouteCandidate } from './gather.ts';
import { createRfqRouteSource, RFQ_VENUE, type RfqRouteDeps } from './rfq.ts';
import type { LegIntent, RouteSource } from './source.ts';
import { routerTerms } from './terms.ts';
import { createVenueSource } from './venue-source.ts';

export interface RouterDeps extends RfqRouteDeps {
  chains: ReadonlyMap<number, ChainPort>;
  routeVenues: readonly RouteVenue[];
  markets: Markets;
  reception: Reception;
  sealing: Sealing;
  gas: RelayFees;
  prices: Prices;
  openQuotes: OpenQuotes;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}

export interface Router {
  /** The response as JSON text. Throws a 422, 429 or 503. */
  quote(request: QuoteRequest, key: ApiKey, workspace: Workspace): Promise<string>;
  /**
   * The leg after a delivered one: a sealed candidate for exactly what arrived, or why there is none now.
   * Throws 429.
   */
  nextLeg(
    parent: OrderRecord,
    next: LaterLeg,
    delivered: bigint,
    from: { key: ApiKey; workspace: Workspace },
  ): Promise<{ candidate: RouterCandidate } | { why: ProductUnavailable }>;
  /** For the roster's view: is this venue being asked? */
  breakerOf(venueId: string): Breaker | undefined;
  /** Wall time at which a candidate of this venue was last returned. */
  lastQuoteAtMs(venueId: string): number | undefined;
}

export interface RouterSettings {
  router: RouterOptions;
  fanOut: FanOutOptions;
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>;
  breaker: BreakerOptions;
}

/** Of a later leg only the best is taken; the others stand in where it does not hold. */
const LEG_CANDIDATES = 5;

type Asked = LegIntent & { key: ApiKey };

export function createRouter(deps: RouterDeps, settings: RouterSettings): Router {
  const {
    chains,
    routeVenues,
    markets,
    reception,
    sealing,
    gas,
    prices,
    openQuotes,
    clock,
    random,
    log,
    metrics,
  } = deps;
  requireDistinct(routeVenues);
  const breakers = new Map(routeVenues.map(({ id }) => [id, createBreaker(settings.breaker)]));
  const sources: RouteSource[] = [
    createRfqRouteSource(deps),
    ...routeVenues.map((venue) =>
      createVenueSource(venue, {
        chains,
        gas,
        breaker: breakers.get(venue.id) as Breaker,
        clock,
        random,
        log,
        metrics,
      }),
    ),
  ];
  const gatherer = createGatherer({ sources, gas, clock, random, log }, settings.router);
  const quotedAtMs = new Map<string, number>();
  const chosen = metrics.counter(
    'firmquote_venue_route_candidates_total',
    'Candidates of the router, by the source of their first leg and by model',
    ['source', 'model'],
  );

  async function offer(intent: ParsedRequest): Promise<QuoteOutcome> {
    const nonce = BigInt(random.bytes32());
    const { candidates, whys } = await gatherer.gather(intent, nonce);
    if (candidates.length === 0)
      return { quotes: [], productUnavailable: mostTelling(whys, intent.corridor) };
    const best = rank(intent.side, candidates)
      .filter(({ first }) => first.isStillBacked())
      .slice(0, intent.request.maxCandidates);
    if (best.length === 0) return { quotes: [], productUnavailable: promisedMeanwhile(intent.corridor) };
    const { settlement, solvers } = intent.request;
    const next = { settlement, include: solvers?.include ?? null, exclude: solvers?.exclude ?? [] };
    const quotes = best.map((candidate) =>
      publish(intent, candidate, { next: candidate.model === 'sequential' ? next : null, parent: null }),
    );
    hold(intent.key, intent, nonce, best);
    return { quotes, productUnavailable: null };
  }

  function publish(
    intent: Asked,
    candidate: RouteCandidate,
    link: Pick<SealedRoute, 'next' | 'parent'>,
    delivered: RouterCandidate['composite'] = null,
  ): string {
    const { first, model } = candidate;
    first.recordExposure();
    quotedAtMs.set(first.source, clock.nowMs());
    chosen.add({ source: first.source, model });
    const owner: SealOwner = { account: intent.workspace.id, namespace: 'router', mode: intent.key.mode };
    const plain = first.settledBy === null && link.next === null && link.parent === null;
    const route: SealedRoute | null = plain
      ? null
      : { venue: null, through: null, ...first.settledBy, ...link };
    return sealing.seal(
      owner,
      routerTerms(intent, candidate, {
        prices,
        gas,
        options: settings.fanOut,
        delivered: delivered?.legs ?? [],
      }),
      first.commitments,
      route,
    );
  }

  function hold(
    key: ApiKey,
    { input, taker }: LegIntent,
    nonce: bigint,
    best: readonly RouteCandidate[],
  ): void {
    const lastValid = Math.max(...best.map(({ validUntil }) => validUntil));
    openQuotes.add(
      key.id,
      nonceGroupOf(input.chain.id, taker, nonce),
      prices.amountUsd(input.token, best[0]?.inputAmount ?? 0n) ?? 0,
      lastValid,
    );
  }

  async function nextLeg(
    parent: OrderRecord,
    { input, output, receiver, terms }: LaterLeg,
    delivered: bigint,
    { key, workspace }: { key: ApiKey; workspace: Workspace },
  ) {
    const [from, to] = [market(input, key), market(output, key)];
    if (!from || !to)
      return {
        why: unavailable('pair_not_supported', 'The venue does not list one of these assets any more.', null),
      };
    const intent = legIntent(parent.order.user, receiver, from, to, delivered, terms, { key, workspace });
    const answered = openQuotes.reserve(
      key.id,
      {
        count: workspace.limits.openQuotes ?? settings.rates.openQuotes,
        notionalUsd: workspace.limits.openNotionalUsd ?? settings.rates.openNotionalUsd,
      },
      intent.now,
    );
    const nonce = BigInt(random.bytes32());
    const { candidates, whys } = await gatherer.gather(intent, nonce, { twoLegs: false }).finally(answered);
    const best = rank(intent.side, candidates).find(({ first }) => first.isStillBacked());
    if (!best)
      return {
        why: candidates.length > 0 ? promisedMeanwhile(intent.corridor) : mostTelling(whys, intent.corridor),
      };
    hold(key, intent, nonce, [best]);
    const { composite } = JSON.parse(parent.candidate) as RouterCandidate;
    const done = composite && {
      ...composite,
      legs: composite.legs
        .slice(0, 1)
        .map((leg) => ({ ...leg, output: { ...leg.output, amount: delivered.toString() } })),
    };
    const text = publish(intent, best, { next: null, parent: parent.orderId }, done);
    return { candidate: zRouterCandidate.parse(JSON.parse(text)) };
  }

  function market(asset: Asset, { mode }: ApiKey): ListedAsset | undefined {
    const placed = markets.find(assetId(asset), mode);
    return placed.kind === 'market' ? placed.market : undefined;
  }

  function legIntent(
    taker: Address,
    receiver: Address,
    input: ListedAsset,
    output: ListedAsset,
    amount: bigint,
    { settlement, include, exclude }: LaterLeg['terms'],
    { key, workspace }: { key: ApiKey; workspace: Workspace },
  ): Asked {
    const now = chainNow(clock, chains.get(input.chain.id));
    return {
      requestId: random.bytes32().slice(2, 34),
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

  return {
    quote: (request, key, workspace) => reception.receive(request, key, workspace, offer),
    nextLeg,
    breakerOf: (venueId) => breakers.get(venueId),
    lastQuoteAtMs: (venueId) => quotedAtMs.get(venueId),
  };
}

/** Several sources, several reasons: the one that a taker can act on comes first. */
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

/**
 * Ids are public names that open orders carry: two venues under one, or one that looks like the RFQ venue,
 * would settle each other's orders.
 */
function requireDistinct(venues: readonly RouteVenue[]): void {
  const ids = venues.map(({ id }) => id);
  const wrong = ids.find(
    (id, index) => !ROUTE_VENUE_ID.test(id) || id === RFQ_VENUE || ids.indexOf(id) !== index,
  );
  if (wrong !== undefined)
    throw new InvariantError(
      `"${wrong}" cannot be the id of a route venue: write lower-case letters, digits and dashes, another one for each venue, and not "${RFQ_VENUE}".`,
    );
}
