/**
 * What each LP has promised to takers through this venue and could still have to pay. Quotes that share an
 * order nonce exclude each other on chain, so a group counts once, with its largest member. An entry lapses
 * after its commitment's deadline, or when the nonce is spent. What the other replicas promised counts as
 * they last told it: the LP's own hold is what keeps money from being promised twice.
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
  /** See `groupOf`. */
  group: string;
  /** The commitment's deadline: after it the escrow no longer pays. */
  until: UnixSeconds;
}

export interface PromisedOutputs {
  add(promise: Owed): void;
  /** Live promises of this account in this token, without those of one group. */
  promised(chainId: number, lp: Address, token: Address, exceptGroup: string): bigint;
  /** The nonce was spent, or the promise kept: nothing of this group is due any more. */
  release(group: string): void;
  /** Forgets what lapsed before this chain time. */
  expire(now: UnixSeconds): void;
  /** Number of live groups, for metrics. */
  size(): number;
  /** How the replicas tell each other what they promised. `soon`: something just changed. */
  shared(soon: () => void): ReplicaShare;
}

/** Quotes of one nonce of one user on one origin. */
export const nonceGroupOf = (originChainId: number | bigint, user: Address, nonce: bigint | string): string =>
  `${originChainId}:${user}:${nonce}`;

/**
 * What one group may still cost one account in one token. Thousands live at once, so an entry is the only
 * thing that is kept for it.
 */
interface Entry {
  book: Book;
  group: string;
  amount: bigint;
  until: UnixSeconds;
}

interface Book {
  key: string;
  total: bigint;
  groups: Map<string, Entry>;
  until: UnixSeconds;
}

export function createPromisedOutputs(): PromisedOutputs {
  const books = new Map<string, Book>();
  const others = createPeerTotals<bigint>();
  /** Books whose total is another than the other replicas have been told. */
  const changed = new Set<string>();
  let soon = () => {};
  /** Of the lapses seen so far. */
  let seen: UnixSeconds = 0;
  const groups = new Map<string, Entry[]>();
  const due = new Map<UnixSeconds, Entry[]>();

  function remove(entry: Entry): void {
    const { book, group } = entry;
    if (book.groups.get(group) !== entry) return;
    changed.add(book.key);
    book.groups.delete(group);
    book.total -= entry.amount;
    if (book.groups.size === 0) books.delete(book.key);
    const left = groups.get(group)?.filter((other) => other !== entry) ?? [];
    if (left.length > 0) groups.set(group, left);
    else groups.delete(group);
  }

  return {
    add({ chainId, lp, token, amount, group, until }) {
      const key = `${chainId}:${lp}:${token}`;
      let book = books.get(key);
      if (!book) books.set(key, (book = { key, total: 0n, groups: new Map(), until: 0 }));
      let entry = book.groups.get(group);
      if (!entry) {
        entry = { book, group, amount: 0n, until: 0 };
        book.groups.set(group, entry);
        // A list that is pushed to keeps room for sixteen more.
        groups.set(group, groups.get(group)?.concat(entry) ?? [entry]);
      }
      if (amount > entry.amount) {
        book.total += amount - entry.amount;
        entry.amount = amount;
      }
      book.until = Math.max(book.until, until);
      changed.add(book.key);
      soon();
      if (until <= entry.until) return;
      entry.until = until;
      const list = due.get(until);
      if (list) list.push(entry);
      else due.set(until, [entry]);
    },
    promised(chainId, lp, token, exceptGroup) {
      const bookKey = `${chainId}:${lp}:${token}`;
      const book = books.get(bookKey);
      const ours = book ? book.total - (book.groups.get(exceptGroup)?.amount ?? 0n) : 0n;
      // A request is answered by one replica, so its group is in no other's total.
      return others.of(bookKey, seen).reduce((sum, total) => sum + total, ours);
    },
    release(group) {
      for (const entry of groups.get(group) ?? []) remove(entry);
    },
    expire(now) {
      seen = now;
      others.lapse(now);
      for (const [second, entries] of due) {
        if (second >= now) continue;
        due.delete(second);
        for (const entry of entries) if (entry.until < now) remove(entry);
      }
    },
    size: () => groups.size,
    shared(tell) {
      soon = tell;
      return {
        name: 'promised',
        *updates(all): Iterable<PeerUpdate> {
          for (const bookKey of all ? new Set([...changed, ...books.keys()]) : changed) {
            const { total, until } = books.get(bookKey) ?? { total: 0n, until: 0 };
            yield [bookKey, total.toString(), until];
          }
          changed.clear();
        },
        apply(replica, [bookKey, total, until]) {
          others.put(replica, bookKey, BigInt(total as string), Number(until));
        },
      };
    },
  };
}
