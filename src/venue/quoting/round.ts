/** One question to several solvers: who has answered, and what one more answer does to it. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { Commit, LinkDecline, LinkPartial, LinkQuote } from '../../protocol/link/link.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';

export type SolverAnswer = LinkQuote | LinkPartial | LinkDecline | Commit;

export interface QuoteRound {
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

type Effect = 'done' | 'announced' | 'may_continue' | 'ignored' | 'broken';

export function effectOf(
  { quoteId, messages, done }: QuoteRound,
  session: SolverSession,
  message: SolverAnswer,
): Effect {
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

export const isWaiting = ({ open, awaited }: QuoteRound): boolean =>
  [...open].some((session) => awaited.has(session));
