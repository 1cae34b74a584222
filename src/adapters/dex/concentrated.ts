/** Exact swap amounts of a Uniswap v3 pool, in its own integer arithmetic and rounding. */

import { MAX_TICK, MIN_TICK, sqrtPriceAtTick } from './tick-price.ts';

export interface ConcentratedPool {
  /** Q64.96, token1 per token0. */
  sqrtPrice: bigint;
  tick: number;
  liquidity: bigint;
  /** Millionths. */
  fee: bigint;
  tickSpacing: number;
  /**
   * Initialised ticks with the liquidity each adds in upward direction, ascending; complete within a swap's
   * reach.
   */
  ticks: readonly { tick: number; net: bigint }[];
}

export interface Swap {
  amountIn: bigint;
  amountOut: bigint;
  /** Part of `amountIn` that the pool keeps for its liquidity providers; each step rounds up. */
  fee: bigint;
  crossed: number;
}

interface Step {
  next: bigint;
  /** Excludes the fee. */
  taken: bigint;
  given: bigint;
  fee: bigint;
}

const Q96 = 96n;
const MILLION = 1_000_000n;
const TWO_256 = 1n << 256n;
/** Tick spacings per bitmap word. Swaps pause and round at word ends, so this changes results. */
const WORD = 256;

/** `amount` is of the input when `exactInput`. undefined beyond `reach` ticks or the liquidity. */
export function swapConcentrated(
  pool: ConcentratedPool,
  zeroForOne: boolean,
  exactInput: boolean,
  amount: bigint,
  reach: number,
): Swap | undefined {
  const { fee, ticks, tickSpacing } = pool;
  const end = sqrtPriceAtTick(
    zeroForOne ? Math.max(MIN_TICK + 1, pool.tick - reach) : Math.min(MAX_TICK - 1, pool.tick + reach),
  );
  let { sqrtPrice, tick, liquidity } = pool;
  let remaining = amount;
  let other = 0n;
  let charged = 0n;
  let crossed = 0;
  while (remaining > 0n) {
    const stop = nextStop(ticks, tick, tickSpacing, zeroForOne);
    const stopPrice = sqrtPriceAtTick(stop.tick);
    const beyond = zeroForOne ? stopPrice <= end : stopPrice >= end;
    const target = beyond ? end : stopPrice;
    const step = stepTo(target, sqrtPrice, liquidity, remaining, fee, zeroForOne, exactInput);
    if (step === undefined || step.next === end) return undefined;
    const taken = step.taken + step.fee;
    remaining -= exactInput ? taken : step.given;
    charged += step.fee;
    other += exactInput ? step.given : taken;
    sqrtPrice = step.next;
    if (sqrtPrice !== stopPrice) continue;
    if (stop.net !== undefined) {
      liquidity += zeroForOne ? -stop.net : stop.net;
      crossed += 1;
    }
    tick = zeroForOne ? stop.tick - 1 : stop.tick;
  }
  return exactInput
    ? { amountIn: amount, amountOut: other, fee: charged, crossed }
    : { amountIn: other, amountOut: amount, fee: charged, crossed };
}

/** Finds the next initialised tick in the same bitmap word, or the end of the word. */
function nextStop(
  ticks: ConcentratedPool['ticks'],
  tick: number,
  spacing: number,
  down: boolean,
): { tick: number; net?: bigint } {
  const compressed = Math.floor(tick / spacing) + (down ? 0 : 1);
  const word = Math.floor(compressed / WORD);
  const edge = (down ? word * WORD : word * WORD + WORD - 1) * spacing;
  const from = compressed * spacing;
  const found = down
    ? ticks.findLast((one) => one.tick <= from && one.tick >= edge)
    : ticks.find((one) => one.tick >= from && one.tick <= edge);
  return found ?? { tick: Math.min(MAX_TICK, Math.max(MIN_TICK, edge)) };
}

function stepTo(
  target: bigint,
  price: bigint,
  liquidity: bigint,
  remaining: bigint,
  fee: bigint,
  zeroForOne: boolean,
  exactInput: boolean,
): Step | undefined {
  const inBetween = (a: bigint, b: bigint) =>
    zeroForOne ? amount0(a, b, liquidity, true) : amount1(a, b, liquidity, true);
  const outBetween = (a: bigint, b: bigint) =>
    zeroForOne ? amount1(a, b, liquidity, false) : amount0(a, b, liquidity, false);
  if (exactInput) {
    const afterFee = (remaining * (MILLION - fee)) / MILLION;
    const all = inBetween(target, price);
    if (afterFee >= all)
      return { next: target, taken: all, given: outBetween(target, price), fee: feeOn(all, fee) };
    const next = priceAfterInput(price, liquidity, afterFee, zeroForOne);
    const taken = inBetween(next, price);
    return {
      next,
      taken,
      given: outBetween(next, price),
      fee: next === target ? feeOn(taken, fee) : remaining - taken,
    };
  }
  const all = outBetween(target, price);
  const next = remaining >= all ? target : priceAfterOutput(price, liquidity, remaining, zeroForOne);
  if (next === undefined) return undefined;
  const given = outBetween(next, price);
  const taken = inBetween(next, price);
  return { next, taken, given: given > remaining ? remaining : given, fee: feeOn(taken, fee) };
}

const feeOn = (taken: bigint, fee: bigint): bigint => divideUp(taken * fee, MILLION - fee);

function amount0(a: bigint, b: bigint, liquidity: bigint, up: boolean): bigint {
  const [low, high] = a < b ? [a, b] : [b, a];
  const product = (liquidity << Q96) * (high - low);
  return up ? divideUp(divideUp(product, high), low) : product / high / low;
}

function amount1(a: bigint, b: bigint, liquidity: bigint, up: boolean): bigint {
  const product = liquidity * (a < b ? b - a : a - b);
  return up ? divideUp(product, 1n << Q96) : product >> Q96;
}

/** Computes the price after an input, rounded in favour of the pool. */
function priceAfterInput(price: bigint, liquidity: bigint, amount: bigint, zeroForOne: boolean): bigint {
  if (!zeroForOne) return price + (amount << Q96) / liquidity;
  if (amount === 0n) return price;
  const whole = liquidity << Q96;
  const exact = amount * price;
  // The pool uses this formula when the exact one overflows 256 bits.
  return exact < TWO_256 && whole + exact < TWO_256
    ? divideUp(whole * price, whole + exact)
    : divideUp(whole, whole / price + amount);
}

/** Computes the price after an output, rounded in favour of the pool. */
function priceAfterOutput(
  price: bigint,
  liquidity: bigint,
  amount: bigint,
  zeroForOne: boolean,
): bigint | undefined {
  if (zeroForOne) {
    const fall = divideUp(amount << Q96, liquidity);
    return price > fall ? price - fall : undefined;
  }
  if (amount === 0n) return price;
  const whole = liquidity << Q96;
  const exact = amount * price;
  return exact < TWO_256 && whole > exact ? divideUp(whole * price, whole - exact) : undefined;
}

const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;
