/** Time from our fill to the final claim per corridor, which decides when a receivable is overdue. */

const REMEMBERED = 31;
const ENOUGH = 5;

/**
 * The limit is `factor` times the corridor's median and at least `leastSeconds`, because a fast corridor is
 * not in trouble after a few seconds. `expectedSeconds` replaces the median until enough inputs arrived.
 */
export function createSettleTimes({
  factor,
  leastSeconds,
  expectedSeconds,
}: {
  factor: number;
  leastSeconds: number;
  expectedSeconds: number;
}) {
  const byCorridor = new Map<string, number[]>();
  return {
    arrived(corridor: string, seconds: number): void {
      const times = byCorridor.get(corridor) ?? [];
      byCorridor.set(corridor, times);
      times.push(seconds > 0 ? seconds : 0);
      if (times.length > REMEMBERED) times.shift();
    },
    limit(corridor: string): number {
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
