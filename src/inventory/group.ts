/**
 * Quotes of one nonce of which more is known than that they are held or over, and what they put on the books
 * together: at most one of them can ever execute, so the books owe the largest.
 */

import type { UnixSeconds } from '../domain/time.ts';
import { type Bucket, type Promised, toAtto } from './bucket.ts';
import type { Counters, Way } from './counters.ts';
import type { HoldRequest } from './event.ts';
import type { Lapses } from './lapses.ts';
import type { Outstanding } from './limits.ts';
import { type Facts, isLive, receivedBy, Standing, standingOf } from './promise.ts';
import type { Tally } from './tallies.ts';

/** One quote. */
export interface Entry {
  /** Its number in the ledger, its own until it is forgotten. */
  readonly row: number;
  readonly request: HoldRequest;
  facts: Facts;
  /** Where it counts against caps, while it does. */
  tally: Tally | undefined;
  readonly way: Way;
  readonly out: Bucket;
  readonly in: Bucket;
  readonly clock: Clock;
  readonly group: Group;
  /** 0: still needed. */
  forgetAt: UnixSeconds;
}

export interface Clock {
  readonly chainId: number;
  now: UnixSeconds;
  readonly grace: number;
  /** Rows of what ends or is forgotten then, if it is still there. */
  readonly lapses: Lapses<number>;
  /** More is due than one step ends. */
  backlog: boolean;
}

export interface Group {
  readonly id: string;
  members: readonly Entry[];
  /**
   * Merely held, all of one token, as nearly all are: where, and how much. Else null, and what it adds to
   * each bucket is in `shares`.
   */
  heldIn: Bucket | null;
  held: bigint;
  shares: readonly Share[];
  /**
   * What it counts against caps: one for all of them where its quotes count in one way, as nearly all do,
   * else one for each.
   */
  caps: WayCap | readonly Cap[];
  /** Who speaks for it in the exposure, and as what; null: nobody. */
  lead: Entry | null;
  leadStanding: Standing;
  live: number;
}

/** What a group adds to a bucket. */
interface Share {
  bucket: Bucket;
  moved: bigint;
  pendingOut: bigint;
  committed: bigint;
  held: bigint;
  receivable: bigint;
  overdue: bigint;
}

type CapAmounts = Pick<Outstanding, 'notional' | 'gapLoss'>;

/** What a group adds to a counter. */
interface Cap extends CapAmounts {
  readonly counter: Outstanding;
}

/** What a group adds to each of the counters of a tally and a way. */
interface WayCap extends CapAmounts {
  readonly tally: Tally;
  readonly way: Way;
}

/** What a group adds to the exposure of an asset, in atto. */
interface Weight extends Promised {
  promised: Promised;
}

const NOTHING: never[] = [];

export const createGroup = (id: string): Group => ({
  id,
  members: NOTHING,
  heldIn: null,
  held: 0n,
  shares: NOTHING,
  caps: NOTHING,
  lead: null,
  leadStanding: Standing.ended,
  live: 0,
});

/** Adds what a group was weighed at to its buckets and to the exposure. */
export function putOn(group: Group): void {
  if (group.heldIn !== null) group.heldIn.held += group.held;
  for (const { bucket, moved, pendingOut, committed, held, receivable, overdue } of group.shares) {
    bucket.moved += moved;
    bucket.pendingOut += pendingOut;
    bucket.committed += committed;
    bucket.held += held;
    bucket.receivable += receivable;
    bucket.overdue += overdue;
  }
  for (const { promised, committed, quoted } of weightsOf(group)) {
    promised.committed += committed;
    promised.quoted += quoted;
  }
}

/** Takes the same off again. */
export function takeFrom(group: Group): void {
  if (group.heldIn !== null) group.heldIn.held -= group.held;
  for (const { bucket, moved, pendingOut, committed, held, receivable, overdue } of group.shares) {
    bucket.moved -= moved;
    bucket.pendingOut -= pendingOut;
    bucket.committed -= committed;
    bucket.held -= held;
    bucket.receivable -= receivable;
    bucket.overdue -= overdue;
  }
  for (const { promised, committed, quoted } of weightsOf(group)) {
    promised.committed -= committed;
    promised.quoted -= quoted;
  }
}

/**
 * What it counts against a cap already: a group counts once, with its largest member. `countersOf` a member,
 * as the book of counters has them.
 */
export function sharedBy(
  { caps }: Group,
  counter: Outstanding,
  countersOf: Counters['of'],
): CapAmounts | undefined {
  if ('tally' in caps) return countersOf(caps.tally, caps.way).includes(counter) ? caps : undefined;
  return caps.find((each) => each.counter === counter);
}

const capOf = ({ request: { notional, gapLoss = 0n } }: Entry): CapAmounts => ({ notional, gapLoss });

/**
 * What a group adds to the books; `countersOf` a member, to be kept. First what has left, then what
 * acceptance adds to that, then what is merely held on top. Once one is spent at depth, the others are dead.
 */
export function weigh(group: Group, countersOf: Counters['keptOf']): void {
  const { members } = group;
  group.live = 0;
  const standings = members.map(({ facts }) => standingOf(facts));
  const nonceUsed = standings.includes(Standing.spent);
  const shares: Share[] = [];
  const counting: Entry[] = [];
  let filled: Entry | undefined;
  let lead: Entry | undefined;
  let leadStanding: Standing = Standing.ended;

  for (const [at, member] of members.entries()) {
    const standing = standings[at] as Standing;
    if (standing === Standing.ended || (nonceUsed && standing !== Standing.spent)) continue;
    const { request, out, in: into, facts } = member;
    const share = shareOf(shares, out);
    if (standing === Standing.spent) {
      share.moved -= request.amount;
      const received = receivedBy(facts);
      if (received !== undefined) shareOf(shares, into).moved += received;
      else owe(shares, member);
      continue;
    }
    // Maxima for now; differences below.
    if (request.amount > share.held) share.held = request.amount;
    if (standing >= Standing.committed && request.amount > share.committed) share.committed = request.amount;
    if (standing === Standing.filled) {
      // Two at once can only be one and the ghost of a reorg not yet heard of.
      if (request.amount > share.pendingOut) share.pendingOut = request.amount;
      if (filled === undefined || outranks(request, filled.request)) filled = member;
    }
    if (standing === Standing.held) {
      group.live += 1;
      if (member.tally !== undefined) counting.push(member);
    }
    if (
      standing > leadStanding ||
      (standing === leadStanding && (lead === undefined || outranks(request, lead.request)))
    ) {
      lead = member;
      leadStanding = standing;
    }
  }
  if (filled !== undefined && !nonceUsed) owe(shares, filled);
  for (const share of shares) {
    share.held -= share.committed;
    share.committed -= share.pendingOut;
  }
  const [only] = shares;
  const merely = only !== undefined && shares.length === 1 && leadStanding === Standing.held;
  group.heldIn = merely ? only.bucket : null;
  group.held = merely ? only.held : 0n;
  group.shares = merely ? NOTHING : shares;
  group.caps = capsOf(counting, countersOf);
  group.lead = lead === undefined || nonceUsed || !isLive(leadStanding) ? null : lead;
  group.leadStanding = leadStanding;
}

/** A group counts once against each cap, with its largest member there. */
function capsOf(counting: readonly Entry[], countersOf: Counters['keptOf']): Group['caps'] {
  const [first] = counting;
  if (first?.tally === undefined) return NOTHING;
  if (counting.every(({ tally, way }) => tally === first.tally && way === first.way))
    return counting
      .map(capOf)
      .reduce(most, { tally: first.tally, way: first.way, notional: 0n, gapLoss: 0n });
  const caps: Cap[] = [];
  for (const member of counting) {
    for (const counter of member.tally === undefined ? NOTHING : countersOf(member.tally, member.way)) {
      const known = caps.find((each) => each.counter === counter);
      if (known === undefined) caps.push({ counter, ...capOf(member) });
      else most(known, capOf(member));
    }
  }
  return caps;
}

function most<T extends CapAmounts>(known: T, { notional, gapLoss }: CapAmounts): T {
  if (notional > known.notional) known.notional = notional;
  if (gapLoss > known.gapLoss) known.gapLoss = gapLoss;
  return known;
}

function owe(shares: Share[], { in: into, request, facts }: Entry): void {
  const share = shareOf(shares, into);
  share.receivable += request.input.amount;
  if (facts.overdue) share.overdue += request.input.amount;
}

function shareOf(shares: Share[], bucket: Bucket): Share {
  for (const share of shares) if (share.bucket === bucket) return share;
  const share = { bucket, moved: 0n, pendingOut: 0n, committed: 0n, held: 0n, receivable: 0n, overdue: 0n };
  shares.push(share);
  return share;
}

/**
 * Of equals in a group, the largest speaks for it, then the likeliest; ids break ties, so that the order of
 * arrival never shows.
 */
export function leads(
  notional: bigint,
  chanceBps: number,
  orderId: string,
  otherNotional: bigint,
  otherChanceBps: number,
  otherId: string,
): boolean {
  if (notional !== otherNotional) return notional > otherNotional;
  return chanceBps !== otherChanceBps ? chanceBps > otherChanceBps : orderId < otherId;
}

const chanceOf = ({ fillProbabilityBps = 10_000 }: HoldRequest): number => fillProbabilityBps;
const outranks = (a: HoldRequest, b: HoldRequest): boolean =>
  leads(a.notional, chanceOf(a), a.orderId, b.notional, chanceOf(b), b.orderId);

/** What a group adds to the exposure of the asset that its lead pays, and of the one that it brings. */
function weightsOf({ lead, leadStanding: standing }: Group): readonly Weight[] {
  if (lead === null) return NOTHING;
  const { out, in: into, request } = lead;
  if (standing === Standing.held) {
    const chance = chanceOf(request);
    return [
      { promised: out.promised, committed: 0n, quoted: quotedOut(request.amount, out, chance) },
      { promised: into.promised, committed: 0n, quoted: quotedIn(request.input.amount, into, chance) },
    ];
  }
  return [
    { promised: out.promised, committed: -toAtto(request.amount, out.decimals), quoted: 0n },
    { promised: into.promised, committed: toAtto(request.input.amount, into.decimals), quoted: 0n },
  ];
}

/** What a live quote adds to the exposure of the asset it pays, in atto: by its chance to be taken. */
export const quotedOut = (amount: bigint, { decimals }: Bucket, chanceBps: number): bigint =>
  (-toAtto(amount, decimals) * BigInt(chanceBps)) / 10_000n;
/** The same of the asset it brings. */
export const quotedIn = (amount: bigint, { decimals }: Bucket, chanceBps: number): bigint =>
  (toAtto(amount, decimals) * BigInt(chanceBps)) / 10_000n;
