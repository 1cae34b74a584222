/**
 * Every promise that the ledger remembers, and what it puts on the books. Nearly all are held or over and
 * nothing else: rows of numbers, those of one nonce in a chain (`holds.ts`). Of which more is known, and
 * whatever shares a nonce with it, is an entry in a group (`group.ts`). The books cannot tell which of the
 * two a promise is, and it keeps its row's number when it changes.
 */

import { createColumn } from '../domain/column.ts';
import { createTextTable } from '../domain/text-table.ts';
import { LONGEST } from '../domain/texts.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Bucket } from './bucket.ts';
import { count, type Counters, discount } from './counters.ts';
import type { HoldRequest } from './event.ts';
import {
  type Clock,
  createGroup,
  type Entry,
  type Group,
  putOn,
  sharedBy,
  takeFrom,
  weigh,
} from './group.ts';
import { bitsOf, createHolds, factsOf, fitsRow, LAPSED, type Lane, type Place, RELEASED } from './holds.ts';
import type { Outstanding } from './limits.ts';
import { type Facts, isDone, isLive, receivedBy, Standing, standingOf } from './promise.ts';
import type { SavedPromise } from './snapshot.ts';
import type { Tally } from './tallies.ts';

/** What a nonce has on the books already: one more quote of it adds only what is more than that. */
export interface Own {
  /** Quotes of it, those that are over too. */
  size: number;
  nonceUsed: boolean;
  /** The largest that is paid out of the same bucket. */
  most: bigint;
  against(counter: Outstanding): Pick<Outstanding, 'notional' | 'gapLoss'> | undefined;
}

export interface Promises {
  /** Live quotes: held, not yet accepted or ended. */
  readonly live: number;
  /** How often a promise was changed. */
  readonly changes: number;
  find(orderId: string): number | undefined;
  /** A promise that is not there yet. `tally` is its taker's. */
  insert(request: HoldRequest, facts: Facts, place: Place, tally: Tally): number;
  request(row: number): HoldRequest;
  facts(row: number): Facts;
  setForgetAt(row: number, at: UnixSeconds): void;
  /** Each as it is to be written, one at a time. */
  saved(): Generator<SavedPromise>;
  /** What binds, of all that is live: accepted or filled, and not at depth. */
  readonly bound: ReadonlySet<Entry>;
  /** Something more is known of it. */
  learn(row: number, news: Partial<Facts>): void;
  /**
   * What this row has to say at this time, if it is due: it ended a hold that counted, it is to be forgotten,
   * or neither. A row's number may be another's since it was scheduled.
   */
  due(row: number, now: UnixSeconds): 'ended' | 'over' | undefined;
  /** Of what is over; and nothing, if it is gone already. */
  forget(row: number): void;
  /** undefined: nobody quoted under this nonce. */
  own(group: string, out: Bucket): Own | undefined;
  /** Those that are not over, oldest first. */
  ofNonce(group: string): readonly string[];
  /** What it counts against, in the order of `SCOPES`. */
  countersOf(row: number): readonly Outstanding[];
}

export interface Remembering {
  /** Seconds for which what ended is remembered, and what was executed. */
  endedSeconds: number;
  spentSeconds: number;
}

const NOTHING: never[] = [];

export function createPromises(counters: Counters, { endedSeconds, spentSeconds }: Remembering): Promises {
  const holds = createHolds();
  /** By row; what has none is in `holds`. */
  const entries = createColumn<Entry>();
  const rows = createTextTable<string, number>();
  /** By nonce: the first row of its chain, or a group of entries. */
  const groups = createTextTable<string, number | Group>({ longestKey: LONGEST.group });
  const bound = new Set<Entry>();
  let live = 0;
  let changes = 0;

  const request = (row: number): HoldRequest => entries.get(row)?.request ?? holds.request(row);
  const facts = (row: number): Facts => entries.get(row)?.facts ?? factsOf(holds.bits(row));
  const tallyOf = ({ taker, pair }: HoldRequest): Tally => counters.tallyOf(taker, pair);

  /** First second at which a hold may end: its last second and the grace are both over. */
  const endOf = (lapsesAt: UnixSeconds, clock: Clock): UnixSeconds => lapsesAt + clock.grace + 1;

  /* Chains */

  const tallyAt = (row: number): Tally => counters.tallyOf(holds.taker(row), holds.lane(row).pair);
  const firstOf = (row: number): number => groups.get(holds.group(row)) as number;

  /** What a chain adds to the books. It is taken off and put on again whenever one of its rows changes. */
  function book(first: number, tally: Tally): void {
    const sum = holds.sumOf(first);
    if (sum === undefined) return;
    const { out, in: into, way } = holds.lane(first);
    out.held += sum.amount;
    out.promised.quoted += sum.quotedOut;
    into.promised.quoted += sum.quotedIn;
    counters.add(tally, way, sum);
    live += sum.live;
  }

  function unbook(first: number, tally: Tally): void {
    const sum = holds.sumOf(first);
    if (sum === undefined) return;
    const { out, in: into, way } = holds.lane(first);
    out.held -= sum.amount;
    out.promised.quoted -= sum.quotedOut;
    into.promised.quoted -= sum.quotedIn;
    counters.takeOff(tally, way, sum);
    live -= sum.live;
  }

  /** It lapsed, or was released. */
  function end(row: number, as: number): void {
    const was = holds.bits(row);
    const first = firstOf(row);
    const tally = tallyAt(row);
    if (was === 0) unbook(first, tally);
    holds.mark(row, was | as);
    if (was === 0) book(first, tally);
    counters.drop(tally);
    if (holds.forgetAt(row) !== 0) return;
    const { clock } = holds.lane(row);
    const forgetAt = Math.max(clock.now, endOf(holds.lapsesAt(row), clock)) + endedSeconds;
    holds.setForgetAt(row, forgetAt);
    clock.lapses.schedule(forgetAt, row);
  }

  /** May it be one more row of this chain, or the first of a new one? */
  const joins = (known: number | Group | undefined, lane: Lane, taker: string): boolean =>
    known === undefined ||
    (typeof known === 'number' && holds.lane(known) === lane && holds.taker(known) === taker);

  /* Groups */

  /** Entries in the place of a chain's rows: what they add is no longer what rows can say. */
  function grouped(those: number | Group): Group {
    if (typeof those !== 'number') return those;
    const tally = tallyAt(those);
    unbook(those, tally);
    const group = createGroup(holds.group(those));
    group.members = holds.rowsOf(those).map((row) => {
      const { out, in: into, clock, way } = holds.lane(row);
      const bits = holds.bits(row);
      const entry: Entry = {
        row,
        request: holds.request(row),
        facts: factsOf(bits),
        tally: bits === 0 ? tally : undefined,
        way,
        out,
        in: into,
        clock,
        group,
        forgetAt: holds.forgetAt(row),
      };
      entries.set(row, entry);
      holds.handOver(row);
      return entry;
    });
    groups.set(group.id, group);
    rebook(group);
    counters.drop(tally);
    return group;
  }

  function entryAt(row: number): Entry {
    if (holds.has(row)) grouped(firstOf(row));
    return entries.get(row) as Entry;
  }

  function add(group: Group): void {
    putOn(group);
    if ('tally' in group.caps) counters.add(group.caps.tally, group.caps.way, group.caps);
    else for (const cap of group.caps) count(cap.counter, cap);
    live += group.live;
  }

  function takeOff(group: Group): void {
    takeFrom(group);
    if ('tally' in group.caps) counters.takeOff(group.caps.tally, group.caps.way, group.caps);
    else for (const cap of group.caps) discount(cap.counter, cap);
    live -= group.live;
  }

  /** After any change of its members or of what is known of them. */
  function rebook(group: Group): void {
    for (const member of group.members)
      if (standingOf(member.facts) === Standing.held) member.tally ??= tallyOf(member.request);
    takeOff(group);
    weigh(group, counters.keptOf);
    add(group);
    for (const member of group.members) {
      const standing = standingOf(member.facts);
      if (group.live === 0 || standing !== Standing.held) dropTally(member);
      if (standing === Standing.committed || standing === Standing.filled) bound.add(member);
      else bound.delete(member);
    }
    if (group.members.length === 0) groups.delete(group.id);
  }

  /**
   * It counts nowhere: its taker's counters may end with it, and are looked for again should it ever count
   * once more.
   */
  function dropTally(entry: Entry): void {
    const { tally } = entry;
    entry.tally = undefined;
    if (tally !== undefined) counters.drop(tally);
  }

  /** The books, and when it can be forgotten. */
  function settle(entry: Entry, news: Partial<Facts>): void {
    entry.facts = { ...entry.facts, ...news };
    rebook(entry.group);
    if (!isDone(entry.facts)) {
      entry.forgetAt = 0;
    } else if (entry.forgetAt === 0) {
      entry.forgetAt =
        Math.max(entry.clock.now, endOf(entry.request.lapsesAt, entry.clock)) +
        (standingOf(entry.facts) === Standing.spent ? spentSeconds : endedSeconds);
      entry.clock.lapses.schedule(entry.forgetAt, entry.row);
    }
  }

  /** What it moved stays moved; its siblings can no longer execute, and without it nobody would know. */
  function forgetEntry(entry: Entry): void {
    const { group, facts: known, request: its } = entry;
    rows.delete(its.orderId);
    entries.set(entry.row, undefined);
    bound.delete(entry);
    group.members = group.members.filter((member) => member !== entry);
    const received = receivedBy(known);
    if (standingOf(known) === Standing.spent) {
      for (const sibling of group.members)
        if (isLive(standingOf(sibling.facts))) settle(sibling, { released: true });
      entry.out.base -= its.amount;
      if (received !== undefined) entry.in.base += received;
    }
    rebook(group);
  }

  function forgetRow(row: number): void {
    const group = holds.group(row);
    const left = holds.unlink(firstOf(row), row);
    rows.delete(holds.orderId(row));
    if (left === -1) groups.delete(group);
    else groups.set(group, left);
  }

  return {
    get live() {
      return live;
    },
    get changes() {
      return changes;
    },
    find: (orderId) => rows.get(orderId),
    insert(its, known, place, tally) {
      changes += 1;
      const { clock } = place;
      const lane = holds.laneOf(place, its.pair, its.side);
      const those = groups.get(its.group);
      const bits = bitsOf(known);
      const here = bits !== undefined && fitsRow(its) && joins(those, lane, its.taker);
      const row = here ? holds.add(its, lane, bits) : holds.reserve();
      rows.set(its.orderId, row);
      clock.lapses.schedule(endOf(its.lapsesAt, clock), row);
      if (!here) {
        const group = those === undefined ? createGroup(its.group) : grouped(those);
        groups.set(group.id, group);
        const entry: Entry = {
          row,
          request: its,
          facts: known,
          tally: undefined,
          ...place,
          group,
          forgetAt: 0,
        };
        entries.set(row, entry);
        group.members = [...group.members, entry];
        rebook(group);
      } else if (typeof those === 'number') {
        unbook(those, tally);
        holds.append(those, row);
        book(those, tally);
      } else {
        groups.set(its.group, row);
        book(row, tally);
      }
      counters.drop(tally);
      return row;
    },
    request,
    facts,
    *saved() {
      for (const row of rows.values())
        yield {
          request: request(row),
          facts: facts(row),
          forgetAt: entries.get(row)?.forgetAt ?? holds.forgetAt(row),
        };
    },
    setForgetAt(row, at) {
      const entry = entries.get(row);
      if (entry === undefined) holds.setForgetAt(row, at);
      else entry.forgetAt = at;
      if (at !== 0) (entry ?? holds.lane(row)).clock.lapses.schedule(at, row);
    },
    bound,
    learn(row, news) {
      changes += 1;
      if (holds.has(row) && news.released === true) end(row, RELEASED);
      else settle(entryAt(row), news);
    },
    due(row, now) {
      const entry = entries.get(row);
      if (entry === undefined && !holds.has(row)) return undefined;
      const forgetAt = entry?.forgetAt ?? holds.forgetAt(row);
      if (forgetAt !== 0) return forgetAt <= now ? 'over' : undefined;
      if (entry === undefined) {
        if (endOf(holds.lapsesAt(row), holds.lane(row).clock) > now) return undefined;
        changes += 1;
        end(row, LAPSED);
        return 'ended';
      }
      if (standingOf(entry.facts) !== Standing.held || endOf(entry.request.lapsesAt, entry.clock) > now)
        return undefined;
      changes += 1;
      const counted = entry.group.live > 0;
      settle(entry, { lapsed: true });
      return counted ? 'ended' : undefined;
    },
    forget(row) {
      const entry = entries.get(row);
      if (entry === undefined && !holds.has(row)) return;
      changes += 1;
      if (entry === undefined) forgetRow(row);
      else forgetEntry(entry);
      holds.free(row);
    },
    own(group, out) {
      const those = groups.get(group);
      if (those === undefined) return undefined;
      if (typeof those === 'number') {
        const sum = holds.sumOf(those);
        const { out: bucket, way } = holds.lane(those);
        const counted = sum && counters.of(tallyAt(those), way);
        return {
          size: holds.rowsOf(those).length,
          nonceUsed: false,
          most: sum !== undefined && bucket === out ? sum.amount : 0n,
          against: (counter) => (counted?.includes(counter) === true ? sum : undefined),
        };
      }
      let most = 0n;
      let nonceUsed = false;
      for (const { facts: known, request: its, out: bucket } of those.members) {
        const standing = standingOf(known);
        if (standing === Standing.spent) nonceUsed = true;
        if (standing !== Standing.ended && bucket === out && its.amount > most) most = its.amount;
      }
      return {
        size: those.members.length,
        nonceUsed,
        most,
        against: (counter) => sharedBy(those, counter, counters.of),
      };
    },
    ofNonce(group) {
      const those = groups.get(group);
      if (those === undefined) return NOTHING;
      const members = typeof those === 'number' ? holds.rowsOf(those) : those.members.map(({ row }) => row);
      return members
        .filter((row) => standingOf(facts(row)) !== Standing.ended)
        .map((row) => request(row).orderId);
    },
    countersOf(row) {
      const entry = entries.get(row);
      const tally = entry === undefined ? tallyAt(row) : (entry.tally ?? tallyOf(entry.request));
      const its = counters.of(tally, entry?.way ?? holds.lane(row).way);
      counters.drop(tally);
      return its;
    },
  };
}
