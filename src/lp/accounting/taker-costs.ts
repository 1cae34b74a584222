/**
 * What each taker's trades cost us after acceptance: signed means of the mid's move against us, per taker and
 * horizon, shrunk to what takers cost on average. Pricing charges the worst horizon as its adverse-selection
 * term. Bounded: of many takers those that traded last are remembered, and one that is forgotten is priced as
 * a stranger.
 */

import type { Address } from '../../domain/hex.ts';
import { adverseTerm } from '../../pricing/terms.ts';

/** Seconds after acceptance at which a trade is looked at again. */
export const HORIZONS = [1, 10, 60] as const;
export type Horizon = (typeof HORIZONS)[number];

/**
 * Means in bps, positive when the mid moved against us; one for each horizon, with how many trades stand
 * behind it.
 */
export interface Toxicity {
  means: readonly number[];
  trades: readonly number[];
}

export interface TakerRow extends Toxicity {
  /** An address, or `TIER` for the average of all. */
  key: string;
  seenMs: number;
}

/** The row of the average over all takers: what a stranger is charged and everybody is shrunk to. */
export const TIER = 'tier:all';

export interface TakerOptions {
  /** Takers remembered. */
  keep: number;
  /** Assumed of everybody before anything is known. */
  startBps: number;
  capBps: number;
  /** Trades that the assumption weighs as much as: n0 of the model. */
  weight: number;
  /** Beyond this many trades old ones fade: the mean is over about as many. */
  window: number;
}

export interface Takers {
  /** The term for a price, in bps. On the hot path: one lookup. */
  adverse(taker: Address): number;
  /** side * (mid at acceptance - mid at acceptance + h), in bps of the former. */
  learn(taker: Address, horizon: Horizon, bps: number, nowMs: number): void;
  /** What changed since asked last. */
  changed(): TakerRow[];
  /** Gives rows back that could not be written. */
  again(rows: readonly TakerRow[]): void;
  load(rows: readonly TakerRow[]): void;
  /** Worst first. */
  worst(limit: number): { taker: string; bps: number; trades: number }[];
  readonly known: number;
}

interface Known {
  means: number[];
  trades: number[];
  seenMs: number;
}

/** The average moves slower than any one taker. */
const TIER_WINDOWS = 10;
const fresh = (seenMs: number): Known => ({
  means: HORIZONS.map(() => 0),
  trades: HORIZONS.map(() => 0),
  seenMs,
});

export function createTakers({ keep, startBps, capBps, weight, window }: TakerOptions): Takers {
  // In the order in which they were last learnt about.
  const takers = new Map<string, Known>();
  const dirty = new Set<string>();
  let tier = fresh(0);

  /** The average of all, itself shrunk to the assumption. Signed: the floor comes after all averaging. */
  const tierMean = (at: number): number =>
    ((tier.trades[at] as number) * (tier.means[at] as number) + weight * startBps) /
    ((tier.trades[at] as number) + weight);

  function termOf({ means, trades }: Toxicity): number {
    let worst = 0;
    for (let at = 0; at < HORIZONS.length; at++) {
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
    // A plain mean until there are enough, an exponential one from then on.
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
      const at = HORIZONS.indexOf(horizon);
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
