/** Types of what the transactor of one signer works with, and of what it keeps in memory. */

import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Signer } from '../../../ports/signer.ts';
import type { TxSigner, TxSlot, TxStore } from '../../../ports/stores/tx-store.ts';
import type { TxIntent, TxStatus } from '../../../ports/transactor.ts';
import { type Live, liveOf } from './live-slots.ts';
import type { LaneMetrics } from './lane-metrics.ts';

export interface LaneDeps {
  chain: ChainPort;
  store: TxStore;
  signer: Signer;
  clock: Clock;
  log: Log;
  metrics: LaneMetrics;
  settings: LaneSettings;
}

/** The options of a transactor, with the defaults filled in. */
interface LaneSettings {
  owner: string;
  leaseMs: number;
  maxFeePerGasCap: bigint;
  bumpAfterBlocks: number;
  spareGas: bigint;
  leastBalance: bigint;
  reorgBlocks: number;
  lanes: readonly Address[];
  batch: Address | null;
}

/** An intent that has no nonce yet, with the promise of its caller. */
export interface Waiting {
  intent: TxIntent;
  apart?: boolean;
  resolve(status: TxStatus): void;
  reject(error: unknown): void;
}

export interface LaneState {
  /** Slots by id: the open ones, and the ended ones that a reorganisation may reopen. */
  live: Map<string, Live>;
  /** The newest slot of each key. */
  byKey: Map<string, Live>;
  queue: Waiting[];
  lease: (TxSigner & { untilMs: number }) | undefined;
  /** Mined transaction count of the signer. */
  minedCount: number;
  balanceWei: bigint | undefined;
  balanceReadMs: number;
  /** The most that one more transaction may cost. */
  costWei: bigint;
  /** The most that the open transactions and one more may cost, at least `leastBalance`. */
  neededWei: bigint;
  isLow: boolean;
  /** The balance with which the signer could not pay; undefined while it can. */
  unpaidAtWei: bigint | undefined;
  /** True when the next head is to read all slots from the store again. */
  reload: boolean;
  stopped: boolean;
  draining: Promise<void> | undefined;
  working: Promise<void> | undefined;
  headWaiting: boolean;
  renewing: Promise<void>;
  unfollow(): void;
  cancelRenewal(): void;
}

export const newLaneState = (): LaneState => ({
  live: new Map(),
  byKey: new Map(),
  queue: [],
  lease: undefined,
  minedCount: 0,
  balanceWei: undefined,
  balanceReadMs: Number.NEGATIVE_INFINITY,
  costWei: 0n,
  neededWei: 0n,
  isLow: false,
  unpaidAtWei: undefined,
  reload: false,
  stopped: true,
  draining: undefined,
  working: undefined,
  headWaiting: false,
  renewing: Promise.resolve(),
  unfollow: () => {},
  cancelRenewal: () => {},
});

export function remember(state: LaneState, slot: TxSlot, sentAtBlock: bigint): Live {
  return file(state, liveOf(slot, sentAtBlock));
}

/** Enters a slot under its id, and under each of its keys that has no newer slot. */
export function file(state: LaneState, entry: Live): Live {
  const { slot } = entry;
  state.live.set(slot.id, entry);
  for (const key of slot.keys) {
    const known = state.byKey.get(key);
    if (!known || known.slot.nonce <= slot.nonce) state.byKey.set(key, entry);
  }
  return entry;
}
