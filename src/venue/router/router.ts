/**
 * POST /router/quotes: parse, gather candidates, rank, record promises, seal. Also quotes the next leg of a
 * route.
 */

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
import type { PairRequest, RfqSource } from '../quoting/rfq-source.ts';
import type { ListedAsset, Markets } from '../market/markets.ts';
import { openQuoteLimits, type OpenQuotes, sidesOf } from '../quoting/open-quotes.ts';
import type { BreakerOptions, FanOutOptions, RateOptions, RouterOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import type { LaterLeg, SealOwner, Sealing } from '../quoting/sealing.ts';
import type { TakerNonces } from '../quoting/taker-nonces.ts';
import { promisedMeanwhile, unavailable } from '../quoting/unavailable.ts';
import { createGatherer, MODELS, type RouteCandidate, type RouteCandidates } from './gather.ts';
import { createRests } from './rests.ts';
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

export type Router = ReturnType<typeof createRouter>;

interface RouterSettings {
  router: RouterOptions;
  fanOut: FanOutOptions;
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>;
  breaker: BreakerOptions;
}

/** Others stand in where the best has lost its backing. */
const LEG_CANDIDATES = 5;

type KeyedRequest = PairRequest & { key: ApiKey };

export function createRouter(deps: RouterDeps, settings: RouterSettings) {
  const {
    chains,
    routeVenues,
    markets,
    parser,
    responder,
    sealing,
    relayFees,
    prices,
    openQuotes,
    nonces,
    clock,
    random,
    log,
    metrics,
  } = deps;
  requireDistinct(routeVenues);
  const breakers = new Map(routeVenues.map(({ id }) => [id, createBreaker(settings.breaker)]));
  const rests = createRests(clock);
  const sources: RouteSource[] = [
    createRfqRouteSource(deps.source),
    ...routeVenues.map((venue) =>
      createVenueSource(venue, {
        chains,
        relayFees,
        prices,
        breaker: breakers.get(venue.id) as Breaker,
        rests,
        clock,
        random,
        log,
        metrics,
      }),
    ),
  ];
  const gatherer = createGatherer({ sources, relayFees, nonces, clock, random, log }, settings.router);
  const quotedAtMs = new Map<string, number>();
  const chosen = metrics.counter(
    'firmquote_venue_route_candidates_total',
    'Candidates by source of the first leg',
    { source: [RFQ_VENUE, ...routeVenues.map(({ id }) => id)], model: MODELS },
  );

  async function findRoutes(
    requestId: string,
    request: QuoteRequest,
    key: ApiKey,
    workspace: Workspace,
  ): Promise<QuoteOutcome> {
    const { parsed, why } = await parser.parse(requestId, request, key, workspace);
    if (!parsed) return noQuotes(why);
    openQuotes.reserve(key.id, parsed.openQuoteLimits, parsed.now);
    try {
      const nonce = nonces.next(parsed.input.chain.id, parsed.taker);
      const { candidates, refusal, ...reasons } = await gatherer.gather(parsed, nonce);
      if (candidates.length === 0 && refusal) throw refusal;
      if (candidates.length === 0) return noQuotes(whyNot(reasons, parsed.corridor));
      const best = await promised(rank(parsed.side, candidates), request.maxCandidates);
      if (best.length === 0) return noQuotes(promisedMeanwhile(parsed.corridor));

      addOpenQuote(parsed, nonce, best);
      const { settlement, solvers } = request;
      const next = { settlement, include: solvers?.include ?? null, exclude: solvers?.exclude ?? [] };
      const quotes = best.map((candidate) =>
        seal(parsed, candidate, {
          next: candidate.model === 'sequential' ? next : null,
          parent: null,
          ...(request.referenceId !== undefined && { referenceId: request.referenceId }),
        }),
      );
      return { quotes, productUnavailable: null };
    } finally {
      openQuotes.release(key.id);
    }
  }

  function seal(
    intent: KeyedRequest,
    candidate: RouteCandidate,
    link: Pick<SealedRoute, 'next' | 'parent' | 'referenceId'>,
    delivered: RouterCandidate['composite'] = null,
  ): string {
    const { first, model } = candidate;
    quotedAtMs.set(first.source, clock.nowMs());
    chosen.add({ source: first.source, model });
    const owner: SealOwner = { account: intent.workspace.id, namespace: 'router', mode: intent.key.mode };
    const plain =
      first.settledBy === null &&
      link.next === null &&
      link.parent === null &&
      link.referenceId === undefined;
    const route: SealedRoute | null = plain
      ? null
      : { venue: null, through: null, ...first.settledBy, ...link };
    return sealing.seal(
      owner,
      routerTerms(intent, candidate, {
        prices,
        options: settings.fanOut,
        delivered: delivered?.legs ?? [],
        native: (chainId) => chains.get(chainId)?.chain.native,
      }),
      first.commitments,
      route,
    );
  }

  /** The best that their sources keep; the next ones stand in for those that are gone. */
  async function promised(
    ranked: readonly RouteCandidate[],
    most: number,
  ): Promise<readonly RouteCandidate[]> {
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
    { key, workspace, input, output, taker }: KeyedRequest,
    nonce: bigint,
    best: readonly RouteCandidate[],
  ) {
    openQuotes.add(
      key.id,
      nonceGroupOf(input.chain.id, taker, nonce),
      prices.estimateUsd(sidesOf(best, input.token, output.token)) ??
        openQuoteLimits(workspace, settings.rates).notionalUsd,
      Math.max(...best.map(({ validUntil }) => validUntil)),
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
    openQuotes.reserve(key.id, openQuoteLimits(workspace, settings.rates), intent.now);
    const nonce = nonces.next(intent.input.chain.id, intent.taker);
    const { candidates, refusal, ...reasons } = await gatherer
      .gather(intent, nonce, { twoLegs: false, passed: passedBefore(parent) })
      .finally(() => openQuotes.release(key.id));
    if (candidates.length === 0 && refusal) throw refusal;
    const [best] = await promised(rank(intent.side, candidates), 1);
    if (!best)
      return {
        why: candidates.length > 0 ? promisedMeanwhile(intent.corridor) : whyNot(reasons, intent.corridor),
      };
    addOpenQuote(intent, nonce, [best]);
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
    const text = seal(intent, best, link, done);
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
  ): KeyedRequest {
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
    async quote(request: QuoteRequest, key: ApiKey, workspace: Workspace) {
      const response = responder.begin();
      const outcome = await findRoutes(response.requestId, request, key, workspace);
      return responder.finish(response, outcome);
    },
    /** Throws 429. */
    nextLeg,
    breakerOf: (venueId: string) => breakers.get(venueId),
    restOf: rests.of,
    lastQuoteAtMs: (venueId: string) => quotedAtMs.get(venueId),
  };
}

/** The assets that led to what the parent delivered. */
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

/** With two venues of one id, one would settle the other's orders. */
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
