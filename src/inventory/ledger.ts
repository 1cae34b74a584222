/**
 * The inventory ledger: what the LP owns on each chain, has promised, and is owed.
 *
 * Hazard: two live quotes promise the same coin. Rule: the full output is held before the signature leaves
 * the process. The hold ends only when the chain clock is past the last second of the quote plus a grace, or
 * the chain proves that the order cannot execute. So every accepted quote is paid.
 */

import type { Decline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import { isUnixSeconds, type UnixSeconds } from '../domain/time.ts';
import { amountsOf, freeOf, isLimited, ownedOf, toAtto } from './bucket.ts';
import type { HoldRequest, LedgerEvent } from './event.ts';
import type { ChainClock, Hold } from './hold.ts';
import { type Facts, hasEnded, type HoldState, NO_FACTS, sameRequest, withReleased } from './hold-state.ts';
import {
  advanceClock,
  findBucket,
  changesOf,
  clockFor,
  clockOf,
  createHold,
  createLedgerState,
  everyBucket,
  type LedgerState,
  missingBucket,
  MOST_AT_ONCE,
  NO_HOLDS,
  requiredBucket,
} from './ledger-state.ts';
import { fullestCap } from './limits.ts';
import type { MoneyEvent } from './money-book.ts';
import { isNonceUsed, largestOutput } from './nonce-group.ts';
import { overCap } from './over-cap.ts';
import {
  chunksOf,
  readBooks,
  readHold,
  type SnapshotChunks,
  type StoredBooks,
  type StoredHold,
  writeBooks,
  writeHold,
} from './snapshot.ts';
import { type Applied, DUPLICATE, type Exposure, type Ledger, type LedgerOptions } from './views.ts';

export type * from './views.ts';

const DEFAULT_GROUP_SIZE = 16;
/**
 * Due holds that `hold` ends before it adds one. The quote waits for it, so it is a small number; above one,
 * so that the ledger does not grow when new quotes are all that drives it.
 */
const MOST_BEFORE_HOLD = 8;

/** An event about one order whose hold exists. */
type OrderEvent = Exclude<Extract<LedgerEvent, { orderId: string }>, { type: 'held' | 'restored' }>;

export function createLedger(options: LedgerOptions): Ledger {
  const state = createLedgerState(options);
  const { holds, assets, counters } = state;
  return {
    hold: (request, now) => hold(state, request, now),
    wouldRefuse(request) {
      const clock = clockFor(state, request);
      return refusalOf(state, request, clock, createHold(state, request, clock, NO_FACTS));
    },
    apply: (event) => apply(state, event),
    advance: (chainId, now) => advanceClock(state, clockOf(state, chainId), now, MOST_AT_ONCE),
    hasBacklog: (chainId) => clockOf(state, chainId).backlog,
    free(chainId, token) {
      const free = freeOf(requiredBucket(state, chainId, token));
      return free > 0n ? free : 0n;
    },
    bucket(chainId, token) {
      const bucket = findBucket(state, chainId, token);
      return bucket === undefined ? undefined : amountsOf(bucket);
    },
    bucketsOf: (asset) => assets.get(asset)?.buckets ?? NO_HOLDS,
    buckets: (asset) =>
      (asset === undefined ? everyBucket(state) : (assets.get(asset)?.buckets ?? [])).map(amountsOf),
    quote(orderId) {
      const known = holds.get(orderId);
      return known === undefined ? undefined : { request: known.request, state: known.state };
    },
    isReorganised: (orderId, id) => holds.get(orderId)?.facts.reorged.includes(id) === true,
    ordersOfNonce: (group) =>
      (holds.group(group)?.holds ?? NO_HOLDS)
        .filter((each) => !hasEnded(each.state))
        .map(({ request }) => request.orderId),
    unfinalFills: (chainId) => unfinalFills(state, chainId),
    openPromises: () => [...holds.open].map(({ request }) => request),
    fullestCap(orderId) {
      const known = holds.get(orderId);
      return known === undefined ? undefined : fullestCap(state.limits, known.counters);
    },
    exposure: (asset) => exposureOf(state, asset),
    get live() {
      return holds.live;
    },
    setInTransit: (asset, amount) => void state.inTransit.set(asset, amount),
    setLimits(next) {
      state.limits = next;
    },
    visitCounters: counters.visit,
    setBuffer: (chainId, token, buffer) => void (requiredBucket(state, chainId, token).buffer = buffer),
    setOperatorLimit: (chainId, token, limit) =>
      void (requiredBucket(state, chainId, token).operatorLimit = limit),
    snapshot() {
      for (const clock of state.clocks.values())
        while (clock.backlog) advanceClock(state, clock, clock.now, MOST_AT_ONCE);
      return {
        ...savedBooks(state),
        promises: [...holds.all()].map(writeHold).sort((a, b) => (a.quoteId < b.quoteId ? -1 : 1)),
      };
    },
    snapshotChunks: () => snapshotChunks(state),
    loadBooks: (stored) => loadBooks(state, stored),
    loadHolds: (stored) => loadHolds(state, stored),
  };
}

/** Holds the output of a quote, or says why not. The quote path waits for it. */
function hold(state: LedgerState, request: HoldRequest, now: UnixSeconds): { held: true } | Decline {
  const clock = clockFor(state, request);
  advanceClock(state, clock, now, MOST_BEFORE_HOLD);
  const known = state.holds.get(request.orderId);
  if (known !== undefined)
    return known.state === 'held' && sameRequest(known.request, request)
      ? { held: true }
      : { declined: 'internal', detail: 'orderId was used before' };
  const added = createHold(state, request, clock, NO_FACTS);
  const refusal = refusalOf(state, request, clock, added);
  if (refusal !== undefined) return refusal;
  state.holds.insert(added as Hold);
  state.onEvent?.({ type: 'held', request });
  return { held: true };
}

/** Returns why a hold cannot be added; undefined when it can. `added`: undefined without its buckets. */
function refusalOf(
  { limits }: LedgerState,
  request: HoldRequest,
  clock: ChainClock,
  added: Hold | undefined,
): Decline | undefined {
  if (request.amount <= 0n || request.input.amount < 0n || request.notional < 0n)
    return { declined: 'internal', detail: 'not an amount' };
  if (!isUnixSeconds(request.lapsesAt) || request.lapsesAt <= clock.now)
    return { declined: 'validity', detail: 'over before it begins' };
  if (added === undefined) return { declined: 'pair', detail: 'no such inventory' };
  const { out, group } = added;
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
  return overCap(request, limits, added.counters, group);
}

function apply(state: LedgerState, event: LedgerEvent): Applied {
  if (event.type === 'time') {
    const clock = clockOf(state, event.chainId);
    const { now, backlog } = clock;
    advanceClock(state, clock, event.now, event.most ?? MOST_AT_ONCE);
    return event.now > now || (event.now === now && backlog) ? done(null) : DUPLICATE;
  }
  const answer = applyFact(state, event);
  // A late acceptance changes no balance, but the log keeps every fact.
  if (answer.applied || answer.why === 'late') state.onEvent?.(event);
  return answer;
}

const done = (state: HoldState | null): Applied => ({ applied: true, state });

function applyFact(state: LedgerState, event: Exclude<LedgerEvent, { type: 'time' }>): Applied {
  switch (event.type) {
    case 'deposited':
    case 'withdrawal_requested':
    case 'withdrawal_ended':
    case 'reconciled':
      return applyMoney(state, event);
    case 'held':
    case 'restored':
      return takeOver(state, event);
    default: {
      const known = state.holds.get(event.orderId);
      if (known !== undefined) return learn(state, known, event);
      const critical = event.type !== 'released' && event.type !== 'failed';
      return { applied: false, why: 'unknown_order', critical };
    }
  }
}

function applyMoney(state: LedgerState, event: MoneyEvent): Applied {
  if (event.amount < 0n)
    throw new InvariantError('An amount is never negative.', {
      facts: { type: event.type, amount: event.amount },
    });
  const bucket = findBucket(state, event.chainId, event.token);
  if (bucket === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
  state.moneyChanges += 1;
  return state.moneyBook.apply(event, bucket);
}

/** Adds a hold from the log, or one found on venue or chain after a crash. No limit refuses it. */
function takeOver(
  state: LedgerState,
  { request, type }: Extract<LedgerEvent, { type: 'held' | 'restored' }>,
): Applied {
  const known = state.holds.get(request.orderId);
  const restored = type === 'restored';
  if (known !== undefined)
    return restored && !known.facts.restored
      ? change(state, known, { ...known.facts, restored: true })
      : DUPLICATE;
  const facts = restored ? { ...NO_FACTS, restored } : NO_FACTS;
  const added = createHold(state, request, clockFor(state, request), facts);
  if (added === undefined) return { applied: false, why: 'unknown_bucket', critical: true };
  state.holds.insert(added);
  return done(added.state);
}

function change({ holds }: LedgerState, known: Hold, facts: Facts): Applied {
  holds.change(known, facts);
  return done(known.state);
}

/** Adds a fact to a hold, unless the hold has it. */
function learn(state: LedgerState, known: Hold, event: OrderEvent): Applied {
  const { facts } = known;
  switch (event.type) {
    case 'accepted': {
      if (facts.accepted) return DUPLICATE;
      const late = hasEnded(known.state);
      const applied = change(state, known, { ...facts, accepted: true });
      return late ? { applied: false, why: 'late', critical: true } : applied;
    }
    case 'released':
      return facts.released ? DUPLICATE : change(state, known, withReleased(facts));
    case 'failed':
      return facts.failed ? DUPLICATE : change(state, known, { ...facts, failed: true });
    case 'overdue':
      return facts.overdue ? DUPLICATE : change(state, known, { ...facts, overdue: true });
    case 'filled':
      return facts.fills.includes(event.id)
        ? DUPLICATE
        : change(state, known, { ...facts, fills: [...facts.fills, event.id] });
    case 'fill_final':
      return facts.finals.includes(event.id)
        ? DUPLICATE
        : change(state, known, { ...facts, finals: [...facts.finals, event.id] });
    case 'finalised': {
      const { id, received } = event;
      return facts.finalised.some((claim) => claim.id === id)
        ? DUPLICATE
        : change(state, known, { ...facts, finalised: [...facts.finalised, { id, received }] });
    }
    case 'reorged':
      return facts.reorged.includes(event.id)
        ? DUPLICATE
        : change(state, known, { ...facts, reorged: [...facts.reorged, event.id] });
  }
}

function exposureOf({ assets, inTransit }: LedgerState, asset: string): Exposure {
  const known = assets.get(asset);
  if (known === undefined) return { owned: 0n, committed: 0n, quoted: 0n, total: 0n };
  const { committed, quoted } = known.exposure;
  let owned = inTransit.get(asset) ?? 0n;
  for (const bucket of known.buckets) owned += toAtto(ownedOf(bucket), bucket.decimals);
  return { owned, committed, quoted, total: owned + committed + quoted };
}

const unfinalFills = ({ holds }: LedgerState, chainId: number): { orderId: string; id: string }[] =>
  [...holds.open].flatMap(({ request: { orderId }, out, facts, state }) =>
    out.chainId === chainId && state === 'filled'
      ? facts.fills.filter((id) => !facts.reorged.includes(id)).map((id) => ({ orderId, id }))
      : [],
  );

function savedBooks(state: LedgerState): StoredBooks {
  return writeBooks({
    clocks: [...state.clocks.values()].map(({ chainId, now }) => [chainId, now]),
    buckets: everyBucket(state),
    ...state.moneyBook.saved(),
  });
}

function snapshotChunks(state: LedgerState): SnapshotChunks {
  const since = changesOf(state);
  return {
    books: savedBooks(state),
    chunks: chunksOf([...state.holds.all()]).map((chunk) => () => {
      if (changesOf(state) !== since)
        throw new InvariantError('The ledger changed while its snapshot was written.');
      return chunk.map(writeHold);
    }),
  };
}

function loadBooks(state: LedgerState, stored: StoredBooks): void {
  if (changesOf(state) > 0) throw new InvariantError('Only an empty ledger can load a snapshot.');
  const saved = readBooks(stored);
  // Holds that expired while the snapshot was written end when the clock next advances.
  for (const [chainId, now] of saved.clocks) Object.assign(clockOf(state, chainId), { now, backlog: true });
  for (const { chainId, token, base, drift } of saved.buckets)
    Object.assign(requiredBucket(state, chainId, token), { base, drift });
  state.moneyBook.load(saved, (place) => requiredBucket(state, place.chainId, place.token));
}

function loadHolds(state: LedgerState, stored: readonly StoredHold[]): void {
  for (const { request, facts, forgetAt } of stored.map(readHold)) {
    const loaded = createHold(state, request, clockFor(state, request), facts);
    if (loaded === undefined)
      return missingBucket(
        findBucket(state, request.chainId, request.token) === undefined ? request : request.input,
      );
    state.holds.insert(loaded, forgetAt);
  }
}
