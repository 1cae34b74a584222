/**
 * Books nonce groups. At most one hold of a group can execute, so per bucket and cap it counts once, with its
 * largest hold. To change a hold: take the group off the books, change it, add the group again.
 */

import { type Bucket, toAtto } from './bucket.ts';
import type { HoldRequest } from './event.ts';
import type { Hold, NonceGroup } from './hold.ts';
import { receivedBy, usesNonce } from './hold-state.ts';
import type { CapAmounts, Outstanding } from './limits.ts';

export function isNonceUsed({ holds }: NonceGroup): boolean {
  for (const { state } of holds) if (usesNonce(state)) return true;
  return false;
}

export function liveIn(group: NonceGroup): number {
  if (isNonceUsed(group)) return 0;
  let live = 0;
  for (const { state } of group.holds) if (state === 'held') live += 1;
  return live;
}

/** The largest output of the group that this bucket still owes; 0n when it owes none. */
export function largestOutput({ holds }: NonceGroup, bucket: Bucket): bigint {
  let largest = 0n;
  for (const hold of holds)
    if (hold.out === bucket && rankOf(hold) > 0 && hold.request.amount > largest)
      largest = hold.request.amount;
  return largest;
}

/** Returns what the group counts against a cap already; undefined when none of its holds counts there. */
export function countedAgainst(
  group: NonceGroup,
  scope: number,
  counter: Outstanding,
): CapAmounts | undefined {
  const { holds } = group;
  if (isNonceUsed(group)) return undefined;
  for (let at = 0; at < holds.length; at += 1)
    if (countsIn(holds[at] as Hold, scope, counter)) return largestIn(holds, at, scope, counter);
  return undefined;
}

export function addToBooks(group: NonceGroup): void {
  book(group, 1);
}

export function takeOffBooks(group: NonceGroup): void {
  book(group, -1);
}

type Sign = 1 | -1;
const plus = (total: bigint, amount: bigint, sign: Sign): bigint =>
  sign === 1 ? total + amount : total - amount;

/** Allocates nothing for a group of one hold: runs three times per quote. */
function book(group: NonceGroup, sign: Sign): void {
  const { holds } = group;
  if (isNonceUsed(group)) {
    for (const hold of holds) if (usesNonce(hold.state)) bookFinalFill(hold, sign);
    return;
  }
  let lead: Hold | undefined;
  for (let at = 0; at < holds.length; at += 1) {
    const hold = holds[at] as Hold;
    if (rankOf(hold) === 0) continue;
    if (lead === undefined || leads(hold, lead)) lead = hold;
    bookBucket(holds, at, sign);
    if (hold.state === 'held') bookCounters(holds, at, sign);
  }
  if (lead === undefined) return;
  // A fill is no promise: its input is a receivable, which counts as owned.
  if (lead.state === 'filled') bookReceivable(lead, sign);
  else bookExposure(lead, sign);
}

function bookFinalFill(hold: Hold, sign: Sign): void {
  hold.out.moved = plus(hold.out.moved, -hold.request.amount, sign);
  const received = receivedBy(hold.facts);
  if (received === undefined) bookReceivable(hold, sign);
  else hold.in.moved = plus(hold.in.moved, received, sign);
}

function bookReceivable({ in: into, request: { input }, facts }: Hold, sign: Sign): void {
  into.receivable = plus(into.receivable, input.amount, sign);
  if (facts.overdue) into.overdue = plus(into.overdue, input.amount, sign);
}

/**
 * The largest fill, the excess of the largest acceptance, and the excess of the largest hold. Of two fills,
 * one was reorganised away and not yet reported.
 */
function bookBucket(holds: readonly Hold[], at: number, sign: Sign): void {
  const { out } = holds[at] as Hold;
  let filled = 0n;
  let accepted = 0n;
  let held = 0n;
  for (let other = 0; other < holds.length; other += 1) {
    const hold = holds[other] as Hold;
    const rank = rankOf(hold);
    if (rank === 0 || hold.out !== out) continue;
    // An earlier hold of the group has booked this bucket.
    if (other < at) return;
    const { amount } = hold.request;
    if (amount > held) held = amount;
    if (rank >= RANK.accepted && amount > accepted) accepted = amount;
    if (rank === RANK.filled && amount > filled) filled = amount;
  }
  out.held = plus(out.held, held - accepted, sign);
  if (accepted === 0n) return;
  out.committed = plus(out.committed, accepted - filled, sign);
  out.pendingOut = plus(out.pendingOut, filled, sign);
}

function bookCounters(holds: readonly Hold[], at: number, sign: Sign): void {
  const { counters, request } = holds[at] as Hold;
  const alone = holds.length === 1;
  for (let scope = 0; scope < counters.length; scope += 1) {
    const counter = counters[scope] as Outstanding;
    if (!alone && isCountedBefore(holds, at, scope, counter)) continue;
    const { notional, gapLoss = 0n } = alone ? request : largestIn(holds, at, scope, counter);
    counter.count += sign;
    counter.notional = plus(counter.notional, notional, sign);
    counter.gapLoss = plus(counter.gapLoss, gapLoss, sign);
  }
}

const countsIn = ({ state, counters }: Hold, scope: number, counter: Outstanding): boolean =>
  state === 'held' && counters[scope] === counter;

function isCountedBefore(holds: readonly Hold[], at: number, scope: number, counter: Outstanding): boolean {
  for (let other = 0; other < at; other += 1) if (countsIn(holds[other] as Hold, scope, counter)) return true;
  return false;
}

function largestIn(holds: readonly Hold[], from: number, scope: number, counter: Outstanding): CapAmounts {
  let [notional, gapLoss] = [0n, 0n];
  for (let at = from; at < holds.length; at += 1) {
    const hold = holds[at] as Hold;
    if (!countsIn(hold, scope, counter)) continue;
    const { request } = hold;
    if (request.notional > notional) notional = request.notional;
    if (request.gapLoss !== undefined && request.gapLoss > gapLoss) gapLoss = request.gapLoss;
  }
  return { notional, gapLoss };
}

/** Ranks how firmly a hold binds its output, rising; 0: not at all. */
const RANK = { held: 1, accepted: 2, filled: 3 } as const;
function rankOf({ state }: Hold): 0 | 1 | 2 | 3 {
  return state === 'held' || state === 'accepted' || state === 'filled' ? RANK[state] : 0;
}

/**
 * Returns whether hold `a` represents the group in the exposure before `b`: the firmer, then the larger, then
 * the likelier. Order ids break ties, so arrival order does not matter.
 */
function leads(a: Hold, b: Hold): boolean {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks > 0;
  const [one, other] = [a.request, b.request];
  if (one.notional !== other.notional) return one.notional > other.notional;
  const chances = chanceOf(one) - chanceOf(other);
  return chances !== 0 ? chances > 0 : one.orderId < other.orderId;
}

const chanceOf = ({ fillProbabilityBps = 10_000 }: HoldRequest): number => fillProbabilityBps;

function bookExposure({ state, out, in: into, request }: Hold, sign: Sign): void {
  const paid = -toAtto(request.amount, out.decimals);
  const brought = toAtto(request.input.amount, into.decimals);
  if (state === 'held') {
    const chance = BigInt(chanceOf(request));
    out.exposure.quoted = plus(out.exposure.quoted, (paid * chance) / 10_000n, sign);
    into.exposure.quoted = plus(into.exposure.quoted, (brought * chance) / 10_000n, sign);
  } else {
    out.exposure.committed = plus(out.exposure.committed, paid, sign);
    into.exposure.committed = plus(into.exposure.committed, brought, sign);
  }
}
