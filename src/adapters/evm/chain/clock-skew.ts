/**
 * This machine's clock against the chain's. Deadlines are chain time, so whoever has another idea of the time
 * signs for longer, or for shorter, than it believes: it should not, until the clocks agree. What is due on
 * chain goes on by the chain's own clock.
 */

import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainDoubt } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';

export interface Skew {
  /** The newest block is being asked for. */
  asked(): void;
  /** A new block came; `first` when nobody knows for how long it has been there. */
  saw(timestamp: UnixSeconds, first: boolean): void;
  doubt(): ChainDoubt | undefined;
  /** This machine ahead of the chain, milliseconds; negative when behind. As of the last block. */
  aheadMs(): number;
}

export function createSkew(
  { clock, log }: { clock: Clock; log: Log },
  { slug, maxClockSkewMs }: { slug: string; maxClockSkewMs: number },
): Skew {
  /** When the last two questions began: a new block came to be after the earlier one. */
  let askedMs = clock.monotonicMs();
  let askedBeforeMs = askedMs;
  let seen: { nowMs: number; monotonicMs: number } | undefined;
  let aheadMs = 0;

  function apart(): number {
    if (seen === undefined) return 0;
    // A clock that was set since the last block shows before the next one comes.
    const jumpedMs = clock.nowMs() - seen.nowMs - (clock.monotonicMs() - seen.monotonicMs);
    return aheadMs + jumpedMs;
  }

  return {
    asked() {
      askedBeforeMs = askedMs;
      askedMs = clock.monotonicMs();
    },
    saw(timestamp, first) {
      const was = Math.abs(aheadMs) > maxClockSkewMs;
      seen = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
      const ageMs = seen.nowMs - timestamp * 1_000;
      // Whole seconds on the chain, and a block that was there before we looked: both make it older without
      // any clock being wrong.
      const explainedMs = first ? Number.POSITIVE_INFINITY : 1_000 + seen.monotonicMs - askedBeforeMs;
      aheadMs = ageMs < 0 ? ageMs : Math.max(0, ageMs - explainedMs);
      const is = Math.abs(aheadMs) > maxClockSkewMs;
      if (is && !was)
        log.error(
          { aheadMs: Math.round(aheadMs) },
          `this machine's clock and that of ${slug} are too far apart: nothing is quoted there until they agree. Is NTP running?`,
        );
      if (was && !is) log.info({}, `this machine's clock and that of ${slug} agree again`);
    },
    doubt() {
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
