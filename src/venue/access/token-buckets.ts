/** Token buckets by id, and what a caller is told about its own. */

import { LRUCache } from 'lru-cache';
import { countPerSecond, deductTokens, fullBucket, takeToken, type Tokens } from '../../risk/rate.ts';
import type { Clock } from '../../ports/clock.ts';
import { ApiError } from '../../protocol/errors.ts';

export interface Take {
  ok: boolean;
  perSecond: number;
  /** The most that a caller with a full bucket may ask for in one call. */
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export const rateLimited = (take: Take): ApiError =>
  new ApiError(
    'rate_limited',
    `More than ${take.perSecond} requests a second. Slow down; Retry-After says for how long.`,
    { retryAfterSeconds: Math.max(1, take.resetSeconds), headers: rateHeaders(take) },
  );

/** Limit and remaining are of the whole bucket; the policy says how fast it refills. */
export const rateHeaders = ({ perSecond, limit, remaining, resetSeconds }: Take) => ({
  'RateLimit-Policy': `${perSecond};w=1;burst=${limit}`,
  'RateLimit-Limit': String(limit),
  'RateLimit-Remaining': String(remaining),
  'RateLimit-Reset': String(resetSeconds),
});

export interface Buckets {
  /** A higher cost may leave a debt, of at most a full bucket. */
  take(id: string, cost?: number): Take;
  /** Deducts what was taken at other replicas, down to a debt of one full bucket. */
  spent(id: string, count: number): void;
}

/** `burst`: size of each bucket, in seconds of the rate. `maxIds`: buckets kept in memory. */
export function createBuckets(
  clock: Clock,
  { perSecond, burst, maxIds = 100_000 }: { perSecond: number; burst: number; maxIds?: number },
): Buckets {
  const rule = { perSecond, burst: Math.max(1, perSecond * burst) };
  // An evicted id starts with a full bucket; only a flood of ids evicts any.
  const buckets = new LRUCache<string, Tokens>({ max: maxIds });

  function bucketOf(id: string, nowMs: number): Tokens {
    let bucket = buckets.get(id);
    if (!bucket) buckets.set(id, (bucket = fullBucket(rule, nowMs)));
    return bucket;
  }

  return {
    take(id, cost) {
      const nowMs = clock.monotonicMs();
      const bucket = bucketOf(id, nowMs);
      const ok = takeToken(bucket, nowMs, rule, cost);
      return {
        ok,
        perSecond,
        limit: Math.floor(rule.burst),
        remaining: Math.max(0, Math.floor(bucket.left)),
        resetSeconds: bucket.left >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.left) / perSecond)),
      };
    },
    spent(id, count) {
      const nowMs = clock.monotonicMs();
      deductTokens(bucketOf(id, nowMs), nowMs, rule, count);
    },
  };
}

/** false once a connection has sent more than `most` frames within one second. */
export function frameLimit(clock: Clock, most: number): () => boolean {
  const count = countPerSecond(() => clock.monotonicMs());
  return () => count() <= most;
}
