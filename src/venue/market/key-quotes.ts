/**
 * Limits the live quotes of one key, over all replicas: each ties up an LP's inventory. A quote counts
 * until it expires or is submitted.
 */

import { ApiError } from '../../protocol/errors.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Workspace } from '../../ports/stores/store.ts';
import type { RateOptions } from '../options.ts';
import { createPeerTotals } from '../replicas/peer-totals.ts';
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

export interface OpenQuotes {
  /**
   * Counts the request as an open quote until `release`, so that many requests sent together stay within
   * the limit. Throws 429 at the limit.
   */
  reserve(keyId: string, limits: OpenQuoteLimits, now: UnixSeconds): void;
  /** Call once for each `reserve`, when the request has been answered. */
  release(keyId: string): void;
  /** `notionalUsd`: the whole limit where the value is not known. */
  add(keyId: string, group: string, notionalUsd: number, until: UnixSeconds): void;
  close(keyId: string, group: string): void;
  replicaShare(now: () => UnixSeconds): ReplicaShare;
}

interface Held {
  count: number;
  inProgress: number;
  notionalUsd: number;
  groups: Map<string, { notionalUsd: number; until: UnixSeconds }>;
  expiries: Map<UnixSeconds, string[]>;
  prunedTo: UnixSeconds;
}

export function createOpenQuotes(peers: PeerPublisher): OpenQuotes {
  const keys = new Map<string, Held>();
  const peerTotals = createPeerTotals<{ count: number; notionalUsd: number }>();
  const changed = new Set<string>();

  function remove(held: Held, group: string, until?: UnixSeconds) {
    const entry = held.groups.get(group);
    if (!entry || (until !== undefined && entry.until !== until)) return;
    held.groups.delete(group);
    held.count--;
    held.notionalUsd -= entry.notionalUsd;
  }

  function prune(held: Held, now: UnixSeconds) {
    if (now <= held.prunedTo) return;
    held.prunedTo = now;
    for (const [second, groups] of held.expiries) {
      if (second > now) continue;
      held.expiries.delete(second);
      for (const group of groups) remove(held, group, second);
    }
    // Sums of floats drift; without quotes the sum is exactly 0.
    if (held.count === 0) held.notionalUsd = 0;
  }

  function of(keyId: string): Held {
    let held = keys.get(keyId);
    if (!held)
      keys.set(
        keyId,
        (held = {
          count: 0,
          inProgress: 0,
          notionalUsd: 0,
          groups: new Map(),
          expiries: new Map(),
          prunedTo: 0,
        }),
      );
    return held;
  }

  function change(keyId: string) {
    changed.add(keyId);
    peers.publishSoon();
  }

  return {
    reserve(keyId: string, { count, notionalUsd }: OpenQuoteLimits, now: UnixSeconds): void {
      const held = of(keyId);
      const before = held.count;
      prune(held, now);
      if (held.count !== before) changed.add(keyId);
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
    },
    release(keyId: string): void {
      of(keyId).inProgress--;
    },
    add(keyId: string, group: string, notionalUsd: number, until: UnixSeconds) {
      const held = of(keyId);
      held.groups.set(group, { notionalUsd, until });
      held.count++;
      held.notionalUsd += notionalUsd;
      change(keyId);
      const due = held.expiries.get(until);
      if (due) due.push(group);
      else held.expiries.set(until, [group]);
    },
    close(keyId: string, group: string) {
      const held = keys.get(keyId);
      if (!held) return;
      remove(held, group);
      change(keyId);
    },
    replicaShare(now: () => UnixSeconds): ReplicaShare {
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
    },
  };
}
