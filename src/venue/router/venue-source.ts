/**
 * A route venue as a source of the router: its answers are checked, and one that keeps failing is not asked
 * for a while.
 */

import type { Counter, Histogram } from '../../ports/metrics.ts';
import { type Closed, isDecline, type Decline } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import { isUnixSeconds, toIso } from '../../domain/time.ts';
import type { Block } from '../../ports/chain.ts';
import type { RouteAsk, RoutePair, RouteQuote, RouteVenue } from '../../ports/route-venue.ts';
import type { VenueDeps } from '../deps.ts';
import type { Breaker } from '../solvers/breaker.ts';
import type { RelayFees, RelayTerms } from '../quoting/relay-fee.ts';
import { unavailable, whyNoQuotes } from '../quoting/unavailable.ts';
import { objectionTo, ROUTE_OBJECTIONS } from './check-quote.ts';
import type { Prices } from '../market/prices.ts';
import { landingSecondsOf } from '../market/landing.ts';
import type { StandbyVenues } from './standby-venues.ts';
import { routeFees } from './route-fees.ts';
import { routeOrder } from './route-order.ts';
import { deferredOn, type PairRequest } from '../quoting/solver-request.ts';
import { type Found, pairOf, type RouteLeg, type RouteOffer, type RouteSource } from './source.ts';

type VenueSourceDeps = Pick<VenueDeps, 'chains' | 'clock' | 'random' | 'log' | 'metrics'> & {
  relayFees: RelayFees;
  prices: Pick<Prices, 'estimateUsd'>;
  breaker: Breaker;
  standbyVenues: Pick<StandbyVenues, 'note'>;
};

/** The time is enough for a venue that has its prices in memory. */
const FAIR_MS = 200;
const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];

/** The venue, its requests in progress, and what is counted. */
interface VenueSourceState {
  readonly venue: RouteVenue;
  readonly answers: Counter;
  readonly seconds: Histogram;
  inFlight: number;
}

export function createVenueSource(venue: RouteVenue, deps: VenueSourceDeps): RouteSource {
  const faults = ROUTE_OBJECTIONS.map((objection) => `invalid_${objection}`);
  const state: VenueSourceState = {
    venue,
    answers: deps.metrics.counter('firmquote_venue_route_answers_total', 'Answers of route venues', [
      'venue',
      'answer',
    ]),
    seconds: deps.metrics.histogram(
      'firmquote_venue_route_answer_seconds',
      'Answer time of route venues',
      SECONDS,
      ['venue'],
    ),
    inFlight: 0,
  };
  for (const answer of ['quote', 'decline', 'late', 'silent', 'failed', 'unkept', ...faults])
    state.answers.add({ venue: venue.id, answer }, 0);
  return {
    id: venue.id,
    kind: venue.kind,
    serves: (intent, pair) => serves(deps, state, intent, pair),
    find: (intent, nonce, withinMs, signal) => find(deps, state, intent, nonce, withinMs, signal),
  };
}

function serves(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  intent: PairRequest,
  pair: RoutePair,
): boolean {
  if (!chosen(state, intent) || deps.breaker.openUntil(deps.clock.nowMs()) !== undefined) return false;
  try {
    return state.venue.serves(pair);
  } catch (error) {
    fault(deps, state, 'failed', error);
    return false;
  }
}

const chosen = (state: VenueSourceState, { workspace, request }: PairRequest): boolean =>
  (!workspace.eligibleSolvers || workspace.eligibleSolvers.includes(state.venue.id)) &&
  (!request.solvers?.include || request.solvers.include.includes(state.venue.id)) &&
  !request.solvers?.exclude?.includes(state.venue.id);

function fault(deps: VenueSourceDeps, state: VenueSourceState, answer: string, error: unknown): void {
  state.answers.add({ venue: state.venue.id, answer });
  const opened = deps.breaker.fault('invalid', deps.clock.nowMs());
  deps.log.warn(
    { venue: state.venue.id, answer, ...(error !== undefined && { error }) },
    opened
      ? 'a route venue keeps failing and is not asked for a while'
      : 'a route venue did not answer as it should',
  );
}

async function find(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  intent: PairRequest,
  nonce: bigint,
  withinMs: number,
  signal: AbortSignal,
): Promise<Found> {
  const { input, output, corridor } = intent;
  const nothing = (...why: Parameters<typeof unavailable>): Found => ({
    offers: [],
    why: unavailable(...why),
  });
  const at = {
    origin: deps.chains.get(input.chain.id)?.head(),
    dest: deps.chains.get(output.chain.id)?.head(),
  };
  if (
    !isSeen(at) ||
    state.inFlight >= state.venue.limits.maxInFlight ||
    deps.breaker.openUntil(deps.clock.nowMs()) !== undefined ||
    signal.aborted
  ) {
    return nothing('no_quotes', 'A venue is not answering at the moment. Try again shortly.', corridor);
  }
  const relayTerms = relayTermsOf(deps, intent);
  const waiting = new AbortController();
  const stop = () => waiting.abort();
  signal.addEventListener('abort', stop, { once: true });
  const ask: RouteAsk = {
    origin: input.chain,
    dest: output.chain,
    inputToken: input.token,
    outputToken: output.token,
    side: intent.side,
    amount: intent.amount,
    taker: intent.taker,
    receiver: intent.receiver,
    at,
    validity: { from: Math.max(intent.now + 1, intent.minValidUntil ?? 0), to: intent.latestValidUntil },
    fees: routeFees(intent.workspace.platformFeeBps, (fillGas) => relayTerms(fillGas).relayFee),
    signal: waiting.signal,
  };
  const startedMs = deps.clock.monotonicMs();
  state.inFlight++;
  try {
    const answer = await within(
      deps,
      Math.min(withinMs, state.venue.limits.timeoutMs),
      state.venue.quote(ask),
      waiting.signal,
    );
    if (answer === 'late') {
      // With too little time the venue is not at fault.
      if (deps.clock.monotonicMs() - startedMs >= Math.min(state.venue.limits.timeoutMs, FAIR_MS))
        fault(deps, state, 'silent', undefined);
      else state.answers.add({ venue: state.venue.id, answer: 'late' });
      return nothing('no_quotes', 'A venue did not answer in time.', corridor);
    }
    state.seconds.observe((deps.clock.monotonicMs() - startedMs) / 1000, { venue: state.venue.id });
    return judge(deps, state, intent, ask, nonce, answer, relayTerms);
  } catch (error) {
    fault(deps, state, 'failed', error);
    return nothing('no_quotes', 'A venue did not answer in time.', corridor);
  } finally {
    state.inFlight--;
    signal.removeEventListener('abort', stop);
    waiting.abort();
  }
}

/** Fixes the terms once per request, because gas prices and the relayer's health may change. */
function relayTermsOf(
  deps: VenueSourceDeps,
  { input, output, request }: PairRequest,
): (fillGas: bigint) => RelayTerms {
  const deferred = deferredOn({ request, output });
  const crossChain = input.chain.id !== output.chain.id;
  const known = new Map<bigint, RelayTerms>();
  return (fillGas) => {
    const relayTerms =
      known.get(fillGas) ??
      deps.relayFees.terms(input.chain.id, input.token, {
        crossChain,
        outputs: 1,
        deferredOn: deferred,
        ...(!crossChain && { fillGas }),
      });
    known.set(fillGas, relayTerms);
    return relayTerms;
  };
}

function within<T>(
  deps: VenueSourceDeps,
  ms: number,
  answer: Promise<T>,
  aborted: AbortSignal,
): Promise<T | 'late'> {
  return new Promise((resolve, reject) => {
    const cancel = deps.clock.after(Math.max(1, ms), () => resolve('late'));
    aborted.addEventListener('abort', () => resolve('late'), { once: true });
    answer.then(resolve, reject).finally(cancel);
  });
}

function judge(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  intent: PairRequest,
  ask: RouteAsk,
  nonce: bigint,
  answer: RouteQuote | Decline | Closed,
  relayTerms: (gas: bigint) => RelayTerms,
): Found {
  const isOnStandby = isDecline(answer) && answer.declined === 'standby';
  deps.standbyVenues.note(
    state.venue.id,
    intent.corridor,
    isOnStandby ? (answer.detail ?? 'it does not say why') : null,
  );
  if (isDecline(answer) && answer.declined === 'closed') return closed(deps, state, answer, intent);
  if (isDecline(answer)) {
    state.answers.add({ venue: state.venue.id, answer: 'decline' });
    const { declined: reason, maxAmount = null, minAmount = null } = answer;
    const decline = { solverId: state.venue.id, reason, maxAmount, minAmount };
    const unit = ask.side === 'exactInput' ? ask.inputToken : ask.outputToken;
    return {
      offers: [],
      why: whyNoQuotes([decline], { asked: 1, invalid: 0, corridor: intent.corridor, unit }),
    };
  }
  const objection = objectionTo(answer, ask, state.venue.limits);
  if (objection) {
    fault(deps, state, `invalid_${objection}`, undefined);
    return {
      offers: [],
      why: unavailable('no_quotes', 'A venue answered wrongly and was left out.', intent.corridor),
    };
  }
  // The relay fee changed the price: half of the answer is for one sender, half for another.
  if (relayTerms(gasOf(answer)).executionMode !== relayTerms(0n).executionMode)
    return {
      offers: [],
      why: unavailable('no_quotes', 'Who lands trades here has just changed. Ask again.', intent.corridor),
    };
  state.answers.add({ venue: state.venue.id, answer: 'quote' });
  return { offers: [offerOf(deps, state, intent, ask, nonce, answer, relayTerms(gasOf(answer)))], why: null };
}

function closed(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  answer: Closed,
  { corridor }: PairRequest,
): Found {
  if (answer.opensAt !== null && !isUnixSeconds(answer.opensAt)) {
    fault(deps, state, 'invalid_times', undefined);
    return {
      offers: [],
      why: unavailable('no_quotes', 'A venue answered wrongly and was left out.', corridor),
    };
  }
  state.answers.add({ venue: state.venue.id, answer: 'decline' });
  const why = unavailable('no_quotes', closedWords(state.venue, answer), corridor);
  return { offers: [], why, isClosed: true };
}

function offerOf(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  intent: PairRequest,
  ask: RouteAsk,
  nonce: bigint,
  quote: RouteQuote,
  relayTerms: RelayTerms,
): RouteOffer {
  const order = routeOrder({
    ...ask,
    nonce,
    platformFeeBps: intent.workspace.platformFeeBps,
    relayFee: relayTerms.relayFee,
    // Its venue fills once the order is final on its origin.
    landingMarginSeconds:
      ask.origin.id === ask.dest.id
        ? ask.origin.landingMarginSeconds
        : landingSecondsOf(deps.prices, ask.origin, ask.inputToken, quote.inputAmount),
    settlement: intent.request.settlement,
    quote,
  });
  const { execution } = quote;
  return {
    source: state.venue.id,
    quoteId: deps.random.bytes32() satisfies Bytes32,
    inputAmount: quote.inputAmount,
    outputAmount: quote.outputAmount,
    minimumOutput: quote.minimumOutput,
    takerGas: deps.relayFees.takerGas(ask, relayTerms),
    eta: quote.eta,
    // No fill history: their orders execute whole or cost nothing.
    fillRateBps: 10_000,
    validUntil: quote.validUntil,
    solverId: state.venue.id,
    order,
    relayTerms,
    commitments: [],
    settledBy: {
      venue: { id: state.venue.id, kind: state.venue.kind },
      through:
        execution.kind === 'through'
          ? { filler: execution.filler, data: execution.data, gas: execution.gas.toString() }
          : null,
    },
    lpSpreadBps: null,
    legs: hopsOf(state.venue, ask, quote),
    thin: false,
    underWatch: deps.breaker.underWatch(deps.clock.nowMs()),
    promise: () => promise(deps, state, ask, quote, nonce),
    isStillBacked: () => true,
    recordPromise: () => {},
  };
}

async function promise(
  deps: VenueSourceDeps,
  state: VenueSourceState,
  ask: RouteAsk,
  quote: RouteQuote,
  nonce: bigint,
): Promise<boolean> {
  if (!state.venue.promise) return true;
  const unaborted = new AbortController().signal;
  try {
    const kept = await within(
      deps,
      state.venue.limits.timeoutMs,
      state.venue.promise({ ask, quote, nonce }),
      unaborted,
    );
    if (kept === 'late') fault(deps, state, 'silent', undefined);
    else if (!kept) state.answers.add({ venue: state.venue.id, answer: 'unkept' });
    return kept === true;
  } catch (error) {
    fault(deps, state, 'failed', error);
    return false;
  }
}

/** Writes why a closed rail does not quote, with the time of its opening. */
export const closedWords = ({ name }: RouteVenue, { opensAt }: Closed): string =>
  opensAt === null
    ? `${name} is closed at the moment. Try again later.`
    : `${name} is closed until ${toIso(opensAt * 1_000)}. Ask again then.`;

/** Returns the hops of a quote, which all run in one transaction. */
function hopsOf(
  { id, kind }: RouteVenue,
  ask: RouteAsk,
  { inputAmount, outputAmount, minimumOutput, via, fees, eta }: RouteQuote,
): RouteLeg[] {
  const { input, output } = pairOf({
    input: {
      asset: { chainId: ask.origin.id, token: ask.inputToken.address },
      chain: ask.origin,
      token: ask.inputToken,
    },
    output: {
      asset: { chainId: ask.dest.id, token: ask.outputToken.address },
      chain: ask.dest,
      token: ask.outputToken,
    },
  });
  const stops = [
    { asset: input, amount: inputAmount },
    ...via.map(({ token, amount }) => ({ asset: { chainId: ask.origin.id, token }, amount })),
    { asset: output, amount: outputAmount },
  ];
  return stops.slice(1).map((to, index) => {
    const from = stops[index] as (typeof stops)[number];
    const last = index === stops.length - 2;
    return {
      kind,
      solverId: id,
      venue: id,
      chainId: ask.origin.id,
      input: from,
      output: { ...to, minimum: last ? minimumOutput : null },
      fee: fees[index] ?? null,
      eta,
      dependsOn: index === 0 ? [] : [index - 1],
    };
  });
}

const gasOf = ({ execution }: RouteQuote): bigint => (execution.kind === 'through' ? execution.gas : 0n);

const isSeen = (at: { origin: Block | undefined; dest: Block | undefined }): at is RouteAsk['at'] =>
  at.origin !== undefined && at.dest !== undefined;
