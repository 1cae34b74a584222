/**
 * Quotes from solvers: asks them over the link, ranks and verifies their answers, and adds a split fill where
 * several LPs together offer more than one alone. `quote.ts` publishes the result, and so does the router.
 */

import { formatTokens } from '../../domain/amount.ts';
import { netOf, rank } from '../../auction/rank.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { ProductUnavailable } from '../../protocol/api/quote.ts';
import type { FanOutOptions } from '../options.ts';
import type { SolverReplies } from './fan-out.ts';
import type { RelayTerms } from './relay-fee.ts';
import { commitSplit, isInTime, type PartialOffers, planSplitRound, splitOrder } from './split-round.ts';
import { backedTooBriefly, unavailable, whyNoQuotes } from './unavailable.ts';
import type { QuoteBudget } from './unsubmitted.ts';
import { backingOf, type SolverRequest } from './verify.ts';
import { isUnderWatch, rankAndVerify, rankingOf, type RfqCandidate } from './rank-quotes.ts';
import {
  deferredOn,
  eligibleSessions,
  gateOf,
  type PairRequest,
  type RfqSourceDeps,
  solverRequest,
  wantedBy,
} from './solver-request.ts';

interface RfqAnswer {
  asked: SolverRequest;
  /** The candidates, best first. */
  candidates: RfqCandidate[];
  /** The reason for having no candidates; null when there are some. */
  why: ProductUnavailable | null;
}

export interface RfqSource {
  /** Returns whether any solver would be asked. */
  serves(pair: PairRequest): boolean;
  /**
   * All candidates of one request share `nonce`. Never rejects because of a solver. `timeoutMs` shortens the
   * venue's own deadline. Throws 429 when the workspace submits too few of its quotes.
   */
  find(pair: PairRequest, nonce: bigint, timeoutMs?: number): Promise<RfqAnswer>;
  /**
   * Returns whether the LPs can still pay. `find` has checked it, but other requests may have been answered
   * since: check again right before `recordPromise`.
   */
  isStillBacked(asked: SolverRequest, candidate: RfqCandidate): boolean;
  /** Counts the candidate as promised to a taker. Call it before the taker can see the LPs' signatures. */
  recordPromise(asked: SolverRequest, candidate: RfqCandidate): void;
}

export function createRfqSource(deps: RfqSourceDeps, options: FanOutOptions): RfqSource {
  const returned = deps.metrics.counter('firmquote_venue_candidates_total', 'Candidates returned', [
    'solver',
  ]);
  deps.roster.onOnboarded((solver) => returned.add({ solver }, 0));
  deps.metrics.gauge('firmquote_venue_open_quote_groups', 'Requests with live quotes', [], (gauge) =>
    gauge.set(deps.openQuotes.size()),
  );
  return {
    serves: (pair) => eligibleSessions(deps, pair, gateOf(deps, pair)).length > 0,
    find: (pair, nonce, timeoutMs) => find(deps, options, pair, nonce, timeoutMs),
    isStillBacked: (asked, candidate) => isStillBacked(deps, asked, candidate),
    recordPromise: (asked, candidate) => recordPromise(deps, returned, asked, candidate),
  };
}

async function find(
  deps: RfqSourceDeps,
  options: FanOutOptions,
  pair: PairRequest,
  nonce: bigint,
  timeoutMs?: number,
): Promise<RfqAnswer> {
  const { corridor } = pair;
  const crossChain = pair.input.chain.id !== pair.output.chain.id;
  const deferredChainId = deferredOn(pair);
  const relayTerms = deps.relayFees.terms(pair.input.chain.id, pair.input.token, {
    crossChain,
    outputs: 1,
    deferredOn: deferredChainId,
  });
  const asked = solverRequest(deps, options, pair, nonce, relayTerms, crossChain);
  const nothing = (why: ProductUnavailable): RfqAnswer => ({ asked, candidates: [], why });
  const gate = gateOf(deps, pair);
  deps.shadowRequests.show(asked.rfq, gate, asked.nonceGroup, pair.latestValidUntil);
  const sessions = eligibleSessions(deps, pair, gate);
  if (sessions.length === 0)
    return nothing(
      unavailable(
        'no_eligible_solver',
        'No solver is pricing this corridor for you right now. GET /api/v1/solvers shows the roster.',
        corridor,
      ),
    );

  if (asked.latestValidUntil < (pair.minValidUntil ?? asked.now + 1))
    return nothing(backedTooBriefly(asked.latestValidUntil, corridor));

  const budget = deps.unsubmitted.reserve(sessions, wantedBy(deps, pair, asked));
  try {
    return await askSolvers(deps, pair, asked, { relayTerms, deferredChainId, budget, timeoutMs });
  } finally {
    budget.done();
  }
}

async function askSolvers(
  deps: RfqSourceDeps,
  pair: PairRequest,
  asked: SolverRequest,
  {
    relayTerms,
    deferredChainId,
    budget: { sessions, quoted },
    timeoutMs,
  }: {
    relayTerms: RelayTerms;
    deferredChainId: number | undefined;
    budget: QuoteBudget;
    timeoutMs: number | undefined;
  },
): Promise<RfqAnswer> {
  const startedMs = deps.clock.monotonicMs();
  const answered = await deps.fanOut.requestQuotes(asked.rfq, sessions, timeoutMs);
  // Where settling costs the whole amount nothing can be quoted. The solvers say how much they want.
  const worthless = asked.side === 'exactInput' && asked.relayFee >= asked.amount;
  const replies = worthless ? { ...answered, quotes: [], partials: [] } : answered;
  if (worthless) for (const { session, quote } of answered.quotes) deps.fanOut.tell(session, 'amount', quote);
  const partials = replies.partials.filter((offer) => {
    const inTime = isInTime(asked, offer);
    if (!inTime) deps.fanOut.tell(offer.session, 'times', offer.partial);
    return inTime;
  });
  const { matching, verified, invalid } = await rankAndVerify(
    deps,
    asked,
    replies.quotes,
    relayTerms,
    pair.request.maxCandidates,
  );
  for (const { session, outputAmount, order } of matching) quoted(session, outputAmount, order.fillDeadline);
  const splitMs =
    timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (deps.clock.monotonicMs() - startedMs));
  const split = await trySplit(deps, asked, deferredChainId, partials, verified[0], splitMs);
  for (const { solverId, outputAmount } of split?.quote.slices ?? []) {
    const session = sessions.find((each) => each.solverId === solverId);
    if (session && split) quoted(session, outputAmount, split.quote.order.fillDeadline);
  }
  // One more than `maxCandidates`: the caller cuts after its last look at the LPs' balances.
  const candidates = split ? rank(asked.side, [...verified, split]) : verified;
  if (candidates.length > 0) return { asked, candidates, why: null };
  if (worthless && replies.declines.every(({ reason }) => reason !== 'size_below_min')) {
    const cost = formatTokens(asked.relayFee, pair.input.token);
    const message = `Settling costs ${cost}, which is all of this amount or more. Ask for more than that.`;
    return { asked, candidates: [], why: unavailable('amount_too_small', message, pair.corridor) };
  }
  const why = whyNoQuotes([...replies.declines, ...tooLargeAlone(asked, replies.partials)], {
    asked: sessions.length,
    invalid,
    corridor: pair.corridor,
    unit: asked.side === 'exactInput' ? asked.inputToken : asked.outputToken,
  });
  return { asked, candidates: [], why };
}

/** Asks for a split only when its plan beats the best whole quote, or when there is no whole quote. */
async function trySplit(
  deps: RfqSourceDeps,
  asked: SolverRequest,
  deferredChainId: number | undefined,
  partials: PartialOffers,
  best: RfqCandidate | undefined,
  withinMs: number | undefined,
): Promise<RfqCandidate | undefined> {
  if (asked.rfq.maxSplitParts < 2 || partials.length < 2) return undefined;
  const endsMs = deps.clock.monotonicMs() + (withinMs ?? 0);
  const leftMs = () => (withinMs === undefined ? undefined : Math.max(1, endsMs - deps.clock.monotonicMs()));
  let offers = partials;
  // LPs that do not sign are left out once. A third plan would keep the taker waiting.
  for (let attempt = 0; attempt < 2; attempt++) {
    const planned = planSplitRound(asked, offers);
    if (!planned) return undefined;
    const { inputAmount, outputAmount, slices } = planned.plan;
    const relayTerms = splitRelayTerms(deps, asked, slices.length, deferredChainId);
    const order = splitOrder(asked, planned, relayTerms.relayFee);
    // Before it costs signatures; with them, `rank` also weighs the taker's gas.
    const wins =
      !best ||
      (asked.side === 'exactInput'
        ? outputAmount > netOf(asked.side, best)
        : inputAmount < netOf(asked.side, best));
    if (!wins || !order) return undefined;
    const quote = await commitSplit(deps, asked, planned, order, deps.random.bytes32(), leftMs());
    if (!('missing' in quote)) {
      const ranking = rankingOf(deps, quote, deps.relayFees.takerGas(asked, relayTerms));
      return { ...ranking, quote, relayTerms, underWatch: isUnderWatch(deps, quote) };
    }
    offers = offers.filter(({ session }) => !quote.missing.includes(session));
  }
  return undefined;
}

/**
 * More outputs cost more gas. The execution mode stays as the request named it, even if the relayer's
 * health has changed since.
 */
function splitRelayTerms(
  deps: RfqSourceDeps,
  { origin, inputToken, relayFee, rfq: { executionMode } }: SolverRequest,
  outputs: number,
  deferredChainId: number | undefined,
): RelayTerms {
  const relayTerms = deps.relayFees.terms(origin.id, inputToken, {
    crossChain: false,
    outputs,
    deferredOn: deferredChainId,
  });
  if (relayTerms.executionMode === executionMode) return relayTerms;
  return { executionMode, relayFee, takerGasWei: 0n };
}

const isStillBacked = (deps: RfqSourceDeps, asked: SolverRequest, { quote }: RfqCandidate): boolean =>
  quote.commitments.every(
    ({ lp }, index) => backingOf(deps, asked, lp, quote.slices[index]?.outputAmount ?? 0n) !== undefined,
  );

function recordPromise(
  deps: RfqSourceDeps,
  returned: Counter,
  asked: SolverRequest,
  { quote }: RfqCandidate,
): void {
  const until = quote.order.fillDeadline;
  for (const [index, { solverId, outputAmount }] of quote.slices.entries()) {
    const commitment = quote.commitments[index];
    if (commitment)
      deps.openQuotes.addPromised({
        group: asked.nonceGroup,
        solverId,
        quoteId: quote.quoteId,
        chainId: asked.dest.id,
        lp: commitment.lp,
        token: asked.outputToken.address,
        amount: outputAmount,
        until,
      });
    returned.add({ solver: solverId });
    deps.roster.recordQuoted(solverId);
  }
}

/** A solver that offers a part says by it that the whole is too large for it alone. */
const tooLargeAlone = ({ side }: SolverRequest, partials: SolverReplies['partials']) =>
  partials.map(({ session, partial }) => ({
    solverId: session.solverId,
    reason: 'size_above_max' as const,
    minAmount: null,
    maxAmount: BigInt(partial.ladder.at(-1)?.[side === 'exactInput' ? 0 : 1] ?? 0n),
  }));
