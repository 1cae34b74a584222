/**
 * States why a solver does not quote, which is an answer and not an error, and the risk controls that may be
 * the reason.
 */

import type { UnixSeconds } from './time.ts';

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
  /** Names the limit or price, for people and logs. */
  detail?: string;
  /** The risk control that refused; for metrics and people. */
  control?: Control;
  /**
   * `settings`: our own configuration lets no size pass, so the taker cannot find one that fits. `shadow`:
   * the LP only records what it would quote.
   */
  code?: 'settings' | 'shadow';
  /**
   * The largest amount (of the side the request fixed, base units) that would pass, when size is the reason.
   */
  maxAmount?: bigint;
  /** The smallest amount (of the same side) that would pass, with `size_below_min`. */
  minAmount?: bigint;
}

/**
 * A route venue's rail does not work at this hour, such as a bank on a Sunday. An LP says `standby` instead.
 */
export interface Closed {
  declined: 'closed';
  /** The first second in which it takes orders again; null when that is not known. */
  opensAt: UnixSeconds | null;
  /** Explains the reason to people and in logs. */
  detail?: string;
}

/**
 * Reads the field instead of asking `in`, which is slow for answers of many shapes: a quote asks it a dozen
 * times.
 */
export const isDecline = (answer: object): answer is Decline | Closed =>
  (answer as Partial<Decline>).declined !== undefined;

/**
 * The closed list of risk controls, which may stop this LP from signing a quote or make it more careful. The
 * names are the codes in declines, metrics and the operator's views.
 */
export const CONTROLS = [
  'kill_switch',
  'stale_mid',
  'deviation',
  'confidence',
  'depeg',
  'sequencer',
  'chain_lag',
  'vol_spike',
  'gap_loss',
  'rate_limit',
  'limit_taker',
  'limit_taker_pair',
  'limit_pair',
  'limit_side',
  'limit_total',
  'limit_venue',
  'free_option',
  'burst',
  'drawdown',
  'fat_finger',
  'band',
  'drift',
] as const;

export type Control = (typeof CONTROLS)[number];
