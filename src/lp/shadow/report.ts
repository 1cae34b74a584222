/** Sums over all requests that a shadow LP saw what it would have won and earned. */

import type { ShadowRequest } from '../../ports/stores/shadow-store.ts';
import { MARKOUT_HORIZONS, type Horizon } from '../accounting/taker-costs.ts';

/** Sums of a set of shadow quotes, as if each had been won. Money is in millionths of USD. */
export interface ShadowSums {
  quotes: number;
  volumeMicros: bigint;
  /** The earnings at the mid of each quote, after fees and gas. */
  earnedMicros: bigint;
  /** The mid's move after each of the `marked` quotes, positive in favour of the LP. */
  markMicros: Record<Horizon, bigint>;
  marked: Record<Horizon, number>;
}

export interface ShadowRow {
  /** null: the requests of no pair that the LP has, or, in `total`, all. */
  pair: string | null;
  requests: number;
  declines: number;
  /** The declines by reason, with its control where one declined. */
  declinesBy: Record<string, number>;
  /** Mean of the spread weighted by volume, bps; null without a quote. */
  spreadBps: number | null;
  /** Every shadow quote. */
  all: ShadowSums;
  /** Requests of which the venue told that the taker accepted another quote. */
  accepted: number;
  /** Shadow quotes that give the taker more than the quote which the taker accepted, or take less. */
  better: ShadowSums;
  /**
   * Assumes that takers accept as the win-rate curve of the configuration says, whatever others quote: the
   * number of quotes expected to be won, and what they would earn.
   */
  assumed: { wins: number; earnedMicros: bigint };
}

export interface ShadowReport {
  sinceMs: number;
  untilMs: number | null;
  /** The rows in alphabetical order of their pairs. */
  rows: ShadowRow[];
  total: ShadowRow;
}

/** Probabilities as integers, so that sums do not depend on their order. */
const MILLION = 1_000_000;

/** A draw does not win: the venue had the other quote, and its order of equals is not known. */
export const isBetter = ({ fixes, input, output, acceptedInput, acceptedOutput }: ShadowRequest): boolean =>
  fixes === 'exactInput'
    ? output !== null && acceptedOutput !== null && output > acceptedOutput
    : input !== null && acceptedInput !== null && input < acceptedInput;

export function shadowReport(
  requests: readonly ShadowRequest[],
  window: { sinceMs: number; untilMs: number | null },
): ShadowReport {
  const byPair = new Map<string | null, ShadowRequest[]>();
  for (const request of requests) {
    const alike = byPair.get(request.pair);
    if (alike === undefined) byPair.set(request.pair, [request]);
    else alike.push(request);
  }
  const pairs = [...byPair].sort(([one], [other]) => (one ?? '').localeCompare(other ?? ''));
  return { ...window, rows: pairs.map(([pair, of]) => rowOf(pair, of)), total: rowOf(null, requests) };
}

function rowOf(pair: string | null, requests: readonly ShadowRequest[]): ShadowRow {
  const quotes = requests.filter(({ declined }) => declined === null);
  const declinesBy: Record<string, number> = {};
  for (const { declined, control } of requests) {
    if (declined === null) continue;
    const reason = control === null ? declined : `${declined} (${control})`;
    declinesBy[reason] = (declinesBy[reason] ?? 0) + 1;
  }
  const all = sumsOf(quotes);
  const weighted = quotes.reduce(
    (sum, { volumeMicros, spreadBps }) => sum + (volumeMicros ?? 0n) * BigInt(spreadBps ?? 0),
    0n,
  );
  const chances = quotes.map(({ winProbability }) => BigInt(Math.round((winProbability ?? 0) * MILLION)));
  const assumedEarned = quotes.reduce(
    (sum, { earnedMicros }, at) => sum + (earnedMicros ?? 0n) * (chances[at] ?? 0n),
    0n,
  );
  return {
    pair,
    requests: requests.length,
    declines: requests.length - quotes.length,
    declinesBy,
    spreadBps: all.volumeMicros === 0n ? null : Number((weighted * 100n) / all.volumeMicros) / 100,
    all,
    accepted: requests.filter(({ acceptedOutput }) => acceptedOutput !== null).length,
    better: sumsOf(quotes.filter(isBetter)),
    assumed: {
      wins: Number(chances.reduce((sum, chance) => sum + chance, 0n)) / MILLION,
      earnedMicros: assumedEarned / BigInt(MILLION),
    },
  };
}

function sumsOf(quotes: readonly ShadowRequest[]): ShadowSums {
  const sums: ShadowSums = {
    quotes: quotes.length,
    volumeMicros: 0n,
    earnedMicros: 0n,
    markMicros: { 1: 0n, 10: 0n, 60: 0n },
    marked: { 1: 0, 10: 0, 60: 0 },
  };
  for (const { volumeMicros, earnedMicros, mark1, mark10, mark60 } of quotes) {
    sums.volumeMicros += volumeMicros ?? 0n;
    sums.earnedMicros += earnedMicros ?? 0n;
    const marks: Record<Horizon, number | null> = { 1: mark1, 10: mark10, 60: mark60 };
    for (const horizon of MARKOUT_HORIZONS) {
      const bps = marks[horizon];
      if (bps === null) continue;
      sums.markMicros[horizon] += markMicros(volumeMicros ?? 0n, bps);
      sums.marked[horizon] += 1;
    }
  }
  return sums;
}

/** `bps` against the LP, money in its favour. */
const markMicros = (volumeMicros: bigint, bps: number): bigint =>
  (-volumeMicros * BigInt(Math.round(bps * MILLION))) / 10_000_000_000n;
