/**
 * Activity per taker, for the rate limit and the free-option control. Bounded: least recent takers are
 * dropped.
 */

import { LRUCache } from 'lru-cache';
import type { Bytes32 } from '../../domain/hex.ts';
import {
  accepted,
  type TakerActivity,
  faded,
  quoted,
  type Suspicion,
  suspicion,
  tradedElsewhere,
  usageAt,
  NO_ACTIVITY,
} from '../../risk/taker-activity.ts';
import { fullBucket, takeToken, type Tokens } from '../../risk/rate.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { LpRisk } from '../config/risk-config.ts';

export interface SuspectTaker {
  taker: string;
  step: Suspicion;
  quotes: number;
  liveSeconds: number;
  accepts: number;
}

export interface TakerStatistics {
  /** Counts a request against the taker's rate, and returns how suspicious the taker is. */
  countRequest(taker: string, nowMs: number): Suspicion | 'too_often';
  quoted(record: Pick<QuoteRecord, 'quoteId' | 'rfqId' | 'atMs' | 'taker' | 'takerKey' | 'times'>): void;
  /** `edgeBps`: what the trade was worth to us at mid when the taker accepted. */
  accepted(award: Pick<OpenAward, 'quoteId' | 'order'>, edgeBps: number, nowMs: number): void;
  /** The taker traded at the quote of another solver instead of these. */
  tradedElsewhere(quoteIds: readonly Bytes32[], nowMs: number): void;
  /** The most suspicious takers first. */
  suspects(nowMs: number): SuspectTaker[];
  configure(next: TakerRules): void;
}

interface TakerState {
  tokens: Tokens;
  activity: TakerActivity;
  suspicion: Suspicion;
}

/** One request with all its quotes: it counts once, by its longest tenor. */
interface QuotedRequest {
  rfqId: string;
  taker: string;
  longestSeconds: number;
  /** The taker traded, here or elsewhere: nothing more is learned from this request. */
  closed: boolean;
}

interface OpenQuote {
  request: QuotedRequest;
  quotedAtMs: number;
  validUntilMs: number;
}

/** Quotes are kept this long after they end, because an award may arrive late. */
const LINGER_MS = 60_000;
/** Above this many the oldest hundredth is dropped. */
const MAX_OPEN_QUOTES = 200_000;
const PRUNE_INTERVAL_MS = 1_000;
const MAX_SUSPECTS = 100;

type TakerRules = Pick<LpRisk, 'freeOption' | 'rate' | 'takers'>;

export function createTakerStatistics(initial: TakerRules): TakerStatistics {
  let rule = initial;
  const suspected = new Set<string>();
  let takers = createTakers();
  const quotes = new Map<string, OpenQuote>();
  let lastRequest: QuotedRequest | undefined;
  let prunedAtMs = 0;

  function createTakers(): LRUCache<string, TakerState> {
    return new LRUCache({ max: rule.takers, dispose: (_, taker) => suspected.delete(taker) });
  }

  function stateOf(taker: string, nowMs: number): TakerState {
    if (takers.max !== rule.takers) {
      const before = takers;
      takers = createTakers();
      takers.load(before.dump());
    }
    let state = takers.get(taker);
    if (state === undefined) {
      state = {
        tokens: fullBucket(rule.rate, nowMs),
        activity: { ...NO_ACTIVITY, atMs: nowMs },
        suspicion: 0,
      };
      takers.set(taker, state);
    }
    return state;
  }

  function setActivity(taker: string, state: TakerState, activity: TakerActivity): Suspicion {
    state.activity = activity;
    state.suspicion = suspicion(activity, rule.freeOption);
    if (state.suspicion === 0) suspected.delete(taker);
    else suspected.add(taker);
    return state.suspicion;
  }

  /** Returns the taker's activity as of now: the older it is, the less it counts. */
  function activityOf(taker: string, nowMs: number): TakerActivity {
    return faded(stateOf(taker, nowMs).activity, nowMs, rule.freeOption);
  }

  const learn = (taker: string, nowMs: number, activity: TakerActivity): Suspicion =>
    setActivity(taker, stateOf(taker, nowMs), activity);

  const fade = (taker: string, state: TakerState, nowMs: number): Suspicion =>
    setActivity(taker, state, faded(state.activity, nowMs, rule.freeOption));

  /** Quotes are in the order of asking, so nearly in the order of ending. */
  function prune(nowMs: number): void {
    prunedAtMs = nowMs;
    const most = quotes.size > MAX_OPEN_QUOTES ? 0.99 * MAX_OPEN_QUOTES : MAX_OPEN_QUOTES;
    for (const [quoteId, { validUntilMs }] of quotes) {
      if (validUntilMs + LINGER_MS > nowMs && quotes.size <= most) return;
      quotes.delete(quoteId);
    }
  }

  return {
    countRequest(taker, nowMs) {
      const state = stateOf(taker, nowMs);
      if (!takeToken(state.tokens, nowMs, rule.rate)) return 'too_often';
      return state.suspicion === 0 ? 0 : fade(taker, state, nowMs);
    },
    quoted({ quoteId, rfqId, atMs, taker: address, takerKey: taker = address, times }) {
      if (atMs - prunedAtMs >= PRUNE_INTERVAL_MS) prune(atMs);
      const seconds = Math.max(0, times.validUntil - atMs / 1000);
      let addedSeconds = seconds;
      let addedQuotes: 0 | 1 = 1;
      if (lastRequest?.rfqId === rfqId && lastRequest.taker === taker) {
        addedSeconds = Math.max(0, seconds - lastRequest.longestSeconds);
        addedQuotes = 0;
        lastRequest.longestSeconds += addedSeconds;
      } else lastRequest = { rfqId, taker, longestSeconds: seconds, closed: false };
      quotes.set(quoteId, { request: lastRequest, quotedAtMs: atMs, validUntilMs: times.validUntil * 1000 });
      if (quotes.size > MAX_OPEN_QUOTES) prune(atMs);
      learn(taker, atMs, quoted(activityOf(taker, atMs), addedSeconds, addedQuotes));
    },
    accepted({ quoteId, order }, edgeBps, nowMs) {
      const quote = quotes.get(quoteId);
      if (quote === undefined) {
        // Quoted before a restart or seen only on chain: only the acceptance is certain.
        learn(
          order.user,
          nowMs,
          accepted(activityOf(order.user, nowMs), { share: 0.5, edgeBps: 0, unused: 0 }),
        );
        return;
      }
      const { request, quotedAtMs, validUntilMs } = quote;
      quotes.delete(quoteId);
      request.closed = true;
      const usage = usageAt({ quotedAtMs, validUntilMs, heldSeconds: request.longestSeconds }, nowMs);
      learn(request.taker, nowMs, accepted(activityOf(request.taker, nowMs), { ...usage, edgeBps }));
    },
    tradedElsewhere(quoteIds, nowMs) {
      for (const quoteId of quoteIds) {
        const request = quotes.get(quoteId)?.request;
        quotes.delete(quoteId);
        if (request === undefined || request.closed) continue;
        request.closed = true;
        learn(
          request.taker,
          nowMs,
          tradedElsewhere(activityOf(request.taker, nowMs), request.longestSeconds),
        );
      }
    },
    suspects: (nowMs) =>
      [...suspected]
        .slice(0, MAX_SUSPECTS)
        .flatMap((taker) => {
          const state = takers.peek(taker);
          if (state === undefined) return [];
          const step = fade(taker, state, nowMs);
          const { quotes: asked, liveSeconds, accepts } = state.activity;
          return step === 0 ? [] : [{ taker, step, quotes: asked, liveSeconds, accepts }];
        })
        .sort((a, b) => b.step - a.step || b.liveSeconds - a.liveSeconds),
    configure(next) {
      rule = next;
    },
  };
}
