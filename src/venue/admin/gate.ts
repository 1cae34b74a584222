/** Access to the admin API: configured keys, compared in constant time, and a low rate limit. */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiCaller, AccessGate } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { createBuckets, rateHeaders, rateLimited } from '../access/token-buckets.ts';

/** `id` names the key in the audit trail. */
interface AdminKey extends ApiCaller {
  readonly secret: string;
}

const BURST = 2;

export function createAdminGate(
  { clock, log }: Pick<VenueDeps, 'clock' | 'log'>,
  { keys, requestsPerSecond }: { keys: readonly AdminKey[]; requestsPerSecond: number },
): AccessGate<ApiCaller> {
  const kept = keys.map(({ id, secret }) => ({ id, digest: sha256(secret) }));
  const addresses = createBuckets(clock, { perSecond: requestsPerSecond, burst: BURST });
  const perKey = createBuckets(clock, { perSecond: requestsPerSecond, burst: BURST });

  function callerOf(text = ''): ApiCaller | undefined {
    const given = sha256(text);
    // All keys are compared, so that timing reveals nothing.
    let caller: ApiCaller | undefined;
    for (const { id, digest } of kept) if (timingSafeEqual(digest, given)) caller = { id };
    return caller;
  }

  return {
    // A valid key has a limit of its own: guesses from its address do not lock it out.
    limitByAddress(ip, { key, cost } = {}) {
      if (callerOf(key)) return;
      const take = addresses.take(ip, cost);
      if (!take.ok) throw rateLimited(take);
    },
    async authenticate(text) {
      const caller = callerOf(text);
      if (!caller) {
        log.warn({}, 'the admin API was asked without a valid admin key');
        throw new ApiError('unauthorized', 'This needs a valid admin key in the X-API-Key header.');
      }
      const take = perKey.take(caller.id);
      if (!take.ok) throw rateLimited(take);
      return { key: caller, headers: { ...rateHeaders(take), 'Cache-Control': 'no-store' } };
    },
    // The rate limit is low enough that no slots are needed.
    takeSlot: async () => () => {},
    // Administrators are few.
    turnedAway: () => {},
    failed: () => {},
    // Configured keys live as long as the process.
    onRevoked: () => () => {},
  };
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
