/**
 * Looks at the mid again some seconds after each acceptance: what a trade cost us that its spread does not
 * show. Timed by one clock; what a restart missed is looked at late and says so.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Mark, TradeRecord } from '../../ports/stores/accounting-store.ts';
import { HORIZONS, type Horizon } from './taker-costs.ts';

export interface MarkoutDeps {
  clock: Clock;
  /** Quote tokens for one base token now. */
  mid(pair: string): number | undefined;
  marked(trade: Watched, horizon: Horizon, mark: Mark): void;
}

export type Watched = Pick<
  TradeRecord,
  'orderId' | 'acceptedAtMs' | 'taker' | 'pair' | 'side' | 'mid' | 'late'
>;

export interface Markouts {
  /** Every horizon that the trade has no mark for; oldest trades first. */
  watch(trade: Watched, have?: Readonly<Record<string, Mark>>): void;
  readonly waiting: number;
  stop(): void;
}

/** Later than this after it was due, a mark says so and teaches nothing. */
const ON_TIME_MS = 1_000;
/**
 * Marks waited for at once. Beyond it the oldest is looked at before its time is up, which counts as none.
 */
const MOST = 30_000;

/** side * (mid at acceptance - mid then), bps of the former: positive when it moved against us. */
export const markBps = (side: TradeRecord['side'], accepted: number, then: number): number =>
  ((side === 'buy' ? 1 : -1) * (accepted - then) * 1e4) / accepted;

export function createMarkouts({ clock, mid, marked }: MarkoutDeps): Markouts {
  /**
   * One queue for each horizon: trades come in the order of their acceptance, so each queue is in the order
   * of its dues.
   */
  const queues = HORIZONS.map((horizon) => ({
    horizon,
    due: [] as { trade: Watched; dueMs: number }[],
    from: 0,
  }));
  let waiting = 0;
  let cancel = () => {};
  let timed = Number.POSITIVE_INFINITY;
  let stopped = false;

  function look(trade: Watched, horizon: Horizon, dueMs: number): void {
    const nowMs = clock.nowMs();
    const then = mid(trade.pair);
    const late = trade.late || nowMs - dueMs > ON_TIME_MS || nowMs < dueMs;
    const bps = trade.mid === null || then === undefined ? null : markBps(trade.side, trade.mid, then);
    marked(trade, horizon, { bps, atMs: nowMs, late });
  }

  function run(): void {
    timed = Number.POSITIVE_INFINITY;
    const nowMs = clock.nowMs();
    for (const queue of queues) {
      for (
        let next = queue.due[queue.from];
        next !== undefined && (next.dueMs <= nowMs || waiting > MOST);
        next = queue.due[queue.from]
      ) {
        queue.from += 1;
        waiting -= 1;
        look(next.trade, queue.horizon, next.dueMs);
      }
      // What is over is let go of now and then, not one by one.
      if (queue.from > 1_000) {
        queue.due.splice(0, queue.from);
        queue.from = 0;
      }
    }
    arm();
  }

  function arm(): void {
    if (stopped) return;
    const next = Math.min(...queues.map(({ due, from }) => due[from]?.dueMs ?? Number.POSITIVE_INFINITY));
    if (next >= timed) return;
    cancel();
    timed = next;
    cancel = clock.after(Math.max(0, next - clock.nowMs()), run);
  }

  return {
    watch(trade, have = {}) {
      for (const queue of queues) {
        if (have[queue.horizon] !== undefined) continue;
        queue.due.push({ trade, dueMs: trade.acceptedAtMs + queue.horizon * 1_000 });
        waiting += 1;
      }
      arm();
    },
    get waiting() {
      return waiting;
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
