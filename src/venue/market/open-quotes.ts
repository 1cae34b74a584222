/**
 * Counts the outputs that each LP has promised through this venue and may still pay. Only the LP's own hold
 * prevents it from promising the same money twice.
 */

import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { PeerPublisher, ReplicaShare } from '../replicas/peers.ts';
import { createGroupTotals, type GroupAmount } from './group-totals.ts';

export interface Owed extends GroupAmount {
  chainId: number;
  lp: Address;
  token: Address;
}

export interface PromisedOutputs {
  /** Adds a promise. `until` is the commitment's deadline; after it the escrow does not pay. */
  add(owed: Owed): void;
  /** Adds up the live promises of an LP in a token, without those of one group, in base units. */
  promised(chainId: number, lp: Address, token: Address, exceptGroup: string): bigint;
  /** Ends the promises of a group. */
  release(group: string): void;
  expire(now: UnixSeconds): void;
  /** Returns the number of groups with live promises. */
  size(): number;
  has(group: string): boolean;
  replicaShare(): ReplicaShare;
}

export function createPromisedOutputs(peers: PeerPublisher): PromisedOutputs {
  const { total, add, release, expire, size, has, replicaShare } = createGroupTotals('promised', peers);
  const keyOf = (chainId: number, lp: Address, token: Address) => `${chainId}:${lp}:${token}`;
  return {
    add: ({ chainId, lp, token, ...owed }: Owed) => add(keyOf(chainId, lp, token), owed),
    promised: (chainId: number, lp: Address, token: Address, exceptGroup: string) =>
      total(keyOf(chainId, lp, token), exceptGroup),
    release: (group: string) => void release(group),
    ...{ expire, size, has, replicaShare },
  };
}
