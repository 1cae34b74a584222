/**
 * Counts and reads the trades of a book. Counts by bucket of a sortable value let a page start deep in an
 * index without reading what is before it.
 */

import type { NumericSort, TradeQuery } from '../../../ports/stores/trades.ts';
import type { Queryable } from '../pool.ts';
import type { Fresh, OpenBook } from './trade-book.ts';
import { EVERY_CELL, everyCellOf, SORT_NUMBERS } from './trade-counts.ts';
import { CELL_STAGES } from './trade-rows.ts';
import { COLUMN, orderBy, type Range, type Via, whereOf } from './trade-where.ts';

type Direction = TradeQuery['direction'];

/** A book in one transaction, and the bounds of its buckets as they are read. */
export interface BucketReader extends Pick<OpenBook, 'fresh' | 'present'> {
  readonly session: Queryable;
  readonly book: number;
  /** A page that skips at most this many trades is read from the start. */
  readonly walk: number;
  readonly fences: Map<NumericSort, number[]>;
}

/** null: every cell. */
type Cells = readonly number[] | null;

/** Trades to read and sort. Groups rank before the sort. */
interface Gather {
  cells: Cells;
  via: Via;
  groups: readonly number[][] | undefined;
  ranges: readonly Range[];
  by: NumericSort;
  direction: Direction;
}

/** Trades to read along the index of `by`. */
interface Scan {
  cells: Cells;
  /** How many trades match; an estimate unless `exact`. */
  matching: number;
  ranges: readonly Range[];
  by: NumericSort;
  direction: Direction;
  exact: boolean;
}

interface Page {
  offset: number;
  limit: number;
}

const valueOf: Record<NumericSort, (row: Fresh) => number> = {
  created_at: (row) => row.created_at_ms,
  amount_usd: (row) => row.amount,
  settlement_speed_ms: (row) => row.speed_ms,
  order_id: (row) => row.order_id.readUIntBE(0, 3),
};

export async function count(
  { session, book }: BucketReader,
  cells: Cells,
  ranges: readonly Range[],
  via: Via,
): Promise<number> {
  const where = whereOf(book, cells, ranges, via);
  const [row] = await session.query<{ n: number }>(
    `select count(*) as n from trade where ${where.text}`,
    where.values,
  );
  return row?.n ?? 0;
}

export async function countUpTo(
  { session, book }: BucketReader,
  cells: Cells,
  ranges: readonly Range[],
  most: number,
): Promise<number> {
  const where = whereOf(book, cells, ranges);
  const [row] = await session.query<{ n: number }>(
    `select count(*) as n from (select from trade where ${where.text} limit ${most}) x`,
    where.values,
  );
  return row?.n ?? 0;
}

/** Counts a range; only the two buckets at the bounds are counted row by row. */
export async function countRange(
  reader: BucketReader,
  cells: Cells,
  { sort, from, below }: Range,
): Promise<number> {
  if (from >= below) return 0;
  const { lows, sizes } = await buckets(reader, sort, cells);
  const first = bucketOf(lows, from);
  const last = bucketOf(lows, below);
  let n = 0;
  for (let bucket = first; bucket <= last; bucket += 1) {
    const [start, end] = [
      lows[bucket - 1] ?? Number.NEGATIVE_INFINITY,
      lows[bucket] ?? Number.POSITIVE_INFINITY,
    ];
    const part = { sort, from: Math.max(start, from), below: Math.min(end, below) };
    if (part.from >= part.below) continue;
    n += from <= start && end <= below ? (sizes[bucket] ?? 0) : await count(reader, cells, [part], 'book');
  }
  return n;
}

/** Reads all and sorts. Groups rank before the sort. */
export function gather(
  { session, book }: BucketReader,
  { cells, via, groups, ranges, by, direction }: Gather,
  { offset, limit }: Page,
): Promise<Buffer[]> {
  const where = whereOf(book, cells, ranges, via);
  const found = `with found as materialized (select order_id, cell, created_at_ms, amount, speed_ms from trade where ${where.text})`;
  const page = `limit ${limit} offset ${offset}`;
  if (!groups)
    return ids(
      session,
      `${found} select order_id from found order by ${orderBy(by, direction)} ${page}`,
      where.values,
    );
  const ranked = groups.flatMap((group, rank) => group.map((cell) => [cell, rank] as const));
  const n = where.values.length;
  return ids(
    session,
    `${found} select order_id from found join unnest($${n + 1}::int[], $${n + 2}::int[]) g ` +
      `(cell, rank) using (cell) order by g.rank, ${orderBy('created_at', direction)} ${page}`,
    [
      ...where.values,
      `{${ranked.map(([cell]) => cell).join(',')}}`,
      `{${ranked.map(([, rank]) => rank).join(',')}}`,
    ],
  );
}

/** Scans the index from the nearer end and skips whole buckets. */
export async function scan(reader: BucketReader, what: Scan, { offset, limit }: Page): Promise<Buffer[]> {
  const { cells, matching, ranges, by, exact } = what;
  const size = exact ? Math.min(limit, matching - offset) : limit;
  const turned = exact && offset > matching / 2;
  const direction = turned ? (what.direction === 'asc' ? 'desc' : 'asc') : what.direction;
  const skip = turned ? matching - offset - size : offset;
  const where = whereOf(reader.book, cells, ranges);
  const start = await startOf(reader, what, direction, skip);
  if (start.bound !== null)
    where.text += ` and ${COLUMN[by]} ${direction === 'asc' ? '>=' : '<'} $${where.values.push(start.bound)}`;
  const found = await ids(
    reader.session,
    `select order_id from trade where ${where.text} order by ${orderBy(by, direction)} limit ` +
      `${size} offset ${start.skip}`,
    where.values,
  );
  return turned ? found.reverse() : found;
}

/**
 * Finds the bucket in which the page starts; only buckets at the bounds of a range are counted row by row.
 */
async function startOf(
  reader: BucketReader,
  { cells, ranges, by }: Scan,
  direction: Direction,
  skip: number,
): Promise<{ bound: number | Buffer | null; skip: number }> {
  if (skip <= reader.walk || ranges.some(({ sort }) => sort !== by)) return { bound: null, skip };
  const { lows, sizes } = await buckets(reader, by, cells);
  const { from, below } = ranges[0] ?? { from: Number.NEGATIVE_INFINITY, below: Number.POSITIVE_INFINITY };
  let bound: number | null = null;
  const numbers = sizes.map((_, bucket) => bucket);
  for (const bucket of direction === 'asc' ? numbers : numbers.reverse()) {
    const [start, end] = [
      lows[bucket - 1] ?? Number.NEGATIVE_INFINITY,
      lows[bucket] ?? Number.POSITIVE_INFINITY,
    ];
    const part = { sort: by as Range['sort'], from: Math.max(start, from), below: Math.min(end, below) };
    if (part.from >= part.below) continue;
    const n =
      from <= start && end <= below ? (sizes[bucket] ?? 0) : await count(reader, cells, [part], 'book');
    if (n > skip) break;
    skip -= n;
    bound = direction === 'asc' ? end : start;
    if (!Number.isFinite(bound)) break;
  }
  if (bound === null || !Number.isFinite(bound)) return { bound: null, skip };
  return {
    bound: by === 'order_id' ? Buffer.from([bound >> 16, (bound >> 8) & 255, bound & 255]) : bound,
    skip,
  };
}

async function buckets(
  reader: BucketReader,
  sort: NumericSort,
  cells: Cells,
): Promise<{ lows: number[]; sizes: number[] }> {
  const lows = await lowsOf(reader, sort);
  const rows = await reader.session.query<{ bucket: number; n: number }>(
    'select bucket, sum(n::int) as n from trade_count where book = $1 and sort = $2 and cell = ' +
      'any($3::int[]) group by bucket',
    [reader.book, SORT_NUMBERS[sort], `{${summed(reader.present, cells).join(',')}}`],
  );
  const sizes = Array.from({ length: lows.length + 1 }, () => 0);
  for (const { bucket, n } of rows) sizes[bucket] = (sizes[bucket] ?? 0) + n;
  const chosen = cells && new Set(cells);
  for (const row of reader.fresh) {
    if (chosen && !chosen.has(row.cell)) continue;
    const bucket = bucketOf(lows, valueOf[sort](row));
    sizes[bucket] = (sizes[bucket] ?? 0) + 1;
  }
  return { lows, sizes };
}

async function lowsOf({ session, book, fences }: BucketReader, sort: NumericSort): Promise<number[]> {
  const known = fences.get(sort);
  if (known) return known;
  const rows = await session.query<{ low: number }>(
    'select low from trade_fence where book = $1 and sort = $2 order by bucket',
    [book, SORT_NUMBERS[sort]],
  );
  const lows = rows.map(({ low }) => low);
  fences.set(sort, lows);
  return lows;
}

/** Returns the cells to sum: those counted for whole stages where the query shows whole stages. */
function summed(present: readonly number[], cells: Cells): readonly number[] {
  if (!cells) return [EVERY_CELL];
  const chosen = present.map(() => 0);
  for (const cell of cells) chosen[cell % CELL_STAGES] = (chosen[cell % CELL_STAGES] ?? 0) + 1;
  return chosen.every((n, rank) => n === 0 || n === present[rank])
    ? chosen.flatMap((n, rank) => (n > 0 ? [everyCellOf(rank)] : []))
    : cells;
}

async function ids(session: Queryable, text: string, values: readonly unknown[]): Promise<Buffer[]> {
  return (await session.query<{ order_id: Buffer }>(text, values)).map(({ order_id }) => order_id);
}

function bucketOf(lows: readonly number[], value: number): number {
  let [low, high] = [0, lows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lows[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
