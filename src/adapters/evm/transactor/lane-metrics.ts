/** The metrics of one signer that sends transactions. */

import type { Counter, Gauge, Metrics } from '../../../ports/metrics.ts';

export interface LaneMetrics {
  labels: { chain: string; lane: string };
  attempts: Counter;
  ended: Counter;
  gas: Counter;
  shared: Counter;
  openSlots: Gauge;
  nonce: Gauge;
  balance: Gauge;
  cost: Gauge;
  healthy: Gauge;
}

export function createLaneMetrics(metrics: Metrics, labels: LaneMetrics['labels']): LaneMetrics {
  const names = ['chain', 'lane'] as const;
  const series = { chain: [labels.chain], lane: [labels.lane] };
  return {
    labels,
    attempts: metrics.counter('firmquote_tx_attempts_total', 'Signed transactions, by reason', {
      ...series,
      kind: ['first', 'bump', 'noop'],
    }),
    ended: metrics.counter('firmquote_tx_slots_ended_total', 'Nonces that were used up, by how', {
      ...series,
      state: ['mined', 'void'],
    }),
    gas: metrics.counter('firmquote_tx_gas_units_total', 'Gas used by mined transactions', series),
    openSlots: metrics.gauge('firmquote_tx_open_slots', 'Transactions that are not mined yet', names),
    nonce: metrics.gauge('firmquote_tx_next_nonce', 'Mined transaction count of the signer', names),
    balance: metrics.gauge('firmquote_tx_balance_wei', 'Native currency of the signer', names),
    cost: metrics.gauge(
      'firmquote_tx_cost_wei',
      'What one more transaction may cost at the fees of now',
      names,
    ),
    shared: metrics.counter('firmquote_tx_bundled_total', 'Intents that shared a transaction', series),
    healthy: metrics.gauge(
      'firmquote_tx_lane_healthy',
      'Whether this process sends with this signer and it can pay',
      names,
    ),
  };
}
