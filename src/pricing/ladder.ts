/**
 * Prices several sizes of a request for venues that split orders. Marginal prices never improve with size, so
 * filling the best marginal price first is optimal.
 */

import { isDecline } from '../domain/decline.ts';
import { price } from './price.ts';
import type { PriceInputs } from './price-inputs.ts';

interface Rung {
  input: bigint;
  output: bigint;
}

/** The rungs in per cent of the request. */
const RUNGS = [10, 25, 50, 100] as const;

/**
 * Rungs of rising size without those that decline. Gas is a fixed cost, so small sizes cost more per unit;
 * where that would make the marginal price improve, the larger rung gets a worse price.
 */
export function ladder(inputs: PriceInputs, shares: readonly number[] = RUNGS): Rung[] {
  const rungs: Rung[] = [];
  for (const share of shares) {
    const amount = (inputs.amount * BigInt(share)) / 100n;
    if (amount <= 0n) continue;
    const answer = price({ ...inputs, amount });
    if (isDecline(answer)) continue;
    const rung = bent(rungs, answer, inputs.side);
    if (rung !== undefined) rungs.push(rung);
  }
  return rungs;
}

/** Caps the rung at the marginal price of the one before it. */
function bent(rungs: readonly Rung[], { input, output }: Rung, side: PriceInputs['side']): Rung | undefined {
  const last = rungs.at(-1);
  if (last === undefined) return { input, output };
  const before = rungs.at(-2) ?? { input: 0n, output: 0n };
  if (input <= last.input || output <= last.output) return undefined;
  const [run, rise] = [last.input - before.input, last.output - before.output];
  if (side === 'exactInput') {
    const most = last.output + ((input - last.input) * rise) / run;
    return { input, output: output < most ? output : most };
  }
  const least = last.input + ((output - last.output) * run + rise - 1n) / rise;
  return { input: input > least ? input : least, output };
}
