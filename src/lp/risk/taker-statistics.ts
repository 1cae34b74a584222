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

type QuotedRecord = Pick<QuoteRecord, 'quoteId' | 'rfqId' | 'atMs' | 'taker' | 'takerKey' | 'times'>;

export interface TakerStatistics {
  /** Counts a request against the taker's rate, and returns how suspicious the taker is. */
  countRequest(taker: string, nowMs: number): Suspicion | 'too_often';
  quoted(record: QuotedRecord): void;
  /** `edgeBps`: what the trade was worth to us at mid when the taker accepted. */
  accepted(award: Pick<OpenAward, 'quoteId' | 'order'>, edgeBps: number, nowMs: number): void;
  /** The taker traded at the quote of another solver instead of these. */
  tradedElsewhere(quoteIds: readonly Bytes32[], nowMs: number): void;
  /** Forgets the quotes that ended a minute ago. Call about once a second. */
  forgetEnded(nowMs: number): void;
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

type TakerRules = Pick<LpRisk, 'freeOption' | 'rate' | 'takers'>;

interface StatisticsState {
  rule: TakerRules;
  /** The least recent taker is forgotten first. */
  takers: LRUCache<string, TakerState>;
  readonly suspected: Set<string>;
  /** By quote id, in the order of asking, so nearly in the order of ending. */
  readonly quotes: Map<string, OpenQuote>;
  lastRequest: QuotedRequest | undefined;
}

/** Quotes are kept this long after they end, because an award may arrive late. */
const LINGER_MS = 60_000;
/** Above this many the oldest hundredth is dropped. */
const MAX_OPEN_QUOTES = 200_000;
const MAX_SUSPECTS = 100;

export function createTakerStatistics(rule: TakerRules): TakerStatistics {
  const suspected = new Set<string>();
  const state: StatisticsState = {
    rule,
    takers: createTakers(rule.takers, suspected),
    suspected,
    quotes: new Map(),
    lastRequest: undefined,
  };
  return {
    countRequest: (taker, nowMs) => countRequest(state, taker, nowMs),
    quoted: (record) => noteQuoted(state, record),
    accepted: (award, edgeBps, nowMs) => noteAccepted(state, award, edgeBps, nowMs),
    tradedElsewhere: (quoteIds, nowMs) => noteTradedElsewhere(state, quoteIds, nowMs),
    forgetEnded: (nowMs) => forgetEnded(state, nowMs),
    suspects: (nowMs) => suspects(state, nowMs),
    configure(next) {
      state.rule = next;
    },
  };
}

const createTakers = (max: number, suspected: Set<string>): LRUCache<string, TakerState> =>
  new LRUCache({ max, dispose: (_, taker) => suspected.delete(taker) });

function countRequest(state: StatisticsState, taker: string, nowMs: number): Suspicion | 'too_often' {
  const known = stateOf(state, taker, nowMs);
  if (!takeToken(known.tokens, nowMs, state.rule.rate)) return 'too_often';
  return known.suspicion === 0 ? 0 : fade(state, taker, known, nowMs);
}

function stateOf(state: StatisticsState, taker: string, nowMs: number): TakerState {
  const { rule } = state;
  if (state.takers.max !== rule.takers) {
    const before = state.takers;
    state.takers = createTakers(rule.takers, state.suspected);
    state.takers.load(before.dump());
  }
  let known = state.takers.get(taker);
  if (known === undefined) {
    known = { tokens: fullBucket(rule.rate, nowMs), activity: { ...NO_ACTIVITY, atMs: nowMs }, suspicion: 0 };
    state.takers.set(taker, known);
  }
  return known;
}

function fade(state: StatisticsState, taker: string, known: TakerState, nowMs: number): Suspicion {
  return setActivity(state, taker, known, faded(known.activity, nowMs, state.rule.freeOption));
}

function setActivity(
  { rule, suspected }: StatisticsState,
  taker: string,
  known: TakerState,
  activity: TakerActivity,
): Suspicion {
  known.activity = activity;
  known.suspicion = suspicion(activity, rule.freeOption);
  if (known.suspicion === 0) suspected.delete(taker);
  else suspected.add(taker);
  return known.suspicion;
}

function noteQuoted(
  state: StatisticsState,
  { quoteId, rfqId, atMs, taker: address, takerKey: taker = address, times }: QuotedRecord,
): void {
  const { quotes, lastRequest } = state;
  const seconds = Math.max(0, times.validUntil - atMs / 1000);
  let request = lastRequest;
  let addedSeconds = seconds;
  let addedQuotes: 0 | 1 = 1;
  if (request?.rfqId === rfqId && request.taker === taker) {
    addedSeconds = Math.max(0, seconds - request.longestSeconds);
    addedQuotes = 0;
    request.longestSeconds += addedSeconds;
  } else request = { rfqId, taker, longestSeconds: seconds, closed: false };
  state.lastRequest = request;
  quotes.set(quoteId, { request, quotedAtMs: atMs, validUntilMs: times.validUntil * 1000 });
  if (quotes.size > MAX_OPEN_QUOTES) forgetEnded(state, atMs);
  learn(state, taker, atMs, (activity) => quoted(activity, addedSeconds, addedQuotes));
}

function forgetEnded({ quotes }: StatisticsState, nowMs: number): void {
  const most = quotes.size > MAX_OPEN_QUOTES ? 0.99 * MAX_OPEN_QUOTES : MAX_OPEN_QUOTES;
  for (const [quoteId, { validUntilMs }] of quotes) {
    if (validUntilMs + LINGER_MS > nowMs && quotes.size <= most) return;
    quotes.delete(quoteId);
  }
}

/** Changes the taker's activity as of now: the older it is, the less it counts. */
function learn(
  state: StatisticsState,
  taker: string,
  nowMs: number,
  changed: (activity: TakerActivity) => TakerActivity,
): void {
  const known = stateOf(state, taker, nowMs);
  setActivity(state, taker, known, changed(faded(known.activity, nowMs, state.rule.freeOption)));
}

function noteAccepted(
  state: StatisticsState,
  { quoteId, order }: Pick<OpenAward, 'quoteId' | 'order'>,
  edgeBps: number,
  nowMs: number,
): void {
  const quote = state.quotes.get(quoteId);
  if (quote === undefined) {
    // Quoted before a restart or seen only on chain: only the acceptance is certain.
    learn(state, order.user, nowMs, (activity) => accepted(activity, { share: 0.5, edgeBps: 0, unused: 0 }));
    return;
  }
  const { request, quotedAtMs, validUntilMs } = quote;
  state.quotes.delete(quoteId);
  request.closed = true;
  const usage = usageAt({ quotedAtMs, validUntilMs, heldSeconds: request.longestSeconds }, nowMs);
  learn(state, request.taker, nowMs, (activity) => accepted(activity, { ...usage, edgeBps }));
}

function noteTradedElsewhere(state: StatisticsState, quoteIds: readonly Bytes32[], nowMs: number): void {
  for (const quoteId of quoteIds) {
    const request = state.quotes.get(quoteId)?.request;
    state.quotes.delete(quoteId);
    if (request === undefined || request.closed) continue;
    request.closed = true;
    learn(state, request.taker, nowMs, (activity) => tradedElsewhere(activity, request.longestSeconds));
  }
}

const suspects = (state: StatisticsState, nowMs: number): SuspectTaker[] =>
  [...state.suspected]
    .slice(0, MAX_SUSPECTS)
    .flatMap((taker) => {
      const known = state.takers.peek(taker);
      if (known === undefined) return [];
      const step = fade(state, taker, known, nowMs);
      const { quotes: asked, liveSeconds, accepts } = known.activity;
      return step === 0 ? [] : [{ taker, step, quotes: asked, liveSeconds, accepts }];
    })
    .sort((a, b) => b.step - a.step || b.liveSeconds - a.liveSeconds);
