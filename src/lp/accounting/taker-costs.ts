/**
 * Estimates adverse selection per taker: signed mean mark-outs per horizon, shrunk towards the average of all
 * takers. Pricing charges the worst horizon. Bounded: takers that traded least recently are dropped.
 */

import type { Address } from '../../domain/hex.ts';
import { adverseTerm } from '../../pricing/terms.ts';

/** Seconds after acceptance at which a mark-out is taken. */
export const MARKOUT_HORIZONS = [1, 10, 60] as const;
export type Horizon = (typeof MARKOUT_HORIZONS)[number];

/** Means in bps, positive when the mid moved against the LP, one per horizon, with their number of trades. */
interface Toxicity {
  means: readonly number[];
  trades: readonly number[];
}

interface TakerRow extends Toxicity {
  key: string;
  seenMs: number;
}

/**
 * The key of the average over all takers: the cost of an unknown taker, and what each taker is shrunk
 * towards.
 */
export const TIER = 'tier:all';

interface TakerCostOptions {
  keep: number;
  startBps: number;
  capBps: number;
  /** Weight of the prior in trades: n0 of the model. */
  weight: number;
  window: number;
}

export interface TakerCosts {
  /** Returns the adverse-selection term in bps. Hot path: one lookup. */
  adverse(taker: Address): number;
  /** `bps`: as `markoutBps` returns it, with the mid `horizon` seconds after the acceptance. */
  learn(taker: Address, horizon: Horizon, bps: number, nowMs: number): void;
  /** Takes the rows that have changed since the last call. */
  changed(): TakerRow[];
  /** Takes back rows whose write failed, so that `changed` gives them again. */
  again(rows: readonly TakerRow[]): void;
  load(rows: readonly TakerRow[]): void;
  /** The takers that cost most. */
  worst(limit: number): { taker: string; bps: number; trades: number }[];
  /** The number of takers. */
  readonly known: number;
}

interface Known {
  means: number[];
  trades: number[];
  seenMs: number;
}

/** The average over all takers uses this many windows, so it moves more slowly. */
const TIER_WINDOWS = 10;
const fresh = (seenMs: number): Known => ({
  means: MARKOUT_HORIZONS.map(() => 0),
  trades: MARKOUT_HORIZONS.map(() => 0),
  seenMs,
});

export function createTakerCosts({ keep, startBps, capBps, weight, window }: TakerCostOptions): TakerCosts {
  // In the order of their last trade.
  const takers = new Map<string, Known>();
  const dirty = new Set<string>();
  let tier = fresh(0);

  /**
   * Returns the average of all takers, shrunk to the prior. It is signed, because the floor follows the
   * averaging.
   */
  const tierMean = (at: number): number =>
    ((tier.trades[at] as number) * (tier.means[at] as number) + weight * startBps) /
    ((tier.trades[at] as number) + weight);

  function termOf({ means, trades }: Toxicity): number {
    let worst = 0;
    for (let at = 0; at < MARKOUT_HORIZONS.length; at++) {
      const term = adverseTerm({
        meanBps: means[at] as number,
        trades: trades[at] as number,
        tierMeanBps: tierMean(at),
        weight,
        capBps,
      });
      if (term > worst) worst = term;
    }
    return worst;
  }

  const NOTHING = fresh(0);

  function add(known: Known, at: number, bps: number, most: number): void {
    // A plain mean until there are enough trades, then exponential.
    const trades = Math.min((known.trades[at] as number) + 1, most);
    known.trades[at] = trades;
    known.means[at] = (known.means[at] as number) + (bps - (known.means[at] as number)) / trades;
  }

  function put(key: string, known: Known): void {
    takers.delete(key);
    takers.set(key, known);
    if (takers.size <= keep) return;
    const [oldest] = takers.keys();
    if (oldest !== undefined) {
      takers.delete(oldest);
      dirty.delete(oldest);
    }
  }

  const rowOf = (key: string): TakerRow | undefined => {
    const known = key === TIER ? tier : takers.get(key);
    return known && { key, means: [...known.means], trades: [...known.trades], seenMs: known.seenMs };
  };

  return {
    adverse: (taker) => termOf(takers.get(taker) ?? NOTHING),
    learn(taker, horizon, bps, nowMs) {
      if (!Number.isFinite(bps)) return;
      const at = MARKOUT_HORIZONS.indexOf(horizon);
      const known = takers.get(taker) ?? fresh(nowMs);
      known.seenMs = tier.seenMs = nowMs;
      add(known, at, bps, window);
      add(tier, at, bps, window * TIER_WINDOWS);
      put(taker, known);
      dirty.add(taker).add(TIER);
    },
    changed() {
      const rows = [...dirty].map(rowOf).filter((row) => row !== undefined);
      dirty.clear();
      return rows;
    },
    again(rows) {
      for (const { key } of rows) if (key === TIER || takers.has(key)) dirty.add(key);
    },
    load(rows) {
      for (const { key, means, trades, seenMs } of [...rows].sort((a, b) => a.seenMs - b.seenMs)) {
        const known = { means: [...means], trades: [...trades], seenMs };
        if (key === TIER) tier = known;
        else put(key, known);
      }
    },
    worst: (limit) =>
      [...takers]
        .map(([taker, known]) => ({ taker, bps: termOf(known), trades: Math.max(...known.trades) }))
        .sort((a, b) => b.bps - a.bps)
        .slice(0, limit),
    get known() {
      return takers.size;
    },
  };
}
