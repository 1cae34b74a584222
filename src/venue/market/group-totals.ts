/**
 * Amounts of live quotes per key, with the other replicas' totals. A nonce group counts once under a key,
 * with its largest amount: its quotes exclude each other on chain.
 */

import type { UnixSeconds } from '../../domain/time.ts';
import { createPeerTotals } from '../replicas/peer-totals.ts';
import type { PeerPublisher, PeerUpdate, ReplicaShare } from '../replicas/peers.ts';

export interface GroupAmount {
  group: string;
  amount: bigint;
  until: UnixSeconds;
}

interface Entry {
  account: Account;
  group: string;
  amount: bigint;
  until: UnixSeconds;
}

interface Account {
  key: string;
  total: bigint;
  groups: Map<string, Entry>;
  until: UnixSeconds;
}

/** `name` tells the share of this replica from others on the bus. */
export function createGroupTotals(name: string, peers: PeerPublisher) {
  const accounts = new Map<string, Account>();
  const peerTotals = createPeerTotals<bigint>();
  /** The keys whose total changed since the last update to the other replicas. */
  const changed = new Set<string>();
  /** Chain time of the last `expire`. */
  let seen: UnixSeconds = 0;
  const groups = new Map<string, Entry[]>();
  const due = new Map<UnixSeconds, Entry[]>();

  function remove(entry: Entry) {
    const { account, group } = entry;
    if (account.groups.get(group) !== entry) return;
    changed.add(account.key);
    account.groups.delete(group);
    account.total -= entry.amount;
    if (account.groups.size === 0) accounts.delete(account.key);
    const left = groups.get(group)?.filter((other) => other !== entry) ?? [];
    if (left.length > 0) groups.set(group, left);
    else groups.delete(group);
  }

  return {
    /** A smaller amount or an earlier time of the same group changes nothing. */
    add(key: string, { group, amount, until }: GroupAmount) {
      let account = accounts.get(key);
      if (!account) accounts.set(key, (account = { key, total: 0n, groups: new Map(), until: 0 }));
      let entry = account.groups.get(group);
      if (!entry) {
        entry = { account, group, amount: 0n, until: 0 };
        account.groups.set(group, entry);
        const entries = groups.get(group);
        if (entries) entries.push(entry);
        else groups.set(group, [entry]);
      }
      if (amount > entry.amount) {
        account.total += amount - entry.amount;
        entry.amount = amount;
      }
      account.until = Math.max(account.until, until);
      changed.add(account.key);
      peers.publishSoon();
      if (until <= entry.until) return;
      entry.until = until;
      const list = due.get(until);
      if (list) list.push(entry);
      else due.set(until, [entry]);
    },
    /** Adds up a key's live amounts over all replicas, without those of one group. */
    total(key: string, exceptGroup: string) {
      const account = accounts.get(key);
      const ours = account ? account.total - (account.groups.get(exceptGroup)?.amount ?? 0n) : 0n;
      // One replica answers a request, so no other replica's total contains its group.
      return peerTotals.of(key, seen).reduce((sum, total) => sum + total, ours);
    },
    /** Returns when the last of this replica's amounts ends; undefined when it has none. */
    until: (key: string) => accounts.get(key)?.until,
    /** Returns what it removed. */
    release(group: string): { key: string; amount: bigint }[] {
      const entries = groups.get(group) ?? [];
      for (const entry of entries) remove(entry);
      return entries.map(({ account, amount }) => ({ key: account.key, amount }));
    },
    expire(now: UnixSeconds) {
      seen = now;
      peerTotals.expire(now);
      for (const [second, entries] of due) {
        if (second >= now) continue;
        due.delete(second);
        for (const entry of entries) if (entry.until < now) remove(entry);
      }
    },
    size: () => groups.size,
    has: (group: string) => groups.has(group),
    replicaShare(): ReplicaShare {
      return {
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
      };
    },
  };
}
