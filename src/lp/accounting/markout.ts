/**
 * Measures mark-outs: the mid some seconds after each acceptance. A mark that was not taken on time, for
 * example because of a restart, is flagged as late.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Mark, TradeRecord } from '../../ports/stores/accounting-store.ts';
import { MARKOUT_HORIZONS, type Horizon } from './taker-costs.ts';

interface MarkoutDeps {
  clock: Clock;
  /** Quote tokens for one base token. */
  mid(pair: string): number | undefined;
  marked(trade: Watched, horizon: Horizon, mark: Mark): void;
}

export type Watched = Pick<
  TradeRecord,
  'orderId' | 'acceptedAtMs' | 'taker' | 'pair' | 'side' | 'mid' | 'late'
>;

/** A mark taken later than this after it was due is flagged and teaches nothing. */
const ON_TIME_MS = 1_000;
/**
 * Most pending marks. Beyond it `run` takes marks before they are due and flags them as late: first those of
 * the shortest horizon, in each horizon those that are due next.
 */
const MOST = 30_000;

/**
 * side * (mid at acceptance - mid then), in bps of the former: positive when the mid moved against the LP.
 */
export const markoutBps = (side: TradeRecord['side'], accepted: number, then: number): number =>
  ((side === 'buy' ? 1 : -1) * (accepted - then) * 1e4) / accepted;

export interface Markouts {
  /** Schedules every horizon that the trade has no mark for. Call with the oldest trades first. */
  watch(trade: Watched, have?: Readonly<Record<string, Mark>>): void;
  /** Marks that are still to be taken. */
  readonly waiting: number;
  stop(): void;
}

export function createMarkouts({ clock, mid, marked }: MarkoutDeps): Markouts {
  /** One queue per horizon, each in order of due times because trades arrive in order of acceptance. */
  const queues = MARKOUT_HORIZONS.map((horizon) => ({
    horizon,
    due: [] as { trade: Watched; dueMs: number }[],
    from: 0,
  }));
  let waiting = 0;
  let cancel = () => {};
  let timed = Number.POSITIVE_INFINITY;
  let stopped = false;

  function takeMark(trade: Watched, horizon: Horizon, dueMs: number): void {
    const nowMs = clock.nowMs();
    const then = mid(trade.pair);
    const late = trade.late || nowMs - dueMs > ON_TIME_MS || nowMs < dueMs;
    const bps = trade.mid === null || then === undefined ? null : markoutBps(trade.side, trade.mid, then);
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
        takeMark(next.trade, queue.horizon, next.dueMs);
      }
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
