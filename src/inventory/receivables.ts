/**
 * How long an input takes to reach us after our output left, per corridor, and so when one that is owed is
 * overdue.
 */

export interface SettleTimes {
  /** One that arrived: seconds from our fill to the final claim. */
  arrived(corridor: string, seconds: number): void;
  /** Beyond this many seconds an input is overdue. */
  limit(corridor: string): number;
}

/** The last so many are what a corridor is like now. */
const REMEMBERED = 31;
/** Fewer say nothing yet. */
const ENOUGH = 5;

/**
 * Overdue is `factor` times the corridor's median, and never less than `leastSeconds`: a chain that is
 * usually done in two seconds is not in trouble after six. `expectedSeconds` stands in for the median until
 * enough arrived.
 */
export function createSettleTimes({
  factor,
  leastSeconds,
  expectedSeconds,
}: {
  factor: number;
  leastSeconds: number;
  expectedSeconds: number;
}): SettleTimes {
  const byCorridor = new Map<string, number[]>();
  return {
    arrived(corridor, seconds) {
      const times = byCorridor.get(corridor) ?? [];
      byCorridor.set(corridor, times);
      times.push(seconds > 0 ? seconds : 0);
      if (times.length > REMEMBERED) times.shift();
    },
    limit(corridor) {
      const times = byCorridor.get(corridor) ?? [];
      return Math.max(leastSeconds, factor * (times.length < ENOUGH ? expectedSeconds : median(times)));
    },
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
}
