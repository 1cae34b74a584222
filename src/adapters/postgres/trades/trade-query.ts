/**
 * Reads one page of history and its total. Small results are sorted; large ones are read along the sort's
 * index.
 */

import type { NumericSort, TradeFamily, TradeQuery } from '../../../ports/stores/trades.ts';
import type { Queryable } from '../pool.ts';
import { type BookCounts, openBook, type OpenBook } from './trade-book.ts';
import { type BucketReader, count, countRange, countUpTo, gather, scan } from './trade-buckets.ts';
import { type Range, rangesOf } from './trade-where.ts';

export interface QueryLimits {
  /** So many trades at most are sorted. */
  gather: number;
  /** So many trades at most are counted exactly where two ranges must hold. */
  exact: number;
  /** A page that skips at most this many trades is read from the start. */
  walk: number;
}

export const QUERY_LIMITS: QueryLimits = { gather: 4_000, exact: 10_000, walk: 1_000 };

interface PageIds {
  ids: Buffer[];
  total: number;
}

interface Search {
  readonly opened: OpenBook;
  readonly reader: BucketReader;
  readonly limits: QueryLimits;
  readonly ranges: readonly Range[];
  readonly direction: TradeQuery['direction'];
  /** How many trades are in the shown cells, whatever the ranges. */
  readonly ours: number;
}

/**
 * `session` is inside a repeatable-read transaction, so page and total are one snapshot. It must force index
 * scans, because the planner does not know which bucket contains the page.
 */
export async function pageIds(
  session: Queryable,
  book: number,
  families: readonly TradeFamily[],
  query: TradeQuery,
  page: { limit: number; offset: number },
  limits: QueryLimits,
  ledgers: Map<number, BookCounts>,
): Promise<PageIds> {
  const opened = await openBook(session, book, families, query, ledgers);
  const { cells, every, ledger, fresh, present } = opened;
  const search: Search = {
    opened,
    reader: { session, book, fresh, present, walk: limits.walk, fences: new Map() },
    limits,
    ranges: rangesOf(query),
    direction: query.direction,
    ours: every ? ledger.total + fresh.length : sumOf(opened, cells),
  };
  const { reader, ranges, direction, ours } = search;
  const total = await totalOf(search);
  if (page.offset >= total && (total <= limits.exact || ranges.length < 2)) return { ids: [], total };
  const groups = query.sort.by === 'group' ? opened.groups : undefined;
  const few = ours <= limits.gather * 2;
  const by = numericOf(query);
  if (total <= limits.gather || few) {
    const via = few ? 'cells' : 'book';
    const found = { cells: every ? null : cells, via, groups, ranges, by, direction } as const;
    return { ids: await gather(reader, found, page), total };
  }
  if (groups) return { ids: await byGroup(search, groups, total, page), total };
  const exact = total <= limits.exact || ranges.length < 2;
  const found = { cells: every ? null : cells, matching: total, ranges, by, direction, exact };
  return { ids: await scan(reader, found, page), total };
}

const numericOf = ({ sort }: TradeQuery): NumericSort => (sort.by === 'group' ? 'created_at' : sort.by);

const sumOf = ({ ledger, freshIn }: OpenBook, cells: readonly number[]): number =>
  cells.reduce((total, cell) => total + (ledger.counts.get(cell) ?? 0) + (freshIn.get(cell) ?? 0), 0);

/** Counts the trades that match; an estimate above `limits.exact` where two ranges must hold. */
async function totalOf({ opened, reader, limits, ranges, ours }: Search): Promise<number> {
  const cells = opened.every ? null : opened.cells;
  if (ranges.length === 0) return ours;
  if (ours <= limits.gather) return count(reader, opened.cells, ranges, 'cells');
  const [first, second] = ranges;
  if (first && !second) return countRange(reader, cells, first);
  const found = await countUpTo(reader, cells, ranges, limits.exact + 1);
  if (found <= limits.exact) return found;
  const counted: number[] = [];
  for (const range of ranges) counted.push(await countRange(reader, cells, range));
  return Math.max(
    limits.exact + 1,
    Math.round(((counted[0] as number) * (counted[1] as number)) / Math.max(1, ours)),
  );
}

/** Reads a page of groups: one large group after another, and small ones together. */
async function byGroup(
  search: Search,
  sorted: readonly number[][],
  total: number,
  { offset, limit }: { offset: number; limit: number },
): Promise<Buffer[]> {
  const { opened, reader, limits, ranges, direction, ours } = search;
  const ids: Buffer[] = [];
  let skip = offset;
  for (const { groups, size } of steps(search, sorted)) {
    if (ids.length === limit) break;
    const flat = groups.flat();
    const n = ranges.length === 0 ? size : skip > 0 ? await countIn(search, flat, size) : undefined;
    if (n !== undefined && skip >= n) {
      skip -= n;
      continue;
    }
    const page = { offset: skip, limit: limit - ids.length };
    const by = 'created_at';
    if (groups.length > 1 || size <= limits.gather)
      ids.push(...(await gather(reader, { cells: flat, via: 'cells', groups, ranges, by, direction }, page)));
    else {
      const cells = opened.every && flat.length === opened.cells.length ? null : flat;
      const matching = n ?? Math.max(1, (size * total) / Math.max(1, ours));
      const found = { cells, matching, ranges, by, direction, exact: n !== undefined } as const;
      ids.push(...(await scan(reader, found, page)));
    }
    skip = 0;
  }
  return ids;
}

/** Joins neighbouring groups as long as they can be sorted together. */
function* steps(
  { opened, limits }: Search,
  sorted: readonly number[][],
): Generator<{ groups: number[][]; size: number }> {
  let run: { groups: number[][]; size: number } = { groups: [], size: 0 };
  for (const group of sorted) {
    const size = sumOf(opened, group);
    if (run.groups.length > 0 && run.size + size > limits.gather) {
      yield run;
      run = { groups: [], size: 0 };
    }
    run.groups.push(group);
    run.size += size;
  }
  if (run.groups.length > 0) yield run;
}

async function countIn({ reader, limits, ranges }: Search, cells: number[], size: number): Promise<number> {
  const [range] = ranges;
  if (size <= limits.gather) return count(reader, cells, ranges, 'cells');
  return ranges.length === 1 && range
    ? countRange(reader, cells, range)
    : count(reader, cells, ranges, 'book');
}
