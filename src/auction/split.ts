/**
 * Plans a split fill: price ladders of several LPs become slices of one order, each unit going where it earns
 * the taker most. Example: two LPs, 100 in. A pays 50 for its first 50 and nothing beyond; B pays 49 for 50
 * and 97 for 100. Plan: A 5,000 bps -> 50, B 5,000 bps -> 49.
 */

import { divUp, min, mulDivDown } from '../domain/amount.ts';
import { FULL_PORTION_BPS } from '../domain/context.ts';

/** [total input, total output], both rising, from (0, 0). */
export type Ladder = readonly (readonly [bigint, bigint])[];

export interface Slice {
  solverId: string;
  portionBps: number;
  /** The amount that the contract will credit, before fees. */
  inputAmount: bigint;
  outputAmount: bigint;
}

export interface SplitPlan {
  slices: Slice[];
  inputAmount: bigint;
  outputAmount: bigint;
}

interface SplitRequest {
  side: 'exactInput' | 'exactOutput';
  /** Base units of the fixed side. */
  amount: bigint;
  maxParts: number;
}

interface Segment {
  solverId: string;
  input: bigint;
  output: bigint;
}

/** Plans the slices; undefined when the ladders cannot carry the amount in 2 to `maxParts` slices. */
export function planSplit(
  ladders: ReadonlyMap<string, Ladder>,
  { side, amount, maxParts }: SplitRequest,
): SplitPlan | undefined {
  // The hull decides the shares; the offered ladder decides what a slice pays.
  const offered = new Map(
    [...ladders]
      .map(([id, ladder]) => [id, rising(ladder)] as const)
      .filter(([, ladder]) => ladder.length > 0),
  );
  const usable = new Map([...offered].map(([id, ladder]) => [id, concave(ladder)] as const));
  const finish = (used: Used) =>
    side === 'exactInput' ? exactInput(offered, used, amount) : exactOutput(offered, used, amount);
  let fallback: SplitPlan | undefined;
  // The smallest slice drops out while there are too many, or one is smaller than its LP offered.
  for (;;) {
    const taken = fillGreedily(usable, side, amount);
    const used = [...(taken ?? [])].filter(([, input]) => input > 0n);
    if (used.length < 2) return fallback;
    const smallest = used.reduce((a, b) => (b[1] < a[1] ? b : a));
    if (used.length <= maxParts) {
      const plan = finish(used);
      if (smallest[1] >= (offered.get(smallest[0])?.[0]?.[0] ?? 0n)) return plan ?? fallback;
      fallback ??= plan;
    }
    usable.delete(smallest[0]);
  }
}

type Used = readonly (readonly [string, bigint])[];

/**
 * Fills the best marginal segments first and returns inputs per solver; undefined when the segments run out.
 */
function fillGreedily(
  ladders: ReadonlyMap<string, Ladder>,
  side: SplitRequest['side'],
  amount: bigint,
): Map<string, bigint> | undefined {
  const segments: Segment[] = [];
  for (const [solverId, ladder] of ladders) {
    let [lastIn, lastOut] = [0n, 0n];
    for (const [input, output] of ladder) {
      segments.push({ solverId, input: input - lastIn, output: output - lastOut });
      [lastIn, lastOut] = [input, output];
    }
  }
  // Marginal prices of a concave ladder only fall, so segments of one LP stay in order.
  segments.sort((a, b) => {
    const [left, right] = [a.output * b.input, b.output * a.input];
    return left === right
      ? a.solverId < b.solverId
        ? -1
        : a.solverId > b.solverId
          ? 1
          : 0
      : left > right
        ? -1
        : 1;
  });
  const taken = new Map<string, bigint>();
  let left = amount;
  for (const { solverId, input, output } of segments) {
    if (left === 0n) break;
    const whole = side === 'exactInput' ? input : output;
    const part = min(left, whole);
    const partInput = side === 'exactInput' ? part : divUp(part * input, output);
    taken.set(solverId, (taken.get(solverId) ?? 0n) + partInput);
    left -= part;
  }
  return left === 0n ? taken : undefined;
}

/** Gives each slice floor(total * bps / 10,000), as in the contract; the last slice gets the rest. */
export function sliceInputs(total: bigint, portions: readonly number[]): bigint[] {
  let left = total;
  return portions.map((bps, index) => {
    const share =
      index === portions.length - 1 ? left : mulDivDown(total, BigInt(bps), BigInt(FULL_PORTION_BPS));
    left -= share;
    return share;
  });
}

/**
 * Returns basis points that sum to 10,000, none zero. The rest from rounding goes where there is most room
 * (`slack`), else to the largest.
 */
export function portionsOf(inputs: readonly bigint[], slack: readonly bigint[] = inputs): number[] {
  const total = inputs.reduce((sum, input) => sum + input, 0n);
  const portions = inputs.map((input) => Math.max(1, Number((input * BigInt(FULL_PORTION_BPS)) / total)));
  const remainingBps = FULL_PORTION_BPS - portions.reduce((sum, bps) => sum + bps, 0);
  const widest =
    remainingBps < 0
      ? portions.indexOf(Math.max(...portions))
      : slack.reduce((best, room, index) => (room > (slack[best] as bigint) ? index : best), 0);
  portions[widest] = (portions[widest] as number) + remainingBps;
  return portions;
}

function exactInput(ladders: ReadonlyMap<string, Ladder>, used: Used, amount: bigint): SplitPlan | undefined {
  const slices = cut(ladders, used, amount);
  if (!slices) return undefined;
  return {
    slices,
    inputAmount: amount,
    outputAmount: slices.reduce((sum, { outputAmount }) => sum + outputAmount, 0n),
  };
}

function exactOutput(
  ladders: ReadonlyMap<string, Ladder>,
  used: Used,
  amount: bigint,
): SplitPlan | undefined {
  let total = used.reduce((sum, [, input]) => sum + input, 0n);
  // Rounding to basis points moves dust between ladders: raise the input a little until the sum is reached.
  for (let attempt = 0; attempt < 12; attempt++, total += divUp(total, 50_000n)) {
    const slices = cut(ladders, used, total);
    if (!slices) return undefined;
    let surplus = slices.reduce((sum, { outputAmount }) => sum + outputAmount, 0n) - amount;
    if (surplus < 0n) continue;
    for (const slice of [...slices].sort((a, b) => b.portionBps - a.portionBps)) {
      const less = min(surplus, slice.outputAmount - 1n);
      slice.outputAmount -= less;
      surplus -= less;
    }
    return surplus === 0n ? { slices, inputAmount: total, outputAmount: amount } : undefined;
  }
  return undefined;
}

function cut(ladders: ReadonlyMap<string, Ladder>, used: Used, total: bigint): Slice[] | undefined {
  const portions = portionsOf(
    used.map(([, input]) => input),
    used.map(([solverId, input]) => (ladders.get(solverId)?.at(-1)?.[0] ?? 0n) - input),
  );
  const inputs = sliceInputs(total, portions);
  const slices: Slice[] = [];
  for (const [index, [solverId]] of used.entries()) {
    const inputAmount = inputs[index] as bigint;
    const outputAmount = outputAt(ladders.get(solverId) as Ladder, inputAmount);
    if (outputAmount === undefined || outputAmount <= 0n) return undefined;
    slices.push({ solverId, portionBps: portions[index] as number, inputAmount, outputAmount });
  }
  return slices;
}

/**
 * Reads the ladder between its steps, rounded down. Below the first step fixed costs weigh more, so the line
 * through the first two steps counts where it is lower. A basis point beyond the end pays what the end pays.
 */
export function outputAt(ladder: Ladder, input: bigint): bigint | undefined {
  const [first, second] = ladder;
  if (first && second && input < first[0]) {
    const fromZero = mulDivDown(first[1], input, first[0]);
    const fromSteps = first[1] - divUp((second[1] - first[1]) * (first[0] - input), second[0] - first[0]);
    return min(fromZero, fromSteps);
  }
  let [lastIn, lastOut] = [0n, 0n];
  for (const [stepIn, stepOut] of ladder) {
    if (input <= stepIn) return lastOut + mulDivDown(stepOut - lastOut, input - lastIn, stepIn - lastIn);
    [lastIn, lastOut] = [stepIn, stepOut];
  }
  return input * 1_000n <= lastIn * 1_001n ? lastOut : undefined;
}

/** Steps with more in and more out than the step before. */
function rising(ladder: Ladder): Ladder {
  const steps: (readonly [bigint, bigint])[] = [];
  for (const [input, output] of ladder) {
    const [lastIn, lastOut] = steps.at(-1) ?? [0n, 0n];
    if (input > lastIn && output > lastOut) steps.push([input, output]);
  }
  return steps;
}

/** Returns the upper concave hull from (0, 0): with falling marginal prices a greedy choice is the best. */
function concave(ladder: Ladder): Ladder {
  const hull: (readonly [bigint, bigint])[] = [];
  for (const [input, output] of ladder) {
    while (hull.length > 0) {
      const [b, bOut] = hull.at(-1) as readonly [bigint, bigint];
      const [a, aOut] = hull.at(-2) ?? [0n, 0n];
      if ((bOut - aOut) * (input - b) > (output - bOut) * (b - a)) break;
      hull.pop();
    }
    hull.push([input, output]);
  }
  return hull;
}
