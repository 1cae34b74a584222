/**
 * The inventory ledger: what we own on each chain, what we have promised, and what we are owed.
 *
 * Hazard: two live quotes promise the same coin. Rule: the full output is held before its signature leaves
 * the process, and the hold ends only when the chain's own clock is past the promise's last second plus a
 * grace, or when the chain proves that it can never execute. So a taker who accepts everything at once is
 * always paid.
 */

import type { Decline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { isUnixSeconds, type UnixSeconds } from '../domain/time.ts';
import { amountsOf, type Bucket, createBucket, freeOf, ownedOf, type Promised, toAtto } from './bucket.ts';
import { createCounters } from './counters.ts';
import type { HoldRequest, LedgerEvent, Money } from './event.ts';
import type { Clock } from './group.ts';
import type { Place } from './holds.ts';
import { createLapses } from './lapses.ts';
import { nearestCap, type Outstanding, overCap } from './limits.ts';
import { createMoneyBook } from './money-book.ts';
import { NO_FACTS, sameRequest, type Facts, type Stage, Standing, standingOf, stageOf } from './promise.ts';
import { createPromises } from './promises.ts';
import { readBooks, readPromise, type SnapshotPieces, whole, writeBooks, writePieces } from './snapshot.ts';
import type { Tally } from './tallies.ts';
import { type Applied, DUPLICATE, type Exposure, type Ledger, type LedgerOptions } from './views.ts';

export type * from './views.ts';

const DEFAULT_GROUP_SIZE = 16;
/**
 * Ends per step of a clock, half a millisecond: a crowd that lapses in one second never holds up anybody.
 * Ending late is always safe.
 */
const MOST_AT_ONCE = 50;
/** The same on the way of a quote, which waits for it: more than it adds, so that quotes alone keep up. */
const MOST_MEANWHILE = 8;
const NOTHING: never[] = [];

const done = (stage: Stage | null): Applied => ({ applied: true, stage });

export function createLedger(options: LedgerOptions): Ledger {
  const { graceSeconds, rememberSeconds = 60, rememberSpentSeconds = 900, onEvent } = options;
  let limits = options.limits;
  const chains = new Map<number, Map<string, Bucket>>();
  const clocks = new Map<number, Clock>();
  const counters = createCounters();
  const promises = createPromises(counters, {
    endedSeconds: rememberSeconds,
    spentSeconds: rememberSpentSeconds,
  });
  const assets = new Map<string, { promised: Promised; places: Bucket[] }>();
  const moneyBook = createMoneyBook();
  /** How often money was changed. */
  let moneyChanges = 0;

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
  const clockChainOf = ({ clockChainId, input }: HoldRequest): number => clockChainId ?? input.chainId;

  /** undefined: we have no such inventory. */
  function placeOf(request: HoldRequest): Place | undefined {
    const out = bucketOf(request.chainId, request.token);
    const into = bucketOf(request.input.chainId, request.input.token);
    if (out === undefined || into === undefined) return undefined;
    // What comes in is what we buy, what goes out is what we sell.
    const { asset } = request.side === 'buy' ? into : out;
    return {
      out,
      in: into,
      clock: clockOf(clockChainOf(request)),
      way: counters.wayOf(request.pair, request.side, asset),
    };
  }

  const bucketOf = (chainId: number, token: Address): Bucket | undefined => chains.get(chainId)?.get(token);
  const everyBucket = () => [...chains.values()].flatMap((tokens) => [...tokens.values()]);

  function clockOf(chainId: number): Clock {
    const known = clocks.get(chainId);
    if (known !== undefined) return known;
    const clock = {
      chainId,
      now: 0,
      grace: graceSeconds(chainId),
      lapses: createLapses<number>(),
      backlog: false,
    };
    clocks.set(chainId, clock);
    return clock;
  }

  function advance(chainId: number, now: UnixSeconds, most = MOST_AT_ONCE): number {
    const clock = clockOf(chainId);
    if (now < clock.now || (now === clock.now && !clock.backlog)) return 0;
    if (!isUnixSeconds(now))
      throw new InvariantError('A chain clock counts whole seconds.', { facts: { chainId, now } });
    clock.now = now;
    let lapsed = 0;
    const over: number[] = [];
    // First what lapses, then what is forgotten: whatever the order within a second, the outcome is one.
    const due = clock.lapses.due(now, most);
    clock.backlog = due.length === most;
    for (const row of due) {
      const said = promises.due(row, now);
      if (said === 'ended') lapsed += 1;
      else if (said === 'over') over.push(row);
    }
    for (const row of over) promises.forget(row);
    onEvent?.({ type: 'time', chainId, now, ...(most !== MOST_AT_ONCE && { most }) });
    return lapsed;
  }

  /** Why this promise may not be made as things stand; undefined when nothing is in its way. */
  function objection(
    request: HoldRequest,
    clock: Clock,
    counted: readonly Outstanding[] | undefined,
    out: Bucket | undefined,
  ): Decline | undefined {
    if (request.amount <= 0n || request.input.amount < 0n || request.notional < 0n)
      return { declined: 'internal', detail: 'not an amount' };
    if (!isUnixSeconds(request.lapsesAt) || request.lapsesAt <= clock.now)
      return { declined: 'validity', detail: 'over before it begins' };
    if (out === undefined || counted === undefined) return { declined: 'pair', detail: 'no such inventory' };
    if (out.drift !== null)
      return { declined: 'standby', control: 'drift', detail: 'ledger and chain disagree' };

    const own = promises.own(request.group, out);
    if (own !== undefined && own.size >= (limits.groupSize ?? DEFAULT_GROUP_SIZE))
      return {
        declined: 'limit',
        control: 'limit_taker',
        detail: 'too many quotes for one nonce',
        maxAmount: 0n,
      };
    if (own?.nonceUsed === true) return { declined: 'validity', detail: 'nonce is used' };
    const shared = own?.most ?? 0n;
    const free = freeOf(out);
    if (free < 0n || request.amount - shared > free)
      return { declined: 'no_inventory', maxAmount: free < 0n ? 0n : free + shared };
    return overCap(request, limits, counted, (counter) => own?.against(counter));
  }

  function hold(request: HoldRequest, now: UnixSeconds): { held: true } | Decline {
    const clockChainId = clockChainOf(request);
    advance(clockChainId, now, MOST_MEANWHILE);
    const known = promises.find(request.orderId);
    if (known !== undefined) {
      const again =
        sameRequest(promises.request(known), request) && standingOf(promises.facts(known)) === Standing.held;
      return again ? { held: true } : { declined: 'internal', detail: 'orderId was used before' };
    }
    const place = placeOf(request);
    const tally = tallyFor(request);
    const no = objection(request, clockOf(clockChainId), place && counters.of(tally, place.way), place?.out);
    if (no !== undefined) {
      counters.drop(tally);
      return no;
    }
    promises.insert(request, NO_FACTS, place as Place, tally);
    onEvent?.({ type: 'held', request });
    return { held: true };
  }

  function wouldRefuse(request: HoldRequest): Decline | undefined {
    const place = placeOf(request);
    const tally = tallyFor(request);
    const no = objection(
      request,
      clockOf(clockChainOf(request)),
      place && counters.of(tally, place.way),
      place?.out,
    );
    counters.drop(tally);
    return no;
  }

  /**
   * A promise that is a fact already: from the log, or found on venue or chain after a crash. No limit can
   * refuse it.
   */
  function take(event: Extract<LedgerEvent, { type: 'held' | 'restored' }>): Applied {
    const { request, type } = event;
    const known = promises.find(request.orderId);
    if (known !== undefined) {
      if (type === 'held' || promises.facts(known).restored) return DUPLICATE;
      return change(known, { restored: true });
    }
    const place = placeOf(request);
    if (place === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
    const row = promises.insert(
      request,
      type === 'restored' ? { ...NO_FACTS, restored: true } : NO_FACTS,
      place,
      tallyFor(request),
    );
    return done(stageOf(promises.facts(row)));
  }

  function change(row: number, news: Partial<Facts>): Applied {
    promises.learn(row, news);
    return done(stageOf(promises.facts(row)));
  }

  function learn(row: number, event: Exclude<QuoteEvent, { type: 'held' | 'restored' }>): Applied {
    const facts = promises.facts(row);
    switch (event.type) {
      case 'accepted': {
        if (facts.accepted) return DUPLICATE;
        const late = standingOf(facts) === Standing.ended;
        const applied = change(row, { accepted: true });
        return late ? { applied: false, why: 'late', critical: true } : applied;
      }
      case 'released':
        return facts.released ? DUPLICATE : change(row, { released: true });
      case 'failed':
        return facts.failed ? DUPLICATE : change(row, { failed: true });
      case 'overdue':
        return facts.overdue ? DUPLICATE : change(row, { overdue: true });
      case 'filled':
        return facts.fills.includes(event.id)
          ? DUPLICATE
          : change(row, { fills: [...facts.fills, event.id] });
      case 'fill_final':
        return facts.finals.includes(event.id)
          ? DUPLICATE
          : change(row, { finals: [...facts.finals, event.id] });
      case 'finalised':
        return facts.finalised.some(({ id }) => id === event.id)
          ? DUPLICATE
          : change(row, { finalised: [...facts.finalised, { id: event.id, received: event.received }] });
      case 'reorged':
        return facts.undone.includes(event.id)
          ? DUPLICATE
          : change(row, { undone: [...facts.undone, event.id] });
    }
  }

  function money(
    event: Extract<
      LedgerEvent,
      { type: 'deposited' | 'withdrawal_requested' | 'withdrawal_ended' | 'reconciled' }
    >,
  ): Applied {
    if (event.amount < 0n)
      throw new InvariantError('An amount is never negative.', {
        facts: { type: event.type, amount: event.amount },
      });
    const bucket = bucketOf(event.chainId, event.token);
    if (bucket === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
    moneyChanges += 1;
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
        const row = promises.find(event.orderId);
        if (row === undefined)
          return {
            applied: false,
            why: 'unknown_quote',
            critical: event.type !== 'released' && event.type !== 'failed',
          };
        return learn(row, event);
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

  function* load({ books, promises: written }: SnapshotPieces): Generator<void> {
    if (changes() > 0) throw new InvariantError('Only an empty ledger can become another one.');
    const saved = readBooks(books);
    // What lapsed while it was written is ended at the first look.
    for (const [chainId, now] of saved.clocks) Object.assign(clockOf(chainId), { now, backlog: true });
    for (const { chainId, token, base, drift } of saved.buckets) {
      const bucket = bucketOf(chainId, token) ?? missing({ chainId, token });
      bucket.base = base;
      bucket.drift = drift;
    }
    moneyBook.load(saved, (place) => bucketOf(place.chainId, place.token) ?? missing(place));
    for (const piece of written) {
      for (const { request, facts, forgetAt } of piece.map(readPromise)) {
        const place =
          placeOf(request) ??
          missing(bucketOf(request.chainId, request.token) === undefined ? request : request.input);
        promises.setForgetAt(promises.insert(request, facts, place, tallyFor(request)), forgetAt);
      }
      yield;
    }
  }

  /** What is written in pieces must be of one moment. */
  const changes = (): number => promises.changes + moneyChanges;

  function pieces(): SnapshotPieces {
    const since = changes();
    const books = writeBooks({
      clocks: [...clocks.values()].map(({ chainId, now }) => [chainId, now]),
      buckets: everyBucket(),
      ...moneyBook.saved(),
    });
    return {
      books,
      promises: { [Symbol.iterator]: () => writePieces(promises.saved(), () => changes() === since) },
    };
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
    buckets: (asset) =>
      (asset === undefined ? everyBucket() : (assets.get(asset)?.places ?? [])).map(amountsOf),
    quote(orderId) {
      const row = promises.find(orderId);
      return row === undefined
        ? undefined
        : { request: promises.request(row), stage: stageOf(promises.facts(row)) };
    },
    undone(orderId, id) {
      const row = promises.find(orderId);
      return row !== undefined && promises.facts(row).undone.includes(id);
    },
    ofNonce: promises.ofNonce,
    shallow: (chainId) =>
      [...promises.bound].flatMap(({ request: { orderId }, out, facts }) =>
        out.chainId === chainId && standingOf(facts) === Standing.filled
          ? facts.fills.filter((id) => !facts.undone.includes(id)).map((id) => ({ orderId, id }))
          : [],
      ),
    binding: () => [...promises.bound].map(({ request }) => request),
    nearest(orderId) {
      const row = promises.find(orderId);
      return row === undefined ? undefined : nearestCap(limits, promises.countersOf(row));
    },
    exposure,
    get live() {
      return promises.live;
    },
    setLimits(next) {
      limits = next;
    },
    visitCounters: counters.visit,
    setBuffer: (chainId, token, buffer) =>
      void ((bucketOf(chainId, token) ?? missing({ chainId, token })).buffer = buffer),
    snapshot() {
      for (const clock of clocks.values()) while (clock.backlog) advance(clock.chainId, clock.now);
      return whole(pieces());
    },
    pieces,
    load,
  };
}

type QuoteEvent = Extract<LedgerEvent, { orderId: string } | { request: HoldRequest }>;

function missing({ chainId, token }: Pick<Money, 'chainId' | 'token'>): never {
  throw new InvariantError('The ledger has no such bucket; every token it ever held must stay configured.', {
    facts: { chainId, token },
  });
}
