/**
 * The state of a hold, derived from the set of facts about it and never from their order: facts arrive late,
 * twice, shuffled, and a reorganisation takes some of them back.
 */

import type { HoldRequest } from './event.ts';

export interface Facts {
  readonly accepted: boolean;
  readonly restored: boolean;
  readonly expired: boolean;
  readonly released: boolean;
  readonly failed: boolean;
  readonly overdue: boolean;
  /** Chain facts by id; `reorged` holds the ids that a reorganisation took back. */
  readonly fills: readonly string[];
  readonly finals: readonly string[];
  readonly finalised: readonly { id: string; received: bigint }[];
  readonly reorged: readonly string[];
}

const NONE: readonly never[] = [];

/** The facts of a new hold. Facts are replaced and never changed, so all holds share this object. */
export const NO_FACTS: Facts = {
  accepted: false,
  restored: false,
  expired: false,
  released: false,
  failed: false,
  overdue: false,
  fills: NONE,
  finals: NONE,
  finalised: NONE,
  reorged: NONE,
};
const EXPIRED: Facts = { ...NO_FACTS, expired: true };
const RELEASED: Facts = { ...NO_FACTS, released: true };

/** Nearly every hold ends by one of these two facts alone, so those results are shared objects. */
export const withExpired = (facts: Facts): Facts =>
  facts === NO_FACTS ? EXPIRED : { ...facts, expired: true };
export const withReleased = (facts: Facts): Facts =>
  facts === NO_FACTS ? RELEASED : { ...facts, released: true };

/**
 * `held -> accepted -> filled -> fill_final -> received`, or `expired | released | failed`. `fill_final`: our
 * output left and the block has its depth, but the input has not arrived.
 */
export type HoldState =
  | 'held'
  | 'accepted'
  | 'filled'
  | 'fill_final'
  | 'received'
  | 'expired'
  | 'released'
  | 'failed';

/**
 * Folds facts into a state. Facts of the chain outrank all others. A final claim of the input implies a final
 * fill.
 */
export function holdStateOf(facts: Facts): HoldState {
  const { fills, finals, finalised, reorged } = facts;
  const onChain = fills.length + finals.length + finalised.length > 0;
  if (onChain) {
    const stands = (id: string) => !reorged.includes(id);
    if (finalised.some(({ id }) => stands(id))) return 'received';
    if (finals.some(stands)) return 'fill_final';
    if (fills.some(stands)) return 'filled';
  }
  if (facts.failed) return 'failed';
  if (facts.released) return 'released';
  // A fill that was reorganised away may be mined again: the hold stays until the chain proves it dead.
  if (facts.expired && !facts.restored && !onChain) return 'expired';
  return facts.accepted || facts.restored || onChain ? 'accepted' : 'held';
}

/**
 * Returns what arrived. Of several claims that stand the smallest id counts, so that order does not matter.
 */
export function receivedBy({ finalised, reorged }: Facts): bigint | undefined {
  let first: { id: string; received: bigint } | undefined;
  for (const claim of finalised)
    if (!reorged.includes(claim.id) && (first === undefined || claim.id < first.id)) first = claim;
  return first?.received;
}

export const usesNonce = (state: HoldState): boolean => state === 'fill_final' || state === 'received';

export const hasEnded = (state: HoldState): boolean =>
  state === 'expired' || state === 'released' || state === 'failed';

/** Returns whether the hold is done. Only a deep reorganisation can change such a state. */
export const isDone = (state: HoldState): boolean => state === 'received' || hasEnded(state);

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
