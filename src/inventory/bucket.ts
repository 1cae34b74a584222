/** A bucket is one token on one chain: its balance and the claims on it, in base units. */

import { convertDown, convertUp, min } from '../domain/amount.ts';
import type { Address } from '../domain/hex.ts';

/**
 * The amounts by which accepted orders and live quotes change the exposure to an asset, in atto. The asset's
 * buckets share it.
 */
export interface PromisedExposure {
  committed: bigint;
  quoted: bigint;
}

/** The amount of a token that the account lets the operator spend in a window, and what is left of it now. */
export interface OperatorLimit {
  most: bigint;
  left: bigint;
}

export interface BucketConfig {
  chainId: number;
  token: Address;
  asset: string;
  decimals: number;
  /** Never quoted; a reserve. Default 0n. */
  buffer?: bigint;
  /** Largest difference between ledger and chain that does not freeze the bucket. Default 0n. */
  dust?: bigint;
}

export interface Bucket {
  readonly chainId: number;
  readonly token: Address;
  readonly asset: string;
  readonly decimals: number;
  buffer: bigint;
  readonly dust: bigint;
  readonly exposure: PromisedExposure;
  /** Deposits, withdrawals and forgotten trades. */
  base: bigint;
  /** The change that remembered trades made to `base`: final fills left, finalised inputs arrived. */
  moved: bigint;
  pendingOut: bigint;
  committed: bigint;
  held: bigint;
  receivable: bigint;
  overdue: bigint;
  withdrawing: bigint;
  /** null: the operator has no limit here. */
  operatorLimit: OperatorLimit | null;
  drift: bigint | null;
}

export function createBucket(
  { chainId, token, asset, decimals, buffer = 0n, dust = 0n }: BucketConfig,
  exposure: PromisedExposure,
): Bucket {
  return {
    chainId,
    token,
    asset,
    decimals,
    buffer,
    dust,
    exposure,
    base: 0n,
    moved: 0n,
    pendingOut: 0n,
    committed: 0n,
    held: 0n,
    receivable: 0n,
    overdue: 0n,
    withdrawing: 0n,
    operatorLimit: null,
    drift: null,
  };
}

/**
 * Returns what a new hold may take. Negative when claims exceed the balance: only the owner's key can cause
 * it.
 */
export function freeOf(bucket: Bucket): bigint {
  return headroomOf(bucket) - bucket.pendingOut - bucket.committed - bucket.held;
}

/**
 * Returns the most that all claims may come to. The chain counts a fill against the operator's limit from its
 * block on, so a fill that is not final yet is part of what was spent and not of what may be.
 */
function headroomOf({ base, moved, buffer, withdrawing, operatorLimit, pendingOut }: Bucket): bigint {
  const own = base + moved - buffer - withdrawing;
  return operatorLimit === null ? own : min(own, operatorLimit.left + pendingOut);
}

/** Returns whether the operator's limit, and not the balance, decides what is free. */
export const isLimited = (bucket: Bucket): boolean =>
  headroomOf(bucket) < headroomOf({ ...bucket, operatorLimit: null });

export const ownedOf = (bucket: Bucket): bigint =>
  bucket.base + bucket.moved - bucket.pendingOut + bucket.receivable - bucket.overdue;

/** A copy of a bucket for operators and metrics, in base units. */
export interface BucketView {
  chainId: number;
  token: Address;
  asset: string;
  decimals: number;
  /** The balance that the chain should show. */
  onchain: bigint;
  pendingOut: bigint;
  committed: bigint;
  held: bigint;
  receivable: bigint;
  overdue: bigint;
  buffer: bigint;
  withdrawing: bigint;
  operatorLimit: OperatorLimit | null;
  /** The most that claims may come to. */
  room: bigint;
  /** The amount that new quotes may take. */
  free: bigint;
  /** Claims beyond the balance. */
  shortfall: bigint;
  /** Chain balance less ledger balance if that froze the bucket; otherwise null. */
  drift: bigint | null;
}

export function amountsOf(bucket: Bucket): BucketView {
  const {
    chainId,
    token,
    asset,
    decimals,
    pendingOut,
    committed,
    held,
    receivable,
    overdue,
    buffer,
    withdrawing,
    operatorLimit,
    drift,
  } = bucket;
  const free = freeOf(bucket);
  // A buffer or a withdrawal only reduces what is free. Claims that exceed the balance are a shortfall.
  const short = pendingOut + committed + held - bucket.base - bucket.moved;
  return {
    chainId,
    token,
    asset,
    decimals,
    onchain: bucket.base + bucket.moved,
    pendingOut,
    committed,
    held,
    receivable,
    overdue,
    buffer,
    withdrawing,
    operatorLimit,
    room: headroomOf(bucket),
    free: free > 0n ? free : 0n,
    shortfall: short > 0n ? short : 0n,
    drift,
  };
}

/**
 * Converts to 1e-18 of a whole token, the common unit of an asset whose tokens differ in decimals. Rounded
 * towards zero for a token with more.
 */
export const toAtto = (amount: bigint, decimals: number): bigint => convertDown(amount, decimals, 18);

/** Converts 1e-18 of a whole token to base units of a token, rounded down or up. */
export const fromAttoDown = (atto: bigint, decimals: number): bigint => convertDown(atto, 18, decimals);
export const fromAttoUp = (atto: bigint, decimals: number): bigint => convertUp(atto, 18, decimals);
