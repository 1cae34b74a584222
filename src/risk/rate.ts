/** A token bucket that refills with time: limits the requests of one taker, and the notices of one venue. */

export interface RateRule {
  perSecond: number;
  /** Size of the bucket, in tokens. In `venue/access/token-buckets.ts` it is in seconds of the rate. */
  burst: number;
}

/** Mutable, for the quote path. */
export interface Tokens {
  left: number;
  atMs: number;
}

export const fullBucket = ({ burst }: RateRule, nowMs: number): Tokens => ({ left: burst, atMs: nowMs });

/** Takes a token; false when there is none. */
export function takeToken(tokens: Tokens, nowMs: number, { perSecond, burst }: RateRule): boolean {
  if (nowMs > tokens.atMs) {
    tokens.left = Math.min(burst, tokens.left + ((nowMs - tokens.atMs) / 1000) * perSecond);
    tokens.atMs = nowMs;
  }
  if (tokens.left < 1) return false;
  tokens.left -= 1;
  return true;
}
