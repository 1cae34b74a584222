/** A bucket is one token on one chain: what lies there, and what of it is spoken for. */

import type { Address } from '../domain/hex.ts';

/** What promises add to the exposure of an asset, in atto; shared by all its buckets. */
export interface Promised {
  committed: bigint;
  quoted: bigint;
}

export interface Bucket {
  readonly chainId: number;
  readonly token: Address;
  readonly asset: string;
  readonly decimals: number;
  buffer: bigint;
  readonly dust: bigint;
  readonly promised: Promised;
  /** Deposits, withdrawals, and trades that are over and forgotten. */
  base: bigint;
  /** What trades still remembered added to that: final fills leave, finalised inputs arrive. */
  moved: bigint;
  pendingOut: bigint;
  committed: bigint;
  held: bigint;
  receivable: bigint;
  /** Of `receivable`: owed for so long that it counts for nothing. */
  overdue: bigint;
  withdrawing: bigint;
  drift: bigint | null;
}

export function createBucket(
  {
    chainId,
    token,
    asset,
    decimals,
    buffer = 0n,
    dust = 0n,
  }: { chainId: number; token: Address; asset: string; decimals: number; buffer?: bigint; dust?: bigint },
  promised: Promised,
): Bucket {
  return {
    chainId,
    token,
    asset,
    decimals,
    buffer,
    dust,
    promised,
    base: 0n,
    moved: 0n,
    pendingOut: 0n,
    committed: 0n,
    held: 0n,
    receivable: 0n,
    overdue: 0n,
    withdrawing: 0n,
    drift: null,
  };
}

/**
 * What a new promise may take. Negative: promises exceed the money, which only the owner or a thief of keys
 * can cause.
 */
export function freeOf(bucket: Bucket): bigint {
  return (
    bucket.base +
    bucket.moved -
    bucket.pendingOut -
    bucket.committed -
    bucket.held -
    bucket.buffer -
    bucket.withdrawing
  );
}

/** Balances less what has left, plus what is owed to us and may still be counted on. */
export const ownedOf = (bucket: Bucket): bigint =>
  bucket.base + bucket.moved - bucket.pendingOut + bucket.receivable - bucket.overdue;

/** The amounts that people and metrics look at. */
export function amountsOf(bucket: Bucket) {
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
    drift,
  } = bucket;
  const free = freeOf(bucket);
  // A buffer or a withdrawal eats only what is free; money short of promises is a shortfall.
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
    free: free > 0n ? free : 0n,
    shortfall: short > 0n ? short : 0n,
    drift,
  };
}

const TENS = Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent));

/** 1e-18 of a whole token, the common unit of an asset whose tokens differ in decimals. */
export function toAtto(amount: bigint, decimals: number): bigint {
  return decimals <= 18 ? amount * (TENS[18 - decimals] as bigint) : amount / 10n ** BigInt(decimals - 18);
}
