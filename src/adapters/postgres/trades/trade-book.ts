/** Opens a book for a query: what is counted in it, and which of its cells the query shows. */

import type { TradeFamily, TradeGroup, TradeQuery } from '../../../ports/stores/trades.ts';
import { type OrderStage, STAGES } from '../../../settlement/lifecycle.ts';
import type { Queryable } from '../pool.ts';
import { CELL_STAGES } from './trade-rows.ts';

/** A trade that the counts leave out. */
export interface Fresh {
  order_id: Buffer;
  cell: number;
  created_at_ms: number;
  amount: number;
  speed_ms: number;
  [column: string]: unknown;
}

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

/** A book in one snapshot: its counts, the trades that they leave out, and the cells that a query shows. */
export interface OpenBook {
  /** The shown cells in the query's groups; one group where it sorts by a number. */
  readonly groups: number[][];
  readonly cells: number[];
  /** True when the query shows every cell that has trades. */
  readonly every: boolean;
  readonly ledger: BookCounts;
  /** Trades that the counts leave out. */
  readonly fresh: readonly Fresh[];
  /** How many of them are in each cell. */
  readonly freshIn: ReadonlyMap<number, number>;
  /** How many cells have trades, by the rank of their stage. */
  readonly present: readonly number[];
}

export async function openBook(
  session: Queryable,
  book: number,
  families: readonly TradeFamily[],
  query: TradeQuery,
  ledgers: Map<number, BookCounts>,
): Promise<OpenBook> {
  const ledger = await countsOf(session, book, families, ledgers);
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

/** Reads the counts of a book again only if they have changed. */
async function countsOf(
  session: Queryable,
  book: number,
  families: readonly TradeFamily[],
  ledgers: Map<number, BookCounts>,
): Promise<BookCounts> {
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
  return ledger;
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
  direction: TradeQuery['direction'],
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
