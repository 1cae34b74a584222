/**
 * One promise and the facts known about it. What it means for the inventory is a function of that set alone,
 * never of the order in which the facts came; that is why events may come late, twice or shuffled.
 */

import type { HoldRequest } from './event.ts';

export interface Facts {
  readonly accepted: boolean;
  /** Known to be binding although this ledger let it lapse or never held it. */
  readonly restored: boolean;
  /** Its time passed while it was merely held. */
  readonly lapsed: boolean;
  readonly released: boolean;
  readonly failed: boolean;
  /** Owed for too long: nobody should count on the input any more. */
  readonly overdue: boolean;
  /** Chain facts by id; `undone` holds the ids that a reorg took back. */
  readonly fills: readonly string[];
  readonly finals: readonly string[];
  readonly finalised: readonly { id: string; received: bigint }[];
  readonly undone: readonly string[];
}

const NONE: readonly never[] = [];

/** Of a promise that was just made. One for all: facts are replaced, never changed. */
export const NO_FACTS: Facts = {
  accepted: false,
  restored: false,
  lapsed: false,
  released: false,
  failed: false,
  overdue: false,
  fills: NONE,
  finals: NONE,
  finalised: NONE,
  undone: NONE,
};

/** How firmly a promise binds the output, rising. */
export const Standing = { ended: 0, held: 1, committed: 2, filled: 3, spent: 4 } as const;
export type Standing = (typeof Standing)[keyof typeof Standing];

export type Stage = 'held' | 'accepted' | 'filled' | 'final' | 'finalised' | 'lapsed' | 'released' | 'failed';

/**
 * What arrived for it: of several claims that stand, the one with the first id, so that order does not
 * matter.
 */
export function receivedBy({ finalised, undone }: Facts): bigint | undefined {
  let first: { id: string; received: bigint } | undefined;
  for (const claim of finalised)
    if (!undone.includes(claim.id) && (first === undefined || claim.id < first.id)) first = claim;
  return first?.received;
}

/** What the chain says stands above everything else; a claim at depth implies its fill at depth. */
export function standingOf(facts: Facts): Standing {
  const { fills, finals, finalised, undone } = facts;
  const touched = fills.length + finals.length + finalised.length > 0;
  if (touched) {
    const stands = (id: string) => undone.length === 0 || !undone.includes(id);
    if (finals.some(stands) || finalised.some(({ id }) => stands(id))) return Standing.spent;
    if (fills.some(stands)) return Standing.filled;
  }
  if (facts.failed || facts.released) return Standing.ended;
  if (facts.lapsed && !facts.restored && !touched) return Standing.ended;
  return facts.accepted || facts.restored || touched ? Standing.committed : Standing.held;
}

/** Will nothing but a deep reorg ever change it again? */
export function isDone(facts: Facts): boolean {
  const standing = standingOf(facts);
  return standing === Standing.ended || (standing === Standing.spent && receivedBy(facts) !== undefined);
}

/** Does it still bind output that has not left? */
export const isLive = (standing: Standing): boolean =>
  standing === Standing.held || standing === Standing.committed;

export function stageOf(facts: Facts): Stage {
  switch (standingOf(facts)) {
    case Standing.held:
      return 'held';
    case Standing.committed:
      return 'accepted';
    case Standing.filled:
      return 'filled';
    case Standing.spent:
      return receivedBy(facts) === undefined ? 'final' : 'finalised';
    default:
      return facts.failed ? 'failed' : facts.released ? 'released' : 'lapsed';
  }
}

/** Equal in every field: the same request asked again, not another one under a used id. */
export function sameRequest(a: HoldRequest, b: HoldRequest): boolean {
  return (
    a.chainId === b.chainId &&
    a.token === b.token &&
    a.amount === b.amount &&
    a.group === b.group &&
    a.lapsesAt === b.lapsesAt &&
    a.input.chainId === b.input.chainId &&
    a.input.token === b.input.token &&
    a.input.amount === b.input.amount &&
    (a.clockChainId ?? a.input.chainId) === (b.clockChainId ?? b.input.chainId) &&
    a.taker === b.taker &&
    a.pair === b.pair &&
    a.side === b.side &&
    a.notional === b.notional &&
    (a.gapLoss ?? 0n) === (b.gapLoss ?? 0n) &&
    (a.fillProbabilityBps ?? 10_000) === (b.fillProbabilityBps ?? 10_000)
  );
}
