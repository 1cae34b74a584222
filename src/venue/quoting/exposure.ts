/**
 * What each LP has promised through this venue and may still pay. A nonce group counts once, with its largest
 * quote: its quotes exclude each other on chain. The LP's own hold is what prevents promising the same money
 * twice.
 */

import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { createPeerTotals } from '../replicas/peer-exposure.ts';
import type { PeerUpdate, ReplicaShare } from '../replicas/peers.ts';

export interface Owed {
  chainId: number;
  lp: Address;
  token: Address;
  amount: bigint;
  group: string;
  /** The commitment's deadline; after it the escrow does not pay. */
  until: UnixSeconds;
}

export type PromisedOutputs = ReturnType<typeof createPromisedOutputs>;

/** Quotes of one nonce of one user on one origin chain. */
export const nonceGroupOf = (originChainId: number | bigint, user: Address, nonce: bigint | string): string =>
  `${originChainId}:${user}:${nonce}`;

interface GroupPromise {
  account: AccountPromises;
  group: string;
  amount: bigint;
  until: UnixSeconds;
}

interface AccountPromises {
  key: string;
  total: bigint;
  groups: Map<string, GroupPromise>;
  until: UnixSeconds;
}

export function createPromisedOutputs() {
  const accounts = new Map<string, AccountPromises>();
  const peerTotals = createPeerTotals<bigint>();
  /** Since the last update to the other replicas. */
  const changed = new Set<string>();
  let publishSoon = () => {};
  /** Chain time of the last `expire`. */
  let seen: UnixSeconds = 0;
  const groups = new Map<string, GroupPromise[]>();
  const due = new Map<UnixSeconds, GroupPromise[]>();

  function remove(entry: GroupPromise) {
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
    add({ chainId, lp, token, amount, group, until }: Owed) {
      const key = `${chainId}:${lp}:${token}`;
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
      publishSoon();
      if (until <= entry.until) return;
      entry.until = until;
      const list = due.get(until);
      if (list) list.push(entry);
      else due.set(until, [entry]);
    },
    /** Without the promises of one group. */
    promised(chainId: number, lp: Address, token: Address, exceptGroup: string) {
      const key = `${chainId}:${lp}:${token}`;
      const account = accounts.get(key);
      const ours = account ? account.total - (account.groups.get(exceptGroup)?.amount ?? 0n) : 0n;
      // One replica answers a request, so no other replica's total contains its group.
      return peerTotals.of(key, seen).reduce((sum, total) => sum + total, ours);
    },
    release(group: string) {
      for (const entry of groups.get(group) ?? []) remove(entry);
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
    replicaShare(publish: () => void): ReplicaShare {
      publishSoon = publish;
      return {
        name: 'promised',
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
