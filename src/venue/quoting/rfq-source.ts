/**
 * The RFQ venue as a source of candidates: solvers asked over the link, answers verified, splits committed.
 * Nothing is sealed or promised here until `bind`.
 */

import { eligible } from '../../auction/eligible.ts';
import { netOf, rank, type Ranked } from '../../auction/rank.ts';
import { assetId } from '../../domain/asset.ts';
import { recipientOf } from '../../domain/delivery.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import type { FanOut } from './fan-out.ts';
import type { RelayFees, Landing } from './relay-fee.ts';
import type { ParsedRequest } from './intent.ts';
import type { FanOutOptions } from '../options.ts';
import type { RosterEntry, Roster, SolverSession } from '../solvers/roster.ts';
import type { NonceGroups } from './nonce-groups.ts';
import { commitSplit, planOffers } from './split-round.ts';
import { unavailable, whyNoQuotes } from './unavailable.ts';
import {
  type SolverRequest,
  askGroup,
  type MatchingQuote,
  matchQuote,
  verifyQuote,
  type FirmQuote,
  type VerifyDeps,
} from './verify.ts';

export interface RfqSourceDeps extends VerifyDeps {
  roster: Roster;
  fanOut: FanOut;
  gas: RelayFees;
  nonceGroups: NonceGroups;
  clock: Clock;
  random: Random;
  metrics: Metrics;
}

/** What the RFQ venue needs to know of an intent, or of one leg of it. */
export type RfqIntent = {
  request: Pick<QuoteRequest, 'splitFill' | 'settlement' | 'solvers' | 'maxCandidates'>;
} & Pick<
  ParsedRequest,
  | 'requestId'
  | 'workspace'
  | 'input'
  | 'output'
  | 'corridor'
  | 'side'
  | 'amount'
  | 'taker'
  | 'receiver'
  | 'minValidUntil'
  | 'now'
  | 'latestValidUntil'
>;

export interface RfqCandidate extends Ranked {
  verified: FirmQuote;
  landing: Landing;
}

export interface RfqAnswer {
  ask: SolverRequest;
  /** In no order. */
  found: RfqCandidate[];
  /** Why there are none. */
  why: ProductUnavailable | null;
}

export interface RfqSource {
  /** Would anybody be asked? */
  serves(intent: RfqIntent): boolean;
  /**
   * All candidates of one request share `nonce`. Never rejects for what solvers do. `timeoutMs` shortens the
   * venue's own deadline.
   */
  find(intent: RfqIntent, nonce: bigint, timeoutMs?: number): Promise<RfqAnswer>;
  /** Is the money still there, now that others may have been promised some of it? Ask right before `bind`. */
  affords(ask: SolverRequest, candidate: RfqCandidate): boolean;
  /** Makes a candidate public: from here on its LPs are bound to a taker who has seen their signatures. */
  bind(ask: SolverRequest, candidate: RfqCandidate): void;
}

export function createRfqSource(deps: RfqSourceDeps, options: FanOutOptions): RfqSource {
  const { roster, fanOut, gas, liquidity, exposure, nonceGroups, clock, random, metrics } = deps;
  const candidates = metrics.counter('firmquote_venue_candidates_total', 'Candidates returned', ['solver']);
  metrics.gauge('firmquote_venue_open_quote_groups', 'Requests with live quotes', [], (gauge) =>
    gauge.set(exposure.size()),
  );

  async function find(intent: RfqIntent, nonce: bigint, timeoutMs?: number): Promise<RfqAnswer> {
    const { corridor } = intent;
    const landing = gas.landing(intent.input.chain.id, intent.input.token, {
      crossChain: intent.input.chain.id !== intent.output.chain.id,
      outputs: 1,
      deferredOn: deferredOn(intent),
    });
    const ask = askOf(intent, nonce, landing);
    const nothing = (...why: Parameters<typeof unavailable>): RfqAnswer => ({
      ask,
      found: [],
      why: unavailable(...why),
    });
    if (ask.side === 'exactInput' && ask.relayFee >= ask.amount) {
      return nothing(
        'amount_too_small',
        `Settling costs ${ask.relayFee} base units of the input, which is all of this amount or more. Ask for more.`,
        corridor,
      );
    }
    const sessions = entrants(intent);
    if (sessions.length === 0)
      return nothing(
        'no_eligible_solver',
        'No solver is pricing this corridor for you right now. GET /api/v1/solvers shows the roster.',
        corridor,
      );

    const startedMs = clock.monotonicMs();
    const timeLeftMs = () =>
      timeoutMs === undefined ? undefined : Math.max(1, timeoutMs - (clock.monotonicMs() - startedMs));
    const most = intent.request.maxCandidates;
    // Where everybody may be shown, proving goes on while the others are awaited; in a crowd only what can
    // win is worth it.
    const crowd = sessions.length > most;
    const gathered = await fanOut.gather(
      ask.rfq,
      sessions,
      (session, answer) => {
        const fitting = matchQuote(ask, session, answer);
        return typeof fitting === 'string' || crowd ? fitting : verifyQuote(deps, ask, fitting);
      },
      timeoutMs,
    );
    let refused = gathered.invalid;
    const found: RfqCandidate[] = [];
    const contenders = distinct(gathered.quotes, ({ quoteId }) => quoteId).map((quote) => ({
      ...standing(ask, quote, landing),
      quote,
    }));
    const standings = crowd ? rank(ask.side, contenders) : contenders;
    // As many at once as are still wanted.
    for (let next = 0; next < standings.length && !(crowd && found.length === most);) {
      const some = standings.slice(next, crowd ? next + most - found.length : undefined);
      next += some.length;
      const proofs = some.map(({ quote }) => ('orderId' in quote ? quote : verifyQuote(deps, ask, quote)));
      for (const [n, { quote, ...rest }] of some.entries()) {
        const proof = proofs[n] as (typeof proofs)[number];
        const verified = proof instanceof Promise ? await proof : proof;
        if (typeof verified === 'string') {
          refused++;
          fanOut.object((quote as MatchingQuote).session, verified);
        } else if (!found.some((other) => other.verified.orderId === verified.orderId))
          found.push({ ...rest, verified });
      }
    }
    const split = await trySplit(ask, deferredOn(intent), gathered.partials, found, timeLeftMs);
    if (split) found.push(split);
    if (found.length > 0) return { ask, found, why: null };
    const fixed = ask.side === 'exactInput' ? ask.inputToken : ask.outputToken;
    // Whoever offered a part said that the whole is too much for it alone.
    const parts = gathered.partials.map(({ session, partial }) => ({
      solverId: session.solverId,
      reason: 'size_above_max' as const,
      maxAmount: BigInt(partial.ladder.at(-1)?.[ask.side === 'exactInput' ? 0 : 1] ?? 0n),
    }));
    return {
      ask,
      found,
      why: whyNoQuotes([...gathered.declines, ...parts], {
        asked: gathered.asked,
        invalid: refused,
        corridor,
        unit: fixed,
      }),
    };
  }

  function askOf(
    {
      requestId,
      request,
      workspace,
      input,
      output,
      side,
      amount,
      taker,
      receiver,
      minValidUntil,
      now,
      latestValidUntil,
    }: RfqIntent,
    nonce: bigint,
    { executionMode, relayFee }: Landing,
  ): SolverRequest {
    const [origin, dest] = [input.chain, output.chain];
    const crossChain = origin.id !== dest.id;
    return {
      rfq: {
        type: 'rfq',
        rfqId: requestId,
        deadlineMs: options.timeoutMs,
        input: assetId({ chainId: origin.id, token: input.token.address }),
        output: assetId({ chainId: dest.id, token: output.token.address }),
        side,
        amount: amount.toString(),
        taker,
        receiver,
        minValidUntil,
        platformFeeBps: workspace.platformFeeBps,
        relayFee: relayFee.toString(),
        executionMode,
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
          landingMarginSeconds: origin.landingMarginSeconds,
          proofWindowSeconds: origin.proofWindowSeconds,
        },
      },
      origin,
      dest,
      inputToken: input.token,
      outputToken: output.token,
      side,
      amount,
      nonce,
      relayFee,
      group: askGroup(origin, taker, nonce),
      now,
      latestValidUntil,
    };
  }

  function entrants({ request, workspace, corridor, input, output }: RfqIntent): SolverSession[] {
    const entries: RosterEntry[] = eligible(roster.entries(), {
      corridor,
      workspace: workspace.eligibleSolvers,
      include: request.solvers?.include ?? null,
      exclude: request.solvers?.exclude ?? [],
    });
    const [origin, dest] = [input.chain.id, output.chain.id];
    return entries.flatMap(({ sessions }) =>
      leastBusy(
        sessions.filter(
          (each) =>
            each.status === 'active' &&
            each.inFlight < each.maxInFlight &&
            each.readsInTime() &&
            each.accounts.has(origin) &&
            each.accounts.has(dest),
        ),
      ),
    );
  }

  /** What it is ranked by. */
  function standing(
    ask: SolverRequest,
    quote: MatchingQuote | FirmQuote,
    landing: Landing,
  ): Omit<RfqCandidate, 'verified'> {
    const { settled, faded } = roster.entry(quote.solverId) ?? { settled: 0, faded: 0 };
    return {
      quoteId: quote.quoteId,
      inputAmount: quote.inputAmount,
      outputAmount: quote.outputAmount,
      takerGas: gas.takerGas(ask, landing),
      eta: quote.eta,
      fillRateBps: settled + faded === 0 ? 10_000 : Math.floor((settled * 10_000) / (settled + faded)),
      validUntil: quote.validUntil,
      landing,
    };
  }

  /** A split is worth a second round when it beats every whole quote, or when there is none. */
  async function trySplit(
    ask: SolverRequest,
    deferred: number | undefined,
    partials: Parameters<typeof planOffers>[1],
    found: readonly RfqCandidate[],
    timeLeftMs: () => number | undefined,
  ): Promise<RfqCandidate | undefined> {
    if (ask.rfq.maxSplitParts < 2 || partials.length < 2) return undefined;
    // Whoever lands the trade was settled with the request: the relayer's health may change while solvers
    // think, the order may not.
    const landingFor = (outputs: number): Landing => {
      const landing = gas.landing(ask.origin.id, ask.inputToken, {
        crossChain: false,
        outputs,
        deferredOn: deferred,
      });
      return ask.rfq.executionMode === landing.executionMode
        ? landing
        : { executionMode: ask.rfq.executionMode, relayFee: ask.relayFee, takerGasWei: 0n };
    };
    const relayFee = (outputs: number) =>
      ask.rfq.executionMode === 'apiSubmit' ? landingFor(outputs).relayFee : 0n;
    const best = rank(ask.side, found)[0];
    let offers = partials;
    // Whoever does not sign is left out once; a third try would keep the taker waiting.
    for (let attempt = 0; attempt < 2; attempt++) {
      const planned = planOffers(ask, offers, relayFee);
      if (!planned) return undefined;
      const wins =
        !best ||
        (ask.side === 'exactInput'
          ? planned.plan.outputAmount > netOf(ask.side, best)
          : planned.plan.inputAmount < netOf(ask.side, best));
      if (!wins) return undefined;
      const answer = await commitSplit(
        { ...deps, quoteId: () => random.bytes32() },
        ask,
        planned,
        timeLeftMs(),
      );
      if (!('missing' in answer))
        return { ...standing(ask, answer, landingFor(answer.slices.length)), verified: answer };
      offers = offers.filter(({ session }) => !answer.missing.includes(session));
    }
    return undefined;
  }

  function bind(ask: SolverRequest, { verified }: RfqCandidate): void {
    const until = verified.order.fillDeadline;
    verified.commitments.forEach(({ lp }, index) => {
      const slice = verified.slices[index];
      if (slice)
        exposure.add({
          chainId: ask.dest.id,
          lp,
          token: ask.outputToken.address,
          amount: slice.outputAmount,
          group: ask.group,
          until,
        });
    });
    for (const { solverId } of verified.slices) {
      candidates.add({ solver: solverId });
      roster.recordQuoted(solverId);
      nonceGroups.add(ask.group, solverId, verified.quoteId, until);
    }
  }

  const affords = (ask: SolverRequest, { verified }: RfqCandidate): boolean =>
    verified.commitments.every(({ lp }, index) => {
      const { id } = ask.dest;
      const available = liquidity.available(id, lp, ask.outputToken.address) ?? 0n;
      return (
        available >=
        (verified.slices[index]?.outputAmount ?? 0n) +
          exposure.promised(id, lp, ask.outputToken.address, ask.group)
      );
    });

  return { serves: (intent) => entrants(intent).length > 0, find, affords, bind };
}

/** Where the outputs will be paid out by themselves. */
export const deferredOn = ({ request, output }: Pick<RfqIntent, 'request' | 'output'>): number | undefined =>
  request.settlement === 'ledger_auto_withdraw' ? output.chain.id : undefined;

/** A quoteId names one quote; a solver that uses one twice keeps its first. */
function distinct<Q>(quotes: readonly Q[], idOf: (quote: Q) => string): Q[] {
  const seen = new Set<string>();
  return quotes.filter((quote) => !seen.has(idOf(quote)) && seen.add(idOf(quote)));
}

/** Of a solver's replicas the one with the least to do is asked, and no other. */
function leastBusy([first, ...others]: readonly SolverSession[]): SolverSession[] {
  return first === undefined
    ? []
    : [others.reduce((least, each) => (each.inFlight < least.inFlight ? each : least), first)];
}
