/** Finds the largest size that would have passed, for a decline that names a size. */

/** 'tiny': nothing smaller can pass either. */
export type Trial = 'passes' | 'fails' | 'tiny';

/**
 * The largest amount below `failing` that passes, to 0.1 %; 0n when none was found. A good `guess` costs
 * about eight trials, a bad one at most forty.
 */
export function largestPassing(failing: bigint, guess: bigint, tried: (amount: bigint) => Trial): bigint {
  let [low, high] = [0n, failing];
  for (const amount of [guess, guess + guess / 64n, guess - guess / 64n]) {
    if (amount <= low || amount >= high) continue;
    if (tried(amount) === 'passes') low = amount;
    else high = amount;
  }
  for (let amount = high / 2n, round = 0; low === 0n && amount > 0n && round < 24; amount /= 2n, round++) {
    const trial = tried(amount);
    if (trial === 'tiny') return 0n;
    if (trial === 'passes') low = amount;
    else high = amount;
  }
  for (let round = 0; round < 12 && high - low > low / 1_000n + 1n; round++) {
    const amount = (low + high) / 2n;
    if (tried(amount) === 'passes') low = amount;
    else high = amount;
  }
  return low;
}
