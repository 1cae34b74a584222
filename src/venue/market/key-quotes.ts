/**
 * Limits the live quotes of one key, over all replicas: each ties up an LP's inventory. A quote counts
 * until it expires or is submitted.
 */

import { ApiError } from '../../protocol/errors.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Workspace } from '../../ports/stores/store.ts';
import type { RateOptions } from '../options.ts';
import { createPeerTotals, type PeerTotals } from '../replicas/peer-totals.ts';
import type { PeerPublisher, PeerUpdate, ReplicaShare } from '../replicas/peers.ts';

export interface OpenQuoteLimits {
  count: number;
  notionalUsd: number;
}

/** The workspace's own limits, or the venue's. */
export const openQuoteLimits = (
  { limits }: Pick<Workspace, 'limits'>,
  rates: Pick<RateOptions, 'openQuotes' | 'openNotionalUsd'>,
): OpenQuoteLimits => ({
  count: limits.openQuotes ?? rates.openQuotes,
  notionalUsd: limits.openNotionalUsd ?? rates.openNotionalUsd,
});

/** Returns both sides of every candidate: one candidate is executed, and a side may have no price. */
export const sidesOf = (
  candidates: readonly { inputAmount: bigint; outputAmount: bigint }[],
  input: TokenInfo,
  output: TokenInfo,
): (readonly [TokenInfo, bigint])[] =>
  candidates.flatMap(({ inputAmount, outputAmount }) => [
    [input, inputAmount] as const,
    [output, outputAmount] as const,
  ]);

/** One open quote of a key. */
export interface KeyQuote {
  readonly held: Held;
  readonly notionalUsd: number;
  isOpen: boolean;
}

export interface KeyQuotes {
  /**
   * Counts the request as an open quote until `release`, so that many requests sent together stay within
   * the limit. Throws 429 at the limit.
   */
  reserve(keyId: string, limits: OpenQuoteLimits, now: UnixSeconds): void;
  /** Call once for each `reserve`, when the request has been answered. */
  release(keyId: string): void;
  add(keyId: string, notionalUsd: number, until: UnixSeconds): KeyQuote;
  /** Calling it again does nothing. */
  close(quote: KeyQuote): void;
  replicaShare(now: () => UnixSeconds): ReplicaShare;
}

/** The open quotes of one key, at this replica. */
interface Held {
  readonly keyId: string;
  count: number;
  inProgress: number;
  notionalUsd: number;
  readonly expiries: Map<UnixSeconds, KeyQuote[]>;
  prunedTo: UnixSeconds;
}

interface KeyQuotesState {
  readonly peers: PeerPublisher;
  readonly keys: Map<string, Held>;
  readonly peerTotals: PeerTotals<{ count: number; notionalUsd: number }>;
  /** The keys whose quotes changed since the last update to the other replicas. */
  readonly changed: Set<string>;
}

export function createKeyQuotes(peers: PeerPublisher): KeyQuotes {
  const state: KeyQuotesState = {
    peers,
    keys: new Map(),
    peerTotals: createPeerTotals(),
    changed: new Set(),
  };
  return {
    reserve: (keyId, limits, now) => reserve(state, keyId, limits, now),
    release(keyId) {
      heldBy(state, keyId).inProgress--;
    },
    add: (keyId, notionalUsd, until) => add(state, keyId, notionalUsd, until),
    close(quote) {
      if (quote.isOpen) change(state, quote.held.keyId);
      remove(quote);
    },
    replicaShare: (now) => replicaShare(state, now),
  };
}

function reserve(
  state: KeyQuotesState,
  keyId: string,
  { count, notionalUsd }: OpenQuoteLimits,
  now: UnixSeconds,
): void {
  const { peerTotals } = state;
  const held = heldBy(state, keyId);
  const before = held.count;
  prune(held, now);
  if (held.count !== before) state.changed.add(keyId);
  const elsewhere = peerTotals.of(keyId, now);
  const sum = (of: 'count' | 'notionalUsd') => elsewhere.reduce((total, each) => total + each[of], 0);
  if (
    held.count + held.inProgress + sum('count') < count &&
    held.notionalUsd + sum('notionalUsd') < notionalUsd
  ) {
    held.inProgress++;
    return;
  }
  const soonest = Math.min(...held.expiries.keys(), peerTotals.until(keyId) ?? Number.POSITIVE_INFINITY);
  throw new ApiError(
    'rate_limited',
    'This key holds as many live quotes as it may, or quotes of as much value; one without a reference ' +
      'price counts as all of that value. Submit some or let them lapse first.',
    { retryAfterSeconds: Math.max(1, Number.isFinite(soonest) ? soonest - now : 1) },
  );
}

function heldBy({ keys }: KeyQuotesState, keyId: string): Held {
  let held = keys.get(keyId);
  if (!held) {
    held = { keyId, count: 0, inProgress: 0, notionalUsd: 0, expiries: new Map(), prunedTo: 0 };
    keys.set(keyId, held);
  }
  return held;
}

function add(state: KeyQuotesState, keyId: string, notionalUsd: number, until: UnixSeconds): KeyQuote {
  const held = heldBy(state, keyId);
  const quote: KeyQuote = { held, notionalUsd, isOpen: true };
  held.count++;
  held.notionalUsd += notionalUsd;
  change(state, keyId);
  const due = held.expiries.get(until);
  if (due) due.push(quote);
  else held.expiries.set(until, [quote]);
  return quote;
}

function change({ changed, peers }: KeyQuotesState, keyId: string): void {
  changed.add(keyId);
  peers.publishSoon();
}

function prune(held: Held, now: UnixSeconds): void {
  if (now <= held.prunedTo) return;
  held.prunedTo = now;
  for (const [second, quotes] of held.expiries) {
    if (second > now) continue;
    held.expiries.delete(second);
    for (const quote of quotes) remove(quote);
  }
  // Sums of floats drift; without quotes the sum is exactly 0.
  if (held.count === 0) held.notionalUsd = 0;
}

function remove(quote: KeyQuote): void {
  if (!quote.isOpen) return;
  quote.isOpen = false;
  quote.held.count--;
  quote.held.notionalUsd -= quote.notionalUsd;
}

function replicaShare({ keys, peerTotals, changed }: KeyQuotesState, now: () => UnixSeconds): ReplicaShare {
  let checkedAt: UnixSeconds = 0;
  return {
    name: 'quotes',
    updates(all): PeerUpdate[] {
      const second = now();
      if (all || second > checkedAt) {
        checkedAt = second;
        peerTotals.expire(second);
        for (const [keyId, held] of keys) {
          const before = held.count;
          prune(held, second);
          if (held.count !== before || (all && held.count > 0)) changed.add(keyId);
        }
      }
      const updates = [...changed].map((keyId): PeerUpdate => {
        const { count = 0, notionalUsd = 0, expiries } = keys.get(keyId) ?? {};
        return [keyId, count, notionalUsd, Math.max(0, ...(expiries?.keys() ?? []))];
      });
      changed.clear();
      return updates;
    },
    apply(replica, [keyId, count, notionalUsd, until]) {
      peerTotals.put(
        replica,
        keyId,
        { count: Number(count), notionalUsd: Number(notionalUsd) },
        Number(until),
      );
    },
  };
}
