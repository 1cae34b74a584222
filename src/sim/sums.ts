/** Statistics kept as sums so that runs can be added up. */

export interface SumStats {
  n: number;
  sum: number;
  squares: number;
}

export const noSums = (): SumStats => ({ n: 0, sum: 0, squares: 0 });

export function addToSums(sums: SumStats, value: number): void {
  sums.n += 1;
  sums.sum += value;
  sums.squares += value * value;
}

export const meanOf = ({ n, sum }: SumStats): number => sum / n;

export function deviationOf({ n, sum, squares }: SumStats): number {
  return n < 2 ? 0 : Math.sqrt(Math.max(squares - (sum * sum) / n, 0) / (n - 1));
}

export const errorOf = (sums: SumStats): number => deviationOf(sums) / Math.sqrt(sums.n);
