/** Counts what an LP's account lets an operator spend of one token, as the escrow counts it. */

import type { UnixSeconds } from '../domain/time.ts';

/** The limit as it stands on the chain, in base units. */
export interface SpendingLimit {
  /** The most that may be spent in one window. */
  most: bigint;
  /** 0: the limit is for each second. */
  windowSeconds: number;
  /** Chain time at which the last window began, with the first spending after the one before. */
  since: UnixSeconds;
  /** The amount spent in the last window. */
  spent: bigint;
}

/** Returns what is left at this time of the chain. */
export function limitAt(
  { most, windowSeconds, since, spent }: SpendingLimit,
  now: UnixSeconds,
): { most: bigint; left: bigint } {
  if (now >= since + windowSeconds) return { most, left: most };
  return { most, left: most > spent ? most - spent : 0n };
}
