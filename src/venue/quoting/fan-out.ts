/**
 * Sends a request to many solvers and collects their answers under one deadline, or until all that the round
 * waits for have answered. The caller verifies the answers.
 */

import { CONTROLS, DECLINE_REASONS, type DeclineReason } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type {
  BrokenFrame,
  Commit,
  FromVenue,
  LinkDecline,
  LinkMessage,
  LinkQuote,
  LinkPartial,
  Rfq,
  SliceRequest,
} from '../../protocol/link/link.ts';
import { requestSpan } from '../../ports/tracer.ts';
import { REJECTIONS, type RejectionCode } from '../../protocol/link/rejections.ts';
import { frameLimit } from '../access/token-buckets.ts';
import type { VenueDeps } from '../deps.ts';
import type { FanOutOptions } from '../options.ts';
import type { AnswerTimes } from '../solvers/answer-times.ts';
import type { Roster, SolverSession } from '../solvers/roster.ts';
import { type Objection, OBJECTIONS } from './verify.ts';

export type SolverAnswer = LinkQuote | LinkPartial | LinkDecline | Commit;

export interface Declined {
  solverId: string;
  reason: DeclineReason;
  maxAmount: bigint | null;
  minAmount: bigint | null;
}

export interface SolverReplies {
  quotes: { session: SolverSession; quote: LinkQuote }[];
  /** At most one per solver. */
  partials: { session: SolverSession; partial: LinkPartial }[];
  declines: Declined[];
}

export interface CommitReplies {
  commits: Map<SolverSession, Commit>;
  refused: SolverSession[];
}

type Rejected = LinkMessage<'rejected', FromVenue>;
interface RejectedIds {
  rfqId: string | null;
  quoteId?: Bytes32 | null;
}

export type FanOut = ReturnType<typeof createFanOut>;

interface Round {
  /** null in the first round. */
  readonly quoteId: Bytes32 | null;
  readonly startedMs: number;
  readonly waitMs: number;
  readonly asked: ReadonlySet<SolverSession>;
  readonly open: Set<SolverSession>;
  /** They have said that their answer is complete. */
  readonly done: Set<SolverSession>;
  readonly awaited: ReadonlySet<SolverSession>;
  readonly messages: { session: SolverSession; message: SolverAnswer }[];
  lastAnswerMs: number;
  /** A solver may send further quotes unannounced. */
  mayContinue: boolean;
  cancelTimer(): void;
  finished(): void;
}

/** A solver may quote several validity windows. The last of these completes its answer. */
const MAX_QUOTES_PER_SOLVER = 8;
/**
 * After this many silent rounds in a row a solver is still asked, but no round waits for it, except one every
 * `REST_MS`.
 */
const MISSES = 3;
const REST_MS = 5_000;
/** Per connection. */
const REJECTED_PER_SECOND = 10;
const REJECTED_TYPES: ReadonlySet<string> = new Set(['quote', 'partial', 'commit']);
const OTHER = 'other';
/** `late`: no time was left for the request; `busy`: too many in progress; `settings`: no size can pass. */
const DECLINE_CODES: ReadonlySet<string> = new Set([...CONTROLS, 'late', 'busy', 'settings', OTHER]);
/** What becomes of a request to a solver. */
const ANSWERS = [
  'quote',
  'partial',
  'commit',
  'decline',
  'invalid',
  'silent',
  'unawaited',
  'late',
  'gone',
] as const;
const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];

export function createFanOut(
  {
    clock,
    metrics,
    roster,
    answerTimes,
    tracer,
  }: Pick<VenueDeps, 'clock' | 'metrics' | 'tracer'> & {
    roster: Pick<Roster, 'recordFault' | 'onOnboarded'>;
    answerTimes?: Pick<AnswerTimes, 'record'>;
  },
  { timeoutMs, sliceTimeoutMs, lingerMs }: Pick<FanOutOptions, 'timeoutMs' | 'sliceTimeoutMs' | 'lingerMs'>,
) {
  const rounds = new Map<string, Round>();
  const mayTell = new WeakMap<SolverSession, () => boolean>();
  const silence = new WeakMap<SolverSession, { misses: number; restsUntilMs: number }>();
  const answers = metrics.counter('firmquote_venue_answers_total', 'Answers of solvers', [
    'solver',
    'answer',
  ]);
  const declined = metrics.counter('firmquote_venue_declines_total', 'Declines of solvers', [
    'solver',
    'reason',
  ]);
  const named = metrics.counter(
    'firmquote_venue_declines_named_total',
    'Declines in which a solver named what held it back',
    ['solver', 'control'],
  );
  const invalid = metrics.counter(
    'firmquote_venue_invalid_answers_total',
    'Answers that failed verification',
    ['solver', 'why'],
  );
  const answerSeconds = metrics.histogram(
    'firmquote_venue_answer_seconds',
    'Answer time of solvers',
    BUCKETS_SECONDS,
    ['solver'],
  );
  const wasted = metrics.counter(
    'firmquote_venue_wasted_wait_seconds_total',
    'Time waited in vain for one solver',
    ['solver'],
  );
  // From 0 on, so that an alert sees the first event of a solver.
  roster.onOnboarded((solver) => {
    for (const why of OBJECTIONS) invalid.add({ solver, why }, 0);
    for (const answer of ANSWERS) answers.add({ solver, answer }, 0);
    for (const reason of DECLINE_REASONS) declined.add({ solver, reason }, 0);
    for (const control of DECLINE_CODES) named.add({ solver, control }, 0);
    wasted.add({ solver }, 0);
  });

  const isPrompt = (session: SolverSession) =>
    (silence.get(session)?.restsUntilMs ?? 0) <= clock.monotonicMs();

  function ask(
    rfqId: string,
    quoteId: Bytes32 | null,
    frames: ReadonlyMap<SolverSession, string | Buffer>,
    awaited: readonly SolverSession[],
    waitMs: number,
  ): Promise<Round['messages']> {
    if (frames.size === 0) return Promise.resolve([]);
    return new Promise((resolve) => {
      const startedMs = clock.monotonicMs();
      const round: Round = {
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
        cancelTimer: clock.after(waitMs, () => endRound(rfqId, round, true)),
        finished: () => resolve(round.messages),
      };
      rounds.set(rfqId, round);
      for (const [session, frame] of frames) {
        session.inFlight++;
        session.send(frame);
      }
    });
  }

  function receive(session: SolverSession, message: SolverAnswer) {
    const round = rounds.get(message.rfqId);
    if (!round?.asked.has(session)) {
      if (message.type !== 'decline') tell(session, 'late', message);
      return answers.add({ solver: session.solverId, answer: 'late' });
    }
    const effect = effectOf(round, session, message);
    if (effect === 'ignored') return;
    round.lastAnswerMs = clock.monotonicMs();
    round.messages.push({ session, message });
    if (effect === 'announced') return;
    if (effect === 'done') round.done.add(session);
    if (round.open.delete(session)) {
      session.inFlight--;
      silence.delete(session);
      const tookMs = round.lastAnswerMs - round.startedMs;
      answerSeconds.observe(tookMs / 1000, { solver: session.solverId });
      recordAnswer(message.rfqId, session, tookMs, message.type);
      answerTimes?.record(session.solverId, tookMs);
    }
    if (effect === 'broken') return endRound(message.rfqId, round);
    round.mayContinue ||= effect === 'may_continue';
    if (isWaiting(round)) return;
    round.cancelTimer();
    // Never beyond the deadline, however often a solver answers.
    const leftMs = Math.min(lingerMs, round.startedMs + round.waitMs - round.lastAnswerMs);
    if (round.mayContinue && leftMs > 0)
      round.cancelTimer = clock.after(leftMs, () => endRound(message.rfqId, round));
    else endRound(message.rfqId, round);
  }

  function tell(
    session: SolverSession,
    code: RejectionCode,
    { rfqId, quoteId = null }: RejectedIds,
    field: string = REJECTIONS[code].field,
  ) {
    const may = mayTell.get(session) ?? frameLimit(clock, REJECTED_PER_SECOND);
    mayTell.set(session, may);
    if (!may()) return;
    const { message } = REJECTIONS[code];
    session.notify(
      JSON.stringify({ type: 'rejected', rfqId, quoteId, code, message, field } satisfies Rejected),
    );
  }

  function forget(session: SolverSession) {
    for (const [rfqId, round] of [...rounds]) {
      if (!round.open.delete(session)) continue;
      answers.add({ solver: session.solverId, answer: 'gone' });
      if (round.awaited.has(session) && !isWaiting(round)) endRound(rfqId, round);
    }
  }

  function endRound(rfqId: string, round: Round, atDeadline = false) {
    if (!rounds.delete(rfqId)) return;
    round.cancelTimer();
    const nowMs = clock.monotonicMs();
    for (const session of round.open) {
      const solver = session.solverId;
      session.inFlight--;
      recordAnswer(rfqId, session, nowMs - round.startedMs, 'silent');
      if (!round.awaited.has(session)) {
        answers.add({ solver, answer: 'unawaited' });
        continue;
      }
      answers.add({ solver, answer: 'silent' });
      // A shortened deadline says little about the solver.
      if (atDeadline && round.waitMs * 2 >= timeoutMs) {
        const misses = (silence.get(session)?.misses ?? 0) + 1;
        silence.set(session, { misses, restsUntilMs: misses < MISSES ? 0 : nowMs + REST_MS });
      }
      if (round.open.size < round.asked.size || round.asked.size === 1)
        wasted.add({ solver }, (nowMs - round.lastAnswerMs) / 1000);
    }
    round.finished();
  }

  function recordAnswer(rfqId: string, session: SolverSession, tookMs: number, answer: string) {
    const endMs = clock.nowMs();
    tracer?.record({
      name: 'ask solver',
      parent: requestSpan(rfqId),
      ...{ startMs: endMs - tookMs, endMs },
      attributes: { 'firmquote.solver': session.solverId, 'firmquote.answer': answer },
    });
  }

  function countDecline(session: SolverSession, { reason, code }: LinkDecline) {
    const solver = session.solverId;
    declined.add({ solver, reason });
    // Metrics labels must come from a fixed set.
    if (code !== undefined) named.add({ solver, control: DECLINE_CODES.has(code) ? code : OTHER });
  }

  return {
    /** `withinMs` may shorten the configured deadline. Never rejects. */
    async requestQuotes(
      rfq: Omit<Rfq, 'deadlineMs'>,
      sessions: readonly SolverSession[],
      withinMs: number = timeoutMs,
    ) {
      const waitMs = wholeMs(Math.min(withinMs, timeoutMs));
      const frame = Buffer.from(JSON.stringify({ ...rfq, deadlineMs: waitMs }));
      const prompt = sessions.filter(isPrompt);
      const messages = await ask(
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
          answers.add({ solver: solverId, answer: 'partial' });
          if (!replies.partials.some((other) => other.session === session))
            replies.partials.push({ session, partial: message });
        }
        if (message.type === 'decline') {
          answers.add({ solver: solverId, answer: 'decline' });
          countDecline(session, message);
          const maxAmount = message.maxAmount === null ? null : BigInt(message.maxAmount);
          const minAmount = message.minAmount === undefined ? null : BigInt(message.minAmount);
          replies.declines.push({ solverId, reason: message.reason, maxAmount, minAmount });
        }
      }
      return replies;
    },
    /** Asks each LP of a split to sign its slice. The round ends with the first decline. Never rejects. */
    async requestCommits(
      quoteId: Bytes32,
      slices: readonly { session: SolverSession; slice: Omit<SliceRequest, 'deadlineMs'> }[],
      withinMs: number = sliceTimeoutMs,
    ) {
      const waitMs = wholeMs(Math.min(withinMs, sliceTimeoutMs));
      const messages = await ask(
        slices[0]?.slice.rfqId ?? '',
        quoteId,
        new Map(
          slices.map(({ session, slice }) => [session, JSON.stringify({ ...slice, deadlineMs: waitMs })]),
        ),
        slices.map(({ session }) => session),
        waitMs,
      );
      const replies: CommitReplies = { commits: new Map(), refused: [] };
      for (const { session, message } of messages) {
        if (message.type === 'commit') replies.commits.set(session, message);
        if (message.type === 'decline') {
          countDecline(session, message);
          replies.refused.push(session);
        }
      }
      return replies;
    },
    receive,
    /** No round waits for a closed connection. */
    forget,
    /** Counts an answer that was not rejected. Quotes beyond the best ones are not verified. */
    countValid: ({ solverId }: SolverSession, answer: 'quote' | 'commit') =>
      answers.add({ solver: solverId, answer }),
    /** Only tells the solver. */
    tell,
    /** Counts it, and tells the solver. */
    reject(session: SolverSession, why: Objection, of: RejectedIds) {
      const { solverId } = session;
      answers.add({ solver: solverId, answer: 'invalid' });
      invalid.add({ solver: solverId, why });
      // The quote itself holds, and the welcome said what is demanded.
      if (why !== 'bond') roster.recordFault(solverId, 'invalid');
      tell(session, why, of);
    },
    /** Tells a solver that its answer cannot be read. The caller has counted it. */
    rejectBroken(session: SolverSession, { type, field, ...of }: BrokenFrame) {
      if (REJECTED_TYPES.has(type)) tell(session, 'malformed', of, field);
    },
  };
}

type Effect = 'done' | 'announced' | 'may_continue' | 'ignored' | 'broken';

function effectOf({ quoteId, messages, done }: Round, session: SolverSession, message: SolverAnswer): Effect {
  if (done.has(session)) return 'ignored';
  const earlier = messages.filter(
    (other) => other.session === session && other.message.type === message.type,
  );
  if (quoteId !== null) {
    // It may belong to the first round or to an earlier plan: the rfqId is the same.
    if (message.type === 'decline')
      return message.quoteId === undefined || message.quoteId === quoteId ? 'broken' : 'ignored';
    return message.type === 'commit' && message.quoteId === quoteId && earlier.length === 0
      ? 'done'
      : 'ignored';
  }
  switch (message.type) {
    case 'quote':
      if (earlier.length + 1 >= MAX_QUOTES_PER_SOLVER) return 'done';
      return message.more === undefined ? 'may_continue' : message.more ? 'announced' : 'done';
    case 'partial':
      return earlier.length === 0 ? 'may_continue' : 'done';
    case 'decline':
      return 'done';
    case 'commit':
      return 'ignored';
  }
}

const isWaiting = ({ open, awaited }: Round): boolean => [...open].some((session) => awaited.has(session));

const wholeMs = (ms: number): number => Math.max(1, Math.floor(ms));
