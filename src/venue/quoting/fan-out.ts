/**
 * One request to many solvers at once, with one deadline for all; it ends early when everybody has answered,
 * and no answer can make it throw or wait.
 */

import { CONTROLS } from '../../domain/control.ts';
import type { DeclineReason } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Commit, LinkDecline, LinkQuote, Partial, Rfq, Slice } from '../../protocol/link/link.ts';
import type { FanOutOptions } from '../options.ts';
import type { SolverSession } from '../solvers/roster.ts';
import type { Objection } from './verify.ts';

export type SolverAnswer = LinkQuote | Partial | LinkDecline | Commit;

export interface Declined {
  solverId: string;
  reason: DeclineReason;
  maxAmount: bigint | null;
}

export interface SolverReplies<Q> {
  quotes: Q[];
  partials: { session: SolverSession; partial: Partial }[];
  declines: Declined[];
  /** How many quotes did not hold. */
  invalid: number;
  asked: number;
}

export interface FanOut {
  /**
   * First round, within the configured deadline or a shorter one. `verify` runs as each quote arrives, so
   * that the work spreads over the wait; what it promises is waited for when the round is over.
   */
  gather<Q extends object>(
    rfq: Omit<Rfq, 'deadlineMs'>,
    sessions: readonly SolverSession[],
    verify: (session: SolverSession, quote: LinkQuote) => Verdict<Q> | Promise<Verdict<Q>>,
    withinMs?: number,
  ): Promise<SolverReplies<Q>>;
  /**
   * Second round: everybody's commitment to one planned order, by solver; or whose fault it is that some are
   * missing.
   */
  commit<C extends object>(
    slices: readonly { session: SolverSession; slice: Omit<Slice, 'deadlineMs'> }[],
    verify: (session: SolverSession, commit: Commit) => C | Objection,
    withinMs?: number,
  ): Promise<{ committed: Map<string, C>; missing: SolverSession[] }>;
  /** A frame of a solver that answers a request. */
  answer(session: SolverSession, message: SolverAnswer): void;
  /** Its connection is gone: nobody waits for it any longer. */
  forget(session: SolverSession): void;
  /** What `verify` let pass turned out not to hold. */
  object(session: SolverSession, why: Objection): void;
  onInvalid(listener: (session: SolverSession, why: Objection) => void): void;
}

type Verdict<Q> = Q | Objection;

interface Round {
  /** Those who have not answered yet. */
  open: Set<SolverSession>;
  /** How many of them the round waits for. */
  awaited: number;
  /** Everybody who was asked; others may not answer. */
  asked: Set<SolverSession>;
  take(session: SolverSession, message: SolverAnswer): void;
  lose(session: SolverSession): void;
  /** `lapsed`: everybody has had time enough, so whoever is missing counts as silent. */
  end(lapsed?: boolean): void;
}

/**
 * What an answer means for the round: its sender is done, has announced another, may send more, said nothing
 * to the point, or made the round pointless.
 */
type Taken = 'done' | 'announced' | 'more' | 'ignored' | 'broken';

/** Several validity windows are welcome; a flood is not. */
const MAX_QUOTES_PER_SOLVER = 8;
/**
 * A solver that let this many rounds in a row pass in silence is asked as before, but nobody waits for it;
 * after a rest it gets one round to show that it is back.
 */
const MISSES = 3;
const REST_MS = 5_000;
const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];

export function createFanOut(
  { clock, metrics }: { clock: Clock; metrics: Metrics },
  { timeoutMs, sliceTimeoutMs, lingerMs }: Pick<FanOutOptions, 'timeoutMs' | 'sliceTimeoutMs' | 'lingerMs'>,
): FanOut {
  /**
   * By request. A round is taken out of its place when it ends: a Map that entries pass through leaves its
   * outgrown tables behind, each with what was in it, and one of them in old memory keeps all that follow,
   * and with each the whole of some requests, until a full collection.
   */
  const rounds = new Map<string, { round: Round | undefined }>();
  const silence = new WeakMap<SolverSession, { misses: number; restsUntilMs: number }>();
  const isPrompt = (session: SolverSession) =>
    (silence.get(session)?.restsUntilMs ?? 0) <= clock.monotonicMs();
  const invalidListeners: ((session: SolverSession, why: Objection) => void)[] = [];
  const answers = metrics.counter('firmquote_venue_answers_total', 'Answers of solvers to requests', [
    'solver',
    'answer',
  ]);
  const declined = metrics.counter(
    'firmquote_venue_declines_total',
    'Declines of solvers by reason, and by the risk control that they name',
    ['solver', 'reason', 'control'],
  );
  const invalid = metrics.counter('firmquote_venue_invalid_answers_total', 'Answers that did not hold', [
    'solver',
    'why',
  ]);
  const answerSeconds = metrics.histogram(
    'firmquote_venue_answer_seconds',
    'Time from request to a solver answer',
    BUCKETS_SECONDS,
    ['solver'],
  );
  const wasted = metrics.counter(
    'firmquote_venue_wasted_wait_seconds_total',
    'Time the venue waited for this solver alone, in vain',
    ['solver'],
  );

  function run(
    rfqId: string,
    waitMs: number,
    sessions: readonly SolverSession[],
    send: (session: SolverSession) => void,
    take: (session: SolverSession, message: SolverAnswer) => Taken,
    waitsFor: (session: SolverSession) => boolean,
  ): Promise<void> {
    if (sessions.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const startedMs = clock.monotonicMs();
      let lastAnswerMs = startedMs;
      let ended = false;
      /** Somebody may have more to say. */
      let more = false;
      let cancel = () => {};
      const awaited = new Set(sessions.filter(waitsFor));
      // With nobody to be quick for, everybody gets the whole time.
      if (awaited.size === 0) for (const session of sessions) awaited.add(session);
      const round: Round = {
        open: new Set(sessions),
        asked: new Set(sessions),
        awaited: awaited.size,
        take(session, message) {
          const taken = take(session, message);
          if (taken === 'ignored' || ended) return;
          lastAnswerMs = clock.monotonicMs();
          if (taken === 'announced') return;
          if (round.open.delete(session)) {
            session.inFlight--;
            silence.delete(session);
            if (awaited.has(session)) round.awaited--;
            answerSeconds.observe((lastAnswerMs - startedMs) / 1000, { solver: session.solverId });
          }
          if (taken === 'broken') return round.end();
          more ||= taken === 'more';
          if (round.awaited > 0) return;
          cancel();
          if (more && lingerMs > 0) cancel = clock.after(lingerMs, () => round.end());
          else round.end();
        },
        lose(session) {
          if (!round.open.delete(session)) return;
          answers.add({ solver: session.solverId, answer: 'gone' });
          if (awaited.has(session) && --round.awaited === 0) round.end();
        },
        end(lapsed = false) {
          if (ended) return;
          ended = true;
          cancel();
          rounds.delete(rfqId);
          place.round = undefined;
          const nowMs = clock.monotonicMs();
          for (const session of round.open) {
            session.inFlight--;
            if (!awaited.has(session)) {
              answers.add({ solver: session.solverId, answer: 'unawaited' });
              continue;
            }
            answers.add({ solver: session.solverId, answer: 'silent' });
            if (lapsed) {
              const misses = (silence.get(session)?.misses ?? 0) + 1;
              silence.set(session, { misses, restsUntilMs: misses < MISSES ? 0 : nowMs + REST_MS });
            }
            if (round.open.size < round.asked.size || round.asked.size === 1)
              wasted.add({ solver: session.solverId }, (nowMs - lastAnswerMs) / 1000);
          }
          resolve();
        },
      };
      const place: { round: Round | undefined } = { round };
      rounds.set(rfqId, place);
      cancel = clock.after(waitMs, () => round.end(waitMs * 2 >= timeoutMs));
      for (const session of sessions) {
        session.inFlight++;
        send(session);
      }
    });
  }

  function object(session: SolverSession, why: Objection): void {
    invalid.add({ solver: session.solverId, why });
    for (const listener of invalidListeners) listener(session, why);
  }

  return {
    async gather<Q extends object>(
      rfq: Omit<Rfq, 'deadlineMs'>,
      sessions: readonly SolverSession[],
      verify: (session: SolverSession, quote: LinkQuote) => Verdict<Q> | Promise<Verdict<Q>>,
      withinMs = timeoutMs,
    ): Promise<SolverReplies<Q>> {
      const waitMs = Math.max(1, Math.floor(Math.min(withinMs, timeoutMs)));
      const result: SolverReplies<Q> = {
        quotes: [],
        partials: [],
        declines: [],
        invalid: 0,
        asked: sessions.length,
      };
      const perSolver = new Map<SolverSession, number>();
      const arrived: { session: SolverSession; verdict: Verdict<Q> | Promise<Verdict<Q>> }[] = [];
      // Serialised once; every socket gets the same bytes.
      const frame = Buffer.from(JSON.stringify({ ...rfq, deadlineMs: waitMs }));
      await run(
        rfq.rfqId,
        waitMs,
        sessions,
        (session) => session.send(frame),
        (session, message) => {
          const { solverId } = session;
          switch (message.type) {
            case 'quote': {
              const count = (perSolver.get(session) ?? 0) + 1;
              perSolver.set(session, count);
              if (count > MAX_QUOTES_PER_SOLVER) return 'done';
              arrived.push({ session, verdict: verify(session, message) });
              return message.more === undefined ? 'more' : message.more ? 'announced' : 'done';
            }
            case 'partial':
              answers.add({ solver: solverId, answer: 'partial' });
              if (!result.partials.some((other) => other.session === session))
                result.partials.push({ session, partial: message });
              return 'more';
            case 'decline':
              answers.add({ solver: solverId, answer: 'decline' });
              declined.add({ solver: solverId, reason: message.reason, control: controlOf(message) });
              result.declines.push({
                solverId,
                reason: message.reason,
                maxAmount: message.maxAmount === null ? null : BigInt(message.maxAmount),
              });
              return 'done';
            default:
              return 'ignored';
          }
        },
        isPrompt,
      );
      // In the order in which they came.
      for (const { session, verdict } of arrived) {
        const verified = verdict instanceof Promise ? await verdict : verdict;
        if (typeof verified === 'string') {
          result.invalid++;
          answers.add({ solver: session.solverId, answer: 'invalid' });
          object(session, verified);
        } else {
          answers.add({ solver: session.solverId, answer: 'quote' });
          result.quotes.push(verified);
        }
      }
      return result;
    },
    async commit<C extends object>(
      slices: readonly { session: SolverSession; slice: Omit<Slice, 'deadlineMs'> }[],
      verify: (session: SolverSession, commit: Commit) => C | Objection,
      withinMs = sliceTimeoutMs,
    ): Promise<{ committed: Map<string, C>; missing: SolverSession[] }> {
      const waitMs = Math.max(1, Math.floor(Math.min(withinMs, sliceTimeoutMs)));
      const committed = new Map<string, C>();
      const broke: SolverSession[] = [];
      const bySession = new Map(slices.map(({ session, slice }) => [session, slice]));
      const send = (session: SolverSession) =>
        session.send(JSON.stringify({ ...bySession.get(session), deadlineMs: waitMs }));
      await run(
        slices[0]?.slice.rfqId ?? '',
        waitMs,
        [...bySession.keys()],
        send,
        (session, message) => {
          const { solverId } = session;
          const quoteId = bySession.get(session)?.quoteId;
          if (message.type === 'decline') {
            // An answer to an earlier plan of this request, which somebody else broke.
            if (message.quoteId !== undefined && message.quoteId !== quoteId) return 'ignored';
            declined.add({ solver: solverId, reason: message.reason, control: controlOf(message) });
            // One slice missing is the whole order missing: there is nothing left to wait for.
            broke.push(session);
            return 'broken';
          }
          // A late answer to the first round carries the same rfqId.
          if (message.type !== 'commit' || message.quoteId !== quoteId || committed.has(solverId))
            return 'ignored';
          const verified = verify(session, message);
          if (typeof verified === 'string') {
            answers.add({ solver: solverId, answer: 'invalid' });
            object(session, verified);
            broke.push(session);
            return 'broken';
          }
          answers.add({ solver: solverId, answer: 'commit' });
          committed.set(solverId, verified);
          return 'done';
        },
        () => true,
      );
      return {
        committed,
        missing:
          broke.length > 0 ? broke : [...bySession.keys()].filter(({ solverId }) => !committed.has(solverId)),
      };
    },
    answer(session, message) {
      const round = rounds.get(message.rfqId)?.round;
      if (round?.asked.has(session)) round.take(session, message);
      else answers.add({ solver: session.solverId, answer: 'late' });
    },
    forget(session) {
      for (const { round } of [...rounds.values()]) round?.lose(session);
    },
    object,
    onInvalid: (listener) => void invalidListeners.push(listener),
  };
}

/** Solvers are other people's: a word that we do not know is no label. */
function controlOf({ code }: Pick<LinkDecline, 'code'>): string {
  if (code === undefined) return 'none';
  return (CONTROLS as readonly string[]).includes(code) ? code : 'other';
}
