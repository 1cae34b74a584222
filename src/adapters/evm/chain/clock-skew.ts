/**
 * Compares this machine's clock with the chain's, because a wrong clock would sign quotes for longer or
 * shorter than intended. Open orders proceed by chain time.
 */

import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainHealthIssue } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';

export interface ClockSkew {
  /** Notes that the head is being asked for. */
  asked(): void;
  /** Notes the time of a new head; `first`: its age is not known. */
  saw(timestamp: UnixSeconds, first: boolean): void;
  healthIssue(): ChainHealthIssue | undefined;
  /** Returns how far this machine's clock is ahead of the chain, ms; negative when behind. */
  aheadMs(): number;
}

export function createSkew(
  { clock, log }: { clock: Clock; log: Log },
  { slug, maxClockSkewMs }: { slug: string; maxClockSkewMs: number },
): ClockSkew {
  /** A new block was mined after the earlier of the last two requests. */
  let askedMs = clock.monotonicMs();
  let askedBeforeMs = askedMs;
  let seen: { nowMs: number; monotonicMs: number } | undefined;
  let aheadMs = 0;

  function apart(): number {
    if (seen === undefined) return 0;
    // Detects a change of the clock before the next block arrives.
    const jumpedMs = clock.nowMs() - seen.nowMs - (clock.monotonicMs() - seen.monotonicMs);
    return aheadMs + jumpedMs;
  }

  return {
    asked() {
      askedBeforeMs = askedMs;
      askedMs = clock.monotonicMs();
    },
    saw(timestamp: UnixSeconds, first: boolean) {
      const was = Math.abs(aheadMs) > maxClockSkewMs;
      seen = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
      const ageMs = seen.nowMs - timestamp * 1_000;
      // Chain time has whole seconds, and the first block may be old.
      const explainedMs = first ? Number.POSITIVE_INFINITY : 1_000 + seen.monotonicMs - askedBeforeMs;
      aheadMs = ageMs < 0 ? ageMs : Math.max(0, ageMs - explainedMs);
      const is = Math.abs(aheadMs) > maxClockSkewMs;
      if (is && !was)
        log.error(
          { aheadMs: Math.round(aheadMs) },
          `this machine's clock and that of ${slug} differ too much: no quotes on this chain until ` +
            'they agree. Check that NTP is running.',
        );
      if (was && !is) log.info({}, `this machine's clock and that of ${slug} agree again`);
    },
    healthIssue(): ChainHealthIssue | undefined {
      const ms = apart();
      if (Math.abs(ms) <= maxClockSkewMs) return undefined;
      return {
        kind: 'clock',
        note: `${slug}: this machine's clock is ${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? 'ahead of' : 'behind'} the chain's`,
      };
    },
    aheadMs: apart,
  };
}
