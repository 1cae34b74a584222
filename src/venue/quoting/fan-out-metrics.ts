/** Registers the metrics of the solvers' answers. */

import type { Counter, Histogram, Metrics } from '../../ports/metrics.ts';
import { CONTROLS, DECLINE_REASONS } from '../../domain/decline.ts';
import type { Roster } from '../solvers/roster.ts';
import { OBJECTIONS } from './verify.ts';

export const OTHER = 'other';

/** `late`: no time was left for the request; `busy`: too many in progress; `settings`: no size can pass. */
export const DECLINE_CODES: ReadonlySet<string> = new Set([...CONTROLS, 'late', 'busy', 'settings', OTHER]);

/** The outcomes of a request to a solver. */
const ANSWERS = [
  'quote',
  'partial',
  'commit',
  'decline',
  'invalid',
  'silent',
  'unawaited',
  'late',
  'gone',
] as const;

const BUCKETS_SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1];

/** The metrics of the solvers' answers. */
export interface FanOutMetrics {
  readonly answers: Counter;
  readonly declined: Counter;
  readonly named: Counter;
  readonly invalid: Counter;
  readonly answerSeconds: Histogram;
  readonly wasted: Counter;
}

/** Registers the series, and starts those of each new solver from 0. */
export function createFanOutMetrics({
  metrics,
  roster,
}: {
  metrics: Metrics;
  roster: Pick<Roster, 'onOnboarded'>;
}): FanOutMetrics {
  const counted: FanOutMetrics = {
    answers: metrics.counter('firmquote_venue_answers_total', 'Answers of solvers', ['solver', 'answer']),
    declined: metrics.counter('firmquote_venue_declines_total', 'Declines of solvers', ['solver', 'reason']),
    named: metrics.counter(
      'firmquote_venue_declines_named_total',
      'Declines in which a solver named what held it back',
      ['solver', 'control'],
    ),
    invalid: metrics.counter('firmquote_venue_invalid_answers_total', 'Answers that failed verification', [
      'solver',
      'why',
    ]),
    answerSeconds: metrics.histogram(
      'firmquote_venue_answer_seconds',
      'Answer time of solvers',
      BUCKETS_SECONDS,
      ['solver'],
    ),
    wasted: metrics.counter(
      'firmquote_venue_wasted_wait_seconds_total',
      'Time waited in vain for one solver',
      ['solver'],
    ),
  };
  // From 0 on, so that an alert sees the first event of a solver.
  roster.onOnboarded((solver) => {
    for (const why of OBJECTIONS) counted.invalid.add({ solver, why }, 0);
    for (const answer of ANSWERS) counted.answers.add({ solver, answer }, 0);
    for (const reason of DECLINE_REASONS) counted.declined.add({ solver, reason }, 0);
    for (const control of DECLINE_CODES) counted.named.add({ solver, control }, 0);
    counted.wasted.add({ solver }, 0);
  });
  return counted;
}
