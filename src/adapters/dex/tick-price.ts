/** Square-root prices at ticks, as in Uniswap v3: 1.0001^(tick/2) in Q64.96, rounded up. */

import { rootDown } from './root.ts';

export const MAX_TICK = 887_272;
export const MIN_TICK = -MAX_TICK;

const TWO_128 = 1n << 128n;
const MAX_UINT256 = (1n << 256n) - 1n;

/** 1.0001^(-2^k / 2) in Q128.128, rounded to nearest. */
const POWERS: readonly bigint[] = powers(20);

/** Computes the Q64.96 square root of the price. `tick` lies within MIN_TICK and MAX_TICK. */
export function sqrtPriceAtTick(tick: number): bigint {
  const distance = Math.abs(tick);
  let ratio = TWO_128;
  POWERS.forEach((power, bit) => {
    if ((distance & (1 << bit)) !== 0) ratio = (ratio * power) >> 128n;
  });
  if (tick > 0) ratio = MAX_UINT256 / ratio;
  return (ratio + 0xffff_ffffn) >> 32n;
}

function powers(count: number): bigint[] {
  const precision = 512n;
  const half = 1n << (precision - 129n);
  const all: bigint[] = [];
  for (
    let power = rootDown(((1n << (2n * precision)) * 10_000n) / 10_001n), bit = 0;
    bit < count;
    bit += 1, power = (power * power) >> precision
  )
    all.push((power + half) >> (precision - 128n));
  return all;
}
