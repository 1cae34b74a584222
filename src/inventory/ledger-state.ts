/** The state of a ledger, and what every step needs of it: buckets, chain clocks and new holds. */

import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { isUnixSeconds, type UnixSeconds } from '../domain/time.ts';
import { type Bucket, createBucket, type PromisedExposure } from './bucket.ts';
import { type Counters, createCounters } from './counters.ts';
import type { HoldRequest, Money } from './event.ts';
import { createExpiryQueue } from './expiry.ts';
import type { ChainClock, Hold } from './hold.ts';
import { type Facts, holdStateOf } from './hold-state.ts';
import { createHoldStore, type HoldStore } from './hold-store.ts';
import type { Limits } from './limits.ts';
import { createMoneyBook, type MoneyBook } from './money-book.ts';
import type { LedgerOptions } from './views.ts';

/**
 * Holds that one step of a clock ends, so that mass expiry delays nothing. Ending a hold late is always safe.
 * Part of the event log: a replay must end the same holds at the same event.
 */
export const MOST_AT_ONCE = 50;
export const NO_HOLDS: readonly never[] = [];

/** An asset over all its chains. */
interface AssetBuckets {
  exposure: PromisedExposure;
  buckets: Bucket[];
}

/** One object for the life of the ledger, so that the quote path reads fields and copies nothing. */
export interface LedgerState {
  readonly graceSeconds: LedgerOptions['graceSeconds'];
  readonly onEvent: LedgerOptions['onEvent'];
  limits: Limits;
  /** The buckets by chain and token. */
  readonly chains: Map<number, Map<string, Bucket>>;
  readonly clocks: Map<number, ChainClock>;
  readonly assets: Map<string, AssetBuckets>;
  /** The amounts in transit by asset, in 1e-18 of a whole token. */
  readonly inTransit: Map<string, bigint>;
  readonly counters: Counters;
  readonly holds: HoldStore;
  readonly moneyBook: MoneyBook;
  /** Counts the changes that are not changes of holds. */
  moneyChanges: number;
}

export function createLedgerState({
  graceSeconds,
  rememberSeconds = 60,
  rememberSpentSeconds = 900,
  onEvent,
  limits,
  buckets,
}: LedgerOptions): LedgerState {
  const chains = new Map<number, Map<string, Bucket>>();
  const assets = new Map<string, AssetBuckets>();
  for (const config of buckets) {
    const tokens = chains.get(config.chainId) ?? new Map<string, Bucket>();
    const asset = assets.get(config.asset) ?? { exposure: { committed: 0n, quoted: 0n }, buckets: [] };
    assets.set(config.asset, asset);
    const bucket = createBucket(config, asset.exposure);
    asset.buckets.push(bucket);
    tokens.set(config.token, bucket);
    chains.set(config.chainId, tokens);
  }
  const counters = createCounters();
  const holds = createHoldStore(counters, {
    endedSeconds: rememberSeconds,
    filledSeconds: rememberSpentSeconds,
  });
  return {
    ...{ graceSeconds, onEvent, limits, chains, assets, counters, holds },
    clocks: new Map(),
    inTransit: new Map(),
    moneyBook: createMoneyBook(),
    moneyChanges: 0,
  };
}

export const findBucket = (state: LedgerState, chainId: number, token: Address): Bucket | undefined =>
  state.chains.get(chainId)?.get(token);

/** Throws `InvariantError` when no such bucket is configured. */
export const requiredBucket = (state: LedgerState, chainId: number, token: Address): Bucket =>
  findBucket(state, chainId, token) ?? missingBucket({ chainId, token });

export function missingBucket({ chainId, token }: Pick<Money, 'chainId' | 'token'>): never {
  throw new InvariantError('The ledger has no such bucket. Keep every token configured that it ever held.', {
    facts: { chainId, token },
  });
}

export const everyBucket = (state: LedgerState): Bucket[] =>
  [...state.chains.values()].flatMap((tokens) => [...tokens.values()]);

export function clockOf(state: LedgerState, chainId: number): ChainClock {
  let clock = state.clocks.get(chainId);
  if (clock === undefined) {
    const queue = createExpiryQueue<Hold>();
    clock = { chainId, now: 0, graceSeconds: state.graceSeconds(chainId), queue, backlog: false };
    state.clocks.set(chainId, clock);
  }
  return clock;
}

/** The clock that ends the hold: that of the origin, unless the request names another. */
export const clockFor = (state: LedgerState, { clockChainId, input }: HoldRequest): ChainClock =>
  clockOf(state, clockChainId ?? input.chainId);

/** Makes a hold that is not in the books yet; undefined when one of its buckets is not configured. */
export function createHold(
  state: LedgerState,
  request: HoldRequest,
  clock: ChainClock,
  facts: Facts,
): Hold | undefined {
  const out = findBucket(state, request.chainId, request.token);
  const into = findBucket(state, request.input.chainId, request.input.token);
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
    counters: state.counters.of(request, asset),
    group: state.holds.group(request.group) ?? { id: request.group, holds: NO_HOLDS },
    forgetAt: 0,
  };
}

/** Moves a clock and ends at most `most` holds. Returns how many of them were live. */
export function advanceClock(
  { holds, onEvent }: LedgerState,
  clock: ChainClock,
  now: UnixSeconds,
  most: number,
): number {
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

/** Differs whenever the ledger has changed. */
export const changesOf = ({ holds, moneyChanges }: LedgerState): number => holds.changes + moneyChanges;
