/**
 * Every cap on live quotes with what counts against it now, the fullest first: what an operator asks when
 * quotes are declined for `limit`.
 */

import type { Ledger } from '../../inventory/ledger.ts';
import type { Cap, Limits, Outstanding } from '../../inventory/limits.ts';

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

/** At most `most` rows of each scope, the fullest first. */
export function limitUse(ledger: Pick<Ledger, 'visitCounters'>, limits: Limits, most = 10): LimitUse[] {
  const { groupSize: _, ...caps } = limits;
  const fullest = new Map<string, { used: number; use: LimitUse }[]>();
  ledger.visitCounters((scope, counter, of, pair) => {
    const cap = caps[scope];
    if (cap === undefined) return;
    const used = fullness(cap, counter);
    const rows = fullest.get(scope) ?? [];
    if (rows.length === most && used <= (rows.at(-1)?.used ?? 0)) return;
    fullest.set(scope, rows);
    let at = rows.length;
    while (at > 0 && (rows[at - 1]?.used ?? 0) < used) at -= 1;
    rows.splice(at, 0, { used, use: useOf(scope, pair === '' ? of : `${of} ${pair}`, cap, counter) });
    if (rows.length > most) rows.pop();
  });
  return Object.entries(caps).flatMap(
    ([scope, cap]) =>
      fullest.get(scope)?.map(({ use }) => use) ?? [
        useOf(scope, '', cap, { count: 0, notional: 0n, gapLoss: 0n }),
      ],
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

/** Of the three, the fullest. */
function fullness(cap: Cap, { count, notional, gapLoss }: Readonly<Outstanding>): number {
  let most = cap.count === undefined ? 0 : share(count, cap.count);
  if (cap.notional !== undefined) most = Math.max(most, share(Number(notional), Number(cap.notional)));
  if (cap.gapLoss !== undefined) most = Math.max(most, share(Number(gapLoss), Number(cap.gapLoss)));
  return most;
}

const dollars = (millionths: bigint): number => Number(millionths) / 1e6;
const share = (now: number, most: number): number => (most === 0 ? 1 : now / most);
