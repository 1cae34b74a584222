/** The conditions and the order of a query of trades, in SQL. */

import type { NumericSort, TradeQuery } from '../../../ports/stores/trades.ts';

/** Trades whose value is at least `from` and less than `below`. */
export interface Range {
  sort: 'created_at' | 'amount_usd';
  from: number;
  below: number;
}

export const COLUMN: Record<NumericSort, string> = {
  created_at: 'created_at_ms',
  amount_usd: 'amount',
  settlement_speed_ms: 'speed_ms',
  order_id: 'order_id',
};
const ORDER: Record<NumericSort, readonly string[]> = {
  created_at: ['created_at_ms', 'order_id'],
  amount_usd: ['amount', 'created_at_ms', 'order_id'],
  settlement_speed_ms: ['speed_ms', 'created_at_ms', 'order_id'],
  order_id: ['order_id'],
};

export function rangesOf({ createdFromMs, createdToMs, minUsd, maxUsd }: TradeQuery): Range[] {
  const ranges: Range[] = [];
  if (createdFromMs !== null || createdToMs !== null)
    ranges.push({
      sort: 'created_at',
      from: createdFromMs ?? Number.NEGATIVE_INFINITY,
      below: createdToMs === null ? Number.POSITIVE_INFINITY : createdToMs + 1,
    });
  // Trades without a notional match no notional range.
  if (minUsd !== null || maxUsd !== null)
    ranges.push({
      sort: 'amount_usd',
      from: Math.max(0, minUsd ?? 0),
      below: maxUsd === null ? Number.POSITIVE_INFINITY : nextUp(maxUsd),
    });
  return ranges;
}

function nextUp(value: number): number {
  if (!Number.isFinite(value) || value === 0) return value === 0 ? Number.MIN_VALUE : value;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n));
  return view.getFloat64(0);
}

interface Where {
  text: string;
  values: unknown[];
}

/** The index to read: by cell, or the whole book by the sort's column. */
export type Via = 'cells' | 'book';

export function whereOf(
  book: number,
  cells: readonly number[] | null,
  ranges: readonly Range[],
  via: Via = 'book',
): Where {
  const values: unknown[] = [];
  const parts: string[] = [];
  const add = (text: string, value: unknown) => parts.push(text.replace('?', `$${values.push(value)}`));
  if (via === 'book' || !cells) add('book = ?', book);
  if (cells) add('cell = any(?::int[])', `{${cells.join(',')}}`);
  for (const { sort, from, below } of ranges) {
    // Keeps whole milliseconds in the index's own type.
    const cast = sort === 'created_at' ? 'bigint' : 'double precision';
    const exact = (value: number) =>
      sort === 'created_at' ? Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER) : value;
    if (Number.isFinite(from)) add(`${COLUMN[sort]} >= ?::${cast}`, exact(from));
    if (Number.isFinite(below)) add(`${COLUMN[sort]} < ?::${cast}`, exact(below));
  }
  return { text: parts.join(' and '), values };
}

export const orderBy = (by: NumericSort, direction: TradeQuery['direction']): string =>
  ORDER[by].map((column) => `${column} ${direction}`).join(', ');
