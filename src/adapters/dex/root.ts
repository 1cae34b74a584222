/** Integer square root, rounded down, used for pool prices. */

export function rootDown(square: bigint): bigint {
  let guess = 1n << BigInt((square.toString(2).length >> 1) + 1);
  for (;;) {
    const next = (guess + square / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
