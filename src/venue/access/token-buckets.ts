/** Token buckets by id: a rate per second with room for a burst. */

import { LRUCache } from 'lru-cache';
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

interface Bucket {
  tokens: number;
  atMs: number;
}

/**
 * `burst`: size of each bucket, in seconds of the rate. In `risk/rate.ts` it is in tokens. `maxIds`: buckets
 * kept in memory.
 */
export function createBuckets(
  clock: Clock,
  { perSecond, burst, maxIds = 100_000 }: { perSecond: number; burst: number; maxIds?: number },
): Buckets {
  const capacity = Math.max(1, perSecond * burst);
  // An evicted id starts with a full bucket; only a flood of ids evicts any.
  const buckets = new LRUCache<string, Bucket>({ max: maxIds });

  function filled(id: string): Bucket {
    const nowMs = clock.monotonicMs();
    let bucket = buckets.get(id);
    if (!bucket) buckets.set(id, (bucket = { tokens: capacity, atMs: nowMs }));
    bucket.tokens = Math.min(capacity, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    return bucket;
  }

  return {
    take(id, cost = 1) {
      const bucket = filled(id);
      const ok = bucket.tokens >= 1;
      if (ok) bucket.tokens = Math.max(-capacity, bucket.tokens - cost);
      return {
        ok,
        perSecond,
        limit: Math.floor(capacity),
        remaining: Math.max(0, Math.floor(bucket.tokens)),
        resetSeconds: bucket.tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond)),
      };
    },
    spent(id, count) {
      const bucket = filled(id);
      bucket.tokens = Math.max(-capacity, bucket.tokens - count);
    },
  };
}

/** false once a connection has sent more than `most` frames within one second. */
export function frameLimit(clock: Clock, most: number): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(clock.monotonicMs() / 1000);
    if (now !== second) [second, count] = [now, 0];
    return ++count <= most;
  };
}
