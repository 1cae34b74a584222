/** Cost of hedging immediately: the average price of walking the book of the hedge venue. */

/** A level on the side that we would trade against, best first; sizes in whole base tokens. */
export interface HedgeLevel {
  price: number;
  size: number;
}

/**
 * Returns how much worse than the mid a hedge would trade, in bps, never negative. `side` 1 sells into the
 * bids. Beyond the visible depth the price of the last level stands for the rest, so the impact is too low;
 * the square-root law beside it covers that.
 */
export function walkedImpact(
  levels: readonly HedgeLevel[],
  side: 1 | -1,
  baseSize: number,
  mid: number,
): number {
  if (!(baseSize > 0)) return 0;
  let left = baseSize;
  let paid = 0;
  let last = mid;
  for (const { price, size } of levels) {
    const taken = Math.min(left, size);
    paid += taken * price;
    left -= taken;
    last = price;
    if (left <= 0) break;
  }
  paid += Math.max(left, 0) * last;
  return Math.max(side * (1 - paid / baseSize / mid) * 1e4, 0);
}
