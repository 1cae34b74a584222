/**
 * The inventory ledger: what we own on each chain, what we have promised, and what we are owed.
 *
 * Hazard: two live quotes promise the same coin. Rule: the full output is held before its signature leaves the process,
 * and the hold ends only when the chain's own clock is past the promise's last second plus a grace, or when the chain
 * proves that it can never execute. So a taker who accepts everything at once is always paid.
 */

import type { Decline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { createTextTable } from '../domain/text-table.ts';
import { isUnixSeconds, type UnixSeconds } from '../domain/time.ts';
import { amountsOf, type Bucket, createBucket, freeOf, ownedOf, type Promised, toAtto } from './bucket.ts';
import { count, createCounters, discount, type Tally, type Way } from './counters.ts';
import type { HoldRequest, LedgerEvent, Money } from './event.ts';
import { capOf, type Clock, createGroup, type Entry, type Group, membersOf, quotedIn, quotedOut, putOn, sharedBy, takeFrom, weigh } from './group.ts';
import { createLapses } from './lapses.ts';
import { nearestCap, type Outstanding, overCap } from './limits.ts';
import { createMoneyBook } from './money-book.ts';
import { type Facts, isDone, isLive, NO_FACTS, receivedBy, sameRequest, type Stage, Standing, standingOf, stageOf, withNews } from './promise.ts';
import { readBooks, readPromise, type SnapshotPieces, whole, writeBooks, writePieces } from './snapshot.ts';
import { type Applied, DUPLICATE, type Exposure, type Ledger, type LedgerOptions } from './views.ts';

export type * from './views.ts';

const DEFAULT_GROUP_SIZE = 16;
/** Ends per step of a clock, so that a crowd that lapses in one second never holds up anybody. Ending late is always safe. */
const MOST_AT_ONCE = 200;
/** The same on the way of a quote, which waits for it: more than it adds, so that quotes alone keep up. */
const MOST_MEANWHILE = 8;
const NOTHING: never[] = [];

const done = (stage: Stage | null): Applied => ({ applied: true, stage });

export function createLedger(options: LedgerOptions): Ledger {
  const { graceSeconds, rememberSeconds = 60, rememberSpentSeconds = 900, onEvent } = options;
  let limits = options.limits;
  const chains = new Map<number, Map<string, Bucket>>();
  const clocks = new Map<number, Clock>();
  const entries = createTextTable<string, Entry>();
  /** By nonce: one quote, or all of them. */
  const groups = createTextTable<string, Entry | Group>();
  /** What binds, of all that is live: accepted or filled, and not at depth. */
  const bound = new Set<Entry>();
  const counters = createCounters();
  const assets = new Map<string, { promised: Promised; places: Bucket[] }>();
  const moneyBook = createMoneyBook();
  let live = 0;
  /** How often a promise or money was changed: what is written in pieces must be of one moment. */
  let changes = 0;

  for (const config of options.buckets) {
    const tokens = chains.get(config.chainId) ?? new Map<string, Bucket>();
    const asset = assets.get(config.asset) ?? { promised: { committed: 0n, quoted: 0n }, places: [] };
    assets.set(config.asset, asset);
    const bucket = createBucket(config, asset.promised);
    asset.places.push(bucket);
    tokens.set(config.token, bucket);
    chains.set(config.chainId, tokens);
  }

  const tallyFor = ({ taker, pair }: HoldRequest): Tally => counters.tallyOf(taker, pair);
  /** What comes in is what we buy, what goes out is what we sell. */
  const wayFor = ({ pair, side }: HoldRequest, out: Bucket, into: Bucket): Way => counters.wayOf(pair, side, (side === 'buy' ? into : out).asset);

  const bucketOf = (chainId: number, token: Address): Bucket | undefined => chains.get(chainId)?.get(token);
  const everyBucket = () => [...chains.values()].flatMap((tokens) => [...tokens.values()]);

  function clockOf(chainId: number): Clock {
    const known = clocks.get(chainId);
    if (known !== undefined) return known;
    const clock = { chainId, now: 0, grace: graceSeconds(chainId), lapses: createLapses<Entry>(), backlog: false };
    clocks.set(chainId, clock);
    return clock;
  }

  /* Sums: a group's contribution is taken off the books and put on again whenever one of its members changes. */

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

  /** The hold of a quote alone under its nonce. */
  function book(entry: Entry): void {
    entry.booked = true;
    entry.tally ??= tallyFor(entry.request);
    entry.out.held += entry.request.amount;
    entry.out.promised.quoted += quotedOut(entry);
    entry.in.promised.quoted += quotedIn(entry);
    counters.add(entry.tally, entry.way, capOf(entry));
    live += 1;
  }

  function unbook(entry: Entry): void {
    takeOffBooks(entry);
    dropTally(entry);
  }

  function takeOffBooks(entry: Entry): void {
    entry.booked = false;
    entry.out.held -= entry.request.amount;
    entry.out.promised.quoted -= quotedOut(entry);
    entry.in.promised.quoted -= quotedIn(entry);
    if (entry.tally !== undefined) counters.takeOff(entry.tally, entry.way, capOf(entry));
    live -= 1;
  }

  /** It counts nowhere: its taker's counters may end with it, and are looked for again should it ever count once more. */
  function dropTally(entry: Entry): void {
    const { tally } = entry;
    entry.tally = undefined;
    if (tally !== undefined) counters.drop(tally);
  }

  /** From here on it is counted together with others of its nonce, or in ways that a mere hold is not. */
  function grouped(those: Entry | Group): Group {
    if ('members' in those) return those;
    // Its tally stays: it is counted again at once, with the others.
    if (those.booked) takeOffBooks(those);
    const group = createGroup(those.request.group);
    group.members = [those];
    those.group = group;
    groups.set(group.id, group);
    return group;
  }

  function rebook(group: Group): void {
    for (const member of group.members) if (standingOf(member.facts) === Standing.held) member.tally ??= tallyFor(member.request);
    takeOff(group);
    weigh(group, counters.of);
    add(group);
    for (const member of group.members) {
      const standing = standingOf(member.facts);
      if (group.live === 0 || standing !== Standing.held) dropTally(member);
      if (standing === Standing.committed || standing === Standing.filled) bound.add(member);
      else bound.delete(member);
    }
    if (group.members.length === 0) groups.delete(group.id);
  }

  function insert(request: HoldRequest, facts: Facts, out: Bucket, into: Bucket, way = wayFor(request, out, into), tally?: Tally): Entry {
    changes += 1;
    const known = groups.get(request.group);
    const clock = clockOf(request.clockChainId ?? request.input.chainId);
    const entry: Entry = { request, facts, tally, way, out, in: into, clock, group: null, booked: false, forgetAt: 0 };
    entries.set(request.quoteId, entry);
    clock.lapses.schedule(endOf(entry), entry);
    if (known === undefined) {
      groups.set(request.group, entry);
      rebookOf(entry);
    } else {
      const group = grouped(known);
      entry.group = group;
      group.members = [...group.members, entry];
      rebook(group);
    }
    return entry;
  }

  /** After its facts have changed. */
  function rebookOf(entry: Entry): void {
    if (entry.group !== null) return rebook(entry.group);
    const standing = standingOf(entry.facts);
    if (standing > Standing.held) return rebook(grouped(entry));
    if ((standing === Standing.held) === entry.booked) return;
    if (entry.booked) unbook(entry);
    else book(entry);
  }

  /** First second at which a hold may end: its last second and the grace are both over. */
  const endOf = ({ request, clock }: Entry): UnixSeconds => request.lapsesAt + clock.grace + 1;

  /** After any change of facts: the books, and when the entry can be forgotten. */
  function settle(entry: Entry): void {
    changes += 1;
    rebookOf(entry);
    if (!isDone(entry.facts)) {
      entry.forgetAt = 0;
    } else if (entry.forgetAt === 0) {
      entry.forgetAt = Math.max(entry.clock.now, endOf(entry)) + (standingOf(entry.facts) === Standing.spent ? rememberSpentSeconds : rememberSeconds);
      entry.clock.lapses.schedule(entry.forgetAt, entry);
    }
  }

  /** What it moved stays moved; its siblings can no longer execute, and without it nobody would know. */
  function forget(entry: Entry): void {
    changes += 1;
    const { group, facts, request } = entry;
    entries.delete(request.quoteId);
    if (group === null) {
      groups.delete(request.group);
      return;
    }
    bound.delete(entry);
    group.members = group.members.filter((member) => member !== entry);
    const received = receivedBy(facts);
    if (standingOf(facts) === Standing.spent) {
      for (const sibling of group.members) {
        if (!isLive(standingOf(sibling.facts))) continue;
        sibling.facts = { ...sibling.facts, released: true };
        settle(sibling);
      }
      entry.out.base -= request.amount;
      if (received !== undefined) entry.in.base += received;
    }
    rebook(group);
  }

  function advance(chainId: number, now: UnixSeconds, most = MOST_AT_ONCE): number {
    const clock = clockOf(chainId);
    if (now < clock.now || (now === clock.now && !clock.backlog)) return 0;
    if (!isUnixSeconds(now)) throw new InvariantError('A chain clock counts whole seconds.', { facts: { chainId, now } });
    clock.now = now;
    let lapsed = 0;
    const over: Entry[] = [];
    // First what lapses, then what is forgotten: whatever the order within a second, the outcome is one.
    const due = clock.lapses.due(now, most);
    clock.backlog = due.length === most;
    for (const entry of due) {
      if (entries.get(entry.request.quoteId) !== entry) continue;
      if (entry.forgetAt !== 0) {
        if (entry.forgetAt <= now) over.push(entry);
      } else if (standingOf(entry.facts) === Standing.held) {
        if (entry.booked || (entry.group !== null && entry.group.live > 0)) lapsed += 1;
        entry.facts = withNews(entry.facts, { lapsed: true });
        settle(entry);
      }
    }
    for (const entry of over) if (entries.has(entry.request.quoteId)) forget(entry);
    onEvent?.({ type: 'time', chainId, now, ...(most !== MOST_AT_ONCE && { most }) });
    return lapsed;
  }

  /** Why this promise may not be made as things stand; undefined when nothing is in its way. */
  function objection(request: HoldRequest, clock: Clock, counted: readonly Outstanding[] | undefined, out: Bucket | undefined, into: Bucket | undefined): Decline | undefined {
    if (request.amount <= 0n || request.input.amount < 0n || request.notional < 0n) return { declined: 'internal', detail: 'not an amount' };
    if (!isUnixSeconds(request.lapsesAt) || request.lapsesAt <= clock.now) return { declined: 'validity', detail: 'over before it begins' };
    if (out === undefined || into === undefined || counted === undefined) return { declined: 'pair', detail: 'no such inventory' };
    if (out.drift !== null) return { declined: 'standby', control: 'drift', detail: 'ledger and chain disagree' };

    const group = groups.get(request.group);
    let shared = 0n;
    if (group !== undefined) {
      const members = membersOf(group);
      if (members.length >= (limits.groupSize ?? DEFAULT_GROUP_SIZE)) return { declined: 'limit', control: 'limit_taker', detail: 'too many quotes for one nonce', maxAmount: 0n };
      for (const { facts, request: other, out: bucket } of members) {
        const standing = standingOf(facts);
        if (standing === Standing.spent) return { declined: 'validity', detail: 'nonce is used' };
        if (standing !== Standing.ended && bucket === out && other.amount > shared) shared = other.amount;
      }
    }
    const free = freeOf(out);
    if (free < 0n || request.amount - shared > free) return { declined: 'no_inventory', maxAmount: free < 0n ? 0n : free + shared };
    return overCap(request, limits, counted, (counter) => (group === undefined ? undefined : sharedBy(group, counter, counters.of)));
  }

  function hold(request: HoldRequest, now: UnixSeconds): { held: true } | Decline {
    const clockChainId = request.clockChainId ?? request.input.chainId;
    advance(clockChainId, now, MOST_MEANWHILE);
    const known = entries.get(request.quoteId);
    if (known !== undefined) {
      const again = sameRequest(known.request, request) && standingOf(known.facts) === Standing.held;
      return again ? { held: true } : { declined: 'internal', detail: 'quoteId was used before' };
    }
    const out = bucketOf(request.chainId, request.token);
    const into = bucketOf(request.input.chainId, request.input.token);
    const tally = tallyFor(request);
    const way = out === undefined || into === undefined ? undefined : wayFor(request, out, into);
    const no = objection(request, clockOf(clockChainId), way && counters.of(tally, way), out, into);
    if (no !== undefined) {
      counters.drop(tally);
      return no;
    }
    insert(request, NO_FACTS, out as Bucket, into as Bucket, way, tally);
    onEvent?.({ type: 'held', request });
    return { held: true };
  }

  function wouldRefuse(request: HoldRequest): Decline | undefined {
    const out = bucketOf(request.chainId, request.token);
    const into = bucketOf(request.input.chainId, request.input.token);
    const tally = tallyFor(request);
    const way = out === undefined || into === undefined ? undefined : wayFor(request, out, into);
    const no = objection(request, clockOf(request.clockChainId ?? request.input.chainId), way && counters.of(tally, way), out, into);
    counters.drop(tally);
    return no;
  }

  /** A promise that is a fact already: from the log, or found on venue or chain after a crash. No limit can refuse it. */
  function take(event: Extract<LedgerEvent, { type: 'held' | 'restored' }>): Applied {
    const { request, type } = event;
    const known = entries.get(request.quoteId);
    if (known !== undefined) {
      if (type === 'held' || known.facts.restored) return DUPLICATE;
      return change(known, { restored: true });
    }
    const out = bucketOf(request.chainId, request.token);
    const into = bucketOf(request.input.chainId, request.input.token);
    if (out === undefined || into === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
    return done(stageOf(insert(request, { ...NO_FACTS, restored: type === 'restored' }, out, into).facts));
  }

  function change(entry: Entry, news: Partial<Facts>): Applied {
    entry.facts = withNews(entry.facts, news);
    settle(entry);
    return done(stageOf(entry.facts));
  }

  function learn(entry: Entry, event: Exclude<QuoteEvent, { type: 'held' | 'restored' }>): Applied {
    const { facts } = entry;
    switch (event.type) {
      case 'accepted': {
        if (facts.accepted) return DUPLICATE;
        const late = standingOf(facts) === Standing.ended;
        const applied = change(entry, { accepted: true });
        return late ? { applied: false, why: 'late', critical: true } : applied;
      }
      case 'released':
        return facts.released ? DUPLICATE : change(entry, { released: true });
      case 'failed':
        return facts.failed ? DUPLICATE : change(entry, { failed: true });
      case 'overdue':
        return facts.overdue ? DUPLICATE : change(entry, { overdue: true });
      case 'filled':
        return facts.fills.includes(event.id) ? DUPLICATE : change(entry, { fills: [...facts.fills, event.id] });
      case 'fill_final':
        return facts.finals.includes(event.id) ? DUPLICATE : change(entry, { finals: [...facts.finals, event.id] });
      case 'finalised':
        return facts.finalised.some(({ id }) => id === event.id) ? DUPLICATE : change(entry, { finalised: [...facts.finalised, { id: event.id, received: event.received }] });
      case 'reorged':
        return facts.undone.includes(event.id) ? DUPLICATE : change(entry, { undone: [...facts.undone, event.id] });
    }
  }

  function money(event: Extract<LedgerEvent, { type: 'deposited' | 'withdrawal_requested' | 'withdrawal_ended' | 'reconciled' }>): Applied {
    if (event.amount < 0n) throw new InvariantError('An amount is never negative.', { facts: { type: event.type, amount: event.amount } });
    const bucket = bucketOf(event.chainId, event.token);
    if (bucket === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
    changes += 1;
    return moneyBook.apply(event, bucket);
  }

  function apply(event: LedgerEvent): Applied {
    if (event.type === 'time') {
      const { now, backlog } = clockOf(event.chainId);
      advance(event.chainId, event.now, event.most);
      return event.now > now || (event.now === now && backlog) ? done(null) : DUPLICATE;
    }
    const answer = step(event);
    // A late acceptance changes nothing that counts, but it is a fact, and the log keeps facts.
    if (answer.applied || answer.why === 'late') onEvent?.(event);
    return answer;
  }

  function step(event: Exclude<LedgerEvent, { type: 'time' }>): Applied {
    switch (event.type) {
      case 'deposited':
      case 'withdrawal_requested':
      case 'withdrawal_ended':
      case 'reconciled':
        return money(event);
      case 'held':
      case 'restored':
        return take(event);
      default: {
        const entry = entries.get(event.quoteId);
        if (entry === undefined) return { applied: false, why: 'unknown_quote', critical: event.type !== 'released' && event.type !== 'failed' };
        return learn(entry, event);
      }
    }
  }

  function exposure(asset: string): Exposure {
    const known = assets.get(asset);
    if (known === undefined) return { owned: 0n, committed: 0n, quoted: 0n, total: 0n };
    const { committed, quoted } = known.promised;
    let owned = 0n;
    for (const bucket of known.places) owned += toAtto(ownedOf(bucket), bucket.decimals);
    return { owned, committed, quoted, total: owned + committed + quoted };
  }

  function* load({ books, promises }: SnapshotPieces): Generator<void> {
    if (changes > 0) throw new InvariantError('Only an empty ledger can become another one.');
    const saved = readBooks(books);
    // What lapsed while it was written is ended at the first look.
    for (const [chainId, now] of saved.clocks) Object.assign(clockOf(chainId), { now, backlog: true });
    for (const { chainId, token, base, drift } of saved.buckets) {
      const bucket = bucketOf(chainId, token) ?? missing({ chainId, token });
      bucket.base = base;
      bucket.drift = drift;
    }
    moneyBook.load(saved, (place) => bucketOf(place.chainId, place.token) ?? missing(place));
    for (const piece of promises) {
      for (const { request, facts, forgetAt } of piece.map(readPromise)) {
        const out = bucketOf(request.chainId, request.token) ?? missing(request);
        const entry = insert(request, facts, out, bucketOf(request.input.chainId, request.input.token) ?? missing(request.input));
        entry.forgetAt = forgetAt;
        if (forgetAt !== 0) entry.clock.lapses.schedule(forgetAt, entry);
      }
      yield;
    }
  }

  function pieces(): SnapshotPieces {
    const since = changes;
    const books = writeBooks({ clocks: [...clocks.values()].map(({ chainId, now }) => [chainId, now]), buckets: everyBucket(), ...moneyBook.saved() });
    return { books, promises: { [Symbol.iterator]: () => writePieces([...entries.values()], () => changes === since) } };
  }

  return {
    hold,
    wouldRefuse,
    apply,
    advance: (chainId, now) => advance(chainId, now),
    behind: (chainId) => clockOf(chainId).backlog,
    free(chainId, token) {
      const free = freeOf(bucketOf(chainId, token) ?? missing({ chainId, token }));
      return free > 0n ? free : 0n;
    },
    bucket(chainId, token) {
      const bucket = bucketOf(chainId, token);
      return bucket === undefined ? undefined : amountsOf(bucket);
    },
    places: (asset) => assets.get(asset)?.places ?? NOTHING,
    buckets: (asset) => (asset === undefined ? everyBucket() : (assets.get(asset)?.places ?? [])).map(amountsOf),
    quote(quoteId) {
      const entry = entries.get(quoteId);
      return entry === undefined ? undefined : { request: entry.request, stage: stageOf(entry.facts) };
    },
    undone: (quoteId, id) => entries.get(quoteId)?.facts.undone.includes(id) ?? false,
    shallow: (chainId) =>
      [...bound].flatMap(({ request: { quoteId }, out, facts }) =>
        out.chainId === chainId && standingOf(facts) === Standing.filled ? facts.fills.filter((id) => !facts.undone.includes(id)).map((id) => ({ quoteId, id })) : [],
      ),
    binding: () => [...bound].map(({ request }) => request),
    nearest(quoteId) {
      const entry = entries.get(quoteId);
      if (entry === undefined) return undefined;
      const tally = entry.tally ?? tallyFor(entry.request);
      const nearest = nearestCap(limits, counters.of(tally, entry.way));
      counters.drop(tally);
      return nearest;
    },
    exposure,
    get live() {
      return live;
    },
    setLimits(next) {
      limits = next;
    },
    visitCounters: counters.visit,
    setBuffer: (chainId, token, buffer) => void ((bucketOf(chainId, token) ?? missing({ chainId, token })).buffer = buffer),
    snapshot() {
      for (const clock of clocks.values()) while (clock.backlog) advance(clock.chainId, clock.now);
      return whole(pieces());
    },
    pieces,
    load,
  };
}

type QuoteEvent = Extract<LedgerEvent, { quoteId: string } | { request: HoldRequest }>;

function missing({ chainId, token }: Pick<Money, 'chainId' | 'token'>): never {
  throw new InvariantError('The ledger has no such bucket; every token it ever held must stay configured.', { facts: { chainId, token } });
}
