/** Every cap on live quotes with what counts against it now, the fullest first: what an operator asks when quotes are declined for `limit`. */

import type { Ledger } from '../inventory/ledger.ts';
import type { Limits } from '../inventory/limits.ts';

export interface LimitUse {
  scope: string;
  /** Whose: a taker, a pair, a pair and side; empty for the whole book or where nothing counts yet. */
  of: string;
  count: number;
  /** null: no cap. */
  maxCount: number | null;
  notionalUsd: number;
  maxNotionalUsd: number | null;
  gapLossUsd: number;
  maxGapLossUsd: number | null;
  /** The fullest of the three, 1 is full. */
  used: number;
}

/** At most `most` of each kind. */
export function limitUse(ledger: Pick<Ledger, 'counted'>, limits: Limits, most = 10): LimitUse[] {
  const { groupSize: _, ...caps } = limits;
  const counters = ledger.counted();
  return Object.entries(caps).flatMap(([scope, cap]) => {
    const rows = counters.filter((counter) => counter.scope === scope);
    const shown = rows.length > 0 ? rows : [{ of: '', count: 0, notional: 0n, gapLoss: 0n }];
    return shown
      .map(({ of, count, notional, gapLoss }): LimitUse => {
        const [notionalUsd, maxNotionalUsd, gapLossUsd, maxGapLossUsd] = [dollars(notional), cap.notional === undefined ? null : dollars(cap.notional), dollars(gapLoss), cap.gapLoss === undefined ? null : dollars(cap.gapLoss)];
        const maxCount = cap.count ?? null;
        const used = Math.max(share(count, maxCount), share(notionalUsd, maxNotionalUsd), share(gapLossUsd, maxGapLossUsd));
        return { scope, of, count, maxCount, notionalUsd, maxNotionalUsd, gapLossUsd, maxGapLossUsd, used };
      })
      .sort((a, b) => b.used - a.used)
      .slice(0, most);
  });
}

const dollars = (millionths: bigint): number => Number(millionths) / 1e6;
const share = (now: number, most: number | null): number => (most === null ? 0 : most === 0 ? 1 : now / most);
