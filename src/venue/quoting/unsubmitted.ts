/**
 * Limits how much of each LP's inventory the unsubmitted quotes of one workspace hold: takers can be
 * invented, a workspace cannot. A workspace that submits a small share of what it is quoted gets a shrinking
 * part. Live quotes are counted over all replicas, the share submitted by each replica for its own quotes.
 */

import { max, min } from '../../domain/amount.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { OpenQuotes } from '../market/open-quotes.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';

/** A whole inventory in its smallest parts, millionths. */
const ALL = 1_000_000n;
const LEAST_PART = ALL / 8n;
/** Half of an LP's inventory is quoted to every workspace before its part shrinks. */
const CREDIT = 2n;
const MEMORY_MS = 600_000;
const FADE_INTERVAL_MS = 1_000;
/** A request of unknown amount counts as this fraction of the inventory until it is answered. */
const UNKNOWN_AMOUNT = 8n;
/** A taker may retry a request that is too large by itself after this time. */
const TOO_LARGE_RETRY_SECONDS = 60;

/** Amounts of one LP's token that were quoted to one workspace. They fade with `MEMORY_MS`. */
interface Dealings {
  quoted: bigint;
  submitted: bigint;
  /** Requests that the LP has not answered yet. */
  inProgress: bigint;
  atMs: number;
}

export interface Wanted {
  workspaceId: string;
  chainId: number;
  token: Address;
  /** undefined: unknown without reference prices. */
  amount: bigint | undefined;
  group: string;
  now: UnixSeconds;
}

/** The LPs that one request may ask, and the record of what their quotes hold. */
export interface QuoteBudget {
  /** They may be asked. */
  sessions: readonly SolverSession[];
  quoted(session: SolverSession, amount: bigint, until: UnixSeconds): void;
  /** Call it once, when the solvers have been asked. */
  done(): void;
}

export interface UnsubmittedQuotes {
  /**
   * Leaves out an LP once the workspace holds quotes for its part of the LP's inventory. Throws 429 when no
   * solver is left.
   */
  reserve(sessions: readonly SolverSession[], wanted: Wanted): QuoteBudget;
  /**
   * Records that the taker submitted, and ends the open quotes of the group. This counts for all LPs that
   * quoted the request, whichever of them was chosen.
   */
  submitted(group: string): void;
  /** Forgets workspaces that have been quoted nothing for long. */
  expire(): void;
}

export function createUnsubmittedQuotes(
  {
    liquidity,
    clock,
    metrics,
    openQuotes,
  }: { liquidity: Liquidity; clock: Clock; metrics: Metrics; openQuotes: OpenQuotes },
  leastShare: number,
): UnsubmittedQuotes {
  /** Each submitted base unit allows this many base units of quotes. */
  const submittedWeight = BigInt(Math.round(1 / Math.max(leastShare, 1e-6)));
  const records = new Map<string, Dealings>();
  const limited = metrics.counter(
    'firmquote_venue_unsubmitted_total',
    'Solvers left out, and requests refused, because a workspace submits too few of its quotes',
    { result: ['left_out', 'refused'] },
  );

  function recordOf(key: string): Dealings {
    const nowMs = clock.monotonicMs();
    let record = records.get(key);
    if (!record) records.set(key, (record = { quoted: 0n, submitted: 0n, inProgress: 0n, atMs: nowMs }));
    const passedMs = nowMs - record.atMs;
    if (passedMs < FADE_INTERVAL_MS) return record;
    const kept = BigInt(Math.floor(Math.exp(-passedMs / MEMORY_MS) * 1e6));
    record.quoted = (record.quoted * kept) / 1_000_000n;
    record.submitted = (record.submitted * kept) / 1_000_000n;
    record.atMs = nowMs;
    return record;
  }

  /** Returns the part of the inventory, in millionths, at most `ALL`. */
  function partOf({ quoted, submitted, inProgress }: Dealings, inventory: bigint): bigint {
    const asked = quoted + inProgress;
    if (asked === 0n) return ALL;
    const earned = submitted * submittedWeight + inventory / CREDIT;
    return max(LEAST_PART, min(ALL, (earned * ALL) / asked));
  }

  function fits(key: string, amount: bigint, inventory: bigint): boolean {
    const record = recordOf(key);
    const part = partOf(record, inventory);
    const used = openQuotes.unsubmitted(key) + record.inProgress;
    return part === ALL || (used + amount) * ALL <= part * inventory;
  }

  return {
    reserve(
      sessions: readonly SolverSession[],
      { workspaceId, chainId, token, amount, group, now }: Wanted,
    ): QuoteBudget {
      if (leastShare === 0) return { sessions, quoted: () => {}, done: () => {} };
      const reserved = new Map<SolverSession, { key: string; amount: bigint }>();
      let soonest = Number.POSITIVE_INFINITY;
      for (const session of sessions) {
        const lp = session.accounts.get(chainId)?.account;
        const inventory = lp && liquidity.available(chainId, lp, token);
        const key = `${workspaceId} ${chainId}:${lp}:${token}`;
        // An LP without inventory holds nothing.
        const most = inventory === undefined ? 0n : min(amount ?? inventory / UNKNOWN_AMOUNT, inventory);
        if (inventory && !fits(key, most, inventory)) {
          limited.add({ result: 'left_out' });
          soonest = Math.min(soonest, openQuotes.unsubmittedUntil(key) ?? now + TOO_LARGE_RETRY_SECONDS);
          continue;
        }
        reserved.set(session, { key, amount: most });
        recordOf(key).inProgress += most;
      }
      if (reserved.size === 0) {
        limited.add({ result: 'refused' });
        throw new ApiError(
          'rate_limited',
          'This workspace submits too few of its quotes, and those that it did not submit hold its part of the solvers’ inventory. Submit some, let them expire, or ask for less.',
          { retryAfterSeconds: Math.max(1, soonest - now) },
        );
      }
      return {
        sessions: [...reserved.keys()],
        quoted(session, held, until) {
          const key = reserved.get(session)?.key;
          if (key === undefined) return;
          const grown = openQuotes.addSigned(group, key, held, until);
          recordOf(key).quoted += grown;
        },
        done() {
          for (const { key, amount: most } of reserved.values()) recordOf(key).inProgress -= most;
        },
      };
    },
    submitted(group: string) {
      for (const { account, amount } of openQuotes.submitted(group)) recordOf(account).submitted += amount;
    },
    expire() {
      const beforeMs = clock.monotonicMs() - 10 * MEMORY_MS;
      for (const [key, { atMs }] of records) if (atMs < beforeMs) records.delete(key);
    },
  };
}
