/** Fees of a transaction and its replacements. Nodes require +10 % (geth) or +12.5 %; we add 15 %. */

import type { Fees } from '../../../ports/chain.ts';

export interface TxFees {
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
}

const BUMP_PERCENT = 115n;

/** Leaves room for the base fee to double; never above the cap. */
export function firstFees({ baseFee, priorityFee }: Fees, capPerGas: bigint): TxFees {
  return capped({ maxFeePerGas: baseFee * 2n + priorityFee, maxPriorityFeePerGas: priorityFee }, capPerGas);
}

/** undefined when the cap leaves no room. */
export function bumpFees(last: TxFees, now: Fees, capPerGas: bigint): TxFees | undefined {
  const least = {
    maxFeePerGas: raise(last.maxFeePerGas),
    maxPriorityFeePerGas: raise(last.maxPriorityFeePerGas),
  };
  if (least.maxFeePerGas > capPerGas) return undefined;
  const usual = firstFees(now, capPerGas);
  const fees = {
    maxFeePerGas: larger(least.maxFeePerGas, usual.maxFeePerGas),
    maxPriorityFeePerGas: larger(least.maxPriorityFeePerGas, usual.maxPriorityFeePerGas),
  };
  return fees.maxPriorityFeePerGas > fees.maxFeePerGas
    ? { ...fees, maxFeePerGas: fees.maxPriorityFeePerGas }
    : fees;
}

/** Leaves room for the no-op replacement below the cap. */
export const belowCap = (capPerGas: bigint): bigint => (capPerGas * 100n) / BUMP_PERCENT - 1n;

const raise = (fee: bigint): bigint => (fee * BUMP_PERCENT + 99n) / 100n;
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

function capped({ maxFeePerGas, maxPriorityFeePerGas }: TxFees, cap: bigint): TxFees {
  const maxFee = maxFeePerGas < cap ? maxFeePerGas : cap;
  return {
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: maxPriorityFeePerGas < maxFee ? maxPriorityFeePerGas : maxFee,
  };
}
