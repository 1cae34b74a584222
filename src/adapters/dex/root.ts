/** The square root of a whole number, as pools of every kind need it. */

/** Rounded down. */
export function rootDown(square: bigint): bigint {
  let guess = 1n << BigInt((square.toString(2).length >> 1) + 1);
  for (;;) {
    const next = (guess + square / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
