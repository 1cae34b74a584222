/**
 * Reads one page of history and its total. Small results are sorted; large ones are read along the sort's
 * index.
 */

import type { NumericSort, TradeFamily, TradeGroup, TradeQuery } from '../../../ports/stores/trades.ts';
import { type OrderStage, STAGES } from '../../../settlement/lifecycle.ts';
import type { Queryable } from '../pool.ts';
import { EVERY_CELL, everyCellOf, SORT_NUMBERS } from './trade-counts.ts';
import { CELL_STAGES } from './trade-rows.ts';

export interface QueryLimits {
  gather: number;
  exact: number;
  walk: number;
}

export const QUERY_LIMITS: QueryLimits = { gather: 4_000, exact: 10_000, walk: 1_000 };

interface PageIds {
  ids: Buffer[];
  total: number;
}

interface Fresh {
  order_id: Buffer;
  cell: number;
  created_at_ms: number;
  amount: number;
  speed_ms: number;
  [column: string]: unknown;
}

interface Range {
  sort: 'created_at' | 'amount_usd';
  from: number;
  below: number;
}

const COLUMN: Record<NumericSort, string> = {
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
const valueOf: Record<NumericSort, (row: Fresh) => number> = {
  created_at: (row) => row.created_at_ms,
  amount_usd: (row) => row.amount,
  settlement_speed_ms: (row) => row.speed_ms,
  order_id: (row) => row.order_id.readUIntBE(0, 3),
};

type Direction = TradeQuery['direction'];

/**
 * `session` is inside a repeatable-read transaction, so page and total are one snapshot. It must force index
 * scans, because the planner does not know which bucket contains the page.
 */
export async function pageIds(
  session: Queryable,
  book: number,
  families: readonly TradeFamily[],
  query: TradeQuery,
  { limit, offset }: { limit: number; offset: number },
  limits: QueryLimits,
  ledgers: Map<number, BookCounts>,
): Promise<PageIds> {
  const { groups, cells, every, ledger, fresh, freshIn, present } = await openBook(
    session,
    book,
    families,
    query,
    ledgers,
  );
  const sumOf = (which: readonly number[]) =>
    which.reduce((total, cell) => total + (ledger.counts.get(cell) ?? 0) + (freshIn.get(cell) ?? 0), 0);
  const ranges = rangesOf(query);
  const reader = createBucketReader(session, book, { fresh, present, limits });
  const ours = every ? ledger.total + fresh.length : sumOf(cells);
  const total = await totalOf();
  if (offset >= total && (total <= limits.exact || ranges.length < 2)) return { ids: [], total };
  const sortedGroups = query.sort.by === 'group' ? groups : undefined;
  if (total <= limits.gather || ours <= limits.gather * 2)
    return {
      ids: await reader.gather(
        every ? null : cells,
        ours <= limits.gather * 2 ? 'cells' : 'book',
        sortedGroups,
        ranges,
        numericOf(query),
        query.direction,
        offset,
        limit,
      ),
      total,
    };
  if (!sortedGroups)
    return {
      ids: await reader.scan(
        {
          cells: every ? null : cells,
          matching: total,
          ranges,
          by: numericOf(query),
          direction: query.direction,
          exact: total <= limits.exact || ranges.length < 2,
        },
        offset,
        limit,
      ),
      total,
    };
  return { ids: await byGroup(sortedGroups), total };

  async function totalOf(): Promise<number> {
    if (ranges.length === 0) return ours;
    if (ours <= limits.gather) return reader.count(cells, ranges, 'cells');
    const [first, second] = ranges;
    if (first && !second) return reader.countRange(every ? null : cells, first);
    const found = await reader.countUpTo(every ? null : cells, ranges, limits.exact + 1);
    if (found <= limits.exact) return found;
    const counted: number[] = [];
    for (const range of ranges) counted.push(await reader.countRange(every ? null : cells, range));
    return Math.max(
      limits.exact + 1,
      Math.round(((counted[0] as number) * (counted[1] as number)) / Math.max(1, ours)),
    );
  }

  async function byGroup(sorted: readonly number[][]): Promise<Buffer[]> {
    const ids: Buffer[] = [];
    let skip = offset;
    for (const step of steps(sorted)) {
      if (ids.length === limit) break;
      const flat = step.groups.flat();
      const n = ranges.length === 0 ? step.size : skip > 0 ? await countIn(flat, step.size) : undefined;
      if (n !== undefined && skip >= n) {
        skip -= n;
        continue;
      }
      const rest = limit - ids.length;
      const small = step.groups.length > 1 || step.size <= limits.gather;
      ids.push(
        ...(small
          ? await reader.gather(flat, 'cells', step.groups, ranges, 'created_at', query.direction, skip, rest)
          : await reader.scan(
              {
                cells: every && flat.length === cells.length ? null : flat,
                matching: n ?? Math.max(1, (step.size * total) / Math.max(1, ours)),
                ranges,
                by: 'created_at',
                direction: query.direction,
                exact: n !== undefined,
              },
              skip,
              rest,
            )),
      );
      skip = 0;
    }
    return ids;
  }

  async function countIn(which: number[], size: number): Promise<number> {
    const [range] = ranges;
    if (size <= limits.gather) return reader.count(which, ranges, 'cells');
    return ranges.length === 1 && range
      ? reader.countRange(which, range)
      : reader.count(which, ranges, 'book');
  }

  function* steps(sorted: readonly number[][]): Generator<{ groups: number[][]; size: number }> {
    let run: { groups: number[][]; size: number } = { groups: [], size: 0 };
    for (const group of sorted) {
      const size = sumOf(group);
      if (run.groups.length > 0 && run.size + size > limits.gather) {
        yield run;
        run = { groups: [], size: 0 };
      }
      run.groups.push(group);
      run.size += size;
    }
    if (run.groups.length > 0) yield run;
  }
}

const numericOf = ({ sort }: TradeQuery): NumericSort => (sort.by === 'group' ? 'created_at' : sort.by);

export interface BookCounts {
  version: number;
  counts: ReadonlyMap<number, number>;
  total: number;
  cells: readonly Cell[];
  families: readonly TradeFamily[];
}

interface Cell {
  cell: number;
  rank: number;
  family: TradeFamily;
  group: TradeGroup;
}

export async function openBook(
  session: Queryable,
  book: number,
  families: readonly TradeFamily[],
  query: TradeQuery,
  ledgers: Map<number, BookCounts>,
) {
  const known = ledgers.get(book);
  const [head] = await session.query<{ version: number; counts: string | null }>(
    `select version, case when version <> $2 then (select string_agg(cell || ' ' || n, ',') from ` +
      'trade_count where book = $1 and sort = 0 and cell >= 0) end as counts from trade_book where id ' +
      '= $1',
    [book, known?.version ?? -1],
  );
  const ledger =
    known && head?.version === known.version && known.families === families
      ? known
      : readLedger(head?.version ?? -1, head?.counts ?? null, known, families);
  ledgers.set(book, ledger);
  const { counts } = ledger;
  const fresh = await session.query<Fresh>(
    'select t.order_id, t.cell, t.created_at_ms, t.amount, t.speed_ms from trade_fresh f join trade ' +
      't on t.order_id = f.order_id where f.book = $1',
    [book],
  );
  const freshIn = new Map<number, number>();
  for (const { cell } of fresh) freshIn.set(cell, (freshIn.get(cell) ?? 0) + 1);
  const uncounted = cellsOf(
    [...freshIn.keys()].filter((cell) => !counts.has(cell)),
    families,
  );
  const fits = new Map<TradeFamily, boolean>();
  const stages = STAGES.map((stage) => query.stages === null || query.stages.has(stage));
  const present = STAGES.map(() => 0);
  const shown: Cell[] = [];
  for (const list of [ledger.cells, uncounted]) {
    for (const each of list) {
      present[each.rank] = (present[each.rank] ?? 0) + 1;
      if (!stages[each.rank]) continue;
      const fit = fits.get(each.family) ?? query.matches(each.family);
      fits.set(each.family, fit);
      if (fit) shown.push(each);
    }
  }
  const cells = shown.map(({ cell }) => cell);
  return {
    groups: query.sort.by === 'group' ? inGroups(shown, query.sort.key, query.direction) : [cells],
    cells,
    every: cells.length === present.reduce((sum, n) => sum + n, 0),
    ledger,
    fresh,
    freshIn,
    present,
  };
}

function readLedger(
  version: number,
  text: string | null,
  known: BookCounts | undefined,
  families: readonly TradeFamily[],
): BookCounts {
  if (known?.version === version)
    return { ...known, families, cells: cellsOf([...known.counts.keys()], families) };
  const counts = new Map<number, number>();
  let total = 0;
  for (const pair of text?.split(',') ?? []) {
    const gap = pair.indexOf(' ');
    const n = Number(pair.slice(gap + 1));
    counts.set(Number(pair.slice(0, gap)), n);
    total += n;
  }
  return { version, counts, total, families, cells: cellsOf([...counts.keys()], families) };
}

function cellsOf(cells: readonly number[], families: readonly TradeFamily[]): Cell[] {
  if (cells.length === 0) return [];
  const byId = new Map(families.map((family) => [family.id, family]));
  return cells.flatMap((cell) => {
    const family = byId.get(Math.floor(cell / CELL_STAGES));
    const rank = cell % CELL_STAGES;
    return family ? [{ cell, rank, family, group: { ...family, stage: STAGES[rank] as OrderStage } }] : [];
  });
}

function inGroups(
  shown: readonly Cell[],
  key: (group: TradeGroup) => string | number,
  direction: Direction,
): number[][] {
  const groups = new Map<string | number, number[]>();
  for (const { cell, group } of shown) {
    const value = key(group);
    const cells = groups.get(value);
    if (cells) cells.push(cell);
    else groups.set(value, [cell]);
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, cells]) => cells);
  return direction === 'asc' ? sorted : sorted.reverse();
}

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

interface Scan {
  cells: readonly number[] | null;
  matching: number;
  ranges: readonly Range[];
  by: NumericSort;
  direction: Direction;
  exact: boolean;
}

export interface Where {
  text: string;
  values: unknown[];
}

type Via = 'cells' | 'book';

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

export const orderBy = (by: NumericSort, direction: Direction): string =>
  ORDER[by].map((column) => `${column} ${direction}`).join(', ');

function createBucketReader(
  session: Queryable,
  book: number,
  { fresh, present, limits }: { fresh: readonly Fresh[]; present: readonly number[]; limits: QueryLimits },
) {
  const fences = new Map<NumericSort, number[]>();

  async function lowsOf(sort: NumericSort): Promise<number[]> {
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

  async function buckets(
    sort: NumericSort,
    cells: readonly number[] | null,
  ): Promise<{ lows: number[]; sizes: number[] }> {
    const lows = await lowsOf(sort);
    const rows = await session.query<{ bucket: number; n: number }>(
      'select bucket, sum(n::int) as n from trade_count where book = $1 and sort = $2 and cell = ' +
        'any($3::int[]) group by bucket',
      [book, SORT_NUMBERS[sort], `{${summed(cells).join(',')}}`],
    );
    const sizes = Array.from({ length: lows.length + 1 }, () => 0);
    for (const { bucket, n } of rows) sizes[bucket] = (sizes[bucket] ?? 0) + n;
    const chosen = cells && new Set(cells);
    for (const row of fresh) {
      if (chosen && !chosen.has(row.cell)) continue;
      const bucket = bucketOf(lows, valueOf[sort](row));
      sizes[bucket] = (sizes[bucket] ?? 0) + 1;
    }
    return { lows, sizes };
  }

  function summed(cells: readonly number[] | null): readonly number[] {
    if (!cells) return [EVERY_CELL];
    const chosen = present.map(() => 0);
    for (const cell of cells) chosen[cell % CELL_STAGES] = (chosen[cell % CELL_STAGES] ?? 0) + 1;
    return chosen.every((n, rank) => n === 0 || n === present[rank])
      ? chosen.flatMap((n, rank) => (n > 0 ? [everyCellOf(rank)] : []))
      : cells;
  }

  async function ids(text: string, values: readonly unknown[]): Promise<Buffer[]> {
    return (await session.query<{ order_id: Buffer }>(text, values)).map(({ order_id }) => order_id);
  }

  async function count(cells: readonly number[] | null, ranges: readonly Range[], via: Via): Promise<number> {
    const where = whereOf(book, cells, ranges, via);
    const [row] = await session.query<{ n: number }>(
      `select count(*) as n from trade where ${where.text}`,
      where.values,
    );
    return row?.n ?? 0;
  }

  /** Counts a range; only the two buckets at the bounds are counted row by row. */
  async function countRange(cells: readonly number[] | null, { sort, from, below }: Range): Promise<number> {
    if (from >= below) return 0;
    const { lows, sizes } = await buckets(sort, cells);
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
      n += from <= start && end <= below ? (sizes[bucket] ?? 0) : await count(cells, [part], 'book');
    }
    return n;
  }

  return {
    count,
    countRange,
    async countUpTo(
      cells: readonly number[] | null,
      ranges: readonly Range[],
      most: number,
    ): Promise<number> {
      const where = whereOf(book, cells, ranges);
      const [row] = await session.query<{ n: number }>(
        `select count(*) as n from (select from trade where ${where.text} limit ${most}) x`,
        where.values,
      );
      return row?.n ?? 0;
    },

    /** Reads all and sorts. Groups rank before the sort. */
    gather(
      cells: readonly number[] | null,
      via: Via,
      groups: readonly number[][] | undefined,
      ranges: readonly Range[],
      by: NumericSort,
      direction: Direction,
      offset: number,
      limit: number,
    ): Promise<Buffer[]> {
      const where = whereOf(book, cells, ranges, via);
      const found = `with found as materialized (select order_id, cell, created_at_ms, amount, speed_ms from trade where ${where.text})`;
      const page = `limit ${limit} offset ${offset}`;
      if (!groups)
        return ids(
          `${found} select order_id from found order by ${orderBy(by, direction)} ${page}`,
          where.values,
        );
      const ranked = groups.flatMap((group, rank) => group.map((cell) => [cell, rank] as const));
      const n = where.values.length;
      return ids(
        `${found} select order_id from found join unnest($${n + 1}::int[], $${n + 2}::int[]) g ` +
          `(cell, rank) using (cell) order by g.rank, ${orderBy('created_at', direction)} ${page}`,
        [
          ...where.values,
          `{${ranked.map(([cell]) => cell).join(',')}}`,
          `{${ranked.map(([, rank]) => rank).join(',')}}`,
        ],
      );
    },

    /** Scans the index from the nearer end and skips whole buckets. */
    async scan(scan: Scan, offset: number, limit: number): Promise<Buffer[]> {
      const { cells, matching, ranges, by, exact } = scan;
      const size = exact ? Math.min(limit, matching - offset) : limit;
      const turned = exact && offset > matching / 2;
      const direction = turned ? (scan.direction === 'asc' ? 'desc' : 'asc') : scan.direction;
      const skip = turned ? matching - offset - size : offset;
      const where = whereOf(book, cells, ranges);
      const start = await startOf(scan, direction, skip);
      if (start.bound !== null)
        where.text += ` and ${COLUMN[by]} ${direction === 'asc' ? '>=' : '<'} $${where.values.push(start.bound)}`;
      const found = await ids(
        `select order_id from trade where ${where.text} order by ${orderBy(by, direction)} limit ` +
          `${size} offset ${start.skip}`,
        where.values,
      );
      return turned ? found.reverse() : found;
    },
  };

  async function startOf(
    { cells, ranges, by }: Scan,
    direction: Direction,
    skip: number,
  ): Promise<{ bound: number | Buffer | null; skip: number }> {
    if (skip <= limits.walk || ranges.some(({ sort }) => sort !== by)) return { bound: null, skip };
    const { lows, sizes } = await buckets(by, cells);
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
      const n = from <= start && end <= below ? (sizes[bucket] ?? 0) : await count(cells, [part], 'book');
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
