/** Computes the lowest eigenvalue of a symmetric tridiagonal matrix (Sturm bisection), and its vector. */

interface Ground {
  value: number;
  vector: number[];
  residual: number;
}

const SMALLEST = 1e-300;

/** `diagonal` has n entries, `off` n - 1 of one sign, none zero. */
export function groundState(diagonal: readonly number[], off: readonly number[]): Ground {
  const value = lowest(diagonal, off);
  let vector = diagonal.map(() => 1);
  for (let round = 0; round < 6; round++) vector = unit(solve(diagonal, off, value, vector));
  if ((vector[0] ?? 0) < 0) vector = vector.map((each) => -each);
  const residual = Math.max(
    ...vector.map((each, at) =>
      Math.abs(
        ((diagonal[at] as number) - value) * each +
          (off[at - 1] ?? 0) * (vector[at - 1] ?? 0) +
          (off[at] ?? 0) * (vector[at + 1] ?? 0),
      ),
    ),
  );
  return { value, vector, residual };
}

function lowest(diagonal: readonly number[], off: readonly number[]): number {
  const radius = diagonal.map((_, at) => Math.abs(off[at - 1] ?? 0) + Math.abs(off[at] ?? 0));
  let low = Math.min(...diagonal.map((each, at) => each - (radius[at] as number)));
  let high = Math.min(...diagonal);
  for (let round = 0; round < 200; round++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (below(diagonal, off, middle) >= 1) high = middle;
    else low = middle;
  }
  return low;
}

/** Counts the eigenvalues below x: negative pivots of matrix - x. */
function below(diagonal: readonly number[], off: readonly number[], x: number): number {
  let [negative, pivot] = [0, 1];
  for (const [at, each] of diagonal.entries()) {
    const beside = at === 0 ? 0 : (off[at - 1] as number);
    pivot = each - x - (beside * beside) / pivot;
    if (pivot === 0) pivot = SMALLEST;
    if (pivot < 0) negative += 1;
  }
  return negative;
}

/** The shift is below the spectrum, so no pivoting is needed. */
function solve(
  diagonal: readonly number[],
  off: readonly number[],
  shift: number,
  right: readonly number[],
): number[] {
  const n = diagonal.length;
  const pivots: number[] = [];
  const values: number[] = [];
  for (let at = 0; at < n; at++) {
    const factor = at === 0 ? 0 : (off[at - 1] as number) / (pivots[at - 1] as number);
    const pivot = (diagonal[at] as number) - shift - factor * (off[at - 1] ?? 0);
    pivots.push(Math.abs(pivot) < SMALLEST ? SMALLEST : pivot);
    values.push((right[at] as number) - factor * (values[at - 1] ?? 0));
  }
  const x = Array.from<number>({ length: n }).fill(0);
  for (let at = n - 1; at >= 0; at--)
    x[at] = ((values[at] as number) - (off[at] ?? 0) * (x[at + 1] ?? 0)) / (pivots[at] as number);
  return x;
}

function unit(vector: readonly number[]): number[] {
  const largest = Math.max(...vector.map(Math.abs));
  const scaled = vector.map((each) => each / largest);
  const length = Math.sqrt(scaled.reduce((sum, each) => sum + each * each, 0));
  return scaled.map((each) => each / length);
}
