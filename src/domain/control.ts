/**
 * The closed list of what may keep this LP from a promise, or make it more careful: the codes in declines,
 * metrics and the operator's views.
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
