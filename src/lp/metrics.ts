/** The counters and histograms of the LP. Gauges are read from the running node in node/gauges.ts. */

import { FADE_REASONS } from '../domain/bond.ts';
import { DECLINE_REASONS } from '../domain/decline.ts';
import type { Counter, Histogram, Metrics } from '../ports/metrics.ts';

export interface LpMetrics {
  readonly answers: Counter;
  readonly quotes: Counter;
  /** The pair is "none" where the LP does not quote what was asked for. */
  readonly declines: Counter;
  readonly quotedUsd: Counter;
  readonly spreadBps: Histogram;
  readonly late: Counter;
  readonly quoteSeconds: Histogram;
  readonly signatures: Counter;
  readonly slices: Counter;
  readonly awards: Counter;
  readonly tradedUsd: Counter;
  readonly bondClaims: Counter;
  readonly fills: Counter;
  /** Frames of a venue that were not understood. */
  readonly frames: Counter;
  readonly floods: Counter;
}

const ANSWERS = ['quote', 'partial', 'decline'] as const;
const SPREAD_BPS = [1, 2, 3, 5, 7.5, 10, 15, 20, 30, 50, 100, 200, 500];
const LATENCY_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 1];

/** Pairs of a later reload begin with their first event. */
export function createLpMetrics(
  metrics: Metrics,
  { pairs, venues }: { pairs: readonly string[]; venues: readonly string[] },
): LpMetrics {
  const pair = [...new Set([...pairs, 'none'])];
  return {
    answers: metrics.counter('firmquote_lp_answers_total', 'Requests answered, by kind of answer', {
      kind: ANSWERS,
    }),
    quotes: metrics.counter(
      'firmquote_lp_quotes_total',
      'Quotes given; a request is quoted at several tenors',
      { pair },
    ),
    declines: metrics.counter('firmquote_lp_declines_total', 'Requests declined, by reason', {
      reason: DECLINE_REASONS,
      pair,
    }),
    quotedUsd: metrics.counter(
      'firmquote_lp_quoted_usd_total',
      'Value of the quotes given, once per request',
      { pair },
    ),
    spreadBps: metrics.histogram(
      'firmquote_lp_quoted_spread_bps',
      'All-in spread of the first tenor of each quoted request',
      SPREAD_BPS,
      ['pair'],
    ),
    late: metrics.counter('firmquote_lp_late_total', 'Requests declined because no answer could be in time'),
    quoteSeconds: metrics.histogram(
      'firmquote_lp_quote_seconds',
      'From the request in to the answer out',
      LATENCY_SECONDS,
    ),
    signatures: metrics.counter(
      'firmquote_lp_signatures_total',
      'Signatures of commitments: of one, or of a tree of those that waited for a key service',
      { of: ['one', 'tree'] },
    ),
    slices: metrics.counter('firmquote_lp_slices_total', 'Slices of splits, by answer', {
      kind: ['commit', 'decline'],
    }),
    awards: metrics.counter('firmquote_lp_awards_total', 'Awards that ended, by outcome', {
      outcome: ['settled', 'failed', 'faded', 'lost'],
      kind: ['same_chain', 'cross_chain'],
      pair,
    }),
    tradedUsd: metrics.counter('firmquote_lp_traded_usd_total', 'Value of the trades that ended settled', {
      pair,
    }),
    bondClaims: metrics.counter(
      'firmquote_lp_bond_claims_total',
      'Claims that our bonds have paid, by reason',
      { reason: [...FADE_REASONS] },
    ),
    fills: metrics.counter('firmquote_lp_fills_total', 'Cross-chain fills, by outcome', {
      outcome: ['filled', 'reorged', 'reverted'],
    }),
    frames: metrics.counter('firmquote_lp_bad_frames_total', 'Frames from a venue that were not understood', {
      kind: ['invalid', 'unknown_type'],
    }),
    floods: metrics.counter(
      'firmquote_lp_link_floods_total',
      'Connections ended because the venue sent too many frames that ask for no quote',
      { venue: venues },
    ),
  };
}
