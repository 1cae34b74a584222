/**
 * What an LP would take of a request in parts: sizes with their amounts, for a venue that splits. Marginal
 * prices never improve with size, so that filling from the best marginal price first is right.
 */

import { isDecline } from '../domain/decline.ts';
import { price } from './price.ts';
import type { PriceInputs } from './price-inputs.ts';

export interface Rung {
  input: bigint;
  output: bigint;
}

/** Shares of the request that are priced, in per cent. */
export const RUNGS = [10, 25, 50, 100] as const;

/**
 * Rungs of rising size; sizes that would be declined are left out. Gas is paid once however little is taken,
 * which makes small sizes dear: where that bends the ladder the wrong way, the larger rung gives up the
 * difference, never the LP.
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

/** The rung, no better at the margin than the one before it. */
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
