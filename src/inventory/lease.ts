/**
 * The "signed up to" lease protects quotes that a crash forgets, without a write per quote.
 *
 * The store has one time per chain clock: no signature has a later deadline. It is renewed ahead of need.
 * After a crash the LP signs nothing until that time and the grace have passed, when no forgotten signature
 * can execute. A clean stop stores the holds, so the next start need not wait.
 */

import type { UnixSeconds } from '../domain/time.ts';

export interface Lease {
  signedUpTo: UnixSeconds;
  clean: boolean;
}

export interface LeaseRule {
  /** The longest time from now to a quote's deadline: validity and landing margin. */
  longestQuoteSeconds: number;
  /**
   * The seconds by which the lease reaches beyond that. Longer means fewer writes and a longer wait after a
   * crash.
   */
  aheadSeconds: number;
  graceSeconds: number;
}

/** `wait`: sign nothing until chain time is past `until`. */
type Resumption = { kind: 'resume' } | { kind: 'wait'; until: UnixSeconds };

export function resume(lease: Lease | null, now: UnixSeconds, rule: LeaseRule): Resumption {
  if (lease === null || lease.clean) return { kind: 'resume' };
  const until = lease.signedUpTo + rule.graceSeconds;
  return now > until ? { kind: 'resume' } : { kind: 'wait', until };
}

/**
 * Returns whether this deadline may be signed under the lease that is durably stored. Ask before every
 * signature.
 */
export function covers(lease: Lease | null, deadline: UnixSeconds): boolean {
  return lease !== null && !lease.clean && deadline <= lease.signedUpTo;
}

/**
 * The lease to write now, or null while the stored one suffices. Sign only once it is durable. It never
 * shortens: an earlier process may have signed up to the old time.
 */
export function renew(lease: Lease | null, now: UnixSeconds, rule: LeaseRule): Lease | null {
  const needed = now + rule.longestQuoteSeconds;
  const enough =
    lease !== null && !lease.clean && lease.signedUpTo >= needed + Math.floor(rule.aheadSeconds / 2);
  if (enough) return null;
  return { signedUpTo: Math.max(needed + rule.aheadSeconds, lease?.signedUpTo ?? 0), clean: false };
}
