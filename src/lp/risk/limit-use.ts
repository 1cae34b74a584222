/** Shows how full every limit on live quotes is, for an operator who sees quotes declined with `limit`. */

import type { Ledger } from '../../inventory/ledger.ts';
import { type Cap, fullness, type Limits, type Outstanding } from '../../inventory/limits.ts';

export interface LimitUse {
  scope: string;
  /** The taker, pair, or pair and side; empty for the total, and while nothing counts against the limit. */
  of: string;
  count: number;
  maxCount: number | null;
  notionalUsd: number;
  maxNotionalUsd: number | null;
  gapLossUsd: number;
  maxGapLossUsd: number | null;
  /** The fullest of the three; 1 is full. */
  used: number;
}

export function limitUse(ledger: Pick<Ledger, 'visitCounters'>, limits: Limits, max = 10): LimitUse[] {
  const { groupSize: _, ...caps } = limits;
  const fullest = new Map<string, LimitUse[]>();
  const visit: Parameters<Ledger['visitCounters']>[0] = (scope, counter, of, pair) => {
    const cap = caps[scope];
    if (cap === undefined) return;
    const uses = fullest.get(scope) ?? [];
    fullest.set(scope, uses);
    if (uses.length === max && fullness(cap, counter) <= (uses.at(-1)?.used ?? 0)) return;
    uses.push(useOf(scope, pair === '' ? of : `${of} ${pair}`, cap, counter));
    uses.sort((a, b) => b.used - a.used);
    uses.length = Math.min(uses.length, max);
  };
  ledger.visitCounters(visit);
  return Object.entries(caps).flatMap(
    ([scope, cap]) => fullest.get(scope) ?? [useOf(scope, '', cap, { count: 0, notional: 0n, gapLoss: 0n })],
  );
}

function useOf(scope: string, of: string, cap: Cap, counter: Outstanding): LimitUse {
  const { count, notional, gapLoss } = counter;
  return {
    scope,
    of,
    count,
    maxCount: cap.count ?? null,
    notionalUsd: dollars(notional),
    maxNotionalUsd: cap.notional === undefined ? null : dollars(cap.notional),
    gapLossUsd: dollars(gapLoss),
    maxGapLossUsd: cap.gapLoss === undefined ? null : dollars(cap.gapLoss),
    used: fullness(cap, counter),
  };
}

const dollars = (millionths: bigint): number => Number(millionths) / 1e6;
