/** The books as memory has them between two passes: cursors, positions, open trades and sums of profit. */

import type { Bytes32 } from '../../../domain/hex.ts';
import type {
  GasCursor,
  JournalCursor,
  Mark,
  PositionRow,
  TradeRecord,
  TradeStage,
} from '../../../ports/stores/accounting-store.ts';
import type { AccountingLedger } from '../ledger/ledger.ts';
import { MARKOUT_HORIZONS, type Horizon } from '../taker-costs.ts';

/** Millionths of USD, over trades whose fill is final, and over transfers. */
export interface ProfitSums {
  /** Input at mid less fees less output at mid, at acceptance. */
  spread: bigint;
  fees: bigint;
  gas: bigint;
  lost: bigint;
  markout_1s: bigint;
  markout_10s: bigint;
  markout_60s: bigint;
  /** The fees that bridges kept. `transferGas` is the gas of transfers between chains. */
  bridgeFees: bigint;
  transferGas: bigint;
}

type TradeSums = Omit<ProfitSums, 'bridgeFees' | 'transferGas'>;

export const NO_PROFIT: Readonly<ProfitSums> = {
  ...{ spread: 0n, fees: 0n, gas: 0n, lost: 0n, markout_1s: 0n, markout_10s: 0n, markout_60s: 0n },
  ...{ bridgeFees: 0n, transferGas: 0n },
};

const SUMS = [
  'spread',
  'fees',
  'gas',
  'lost',
  'markout_1s',
  'markout_10s',
  'markout_60s',
] as const satisfies readonly (keyof TradeSums)[];

export interface Books {
  journal: AccountingLedger;
  cursors: Map<number, JournalCursor>;
  /** The gas cursors by `gasKey`. */
  gas: Map<string, GasCursor>;
  /** The block at which the books of a chain were opened. */
  began: Map<number, bigint>;
  positions: Map<string, PositionRow>;
  trades: Map<Bytes32, TradeRecord>;
  /** Ids of the opening entries, one for each token whose books are open. */
  opened: Set<string>;
  sums: ProfitSums;
}

const DEAD: ReadonlySet<TradeStage> = new Set<TradeStage>(['finalised', 'failed', 'lost']);
const MOST_TRADES = 50_000;

/** Drops trades that nothing changes any more, and the oldest beyond the limit. */
export function forget({ trades }: Books): void {
  for (const [orderId, trade] of trades) {
    const over =
      DEAD.has(trade.stage) &&
      (trade.counted || trade.stage === 'failed') &&
      MARKOUT_HORIZONS.every((horizon) => trade.marks[horizon] !== undefined);
    if (over || trades.size > MOST_TRADES) trades.delete(orderId);
  }
}

/** Replaces what a trade adds to the sums. `was` is undefined for a new trade. */
export function replaceInSums(sums: ProfitSums, now: TradeRecord, was: TradeRecord | undefined): void {
  const [added, removed] = [shareOf(now), shareOf(was)];
  for (const key of SUMS) sums[key] += added[key] - removed[key];
}

function shareOf(trade: TradeRecord | undefined): TradeSums {
  if (trade === undefined) return NO_PROFIT;
  const { counted, earnedMicros, paidMicros, feesMicros, gasMicros, stage, marks } = trade;
  const mark = (horizon: Horizon): bigint => (counted ? markMicros(paidMicros, marks[horizon]) : 0n);
  return {
    spread: counted ? earnedMicros - paidMicros : 0n,
    fees: counted ? feesMicros : 0n,
    gas: gasMicros,
    lost: counted && stage === 'lost' ? earnedMicros : 0n,
    markout_1s: mark(1),
    markout_10s: mark(10),
    markout_60s: mark(60),
  };
}

/** Returns millionths of USD; positive is in favour of the LP. */
function markMicros(paidMicros: bigint, mark: Mark | undefined): bigint {
  return mark === undefined || mark.bps === null
    ? 0n
    : (-paidMicros * BigInt(Math.round(mark.bps * 1e6))) / 10_000_000_000n;
}
