/** Totals of a workspace's trades per UTC day. */

import { assetId } from '../../domain/asset.ts';
import { tokenOf } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { DaySum, TokenSum } from '../../ports/stores/trades.ts';
import {
  DEFAULT_DAYS,
  MAX_DAYS,
  type TokenTotal,
  type TradesDailyQuery,
  type TradesDay,
} from '../../protocol/api/trades/bulk.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Names } from './item.ts';
import { bucketOf, type TradeBucket } from './search.ts';

const DAY_MS = 86_400_000;
const dayOf = (ms: number) => Math.floor(ms / DAY_MS);

/** Both ends are included, ms. Throws 422 for more days than one answer has. */
export function dailyRange({ createdAfter, createdBefore }: TradesDailyQuery, nowMs: number) {
  const toMs = Math.floor(createdBefore ?? nowMs);
  const fromMs = Math.ceil(createdAfter ?? (dayOf(toMs) - DEFAULT_DAYS + 1) * DAY_MS);
  if (dayOf(toMs) - dayOf(fromMs) >= MAX_DAYS)
    throw invalid(
      'value_error',
      ['query', 'createdAfter'],
      `must be at most ${MAX_DAYS} days before createdBefore. Ask for the rest in further requests.`,
    );
  return { fromMs, toMs };
}

/** `sums` by day. */
export function dayTotals(sums: readonly DaySum[], names: Pick<Names, 'chains'>): TradesDay[] {
  const days = new Map<number, DaySum[]>();
  for (const sum of sums) days.set(sum.dayMs, [...(days.get(sum.dayMs) ?? []), sum]);
  return [...days]
    .sort(([one], [other]) => one - other)
    .map(([dayMs, ofDay]) => ({
      day: toIso(dayMs).slice(0, 10),
      trades: perBucket(ofDay, 0, (total, { trades }) => total + trades),
      amountUsd: perBucket(ofDay, 0, (total, { amountUsd }) => total + amountUsd),
      withoutUsd: ofDay.reduce((total, { trades, priced }) => total + trades - priced, 0),
      inputs: tokenTotals(ofDay, ({ input }) => input, names),
      outputs: tokenTotals(ofDay, ({ output }) => output, names),
    }));
}

function perBucket<T>(sums: readonly DaySum[], start: T, add: (total: T, sum: DaySum) => T) {
  const totals: Record<TradeBucket, T> = { pending: start, settled: start, failed: start, refunded: start };
  for (const sum of sums) {
    const bucket = bucketOf(sum.stage);
    totals[bucket] = add(totals[bucket], sum);
  }
  return totals;
}

function tokenTotals(
  sums: readonly DaySum[],
  side: (sum: DaySum) => TokenSum,
  names: Pick<Names, 'chains'>,
): TokenTotal[] {
  const tokens = new Map<string, DaySum[]>();
  for (const sum of sums) {
    const id = assetId(side(sum));
    tokens.set(id, [...(tokens.get(id) ?? []), sum]);
  }
  return [...tokens]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([asset, ofToken]) => {
      const { chainId, token } = side(ofToken[0] as DaySum);
      const listed = tokenListed(names, chainId, token);
      const totals = perBucket(ofToken, 0n, (total, sum) => total + side(sum).amount);
      return {
        asset,
        symbol: listed?.symbol ?? null,
        decimals: listed?.decimals ?? null,
        amount: {
          pending: totals.pending.toString(),
          settled: totals.settled.toString(),
          failed: totals.failed.toString(),
          refunded: totals.refunded.toString(),
        },
      };
    });
}

function tokenListed({ chains }: Pick<Names, 'chains'>, chainId: number, token: Address) {
  const chain = chains.get(chainId);
  return chain && tokenOf(chain, token);
}
