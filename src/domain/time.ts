/**
 * Chain time in unix seconds, wall time in milliseconds: the units are in the names because mixing them loses
 * money.
 */

import { RequestError } from './errors.ts';

/** Unix seconds. The contracts hold times in uint32. */
export type UnixSeconds = number;

export const MAX_UINT32 = 0xffff_ffff;

export function isUnixSeconds(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= MAX_UINT32;
}

export const toSeconds = (ms: number): UnixSeconds => Math.floor(ms / 1000);

/** Writes RFC 3339 with milliseconds, in UTC. */
export const toIso = (ms: number): string => new Date(ms).toISOString();

/** The three times of an order, in the order that the clock law demands. */
export interface OrderTimes {
  /** Last second at which the quote may be submitted. */
  validUntil: UnixSeconds;
  /** Last second at which an output may be filled; the LP's commitment ends here. */
  fillDeadline: UnixSeconds;
  /** After this second anyone may refund. */
  expires: UnixSeconds;
}

/** The least length of each of the two gaps. */
export interface ClockMargins {
  /** validUntil -> fillDeadline: time to mine what was submitted in the last valid second. */
  landingMarginSeconds: number;
  /** fillDeadline -> expires: time to prove a fill and claim the input. */
  proofWindowSeconds: number;
}

/**
 * The proof window of an order on one chain. It settles in one transaction, so nothing has to be proven
 * afterwards; and the escrow opens no order with so short a window, so nobody can lock the taker's money in
 * place of settling.
 */
export const SAME_CHAIN_PROOF_SECONDS = 1;

/**
 * Returns times with `validUntil < fillDeadline < expires` and both margins. No other function makes order
 * times.
 */
export function orderTimes(validUntil: UnixSeconds, margins: ClockMargins): OrderTimes {
  const fillDeadline = validUntil + margins.landingMarginSeconds;
  const times = { validUntil, fillDeadline, expires: fillDeadline + margins.proofWindowSeconds };
  assertClockLaw(times);
  return times;
}

/** Throws `ClockLawError` unless `validUntil < fillDeadline < expires` and all fit uint32. */
export function assertClockLaw({ validUntil, fillDeadline, expires }: OrderTimes): void {
  const lawful =
    [validUntil, fillDeadline, expires].every(isUnixSeconds) &&
    validUntil < fillDeadline &&
    fillDeadline < expires;
  if (!lawful) throw new ClockLawError({ validUntil, fillDeadline, expires });
}

export class ClockLawError extends RequestError {
  constructor(times: OrderTimes) {
    super('An order needs validUntil < fillDeadline < expires, each in unix seconds below 2^32.', {
      code: 'clock_law',
      facts: { ...times },
    });
  }
}
