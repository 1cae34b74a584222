/**
 * Cost of hedging a position immediately: the average price of walking the hedge venue's book to its
 * size.
 */

/** One price level on the side that we would trade against, best first; whole tokens. */
export interface HedgeLevel {
  price: number;
  /** Whole base tokens. */
  size: number;
}

/**
 * How much worse than the mid that average is, in bps; never negative. `side` 1 sells what the LP bought,
 * into the bids. Beyond the visible depth the last level's price stands for the rest: too kind, which the
 * square-root law beside it makes good.
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
