/**
 * Limits how often something happens: a token bucket for callers, a count of whole seconds for frames. Both
 * are our own: `rate-limiter-flexible` answers with a promise, knows no debt, and reads the clock itself. A
 * token here takes 0.02 µs of CPU (`npm run bench -- own`).
 */

export interface RateRule {
  perSecond: number;
  /** Size of the bucket, in tokens. */
  burst: number;
}

/** Mutable, for the quote path. */
export interface Tokens {
  /** Negative: a debt, of at most a full bucket. */
  left: number;
  atMs: number;
}

export const fullBucket = ({ burst }: RateRule, nowMs: number): Tokens => ({ left: burst, atMs: nowMs });

/** Takes `cost` tokens, which may leave a debt. Returns false, and takes none, where not even one is left. */
export function takeToken(tokens: Tokens, nowMs: number, rule: RateRule, cost = 1): boolean {
  refill(tokens, nowMs, rule);
  if (tokens.left < 1) return false;
  tokens.left = Math.max(-rule.burst, tokens.left - cost);
  return true;
}

/** Deducts what was taken elsewhere already, down to a debt of one full bucket. */
export function deductTokens(tokens: Tokens, nowMs: number, rule: RateRule, count: number): void {
  refill(tokens, nowMs, rule);
  tokens.left = Math.max(-rule.burst, tokens.left - count);
}

/** A clock that steps back adds nothing. */
function refill(tokens: Tokens, nowMs: number, { perSecond, burst }: RateRule): void {
  if (nowMs <= tokens.atMs) return;
  tokens.left = Math.min(burst, tokens.left + ((nowMs - tokens.atMs) / 1000) * perSecond);
  tokens.atMs = nowMs;
}

/**
 * Returns how often it was called in the current second. It has no bucket: a limit of frames says when a
 * connection ends, so nothing has to be refilled or told to the sender.
 */
export function countPerSecond(nowMs: () => number): () => number {
  let [second, count] = [0, 0];
  return () => {
    const now = Math.floor(nowMs() / 1_000);
    if (now !== second) [second, count] = [now, 0];
    return (count += 1);
  };
}
