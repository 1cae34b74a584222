/**
 * The register of open quotes: what LPs have signed for takers and may still have to pay. The quotes of one
 * request share a taker nonce, so at most one of them can execute. They are one entry, which ends with the
 * last of them. Only the LP's own hold prevents it from promising the same money twice.
 *
 * The register answers four questions: what an LP has promised in a token, what a workspace holds of an LP's
 * inventory without submitting it, how many quotes a key has open, and which quotes an executed one ends.
 */

import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { PeerPublisher, ReplicaShare } from '../replicas/peers.ts';
import { createGroupTotals, type GroupAmount, type GroupTotals } from './group-totals.ts';
import { createKeyQuotes, type KeyQuote, type KeyQuotes } from './key-quotes.ts';

/** The part of one LP in a quote that is shown to a taker. */
interface PromisedPart {
  /** The nonce group of the request. */
  group: string;
  solverId: string;
  quoteId: Bytes32;
  chainId: number;
  lp: Address;
  token: Address;
  amount: bigint;
  /** The commitment's deadline; after it the escrow does not pay. */
  until: UnixSeconds;
}

/** How much of one LP's token one workspace holds. */
interface UnsubmittedAmount {
  account: string;
  amount: bigint;
}

export interface OpenQuotes extends Pick<KeyQuotes, 'reserve' | 'release'> {
  /**
   * Enters a quote that an LP has signed, shown or not, under the account of the workspace at the LP. Returns
   * by how much the account has grown.
   */
  addSigned(group: string, account: string, amount: bigint, until: UnixSeconds): bigint;
  /** Enters one LP's part of a quote. Call it before the taker can see the LP's signature. */
  addPromised(part: PromisedPart): void;
  /**
   * Counts the group as one open quote of a key until it can no longer be submitted. `notionalUsd`: the whole
   * limit where the value is not known.
   */
  addOfKey(group: string, keyId: string, notionalUsd: number, until: UnixSeconds): void;

  /** Adds up the live promises of an LP in a token, without those of one group, in base units. */
  promised(chainId: number, lp: Address, token: Address, exceptGroup: string): bigint;
  isPromised(group: string): boolean;
  /** Adds up what an account holds. */
  unsubmitted(account: string): bigint;
  /** Returns when the last of an account's quotes ends; undefined when it has none here. */
  unsubmittedUntil(account: string): UnixSeconds | undefined;
  /** Returns the number of groups with live promises. */
  size(): number;

  /** An order was accepted: its group no longer counts for its key. */
  close(group: string): void;
  /** Ends what the group holds without being submitted, and its count. Returns what it held. */
  submitted(group: string): UnsubmittedAmount[];
  /** The nonce is used: returns the other quotes of the group by solver, once. */
  executed(group: string, quoteId: Bytes32): Map<string, Bytes32[]>;
  /** Ends the promises of a group. */
  settle(group: string): void;
  /** Ends quotes whose time is over. `now`: the time of the slowest chain. */
  expire(now: UnixSeconds): void;
  /** `now` returns the time by which the quotes of keys end. */
  replicaShares(now: () => UnixSeconds): ReplicaShare[];
}

/** The quotes of one nonce group. */
interface Entry {
  /** The end of the last quote. */
  until: UnixSeconds;
  readonly promised: GroupAmount[];
  readonly unsubmitted: GroupAmount[];
  shown: [solverId: string, quoteId: Bytes32][];
  ofKey: KeyQuote | undefined;
}

interface OpenQuotesState {
  /** By nonce group. */
  readonly entries: Map<string, Entry>;
  /** The groups by the second in which quotes of them end. */
  readonly due: Map<UnixSeconds, string[]>;
  readonly promised: GroupTotals;
  readonly unsubmitted: GroupTotals;
  readonly keys: KeyQuotes;
}

export function createOpenQuotes(peers: PeerPublisher): OpenQuotes {
  const promised = createGroupTotals('promised', peers);
  const unsubmitted = createGroupTotals('unsubmitted', peers);
  const keys = createKeyQuotes(peers);
  const state: OpenQuotesState = { entries: new Map(), due: new Map(), promised, unsubmitted, keys };

  return {
    reserve: keys.reserve,
    release: keys.release,
    addSigned: (group, account, amount, until) =>
      unsubmitted.raise(entryOf(state, group, until).unsubmitted, account, group, amount, until),
    addPromised: (part) => addPromised(state, part),
    addOfKey(group, keyId, notionalUsd, until) {
      const known = state.entries.get(group);
      const entry = known && known.until >= until ? known : entryOf(state, group, until);
      entry.ofKey = keys.add(keyId, notionalUsd, until);
    },

    promised: (chainId, lp, token, exceptGroup) => promised.total(holding(chainId, lp, token), exceptGroup),
    isPromised: (group) => (state.entries.get(group)?.promised.length ?? 0) > 0,
    unsubmitted: (account) => unsubmitted.total(account, ''),
    unsubmittedUntil: unsubmitted.until,
    size: () => [...state.entries.values()].filter((entry) => entry.promised.length > 0).length,

    close: (group) => close(state, state.entries.get(group)),
    submitted: (group) => submitted(state, group),
    executed: (group, quoteId) => executed(state, group, quoteId),
    settle(group) {
      const entry = state.entries.get(group);
      if (entry) remove(promised, entry.promised);
    },
    expire: (now) => expire(state, now),
    replicaShares: (now) => [promised.replicaShare(), unsubmitted.replicaShare(), keys.replicaShare(now)],
  };
}

const holding = (chainId: number, lp: Address, token: Address) => `${chainId}:${lp}:${token}`;

/** Returns the entry of a group that has a quote until then. */
function entryOf({ entries, due }: OpenQuotesState, group: string, until: UnixSeconds): Entry {
  let entry = entries.get(group);
  if (!entry)
    entries.set(group, (entry = { until, promised: [], unsubmitted: [], shown: [], ofKey: undefined }));
  else if (until > entry.until) entry.until = until;
  const groups = due.get(until);
  if (!groups) due.set(until, [group]);
  else if (groups.at(-1) !== group) groups.push(group);
  return entry;
}

function addPromised(
  state: OpenQuotesState,
  { group, solverId, quoteId, chainId, lp, token, amount, until }: PromisedPart,
): void {
  const entry = entryOf(state, group, until);
  state.promised.raise(entry.promised, holding(chainId, lp, token), group, amount, until);
  entry.shown.push([solverId, quoteId]);
}

function close({ keys }: OpenQuotesState, entry: Entry | undefined): void {
  if (entry?.ofKey) keys.close(entry.ofKey);
}

function submitted(state: OpenQuotesState, group: string): UnsubmittedAmount[] {
  const entry = state.entries.get(group);
  if (!entry) return [];
  close(state, entry);
  const held = entry.unsubmitted.map(({ account, amount }) => ({ account: account.key, amount }));
  remove(state.unsubmitted, entry.unsubmitted);
  return held;
}

function executed({ entries }: OpenQuotesState, group: string, executedId: Bytes32): Map<string, Bytes32[]> {
  const bySolver = new Map<string, Bytes32[]>();
  const entry = entries.get(group);
  if (!entry) return bySolver;
  for (const [solverId, quoteId] of entry.shown)
    if (quoteId !== executedId) bySolver.set(solverId, [...(bySolver.get(solverId) ?? []), quoteId]);
  entry.shown = [];
  return bySolver;
}

function expire(state: OpenQuotesState, now: UnixSeconds): void {
  state.promised.expire(now);
  state.unsubmitted.expire(now);
  for (const [second, groups] of state.due) {
    if (second >= now) continue;
    state.due.delete(second);
    for (const group of groups) {
      const entry = state.entries.get(group);
      if (!entry) continue;
      remove(state.promised, entry.promised, now);
      remove(state.unsubmitted, entry.unsubmitted, now);
      if (entry.until >= now) continue;
      close(state, entry);
      state.entries.delete(group);
    }
  }
}

/** Removes the amounts of a group that end before then. */
function remove(
  totals: GroupTotals,
  amounts: GroupAmount[],
  before: UnixSeconds = Number.POSITIVE_INFINITY,
): void {
  for (let at = amounts.length - 1; at >= 0; at--) {
    const amount = amounts[at] as GroupAmount;
    if (amount.until >= before) continue;
    amounts.splice(at, 1);
    totals.remove(amount);
  }
}
