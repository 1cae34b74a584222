/**
 * The "signed up to" lease at work: kept ahead of need in the store, asked before every signature, and waited
 * out after a crash. The hot path reads what is durable and never waits for a write.
 */

import type { UnixSeconds } from '../../domain/time.ts';
import { covers, type Lease, type LeaseRule, renew, resume } from '../../inventory/lease.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';

export interface Leases {
  /** May a promise with this deadline be signed now? */
  covers(chainId: number, deadline: UnixSeconds): boolean;
  /**
   * Makes a later deadline than usual signable: one write. false when the store is not ours any more or does
   * not answer.
   */
  extend(chainId: number, deadline: UnixSeconds): Promise<boolean>;
  /** Renews what is due. */
  tick(): Promise<void>;
  /**
   * Chain times until which nothing may be signed, because an earlier process may have promised something.
   */
  quarantine(): { chainId: number; until: UnixSeconds }[];
  /** How far each lease reaches beyond now. */
  reach(): { chainId: number; seconds: number }[];
  /** Another process owns the store: sign nothing more, ever. */
  readonly lost: boolean;
}

export interface LeaseDeps {
  store: Pick<LpStore, 'writeLease'>;
  log: Log;
  /** The latest it can be on a chain, by its blocks and by our clock: how far a new promise may reach. */
  now(chainId: number): UnixSeconds;
  /**
   * Time of the newest block whose events have been taken in: the earliest it can be, which ends a
   * quarantine.
   */
  settled(chainId: number): UnixSeconds;
}

interface Writing {
  readonly signedUpTo: UnixSeconds;
  /** Is the store still ours? Rejects when it does not answer. */
  readonly done: Promise<boolean>;
}

/** `found` is what the last owner left; a chain absent from it was never signed on. */
export function createLeases(
  { store, log, now, settled }: LeaseDeps,
  {
    found,
    clean,
    rules,
  }: { found: ReadonlyMap<number, Lease>; clean: boolean; rules: ReadonlyMap<number, LeaseRule> },
): Leases {
  const durable = new Map<number, Lease | null>();
  const waits = new Map<number, UnixSeconds>();
  /** The last one that was asked for. */
  const writing = new Map<number, Writing>();
  let lost = false;

  for (const [chainId, rule] of rules) {
    const lease = found.get(chainId) ?? null;
    // What is on disk counts as unclean since we opened it; whether it was clean before that is what `clean`
    // says.
    durable.set(chainId, lease === null ? null : { ...lease, clean: false });
    const resumption = resume(lease === null ? null : { ...lease, clean }, settled(chainId), rule);
    if (resumption.kind === 'wait') waits.set(chainId, resumption.until);
  }

  /** One after the other; whoever needs no more than is being written waits for that. */
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
      log.fatal({ chainId }, 'another process has taken this LP over: nothing more is signed here');
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
      for (const [chainId, until] of waits) if (settled(chainId) > until) waits.delete(chainId);
      return [...waits].map(([chainId, until]) => ({ chainId, until }));
    },
  };
}

const longer = (known: Lease | null, given: Lease): Lease =>
  known !== null && known.signedUpTo > given.signedUpTo ? known : given;
