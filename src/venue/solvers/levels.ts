/** Indicative ladders of solvers: checked, limited in number, short-lived, never firm. */

import type { AssetId } from '../../domain/asset.ts';
import { corridorOf } from '../../domain/corridor.ts';
import type { Ladder } from '../../auction/split.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { LinkMessage, FromSolver } from '../../protocol/link/link.ts';
import { createBuckets } from '../access/token-buckets.ts';
import type { LevelsOptions } from '../options.ts';
import type { Roster } from './roster.ts';
import type { SolverSession } from './roster-entry.ts';
import type { Markets } from '../market/markets.ts';

export interface Offered {
  solverId: string;
  ladder: Ladder;
  /** The earlier of the solver's time and ours, in milliseconds. */
  atMs: number;
}

/** `broken` counts as a fault of the solver. */
const LEVELS_OUTCOMES = ['taken', 'withdrawn', 'broken', 'unknown', 'stale', 'too_many'] as const;
type LevelsOutcome = (typeof LEVELS_OUTCOMES)[number];

export interface SolverLevels {
  accept(session: SolverSession, message: LinkMessage<'levels', FromSolver>): LevelsOutcome;
  of(input: AssetId, output: AssetId): Offered[];
  onChange(listener: (market: string) => void): void;
  forget(session: SolverSession): void;
}

export const marketKey = (input: AssetId, output: AssetId): string => `${input}>${output}`;

export function createSolverLevels(
  { roster, markets, clock, metrics }: { roster: Roster; markets: Markets; clock: Clock; metrics: Metrics },
  { maxAgeMs, maxMarkets, maxPerSecond }: LevelsOptions,
): SolverLevels {
  const bySession = new Map<SolverSession, Map<string, Offered>>();
  const listeners: ((market: string) => void)[] = [];
  const rate = createBuckets(clock, { perSecond: maxPerSecond, burst: 5 });
  const counted = metrics.counter('firmquote_venue_levels_total', 'Indicative ladders by outcome', {
    outcome: LEVELS_OUTCOMES,
  });

  function judged(
    session: SolverSession,
    { input, output, levels, atMs }: LinkMessage<'levels', FromSolver>,
  ): LevelsOutcome {
    if (!rate.take(session.solverId).ok) return 'too_many';
    const ladder = rising(levels);
    if (!ladder) return 'broken';
    const [source, dest] = [placed(input), placed(output)];
    if (!source || !dest || input === output || !session.corridors.includes(corridorOf(source, dest)))
      return 'unknown';
    const key = marketKey(input, output);
    const mine = bySession.get(session) ?? new Map<string, Offered>();
    if (ladder.length === 0) {
      if (mine.delete(key)) notify(key);
      return 'withdrawn';
    }
    const nowMs = clock.nowMs();
    if (nowMs - atMs > maxAgeMs) return 'stale';
    if (!mine.has(key) && mine.size >= maxMarkets) return 'too_many';
    mine.set(key, { solverId: session.solverId, ladder, atMs: Math.min(atMs, nowMs) });
    bySession.set(session, mine);
    notify(key);
    return 'taken';
  }

  const placed = (asset: AssetId) => {
    const place = markets.find(asset, 'test');
    return place.kind === 'market' ? place.market.chain : undefined;
  };

  function notify(key: string) {
    for (const listener of listeners) listener(key);
  }

  return {
    accept(session: SolverSession, message: LinkMessage<'levels', FromSolver>): LevelsOutcome {
      const outcome = judged(session, message);
      counted.add({ outcome });
      return outcome;
    },
    of(input: AssetId, output: AssetId): Offered[] {
      const key = marketKey(input, output);
      const nowMs = clock.nowMs();
      const found: Offered[] = [];
      for (const [session, mine] of bySession) {
        const offered = mine.get(key);
        const entry = roster.entry(session.solverId);
        if (
          offered &&
          entry?.session === session &&
          entry.status === 'active' &&
          nowMs - offered.atMs <= maxAgeMs
        )
          found.push(offered);
      }
      return found;
    },
    onChange: (listener: (market: string) => void) => void listeners.push(listener),
    forget(session: SolverSession) {
      const mine = bySession.get(session);
      bySession.delete(session);
      for (const key of mine?.keys() ?? []) notify(key);
    },
  };
}

/** undefined unless inputs and outputs rise at every step. */
function rising(levels: readonly (readonly [string, string])[]): Ladder | undefined {
  const ladder: [bigint, bigint][] = [];
  let [lastIn, lastOut] = [0n, 0n];
  for (const [input, output] of levels) {
    const step: [bigint, bigint] = [BigInt(input), BigInt(output)];
    if (step[0] <= lastIn || step[1] <= lastOut) return undefined;
    ladder.push(step);
    [lastIn, lastOut] = step;
  }
  return ladder;
}
