/**
 * Counts stuck orders for Prometheus. The objectives of settlement measure orders that end; one that never
 * ends must be seen too.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Progress } from '../../settlement/lifecycle.ts';
import type { Operations } from './operations.ts';

const POLL_MS = 15_000;
const FLOWS: readonly Progress['flow'][] = ['same_chain', 'cross_chain'];

interface StuckWatchDeps {
  orders: Operations['orders'];
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Returns a function that ends it. */
export function watchStuckOrders({ orders, clock, log, metrics }: StuckWatchDeps): () => void {
  const stuck = metrics.gauge(
    'firmquote_venue_orders_stuck',
    'Open orders that are older than the objective and do not only wait for a time, of the oldest 500',
    ['flow'],
  );
  let stopped = false;
  let cancel = () => {};
  async function countStuck(): Promise<void> {
    try {
      const { orders: open } = await orders();
      for (const flow of FLOWS)
        stuck.set(open.filter((order) => order.stuck && order.flow === flow).length, { flow });
    } catch (error) {
      log.warn({ error }, 'stuck orders could not be counted; the next look tries again');
    }
    if (!stopped) cancel = clock.after(POLL_MS, () => void countStuck());
  }
  void countStuck();
  return () => {
    stopped = true;
    cancel();
  };
}
