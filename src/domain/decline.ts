/** Why a solver does not quote: an answer, not an error. */

import type { Control } from './control.ts';

export const DECLINE_REASONS = [
  'pair',
  'size_above_max',
  'size_below_min',
  'no_inventory',
  'stale_price',
  'limit',
  'validity',
  'standby',
  'internal',
] as const;
export type DeclineReason = (typeof DECLINE_REASONS)[number];

export interface Decline {
  declined: DeclineReason;
  /** For people and logs: which limit, which price. */
  detail?: string;
  /** Which risk control refused; for metrics and people. */
  control?: Control;
  /** Our own configuration lets no size pass: the taker cannot find one that fits. */
  code?: 'settings';
  /**
   * The largest amount (of the side the request fixed, base units) that would pass, when size is the reason.
   */
  maxAmount?: bigint;
}

/**
 * Reads the field instead of asking `in`, which is slow for answers of many shapes: a quote asks it a dozen
 * times.
 */
export const isDecline = (answer: object): answer is Decline =>
  (answer as Partial<Decline>).declined !== undefined;
