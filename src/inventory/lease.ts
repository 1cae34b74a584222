/**
 * The "signed up to" lease: how a quoter that writes nothing per quote still remembers, after a crash, that
 * it may have promised something.
 *
 * On disk lies one time per chain clock: nothing was ever signed with a later deadline. It is renewed ahead
 * of need, so the hot path never waits for it. After a crash nothing is signed until that time and the grace
 * have passed, for then no forgotten signature can execute any more. A clean stop writes its holds beside it
 * and needs no waiting.
 */

import type { UnixSeconds } from '../domain/time.ts';

export interface Lease {
  /** No signature with a later deadline exists. */
  signedUpTo: UnixSeconds;
  /** The process that wrote it had stopped signing and stored its ledger. */
  clean: boolean;
}

export interface LeaseRule {
  /** The longest deadline a quote may have from now: validity and landing margin. */
  longestQuoteSeconds: number;
  /** How far ahead of that the lease reaches. Longer: fewer writes, and a longer quarantine after a crash. */
  aheadSeconds: number;
  /** Added to `signedUpTo` before quoting again. */
  graceSeconds: number;
}

/** `wait`: sign nothing until chain time is past `until`. */
export type Resumption = { kind: 'resume' } | { kind: 'wait'; until: UnixSeconds };

/** Asked once at start, with what lies on disk (null: never signed here) and the chain's clock. */
export function resume(lease: Lease | null, now: UnixSeconds, rule: LeaseRule): Resumption {
  if (lease === null || lease.clean) return { kind: 'resume' };
  const until = lease.signedUpTo + rule.graceSeconds;
  return now > until ? { kind: 'resume' } : { kind: 'wait', until };
}

/** May this deadline be signed, given what is *durably* on disk? Asked before every signature. */
export function covers(lease: Lease | null, deadline: UnixSeconds): boolean {
  return lease !== null && !lease.clean && deadline <= lease.signedUpTo;
}

/**
 * The lease to write now, or null while the one on disk is good for long enough. Sign under it only once it
 * is durable. Never shortens: an earlier process may have signed up to the old time.
 */
export function renew(lease: Lease | null, now: UnixSeconds, rule: LeaseRule): Lease | null {
  const needed = now + rule.longestQuoteSeconds;
  const enough =
    lease !== null && !lease.clean && lease.signedUpTo >= needed + Math.floor(rule.aheadSeconds / 2);
  if (enough) return null;
  return { signedUpTo: Math.max(needed + rule.aheadSeconds, lease?.signedUpTo ?? 0), clean: false };
}

/**
 * What an orderly stop writes, after the ledger's snapshot is durable and nothing more will be signed. Still
 * in quarantine, it must not look clean: the promises of the process that crashed are not in that snapshot.
 */
export function stopped(lease: Lease, quarantined: boolean): Lease {
  return { signedUpTo: lease.signedUpTo, clean: !quarantined };
}
