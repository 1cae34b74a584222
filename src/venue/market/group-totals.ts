/**
 * Amounts of live quotes per key, with the other replicas' totals. A nonce group counts once under a key,
 * with its largest amount: its quotes exclude each other on chain.
 */

import type { UnixSeconds } from '../../domain/time.ts';
import { createPeerTotals } from '../replicas/peer-totals.ts';
import type { PeerPublisher, PeerUpdate, ReplicaShare } from '../replicas/peers.ts';

/** The largest amount of one nonce group under one key, until the last of its quotes ends. */
export interface GroupAmount {
  readonly account: Account;
  readonly group: string;
  amount: bigint;
  until: UnixSeconds;
}

interface Account {
  readonly key: string;
  total: bigint;
  readonly groups: Map<string, GroupAmount>;
  until: UnixSeconds;
}

export interface GroupTotals {
  /**
   * Raises the amount of a group under a key; a smaller amount or an earlier time changes nothing. Adds it to
   * `amounts` if it is new. Returns by how much the key's total has grown.
   */
  raise(amounts: GroupAmount[], key: string, group: string, amount: bigint, until: UnixSeconds): bigint;
  remove(amount: GroupAmount): void;
  /** Adds up a key's live amounts over all replicas, without those of one group. */
  total(key: string, exceptGroup: string): bigint;
  /** Returns when the last of this replica's amounts ends; undefined when it has none. */
  until(key: string): UnixSeconds | undefined;
  /** Drops the totals of other replicas that ended before `now`. */
  expire(now: UnixSeconds): void;
  replicaShare(): ReplicaShare;
}

/** `name` tells the share of this replica from others on the bus. */
export function createGroupTotals(name: string, peers: PeerPublisher): GroupTotals {
  const accounts = new Map<string, Account>();
  const peerTotals = createPeerTotals<bigint>();
  /** The keys whose total changed since the last update to the other replicas. */
  const changed = new Set<string>();
  /** Chain time of the last `expire`. */
  let seen: UnixSeconds = 0;

  return {
    raise(amounts, key, group, amount, until) {
      let account = accounts.get(key);
      if (!account) accounts.set(key, (account = { key, total: 0n, groups: new Map(), until: 0 }));
      let entry = account.groups.get(group);
      if (!entry) {
        entry = { account, group, amount: 0n, until: 0 };
        account.groups.set(group, entry);
        amounts.push(entry);
      }
      const grown = amount > entry.amount ? amount - entry.amount : 0n;
      account.total += grown;
      entry.amount += grown;
      account.until = Math.max(account.until, until);
      entry.until = Math.max(entry.until, until);
      changed.add(key);
      peers.publishSoon();
      return grown;
    },
    remove({ account, group, amount }) {
      changed.add(account.key);
      account.groups.delete(group);
      account.total -= amount;
      if (account.groups.size === 0) accounts.delete(account.key);
    },
    total(key, exceptGroup) {
      const account = accounts.get(key);
      const ours = account ? account.total - (account.groups.get(exceptGroup)?.amount ?? 0n) : 0n;
      // One replica answers a request, so no other replica's total contains its group.
      let sum = ours;
      for (const total of peerTotals.of(key, seen)) sum += total;
      return sum;
    },
    until: (key) => accounts.get(key)?.until,
    expire(now) {
      seen = now;
      peerTotals.expire(now);
    },
    replicaShare: () => ({
      name,
      updates(all): PeerUpdate[] {
        const keys = all ? new Set([...changed, ...accounts.keys()]) : changed;
        const updates = [...keys].map((key): PeerUpdate => {
          const { total, until } = accounts.get(key) ?? { total: 0n, until: 0 };
          return [key, total.toString(), until];
        });
        changed.clear();
        return updates;
      },
      apply(replica, [key, total, until]) {
        peerTotals.put(replica, key, BigInt(total as string), Number(until));
      },
    }),
  };
}
