/**
 * The inventory ledger: what the LP owns on each chain, has promised, and is owed.
 *
 * Hazard: two live quotes promise the same coin. Rule: the full output is held before the signature leaves
 * the process. The hold ends only when the chain clock is past the last second of the quote plus a grace, or
 * the chain proves that the order cannot execute. So every accepted quote is paid.
 */

import type { Decline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { isUnixSeconds, type UnixSeconds } from '../domain/time.ts';
import {
  amountsOf,
  type Bucket,
  createBucket,
  freeOf,
  isLimited,
  ownedOf,
  type PromisedExposure,
  toAtto,
} from './bucket.ts';
import { createCounters } from './counters.ts';
import type { HoldRequest, LedgerEvent, Money } from './event.ts';
import { createExpiryQueue } from './expiry.ts';
import type { ChainClock, Hold } from './hold.ts';
import {
  type Facts,
  hasEnded,
  type HoldState,
  holdStateOf,
  NO_FACTS,
  sameRequest,
  withReleased,
} from './hold-state.ts';
import { createHoldStore } from './hold-store.ts';
import { fullestCap } from './limits.ts';
import { createMoneyBook, type MoneyEvent } from './money-book.ts';
import { isNonceUsed, largestOutput } from './nonce-group.ts';
import { overCap } from './over-cap.ts';
import {
  chunksOf,
  readBooks,
  readHold,
  type StoredBooks,
  type StoredHold,
  writeBooks,
  writeHold,
} from './snapshot.ts';
import { type Applied, DUPLICATE, type Exposure, type Ledger, type LedgerOptions } from './views.ts';

export type * from './views.ts';

const DEFAULT_GROUP_SIZE = 16;
/**
 * Holds that one step of a clock ends, so that mass expiry delays nothing. Ending a hold late is always safe.
 * Part of the event log: a replay must end the same holds at the same event.
 */
const MOST_AT_ONCE = 50;
/**
 * Due holds that `hold` ends before it adds one. The quote waits for it, so it is a small number; above one,
 * so that the ledger does not grow when new quotes are all that drives it.
 */
const MOST_BEFORE_HOLD = 8;
const NOTHING: readonly never[] = [];

const done = (state: HoldState | null): Applied => ({ applied: true, state });

export function createLedger(options: LedgerOptions): Ledger {
  const { graceSeconds, rememberSeconds = 60, rememberSpentSeconds = 900, onEvent } = options;
  let limits = options.limits;
  const chains = new Map<number, Map<string, Bucket>>();
  const clocks = new Map<number, ChainClock>();
  const assets = new Map<string, { exposure: PromisedExposure; buckets: Bucket[] }>();
  /** By asset, 1e-18 of a whole token. */
  const inTransit = new Map<string, bigint>();
  const counters = createCounters();
  const holds = createHoldStore(counters, {
    endedSeconds: rememberSeconds,
    filledSeconds: rememberSpentSeconds,
  });
  const moneyBook = createMoneyBook();
  let moneyChanges = 0;

  for (const config of options.buckets) {
    const tokens = chains.get(config.chainId) ?? new Map<string, Bucket>();
    const asset = assets.get(config.asset) ?? { exposure: { committed: 0n, quoted: 0n }, buckets: [] };
    assets.set(config.asset, asset);
    const bucket = createBucket(config, asset.exposure);
    asset.buckets.push(bucket);
    tokens.set(config.token, bucket);
    chains.set(config.chainId, tokens);
  }

  const bucketOf = (chainId: number, token: Address): Bucket | undefined => chains.get(chainId)?.get(token);
  const everyBucket = (): Bucket[] => [...chains.values()].flatMap((tokens) => [...tokens.values()]);

  function clockOf(chainId: number): ChainClock {
    let clock = clocks.get(chainId);
    if (clock === undefined) {
      const queue = createExpiryQueue<Hold>();
      clock = { chainId, now: 0, graceSeconds: graceSeconds(chainId), queue, backlog: false };
      clocks.set(chainId, clock);
    }
    return clock;
  }

  const clockFor = ({ clockChainId, input }: HoldRequest): ChainClock =>
    clockOf(clockChainId ?? input.chainId);

  function createHold(request: HoldRequest, clock: ChainClock, facts: Facts): Hold | undefined {
    const out = bucketOf(request.chainId, request.token);
    const into = bucketOf(request.input.chainId, request.input.token);
    if (out === undefined || into === undefined) return undefined;
    // The input is what we buy, the output what we sell.
    const { asset } = request.side === 'buy' ? into : out;
    return {
      request,
      facts,
      state: holdStateOf(facts),
      out,
      in: into,
      clock,
      counters: counters.of(request, asset),
      group: holds.group(request.group) ?? { id: request.group, holds: NOTHING },
      forgetAt: 0,
    };
  }

  function advance(clock: ChainClock, now: UnixSeconds, most: number): number {
    if (now < clock.now || (now === clock.now && !clock.backlog)) return 0;
    if (!isUnixSeconds(now))
      throw new InvariantError('A chain clock counts whole seconds.', {
        facts: { chainId: clock.chainId, now },
      });
    clock.now = now;
    const due = clock.queue.due(now, most);
    clock.backlog = due.length === most;
    let expired = 0;
    // First expiry, then forgetting: the result must not depend on the order within a second.
    for (const hold of due) if (holds.expire(hold, now)) expired += 1;
    for (const hold of due) holds.forget(hold, now);
    onEvent?.({ type: 'time', chainId: clock.chainId, now, ...(most !== MOST_AT_ONCE && { most }) });
    return expired;
  }

  function refusalOf(request: HoldRequest, clock: ChainClock, hold: Hold | undefined): Decline | undefined {
    if (request.amount <= 0n || request.input.amount < 0n || request.notional < 0n)
      return { declined: 'internal', detail: 'not an amount' };
    if (!isUnixSeconds(request.lapsesAt) || request.lapsesAt <= clock.now)
      return { declined: 'validity', detail: 'over before it begins' };
    if (hold === undefined) return { declined: 'pair', detail: 'no such inventory' };
    const { out, group } = hold;
    if (out.drift !== null)
      return { declined: 'standby', control: 'drift', detail: 'ledger and chain disagree' };
    if (group.holds.length >= (limits.groupSize ?? DEFAULT_GROUP_SIZE))
      return {
        declined: 'limit',
        control: 'limit_taker',
        detail: 'too many quotes for one nonce',
        maxAmount: 0n,
      };
    if (isNonceUsed(group)) return { declined: 'validity', detail: 'nonce is used' };
    const shared = largestOutput(group, out);
    const free = freeOf(out);
    if (free < 0n || request.amount - shared > free)
      return {
        declined: 'no_inventory',
        maxAmount: free < 0n ? 0n : free + shared,
        ...(isLimited(out) && { detail: "the operator's limit on chain leaves no more" }),
      };
    return overCap(request, limits, hold.counters, group);
  }

  function hold(request: HoldRequest, now: UnixSeconds): { held: true } | Decline {
    const clock = clockFor(request);
    advance(clock, now, MOST_BEFORE_HOLD);
    const known = holds.get(request.orderId);
    if (known !== undefined)
      return known.state === 'held' && sameRequest(known.request, request)
        ? { held: true }
        : { declined: 'internal', detail: 'orderId was used before' };
    const added = createHold(request, clock, NO_FACTS);
    const refusal = refusalOf(request, clock, added);
    if (refusal !== undefined) return refusal;
    holds.insert(added as Hold);
    onEvent?.({ type: 'held', request });
    return { held: true };
  }

  function wouldRefuse(request: HoldRequest): Decline | undefined {
    const clock = clockFor(request);
    return refusalOf(request, clock, createHold(request, clock, NO_FACTS));
  }

  /** Adds a hold from the log, or one found on venue or chain after a crash. No limit refuses it. */
  function takeOver({ request, type }: Extract<LedgerEvent, { type: 'held' | 'restored' }>): Applied {
    const known = holds.get(request.orderId);
    const restored = type === 'restored';
    if (known !== undefined)
      return restored && !known.facts.restored
        ? change(known, { ...known.facts, restored: true })
        : DUPLICATE;
    const facts = restored ? { ...NO_FACTS, restored } : NO_FACTS;
    const added = createHold(request, clockFor(request), facts);
    if (added === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
    holds.insert(added);
    return done(added.state);
  }

  function change(hold: Hold, facts: Facts): Applied {
    holds.change(hold, facts);
    return done(hold.state);
  }

  function learn(hold: Hold, event: OrderEvent): Applied {
    const { facts } = hold;
    switch (event.type) {
      case 'accepted': {
        if (facts.accepted) return DUPLICATE;
        const late = hasEnded(hold.state);
        const applied = change(hold, { ...facts, accepted: true });
        return late ? { applied: false, why: 'late', critical: true } : applied;
      }
      case 'released':
        return facts.released ? DUPLICATE : change(hold, withReleased(facts));
      case 'failed':
        return facts.failed ? DUPLICATE : change(hold, { ...facts, failed: true });
      case 'overdue':
        return facts.overdue ? DUPLICATE : change(hold, { ...facts, overdue: true });
      case 'filled':
        return facts.fills.includes(event.id)
          ? DUPLICATE
          : change(hold, { ...facts, fills: [...facts.fills, event.id] });
      case 'fill_final':
        return facts.finals.includes(event.id)
          ? DUPLICATE
          : change(hold, { ...facts, finals: [...facts.finals, event.id] });
      case 'finalised': {
        const { id, received } = event;
        return facts.finalised.some((claim) => claim.id === id)
          ? DUPLICATE
          : change(hold, { ...facts, finalised: [...facts.finalised, { id, received }] });
      }
      case 'reorged':
        return facts.reorged.includes(event.id)
          ? DUPLICATE
          : change(hold, { ...facts, reorged: [...facts.reorged, event.id] });
    }
  }

  function applyMoney(event: MoneyEvent): Applied {
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
      const clock = clockOf(event.chainId);
      const { now, backlog } = clock;
      advance(clock, event.now, event.most ?? MOST_AT_ONCE);
      return event.now > now || (event.now === now && backlog) ? done(null) : DUPLICATE;
    }
    const answer = applyFact(event);
    // A late acceptance changes no balance, but the log keeps every fact.
    if (answer.applied || answer.why === 'late') onEvent?.(event);
    return answer;
  }

  function applyFact(event: Exclude<LedgerEvent, { type: 'time' }>): Applied {
    switch (event.type) {
      case 'deposited':
      case 'withdrawal_requested':
      case 'withdrawal_ended':
      case 'reconciled':
        return applyMoney(event);
      case 'held':
      case 'restored':
        return takeOver(event);
      default: {
        const hold = holds.get(event.orderId);
        if (hold !== undefined) return learn(hold, event);
        const critical = event.type !== 'released' && event.type !== 'failed';
        return { applied: false, why: 'unknown_order', critical };
      }
    }
  }

  function exposure(asset: string): Exposure {
    const known = assets.get(asset);
    if (known === undefined) return { owned: 0n, committed: 0n, quoted: 0n, total: 0n };
    const { committed, quoted } = known.exposure;
    let owned = inTransit.get(asset) ?? 0n;
    for (const bucket of known.buckets) owned += toAtto(ownedOf(bucket), bucket.decimals);
    return { owned, committed, quoted, total: owned + committed + quoted };
  }

  const changes = (): number => holds.changes + moneyChanges;

  function savedBooks(): StoredBooks {
    return writeBooks({
      clocks: [...clocks.values()].map(({ chainId, now }) => [chainId, now]),
      buckets: everyBucket(),
      ...moneyBook.saved(),
    });
  }

  function loadBooks(stored: StoredBooks): void {
    if (changes() > 0) throw new InvariantError('Only an empty ledger can load a snapshot.');
    const saved = readBooks(stored);
    // Holds that expired while the snapshot was written end when the clock next advances.
    for (const [chainId, now] of saved.clocks) Object.assign(clockOf(chainId), { now, backlog: true });
    for (const { chainId, token, base, drift } of saved.buckets)
      Object.assign(bucketOf(chainId, token) ?? missing({ chainId, token }), { base, drift });
    moneyBook.load(saved, (place) => bucketOf(place.chainId, place.token) ?? missing(place));
  }

  function loadHolds(stored: readonly StoredHold[]): void {
    for (const { request, facts, forgetAt } of stored.map(readHold)) {
      const loaded = createHold(request, clockFor(request), facts);
      if (loaded === undefined)
        return missing(bucketOf(request.chainId, request.token) === undefined ? request : request.input);
      holds.insert(loaded, forgetAt);
    }
  }

  return {
    hold,
    wouldRefuse,
    apply,
    advance: (chainId, now) => advance(clockOf(chainId), now, MOST_AT_ONCE),
    hasBacklog: (chainId) => clockOf(chainId).backlog,
    free(chainId, token) {
      const free = freeOf(bucketOf(chainId, token) ?? missing({ chainId, token }));
      return free > 0n ? free : 0n;
    },
    bucket(chainId, token) {
      const bucket = bucketOf(chainId, token);
      return bucket === undefined ? undefined : amountsOf(bucket);
    },
    bucketsOf: (asset) => assets.get(asset)?.buckets ?? NOTHING,
    buckets: (asset) =>
      (asset === undefined ? everyBucket() : (assets.get(asset)?.buckets ?? [])).map(amountsOf),
    quote(orderId) {
      const hold = holds.get(orderId);
      return hold === undefined ? undefined : { request: hold.request, state: hold.state };
    },
    isReorganised: (orderId, id) => holds.get(orderId)?.facts.reorged.includes(id) === true,
    ordersOfNonce: (group) =>
      (holds.group(group)?.holds ?? NOTHING)
        .filter(({ state }) => !hasEnded(state))
        .map(({ request }) => request.orderId),
    unfinalFills: (chainId) =>
      [...holds.open].flatMap(({ request: { orderId }, out, facts, state }) =>
        out.chainId === chainId && state === 'filled'
          ? facts.fills.filter((id) => !facts.reorged.includes(id)).map((id) => ({ orderId, id }))
          : [],
      ),
    openPromises: () => [...holds.open].map(({ request }) => request),
    fullestCap(orderId) {
      const hold = holds.get(orderId);
      return hold === undefined ? undefined : fullestCap(limits, hold.counters);
    },
    exposure,
    get live() {
      return holds.live;
    },
    setInTransit: (asset, amount) => void inTransit.set(asset, amount),
    setLimits(next) {
      limits = next;
    },
    visitCounters: counters.visit,
    setBuffer: (chainId, token, buffer) =>
      void ((bucketOf(chainId, token) ?? missing({ chainId, token })).buffer = buffer),
    setOperatorLimit: (chainId, token, limit) =>
      void ((bucketOf(chainId, token) ?? missing({ chainId, token })).operatorLimit = limit),
    snapshot() {
      for (const clock of clocks.values()) while (clock.backlog) advance(clock, clock.now, MOST_AT_ONCE);
      return {
        ...savedBooks(),
        promises: [...holds.all()].map(writeHold).sort((a, b) => (a.quoteId < b.quoteId ? -1 : 1)),
      };
    },
    snapshotChunks() {
      const since = changes();
      return {
        books: savedBooks(),
        chunks: chunksOf([...holds.all()]).map((chunk) => () => {
          if (changes() !== since)
            throw new InvariantError('The ledger changed while its snapshot was written.');
          return chunk.map(writeHold);
        }),
      };
    },
    loadBooks,
    loadHolds,
  };
}

type OrderEvent = Exclude<Extract<LedgerEvent, { orderId: string }>, { type: 'held' | 'restored' }>;

function missing({ chainId, token }: Pick<Money, 'chainId' | 'token'>): never {
  throw new InvariantError('The ledger has no such bucket. Keep every token configured that it ever held.', {
    facts: { chainId, token },
  });
}
