/**
 * Quotes from solvers: asks them over the link, ranks and verifies their answers, and adds a split fill where
 * several LPs together offer more than one alone. `quote.ts` publishes the result, and so does the router.
 */

import { formatTokens } from '../../domain/amount.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import { eligible, type Gate } from '../../auction/eligible.ts';
import { netOf, rank, type Ranked } from '../../auction/rank.ts';
import { assetId } from '../../domain/asset.ts';
import { recipientOf } from '../../domain/delivery.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import type { FanOutOptions } from '../options.ts';
import type { Roster, SolverSession } from '../solvers/roster.ts';
import type { FanOut, SolverReplies } from './fan-out.ts';
import type { NonceGroups } from './nonce-groups.ts';
import type { ParsedRequest } from './parse-request.ts';
import { landingSecondsOf } from '../market/landing.ts';
import type { Prices } from '../market/prices.ts';
import type { RelayTerms, RelayFees } from './relay-fee.ts';
import type { ShadowRequests } from '../solvers/shadow-requests.ts';
import { commitSplit, isInTime, type PartialOffers, planSplitRound, splitOrder } from './split-round.ts';
import { unavailable, whyNoQuotes } from './unavailable.ts';
import type { QuoteBudget, UnsubmittedQuotes, Wanted } from './unsubmitted.ts';
import {
  backingOf,
  type FirmQuote,
  type MatchingQuote,
  matchQuote,
  type SolverRequest,
  type VerifyDeps,
  verifyQuote,
} from './verify.ts';

export interface RfqSourceDeps extends VerifyDeps {
  roster: Roster;
  fanOut: FanOut;
  relayFees: RelayFees;
  nonceGroups: NonceGroups;
  unsubmitted: UnsubmittedQuotes;
  shadowRequests: Pick<ShadowRequests, 'show'>;
  prices: Prices;
  clock: Clock;
  random: Random;
  metrics: Metrics;
  /** Solvers that are asked in sandbox scenarios only. */
  reserved: readonly string[];
}

/** One pair to quote: a whole request, or one leg of a route. */
export type PairRequest = Omit<ParsedRequest, 'key' | 'request' | 'openQuoteLimits'> & {
  request: Pick<QuoteRequest, 'splitFill' | 'settlement' | 'solvers' | 'maxCandidates'>;
};

export interface RfqCandidate extends Ranked {
  quote: FirmQuote;
  relayTerms: RelayTerms;
  /** One of its solvers has failed an order or given an invalid answer recently. */
  underWatch: boolean;
}

export interface RfqAnswer {
  asked: SolverRequest;
  /** Best first. */
  candidates: RfqCandidate[];
  /** Why there are no candidates; null when there are some. */
  why: ProductUnavailable | null;
}

export interface RfqSource {
  /** Whether any solver would be asked. */
  serves(pair: PairRequest): boolean;
  /**
   * All candidates of one request share `nonce`. Never rejects because of a solver. `timeoutMs` shortens the
   * venue's own deadline. Throws 429 when the workspace submits too few of its quotes.
   */
  find(pair: PairRequest, nonce: bigint, timeoutMs?: number): Promise<RfqAnswer>;
  /**
   * Whether the LPs can still pay. `find` has checked it, but other requests may have been answered since;
   * check again right before `recordPromise`.
   */
  isStillBacked(asked: SolverRequest, candidate: RfqCandidate): boolean;
  /** Counts the candidate as promised to a taker. Call it before the taker can see the LPs' signatures. */
  recordPromise(asked: SolverRequest, candidate: RfqCandidate): void;
}

export function createRfqSource(deps: RfqSourceDeps, options: FanOutOptions): RfqSource {
  const {
    roster,
    fanOut,
    relayFees,
    promisedOutputs,
    nonceGroups,
    unsubmitted,
    shadowRequests,
    prices,
    clock,
    random,
    metrics,
    reserved,
  } = deps;
  const returned = metrics.counter('firmquote_venue_candidates_total', 'Candidates returned', ['solver']);
  roster.onOnboarded((solver) => returned.add({ solver }, 0));
  metrics.gauge('firmquote_venue_open_quote_groups', 'Requests with live quotes', [], (gauge) =>
    gauge.set(promisedOutputs.size()),
  );

  async function find(pair: PairRequest, nonce: bigint, timeoutMs?: number): Promise<RfqAnswer> {
    const { corridor } = pair;
    const crossChain = pair.input.chain.id !== pair.output.chain.id;
    const deferredChainId = deferredOn(pair);
    const relayTerms = relayFees.terms(pair.input.chain.id, pair.input.token, {
      crossChain,
      outputs: 1,
      deferredOn: deferredChainId,
    });
    const asked = solverRequest(pair, nonce, relayTerms, crossChain);
    const nothing = (why: ProductUnavailable): RfqAnswer => ({ asked, candidates: [], why });
    const gate = gateOf(pair);
    shadowRequests.show(asked.rfq, gate, asked.nonceGroup, asked.latestValidUntil);
    const sessions = eligibleSessions(pair, gate);
    if (sessions.length === 0)
      return nothing(
        unavailable(
          'no_eligible_solver',
          'No solver is pricing this corridor for you right now. GET /api/v1/solvers shows the roster.',
          corridor,
        ),
      );

    const budget = unsubmitted.reserve(sessions, wantedBy(pair, asked));
    try {
      return await askSolvers(pair, asked, { relayTerms, deferredChainId, budget, timeoutMs });
    } finally {
      budget.done();
    }
  }

  async function askSolvers(
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
    const startedMs = clock.monotonicMs();
    const answered = await fanOut.requestQuotes(asked.rfq, sessions, timeoutMs);
    // Where settling costs the whole amount nothing can be quoted. The solvers say how much they want.
    const worthless = asked.side === 'exactInput' && asked.relayFee >= asked.amount;
    const replies = worthless ? { ...answered, quotes: [], partials: [] } : answered;
    if (worthless) for (const { session, quote } of answered.quotes) fanOut.tell(session, 'amount', quote);
    const partials = replies.partials.filter((offer) => {
      const inTime = isInTime(asked, offer);
      if (!inTime) fanOut.tell(offer.session, 'times', offer.partial);
      return inTime;
    });
    const { matching, verified, invalid } = rankAndVerify(
      asked,
      replies.quotes,
      relayTerms,
      pair.request.maxCandidates,
    );
    for (const { session, outputAmount, order } of matching)
      quoted(session, outputAmount, order.fillDeadline);
    const splitMs =
      timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (clock.monotonicMs() - startedMs));
    const split = await trySplit(asked, deferredChainId, partials, verified[0], splitMs);
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

  function solverRequest(
    pair: PairRequest,
    nonce: bigint,
    relayTerms: RelayTerms,
    crossChain: boolean,
  ): SolverRequest {
    const { request, input, output, side, amount, taker, receiver, minValidUntil } = pair;
    const [origin, dest] = [input.chain, output.chain];
    return {
      rfq: {
        type: 'rfq',
        rfqId: pair.requestId,
        input: assetId({ chainId: origin.id, token: input.token.address }),
        output: assetId({ chainId: dest.id, token: output.token.address }),
        side,
        amount: amount.toString(),
        taker,
        receiver,
        minValidUntil,
        platformFeeBps: pair.workspace.platformFeeBps,
        relayFee: relayTerms.relayFee.toString(),
        executionMode: relayTerms.executionMode,
        maxSplitParts: request.splitFill === 'allow' && !crossChain ? options.maxSplitParts : 1,
        skeleton: {
          nonce: nonce.toString(),
          originChainId: origin.id,
          inputOracle: crossChain ? origin.oracle : origin.escrow,
          outputOracle: crossChain ? dest.oracle : dest.escrow,
          settler: dest.escrow,
          ...(request.settlement !== 'wallet' && {
            delivery: {
              recipient: dest.escrow,
              callbackData: recipientOf({ settlement: request.settlement, account: receiver }, dest.escrow)
                .callbackData,
            },
          }),
          landingMarginSeconds: crossChain
            ? landingSecondsOf(prices, origin, side === 'exactInput' ? input.token : output.token, amount)
            : origin.landingMarginSeconds,
          proofWindowSeconds: crossChain ? origin.proofWindowSeconds : SAME_CHAIN_PROOF_SECONDS,
        },
      },
      origin,
      dest,
      inputToken: input.token,
      outputToken: output.token,
      side,
      amount,
      nonce,
      relayFee: relayTerms.relayFee,
      nonceGroup: nonceGroupOf(origin.id, taker, nonce),
      now: pair.now,
      latestValidUntil: pair.latestValidUntil,
    };
  }

  const wantedBy = (
    { workspace, input, output, now }: PairRequest,
    { side, amount, nonceGroup }: SolverRequest,
  ): Wanted => ({
    workspaceId: workspace.id,
    chainId: output.chain.id,
    token: output.token.address,
    amount: side === 'exactOutput' ? amount : prices.exchangedUp(input.token, amount, output.token),
    group: nonceGroup,
    now,
  });

  const gateOf = ({ request, workspace, corridor, only }: PairRequest): Gate => ({
    corridor,
    workspace: workspace.eligibleSolvers,
    include: only ?? request.solvers?.include ?? null,
    exclude: only ? [] : [...(request.solvers?.exclude ?? []), ...reserved],
  });

  /** One session per eligible solver: that of its replica with the fewest requests in flight. */
  function eligibleSessions({ input, output }: PairRequest, gate: Gate): SolverSession[] {
    const entries = eligible(roster.entries(), gate);
    return entries.flatMap(({ sessions }) =>
      leastBusy(
        sessions.filter(
          // The entry's status is that of its best session, less what the breaker forbids.
          (session) =>
            session.status === 'active' &&
            session.inFlight < session.maxInFlight &&
            session.readsInTime() &&
            session.accounts.has(input.chain.id) &&
            session.accounts.has(output.chain.id),
        ),
      ),
    );
  }

  /** Ranks, then verifies from the best down until `most` quotes hold, because recovering a signer costs. */
  function rankAndVerify(
    asked: SolverRequest,
    quotes: SolverReplies['quotes'],
    relayTerms: RelayTerms,
    most: number,
  ): { matching: MatchingQuote[]; verified: RfqCandidate[]; invalid: number } {
    const takerGas = relayFees.takerGas(asked, relayTerms);
    let invalid = 0;
    const matching = new Map<string, Ranked & { matched: MatchingQuote }>();
    for (const { session, quote } of quotes) {
      const matched = matchQuote(asked, session, quote);
      if (typeof matched === 'string') {
        invalid++;
        fanOut.reject(session, matched, quote);
        // A quoteId names one quote: of two with the same id the first counts.
      } else if (!matching.has(matched.quoteId))
        matching.set(matched.quoteId, { ...rankingOf(matched, takerGas), matched });
    }
    const verified: RfqCandidate[] = [];
    for (const { matched, ...ranking } of rank(asked.side, [...matching.values()])) {
      const quote = verified.length < most ? verifyQuote(deps, asked, matched) : undefined;
      if (typeof quote === 'string') {
        invalid++;
        fanOut.reject(matched.session, quote, { rfqId: asked.rfq.rfqId, quoteId: matched.quoteId });
        continue;
      }
      fanOut.countValid(matched.session, 'quote');
      if (quote && !verified.some((other) => other.quote.orderId === quote.orderId))
        verified.push({ ...ranking, quote, relayTerms, underWatch: isUnderWatch(quote) });
    }
    return { matching: [...matching.values()].map(({ matched }) => matched), verified, invalid };
  }

  function rankingOf(
    { solverId, quoteId, inputAmount, outputAmount, eta, validUntil }: MatchingQuote | FirmQuote,
    takerGas: bigint,
  ): Ranked {
    const { settled, faded } = roster.entry(solverId) ?? { settled: 0, faded: 0 };
    const fillRateBps = settled + faded === 0 ? 10_000 : Math.floor((settled * 10_000) / (settled + faded));
    return { quoteId, inputAmount, outputAmount, takerGas, eta, fillRateBps, validUntil };
  }

  const isUnderWatch = ({ slices }: FirmQuote): boolean =>
    slices.some(({ solverId }) => roster.entry(solverId)?.breaker.underWatch(clock.nowMs()) ?? false);

  /** Asks for a split only when its plan beats the best whole quote, or when there is no whole quote. */
  async function trySplit(
    asked: SolverRequest,
    deferredChainId: number | undefined,
    partials: PartialOffers,
    best: RfqCandidate | undefined,
    withinMs: number | undefined,
  ): Promise<RfqCandidate | undefined> {
    if (asked.rfq.maxSplitParts < 2 || partials.length < 2) return undefined;
    const endsMs = clock.monotonicMs() + (withinMs ?? 0);
    const leftMs = () => (withinMs === undefined ? undefined : Math.max(1, endsMs - clock.monotonicMs()));
    let offers = partials;
    // LPs that do not sign are left out once. A third plan would keep the taker waiting.
    for (let attempt = 0; attempt < 2; attempt++) {
      const planned = planSplitRound(asked, offers);
      if (!planned) return undefined;
      const { inputAmount, outputAmount, slices } = planned.plan;
      const relayTerms = splitRelayTerms(asked, slices.length, deferredChainId);
      const order = splitOrder(asked, planned, relayTerms.relayFee);
      // Before it costs signatures; with them, `rank` also weighs the taker's gas.
      const wins =
        !best ||
        (asked.side === 'exactInput'
          ? outputAmount > netOf(asked.side, best)
          : inputAmount < netOf(asked.side, best));
      if (!wins || !order) return undefined;
      const quote = await commitSplit(deps, asked, planned, order, random.bytes32(), leftMs());
      if (!('missing' in quote)) {
        const ranking = rankingOf(quote, relayFees.takerGas(asked, relayTerms));
        return { ...ranking, quote, relayTerms, underWatch: isUnderWatch(quote) };
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
    { origin, inputToken, relayFee, rfq: { executionMode } }: SolverRequest,
    outputs: number,
    deferredChainId: number | undefined,
  ): RelayTerms {
    const relayTerms = relayFees.terms(origin.id, inputToken, {
      crossChain: false,
      outputs,
      deferredOn: deferredChainId,
    });
    if (relayTerms.executionMode === executionMode) return relayTerms;
    return { executionMode, relayFee, takerGasWei: 0n };
  }

  return {
    serves: (pair) => eligibleSessions(pair, gateOf(pair)).length > 0,
    find,
    isStillBacked: (asked, { quote }) =>
      quote.commitments.every(
        ({ lp }, index) => backingOf(deps, asked, lp, quote.slices[index]?.outputAmount ?? 0n) !== undefined,
      ),
    recordPromise(asked, { quote }) {
      const until = quote.order.fillDeadline;
      for (const [index, { solverId, outputAmount }] of quote.slices.entries()) {
        const commitment = quote.commitments[index];
        if (commitment)
          promisedOutputs.add({
            chainId: asked.dest.id,
            lp: commitment.lp,
            token: asked.outputToken.address,
            amount: outputAmount,
            group: asked.nonceGroup,
            until,
          });
        returned.add({ solver: solverId });
        roster.recordQuoted(solverId);
        nonceGroups.add(asked.nonceGroup, solverId, quote.quoteId, until);
      }
    },
  };
}

/**
 * The chain on which the relayer later pays the outputs out of the ledger; undefined for other settlements.
 */
export const deferredOn = ({
  request,
  output,
}: Pick<PairRequest, 'request' | 'output'>): number | undefined =>
  request.settlement === 'ledger_auto_withdraw' ? output.chain.id : undefined;

/** A solver that offers a part says by it that the whole is too large for it alone. */
const tooLargeAlone = ({ side }: SolverRequest, partials: SolverReplies['partials']) =>
  partials.map(({ session, partial }) => ({
    solverId: session.solverId,
    reason: 'size_above_max' as const,
    minAmount: null,
    maxAmount: BigInt(partial.ladder.at(-1)?.[side === 'exactInput' ? 0 : 1] ?? 0n),
  }));

function leastBusy([first, ...others]: readonly SolverSession[]): SolverSession[] {
  return first === undefined
    ? []
    : [others.reduce((least, each) => (each.inFlight < least.inFlight ? each : least), first)];
}
