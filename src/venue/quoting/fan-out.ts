/**
 * Sends a request to many solvers and collects their answers under one deadline, or until all that the round
 * waits for have answered. The caller verifies the answers.
 */

import type { DeclineReason } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type {
  BrokenFrame,
  Commit,
  FromVenue,
  LinkDecline,
  LinkMessage,
  LinkPartial,
  LinkQuote,
  Rfq,
  SliceRequest,
} from '../../protocol/link/link.ts';
import { requestSpan } from '../../ports/tracer.ts';
import { type RejectionCode, REJECTIONS } from '../../protocol/link/rejections.ts';
import { frameLimit } from '../access/token-buckets.ts';
import type { VenueDeps } from '../deps.ts';
import type { FanOutOptions } from '../options.ts';
import type { AnswerTimes } from '../solvers/answer-times.ts';
import type { Roster } from '../solvers/roster.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';
import type { Objection } from './verify.ts';
import { createFanOutMetrics, DECLINE_CODES, type FanOutMetrics, OTHER } from './fan-out-metrics.ts';
import { effectOf, isWaiting, type QuoteRound, type SolverAnswer } from './round.ts';

export interface Declined {
  solverId: string;
  reason: DeclineReason;
  maxAmount: bigint | null;
  minAmount: bigint | null;
}

export interface SolverReplies {
  quotes: { session: SolverSession; quote: LinkQuote }[];
  /** Each solver has at most one offer here. */
  partials: { session: SolverSession; partial: LinkPartial }[];
  declines: Declined[];
}

interface CommitReplies {
  commits: Map<SolverSession, Commit>;
  refused: SolverSession[];
}

type Rejected = LinkMessage<'rejected', FromVenue>;

interface RejectedIds {
  rfqId: string | null;
  quoteId?: Bytes32 | null;
}

/**
 * A solver that was silent in this many rounds in a row is still asked, but no round waits for it, except one
 * every `SKIP_MS`.
 */
const MISSES = 3;
const SKIP_MS = 5_000;

/** Each connection is told at most this many rejections a second. */
const REJECTED_PER_SECOND = 10;
const REJECTED_TYPES: ReadonlySet<string> = new Set(['quote', 'partial', 'commit']);

type FanOutDeps = Pick<VenueDeps, 'clock' | 'metrics' | 'tracer'> & {
  roster: Pick<Roster, 'recordFault' | 'onOnboarded'>;
  answerTimes?: Pick<AnswerTimes, 'record'>;
};

type Timeouts = Pick<FanOutOptions, 'timeoutMs' | 'sliceTimeoutMs' | 'lingerMs'>;

/** The rounds in progress, what is known about sessions, and what is counted. */
interface FanOutState extends FanOutMetrics {
  /** The rounds by rfqId. */
  readonly rounds: Map<string, QuoteRound>;
  /** Limits the rejections that a session is told. */
  readonly mayTell: WeakMap<SolverSession, () => boolean>;
  /** Sessions that have not answered the last rounds. */
  readonly silence: WeakMap<SolverSession, { misses: number; skippedUntilMs: number }>;
}

export interface FanOut {
  /** `withinMs` may shorten the configured deadline. Never rejects. */
  requestQuotes(
    rfq: Omit<Rfq, 'deadlineMs'>,
    sessions: readonly SolverSession[],
    withinMs?: number,
  ): Promise<SolverReplies>;
  /** Asks each LP of a split to sign its slice. The round ends with the first decline. Never rejects. */
  requestCommits(
    quoteId: Bytes32,
    slices: readonly { session: SolverSession; slice: Omit<SliceRequest, 'deadlineMs'> }[],
    withinMs?: number,
  ): Promise<CommitReplies>;
  /** Adds an answer to its round. */
  receive(session: SolverSession, message: SolverAnswer): void;
  /** No round waits for a closed connection. */
  forget(session: SolverSession): void;
  /** Counts an answer that was not rejected. Quotes beyond the best ones are not verified. */
  countValid(session: SolverSession, answer: 'quote' | 'commit'): void;
  /** Tells the solver what is wrong with its answer, and counts nothing. */
  tell(session: SolverSession, code: RejectionCode, of: RejectedIds, field?: string): void;
  /** Counts an invalid answer, and tells the solver. */
  reject(session: SolverSession, why: Objection, of: RejectedIds): void;
  /** Tells a solver that its answer cannot be read. The caller has counted it. */
  rejectBroken(session: SolverSession, frame: BrokenFrame): void;
}

export function createFanOut(deps: FanOutDeps, options: Timeouts): FanOut {
  const state: FanOutState = {
    rounds: new Map<string, QuoteRound>(),
    mayTell: new WeakMap<SolverSession, () => boolean>(),
    silence: new WeakMap<SolverSession, { misses: number; skippedUntilMs: number }>(),
    ...createFanOutMetrics(deps),
  };
  return {
    requestQuotes: (rfq, sessions, withinMs) => requestQuotes(deps, options, state, rfq, sessions, withinMs),
    requestCommits: (quoteId, slices, withinMs) =>
      requestCommits(deps, options, state, quoteId, slices, withinMs),
    receive: (session, message) => receive(deps, options, state, session, message),
    forget: (session) => forget(deps, options, state, session),
    countValid: ({ solverId }, answer) => state.answers.add({ solver: solverId, answer }),
    tell: (session, code, of, field) => tell(deps, state, session, code, of, field),
    reject: (session, why, of) => reject(deps, state, session, why, of),
    rejectBroken: (session, frame) => rejectBroken(deps, state, session, frame),
  };
}

async function requestQuotes(
  deps: FanOutDeps,
  options: Timeouts,
  state: FanOutState,
  rfq: Omit<Rfq, 'deadlineMs'>,
  sessions: readonly SolverSession[],
  withinMs: number = options.timeoutMs,
): Promise<SolverReplies> {
  const waitMs = wholeMs(Math.min(withinMs, options.timeoutMs));
  const frame = Buffer.from(JSON.stringify({ ...rfq, deadlineMs: waitMs }));
  const prompt = sessions.filter((session) => isPrompt(deps, state, session));
  const messages = await ask(
    deps,
    options,
    state,
    rfq.rfqId,
    null,
    new Map(sessions.map((session) => [session, frame])),
    // Where every solver has been silent, the round waits for all of them.
    prompt.length > 0 ? prompt : sessions,
    waitMs,
  );
  const replies: SolverReplies = { quotes: [], partials: [], declines: [] };
  for (const { session, message } of messages) {
    const { solverId } = session;
    if (message.type === 'quote') replies.quotes.push({ session, quote: message });
    if (message.type === 'partial') {
      state.answers.add({ solver: solverId, answer: 'partial' });
      if (!replies.partials.some((other) => other.session === session))
        replies.partials.push({ session, partial: message });
    }
    if (message.type === 'decline') {
      state.answers.add({ solver: solverId, answer: 'decline' });
      countDecline(state, session, message);
      const maxAmount = message.maxAmount === null ? null : BigInt(message.maxAmount);
      const minAmount = message.minAmount === undefined ? null : BigInt(message.minAmount);
      replies.declines.push({ solverId, reason: message.reason, maxAmount, minAmount });
    }
  }
  return replies;
}

const isPrompt = (deps: FanOutDeps, state: FanOutState, session: SolverSession): boolean =>
  (state.silence.get(session)?.skippedUntilMs ?? 0) <= deps.clock.monotonicMs();

function ask(
  deps: FanOutDeps,
  options: Timeouts,
  state: FanOutState,
  rfqId: string,
  quoteId: Bytes32 | null,
  frames: ReadonlyMap<SolverSession, string | Buffer>,
  awaited: readonly SolverSession[],
  waitMs: number,
): Promise<QuoteRound['messages']> {
  if (frames.size === 0) return Promise.resolve([]);
  return new Promise((resolve) => {
    const startedMs = deps.clock.monotonicMs();
    const round: QuoteRound = {
      quoteId,
      startedMs,
      waitMs,
      asked: new Set(frames.keys()),
      open: new Set(frames.keys()),
      done: new Set(),
      awaited: new Set(awaited),
      messages: [],
      lastAnswerMs: startedMs,
      mayContinue: false,
      cancelTimer: deps.clock.after(waitMs, () => endRound(deps, options, state, rfqId, round, true)),
      finished: () => resolve(round.messages),
    };
    state.rounds.set(rfqId, round);
    for (const [session, frame] of frames) {
      session.inFlight++;
      session.send(frame);
    }
  });
}

function endRound(
  deps: FanOutDeps,
  options: Timeouts,
  state: FanOutState,
  rfqId: string,
  round: QuoteRound,
  atDeadline = false,
): void {
  if (!state.rounds.delete(rfqId)) return;
  round.cancelTimer();
  const nowMs = deps.clock.monotonicMs();
  for (const session of round.open) {
    const solver = session.solverId;
    session.inFlight--;
    recordAnswer(deps, rfqId, session, nowMs - round.startedMs, 'silent');
    if (!round.awaited.has(session)) {
      state.answers.add({ solver, answer: 'unawaited' });
      continue;
    }
    state.answers.add({ solver, answer: 'silent' });
    // A shortened deadline says little about the solver.
    if (atDeadline && round.waitMs * 2 >= options.timeoutMs) {
      const misses = (state.silence.get(session)?.misses ?? 0) + 1;
      state.silence.set(session, { misses, skippedUntilMs: misses < MISSES ? 0 : nowMs + SKIP_MS });
    }
    if (round.open.size < round.asked.size || round.asked.size === 1)
      state.wasted.add({ solver }, (nowMs - round.lastAnswerMs) / 1000);
  }
  round.finished();
}

function recordAnswer(
  deps: FanOutDeps,
  rfqId: string,
  session: SolverSession,
  tookMs: number,
  answer: string,
): void {
  const endMs = deps.clock.nowMs();
  deps.tracer?.record({
    name: 'ask solver',
    parent: requestSpan(rfqId),
    ...{ startMs: endMs - tookMs, endMs },
    attributes: { 'firmquote.solver': session.solverId, 'firmquote.answer': answer },
  });
}

function countDecline(state: FanOutState, session: SolverSession, { reason, code }: LinkDecline): void {
  const solver = session.solverId;
  state.declined.add({ solver, reason });
  // Metrics labels must come from a fixed set.
  if (code !== undefined) state.named.add({ solver, control: DECLINE_CODES.has(code) ? code : OTHER });
}

async function requestCommits(
  deps: FanOutDeps,
  options: Timeouts,
  state: FanOutState,
  quoteId: Bytes32,
  slices: readonly { session: SolverSession; slice: Omit<SliceRequest, 'deadlineMs'> }[],
  withinMs: number = options.sliceTimeoutMs,
): Promise<CommitReplies> {
  const waitMs = wholeMs(Math.min(withinMs, options.sliceTimeoutMs));
  const messages = await ask(
    deps,
    options,
    state,
    slices[0]?.slice.rfqId ?? '',
    quoteId,
    new Map(slices.map(({ session, slice }) => [session, JSON.stringify({ ...slice, deadlineMs: waitMs })])),
    slices.map(({ session }) => session),
    waitMs,
  );
  const replies: CommitReplies = { commits: new Map(), refused: [] };
  for (const { session, message } of messages) {
    if (message.type === 'commit') replies.commits.set(session, message);
    if (message.type === 'decline') {
      countDecline(state, session, message);
      replies.refused.push(session);
    }
  }
  return replies;
}

function receive(
  deps: FanOutDeps,
  options: Timeouts,
  state: FanOutState,
  session: SolverSession,
  message: SolverAnswer,
): void {
  const round = state.rounds.get(message.rfqId);
  if (!round?.asked.has(session)) {
    if (message.type !== 'decline') tell(deps, state, session, 'late', message);
    return state.answers.add({ solver: session.solverId, answer: 'late' });
  }
  const effect = effectOf(round, session, message);
  if (effect === 'ignored') return;
  round.lastAnswerMs = deps.clock.monotonicMs();
  round.messages.push({ session, message });
  if (effect === 'announced') return;
  if (effect === 'done') round.done.add(session);
  if (round.open.delete(session)) {
    session.inFlight--;
    state.silence.delete(session);
    const tookMs = round.lastAnswerMs - round.startedMs;
    state.answerSeconds.observe(tookMs / 1000, { solver: session.solverId });
    recordAnswer(deps, message.rfqId, session, tookMs, message.type);
    deps.answerTimes?.record(session.solverId, tookMs);
  }
  if (effect === 'broken') return endRound(deps, options, state, message.rfqId, round);
  round.mayContinue ||= effect === 'may_continue';
  if (isWaiting(round)) return;
  round.cancelTimer();
  // Never beyond the deadline, however often a solver answers.
  const leftMs = Math.min(options.lingerMs, round.startedMs + round.waitMs - round.lastAnswerMs);
  if (round.mayContinue && leftMs > 0)
    round.cancelTimer = deps.clock.after(leftMs, () => endRound(deps, options, state, message.rfqId, round));
  else endRound(deps, options, state, message.rfqId, round);
}

function tell(
  deps: FanOutDeps,
  state: FanOutState,
  session: SolverSession,
  code: RejectionCode,
  { rfqId, quoteId = null }: RejectedIds,
  field: string = REJECTIONS[code].field,
): void {
  const may = state.mayTell.get(session) ?? frameLimit(deps.clock, REJECTED_PER_SECOND);
  state.mayTell.set(session, may);
  if (!may()) return;
  const { message } = REJECTIONS[code];
  session.notify(
    JSON.stringify({ type: 'rejected', rfqId, quoteId, code, message, field } satisfies Rejected),
  );
}

function forget(deps: FanOutDeps, options: Timeouts, state: FanOutState, session: SolverSession): void {
  for (const [rfqId, round] of [...state.rounds]) {
    if (!round.open.delete(session)) continue;
    state.answers.add({ solver: session.solverId, answer: 'gone' });
    if (round.awaited.has(session) && !isWaiting(round)) endRound(deps, options, state, rfqId, round);
  }
}

function reject(
  deps: FanOutDeps,
  state: FanOutState,
  session: SolverSession,
  why: Objection,
  of: RejectedIds,
): void {
  const { solverId } = session;
  state.answers.add({ solver: solverId, answer: 'invalid' });
  state.invalid.add({ solver: solverId, why });
  // The quote itself holds, and the welcome said what is demanded.
  if (why !== 'bond') deps.roster.recordFault(solverId, 'invalid');
  tell(deps, state, session, why, of);
}

function rejectBroken(
  deps: FanOutDeps,
  state: FanOutState,
  session: SolverSession,
  { type, field, ...of }: BrokenFrame,
): void {
  if (REJECTED_TYPES.has(type)) tell(deps, state, session, 'malformed', of, field);
}

const wholeMs = (ms: number): number => Math.max(1, Math.floor(ms));
