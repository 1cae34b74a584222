/**
 * Keeps the "signed up to" lease: renewed ahead of need, checked before each signature, waited out after a
 * crash. The quote path waits for a write only when a taker demands an unusually long validity.
 */

import type { UnixSeconds } from '../../domain/time.ts';
import { covers, type Lease, type LeaseRule, renew, resume } from '../../inventory/lease.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

export interface Leases {
  /** true when another process owns the store: sign nothing more. */
  readonly lost: boolean;
  /** true when the lease covers a signature until this deadline. Cheap: called for every quote. */
  covers(chainId: number, deadline: UnixSeconds): boolean;
  /** Extends the lease with one write. false when another process owns the store or it does not answer. */
  extend(chainId: number, deadline: UnixSeconds): Promise<boolean>;
  /** Renews the leases that are due. Rejects when the store does. */
  tick(): Promise<void>;
  /** Seconds from now to the end of each lease. */
  reach(): { chainId: number; seconds: number }[];
  /** Nothing is signed until these chain times: an earlier process may have signed quotes. */
  quarantine(): { chainId: number; until: UnixSeconds }[];
}

interface LeaseDeps {
  store: Pick<LpStore, 'writeLease'>;
  log: Log;
  /** The latest it can be on the chain, by its newest block and the local clock. */
  now(chainId: number): UnixSeconds;
  /** The earliest it can be: time of the last block whose events are in the ledger. It ends a quarantine. */
  lastReadTime(chainId: number): UnixSeconds;
}

interface Writing {
  readonly signedUpTo: UnixSeconds;
  /** true while this process owns the store. Rejects when the store does not answer. */
  readonly done: Promise<boolean>;
}

/** `found`: the previous owner's leases. A chain without one was never signed on. */
export function createLeases(
  { store, log, now, lastReadTime }: LeaseDeps,
  {
    found,
    clean,
    rules,
  }: { found: ReadonlyMap<number, Lease>; clean: boolean; rules: ReadonlyMap<number, LeaseRule> },
): Leases {
  const durable = new Map<number, Lease | null>();
  const waits = new Map<number, UnixSeconds>();
  const writing = new Map<number, Writing>();
  let lost = false;

  for (const [chainId, rule] of rules) {
    const lease = found.get(chainId) ?? null;
    // Unclean once this process opened it; `clean` is its state before.
    durable.set(chainId, lease === null ? null : { ...lease, clean: false });
    const resumption = resume(lease === null ? null : { ...lease, clean }, lastReadTime(chainId), rule);
    if (resumption.kind === 'wait') waits.set(chainId, resumption.until);
  }

  /** One write at a time; a caller covered by it waits for it. */
  function write(chainId: number, lease: Lease): Promise<boolean> {
    const before = writing.get(chainId);
    if (before !== undefined && before.signedUpTo >= lease.signedUpTo) return before.done;
    const mine: Writing = { signedUpTo: lease.signedUpTo, done: written(chainId, lease, before?.done) };
    writing.set(chainId, mine);
    const over = () => {
      if (writing.get(chainId) === mine) writing.delete(chainId);
    };
    mine.done.then(over, over);
    return mine.done;
  }

  async function written(
    chainId: number,
    lease: Lease,
    before: Promise<boolean> | undefined,
  ): Promise<boolean> {
    await before?.catch(() => false);
    const ours = await store.writeLease(chainId, lease);
    if (ours) durable.set(chainId, longer(durable.get(chainId) ?? null, lease));
    else if (!lost) {
      lost = true;
      log.fatal({ chainId }, 'another process has taken over this LP: this one signs nothing more');
    }
    return ours;
  }

  return {
    get lost() {
      return lost;
    },
    covers: (chainId, deadline) => !lost && covers(durable.get(chainId) ?? null, deadline),
    async extend(chainId, deadline) {
      const lease = longer(durable.get(chainId) ?? null, { signedUpTo: deadline, clean: false });
      return !lost && (await write(chainId, lease).catch(() => false));
    },
    async tick() {
      if (lost) return;
      for (const [chainId, rule] of rules) {
        const next = renew(durable.get(chainId) ?? null, now(chainId), rule);
        if (next !== null) await write(chainId, next);
      }
    },
    reach: () =>
      [...durable].map(([chainId, lease]) => ({
        chainId,
        seconds: lease === null ? 0 : lease.signedUpTo - now(chainId),
      })),
    quarantine() {
      for (const [chainId, until] of waits) if (lastReadTime(chainId) > until) waits.delete(chainId);
      return [...waits].map(([chainId, until]) => ({ chainId, until }));
    },
  };
}

const longer = (known: Lease | null, given: Lease): Lease =>
  known !== null && known.signedUpTo > given.signedUpTo ? known : given;
