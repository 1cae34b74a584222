/**
 * What each LP has promised to takers through this venue and could still have to pay. Quotes that share an order nonce exclude each other
 * on chain, so a group counts once, with its largest member. An entry lapses after its commitment's deadline, or when the nonce is spent.
 * What the other replicas promised counts as they last told it: the LP's own hold is what keeps money from being promised twice.
 */

import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { createOthers } from './others.ts';
import type { News, Shared } from './peers.ts';

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

export interface Exposure {
  add(promise: Owed): void;
  /** Live promises of this account in this token, without those of one group. */
  promised(chainId: number, lp: Address, token: Address, exceptGroup: string): bigint;
  /** The nonce was spent, or the promise kept: nothing of this group is due any more. */
  release(group: string): void;
  /** Forgets what lapsed before this chain time. */
  lapse(now: UnixSeconds): void;
  /** Number of live groups, for metrics. */
  size(): number;
  /** How the replicas tell each other what they promised. `soon`: something just changed. */
  shared(soon: () => void): Shared;
}

/** Quotes of one nonce of one user on one origin. */
export const groupOf = (originChainId: number | bigint, user: Address, nonce: bigint | string): string => `${originChainId}:${user}:${nonce}`;

interface Entry {
  amount: bigint;
  until: UnixSeconds;
}

export function createExposure(): Exposure {
  const books = new Map<string, { total: bigint; groups: Map<string, Entry>; until: UnixSeconds }>();
  const others = createOthers<bigint>();
  /** Books whose total is another than the other replicas have been told. */
  const changed = new Set<string>();
  let soon = () => {};
  /** Of the lapses seen so far. */
  let seen: UnixSeconds = 0;
  const booksOfGroup = new Map<string, Set<string>>();
  const due = new Map<UnixSeconds, [string, string][]>();

  function remove(bookKey: string, group: string): void {
    const book = books.get(bookKey);
    const entry = book?.groups.get(group);
    if (!book || !entry) return;
    changed.add(bookKey);
    book.groups.delete(group);
    book.total -= entry.amount;
    if (book.groups.size === 0) books.delete(bookKey);
    const others = booksOfGroup.get(group);
    others?.delete(bookKey);
    if (others?.size === 0) booksOfGroup.delete(group);
  }

  return {
    add({ chainId, lp, token, amount, group, until }) {
      const bookKey = `${chainId}:${lp}:${token}`;
      let book = books.get(bookKey);
      if (!book) books.set(bookKey, (book = { total: 0n, groups: new Map(), until: 0 }));
      const before = book.groups.get(group);
      const entry = { amount: before && before.amount > amount ? before.amount : amount, until: Math.max(before?.until ?? 0, until) };
      book.groups.set(group, entry);
      book.total += entry.amount - (before?.amount ?? 0n);
      book.until = Math.max(book.until, until);
      changed.add(bookKey);
      soon();
      if (entry.until === before?.until) return;
      const keys = booksOfGroup.get(group) ?? new Set();
      booksOfGroup.set(group, keys.add(bookKey));
      const list = due.get(entry.until);
      if (list) list.push([bookKey, group]);
      else due.set(entry.until, [[bookKey, group]]);
    },
    promised(chainId, lp, token, exceptGroup) {
      const bookKey = `${chainId}:${lp}:${token}`;
      const book = books.get(bookKey);
      const ours = book ? book.total - (book.groups.get(exceptGroup)?.amount ?? 0n) : 0n;
      // A request is answered by one replica, so its group is in no other's total.
      return others.of(bookKey, seen).reduce((sum, total) => sum + total, ours);
    },
    release(group) {
      for (const bookKey of [...(booksOfGroup.get(group) ?? [])]) remove(bookKey, group);
    },
    lapse(now) {
      seen = now;
      others.lapse(now);
      for (const [second, entries] of due) {
        if (second >= now) continue;
        due.delete(second);
        for (const [bookKey, group] of entries) if ((books.get(bookKey)?.groups.get(group)?.until ?? now) < now) remove(bookKey, group);
      }
    },
    size: () => booksOfGroup.size,
    shared(tell) {
      soon = tell;
      return {
        name: 'promised',
        *news(all): Iterable<News> {
          for (const bookKey of all ? new Set([...changed, ...books.keys()]) : changed) {
            const { total, until } = books.get(bookKey) ?? { total: 0n, until: 0 };
            yield [bookKey, total.toString(), until];
          }
          changed.clear();
        },
        hear(replica, [bookKey, total, until]) {
          others.put(replica, bookKey, BigInt(total as string), Number(until));
        },
      };
    },
  };
}
