/** Exact swap amounts of a Uniswap v2 pair. */

export interface ConstantProductPair {
  reserve0: bigint;
  reserve1: bigint;
}

const MAX_RESERVE = (1n << 112n) - 1n;

/** Computes the output, rounded down; the pair refuses 0n. undefined when a reserve would overflow. */
export function pairOutput(
  pair: ConstantProductPair,
  zeroForOne: boolean,
  amountIn: bigint,
): bigint | undefined {
  const [reserveIn, reserveOut] = sides(pair, zeroForOne);
  if (reserveIn === 0n || reserveOut === 0n || reserveIn + amountIn > MAX_RESERVE) return undefined;
  const afterFee = amountIn * 997n;
  return (afterFee * reserveOut) / (reserveIn * 1_000n + afterFee);
}

/** Part of the input that the pair keeps for its liquidity providers. */
export const pairFeeUp = (amountIn: bigint): bigint => (amountIn * 3n + 999n) / 1_000n;

/** The input that suffices, rounded up as the router does. undefined when no input does. */
export function pairInput(
  pair: ConstantProductPair,
  zeroForOne: boolean,
  amountOut: bigint,
): bigint | undefined {
  const [reserveIn, reserveOut] = sides(pair, zeroForOne);
  if (reserveIn === 0n || amountOut >= reserveOut || amountOut <= 0n) return undefined;
  const amountIn = (reserveIn * amountOut * 1_000n) / ((reserveOut - amountOut) * 997n) + 1n;
  return reserveIn + amountIn > MAX_RESERVE ? undefined : amountIn;
}

export function pairHolds(
  pair: ConstantProductPair,
  zeroForOne: boolean,
  amountIn: bigint,
  amountOut: bigint,
  maxMoveBps: number,
): boolean {
  const [reserveIn, reserveOut] = sides(pair, zeroForOne);
  return (
    (reserveOut - amountOut) * reserveIn * 10_000n >=
    reserveOut * (reserveIn + amountIn) * (10_000n - BigInt(maxMoveBps))
  );
}

const sides = ({ reserve0, reserve1 }: ConstantProductPair, zeroForOne: boolean): [bigint, bigint] =>
  zeroForOne ? [reserve0, reserve1] : [reserve1, reserve0];
