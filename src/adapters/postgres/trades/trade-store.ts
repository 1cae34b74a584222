/** The trade history in PostgreSQL: pages, exports through a cursor, and gas. */

import pg from 'pg';
import { UpstreamError } from '../../../domain/errors.ts';
import type {
  CapturedGas,
  DaySum,
  DueGas,
  ExportedTrade,
  TradePage,
  TradePoint,
  TradeQuery,
  TradeStore,
  TradeUpkeep,
} from '../../../ports/stores/trades.ts';
import { bytes, select } from '../rows.ts';
import { columnTypes, type Database, type Queryable } from '../pool.ts';
import { type BookCounts, openBook } from './trade-book.ts';
import { type CountOptions, foldTrades } from './trade-counts.ts';
import { pageIds, QUERY_LIMITS, type QueryLimits } from './trade-query.ts';
import { orderBy, rangesOf, whereOf } from './trade-where.ts';
import { setSession } from '../session.ts';
import { sumDays } from './trade-days.ts';
import { givePositions, givePositionsOfAll, isAhead } from './trade-positions.ts';
import { adoptTrades } from './trade-rebuild.ts';
import { createFamilies, type Families, TRADE_COLUMNS, type TradeDbRow, tradeFromRow } from './trade-rows.ts';

interface TradeStoreOptions extends CountOptions {
  limits?: Partial<QueryLimits>;
  exports?: Partial<typeof EXPORTS>;
}

const EXPORT_LOCK_CLASS = 7_163_005;
const MAX_EXPORTS = 8;
const FETCH = 25;
const EXPORTS = { stalledMs: 60_000, statementMs: 30_000 };

const SNAPSHOT =
  'set transaction isolation level repeatable read read only; set local jit = off; set local max_parallel_workers_per_gather = 0; set local enable_sort = off; set local enable_bitmapscan = off; set local enable_seqscan = off';

interface TradeStoreState {
  readonly db: Database;
  readonly families: Families;
  readonly limits: QueryLimits;
  readonly exportLimits: typeof EXPORTS;
  /** The counts of each book as last read. */
  readonly ledgers: Map<number, BookCounts>;
  /** Books that this process exports. Another process may hold the lock of further ones. */
  readonly exporting: Set<string>;
}

export function createTradeStore(db: Database, options: TradeStoreOptions = {}): TradeStore & TradeUpkeep {
  const state: TradeStoreState = {
    db,
    families: createFamilies(db),
    limits: { ...QUERY_LIMITS, ...options.limits },
    exportLimits: { ...EXPORTS, ...options.exports },
    ledgers: new Map(),
    exporting: new Set(),
  };

  return {
    page: (query, limit, offset) => page(state, query, limit, offset),
    exportAll: (query, since) => exportAll(state, query, since),
    days: (query) => days(state, query),
    async families(which) {
      const book = await state.families.book(which);
      return book === undefined ? [] : state.families.list(book);
    },
    async trade(orderId) {
      const [row] = await db.query<TradeDbRow>(
        {
          name: 'trade-one',
          text: `select ${TRADE_COLUMNS} from trade t join trade_family f on f.id = t.cell / 8 where t.order_id = $1`,
        },
        [bytes(orderId)],
      );
      return row && tradeFromRow(row);
    },
    gasOf: (orderId) =>
      select<CapturedGas>(
        db,
        {
          name: 'order-gas',
          text: 'select chain_id, tx_hash, gas_used, fee_wei, native_usd from order_gas where order_id = $1 order by chain_id, tx_hash',
        },
        [bytes(orderId)],
        ['gas_used', 'fee_wei'],
      ),

    fold: () => foldTrades(db, options),
    adopt: () => adoptTrades(db, options),
    givePositions: () => givePositionsOfAll(db),
    dueGas: (limit) =>
      select<DueGas>(
        db,
        {
          name: 'gas-due',
          text: 'select order_id, chain_id, tx_hash from order_gas where gas_used is null and due_at_ms <= $1 order by due_at_ms limit $2',
        },
        [Date.now(), limit],
      ),
    async recordGas({ orderId, chainId, txHash }, { gasUsed, feeWei, nativeUsd, atMs }) {
      await db.query(
        {
          name: 'gas-record',
          text: 'update order_gas set gas_used = $4, fee_wei = $5, native_usd = $6, captured_at_ms = $7 where order_id = $1 and chain_id = $2 and tx_hash = $3 and gas_used is null',
        },
        [bytes(orderId), chainId, bytes(txHash), gasUsed.toString(), feeWei.toString(), nativeUsd, atMs],
      );
    },
    async postponeGas({ orderId, chainId, txHash }, untilMs) {
      await db.query(
        {
          name: 'gas-postpone',
          text: 'update order_gas set due_at_ms = $4 where order_id = $1 and chain_id = $2 and tx_hash = $3',
        },
        [bytes(orderId), chainId, bytes(txHash), untilMs],
      );
    },
  };
}

async function page(
  { db, families, limits, ledgers }: TradeStoreState,
  query: TradeQuery,
  limit: number,
  offset: number,
): Promise<TradePage> {
  const book = await families.book(query.book);
  if (book === undefined) return { rows: [], total: 0 };
  const known = await families.list(book);
  return db.transaction(async (session) => {
    await session.query(SNAPSHOT);
    const { ids, total } = await pageIds(session, book, known, query, { limit, offset }, limits, ledgers);
    const rows =
      ids.length === 0
        ? []
        : await session.query<TradeDbRow>(
            `select ${TRADE_COLUMNS} from unnest($1::bytea[]) with ordinality p (order_id, n) join ` +
              'trade t using (order_id) join trade_family f on f.id = t.cell / 8 order by p.n',
            [ids],
          );
    return { rows: rows.map(tradeFromRow), total };
  });
}

/** An export takes as long as its client, so it has its own connection. */
async function exportAll(
  state: TradeStoreState,
  query: TradeQuery,
  since?: TradePoint,
): Promise<AsyncGenerator<ExportedTrade[]> | 'busy' | 'ahead'> {
  const { db, families, exporting, exportLimits } = state;
  const { workspaceId, mode } = query.book;
  const name = `${workspaceId} ${mode}`;
  if (exporting.size >= MAX_EXPORTS || exporting.has(name)) return 'busy';
  exporting.add(name);
  const client = new pg.Client({
    connectionString: db.url,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    application_name: 'firmquote export',
  });
  let ended = false;
  async function end(): Promise<void> {
    if (ended) return;
    ended = true;
    exporting.delete(name);
    await client.end().catch(() => {});
  }
  client.on('error', () => void end());
  try {
    const book = await families.book(query.book);
    // Before the snapshot, so that it shows all that has been committed.
    if (since && book !== undefined) await givePositions(db, book);
    await client.connect();
    await setSession(client, { search_path: db.schema, statement_timeout: `${exportLimits.statementMs}ms` });
    await client.query(
      'begin; set transaction isolation level repeatable read read only; set local ' +
        `idle_in_transaction_session_timeout = ${exportLimits.stalledMs}; set local cursor_tuple_fraction = 1`,
    );
    const { rows } = await client.query<{ ours: boolean }>(
      'select pg_try_advisory_xact_lock($1, $2) as ours',
      [EXPORT_LOCK_CLASS, book ?? 0],
    );
    if (!rows[0]?.ours) {
      await end();
      return 'busy';
    }
    if (since && (book === undefined ? since.after > 0 : await isAhead(sessionOf(client), book, since))) {
      await end();
      return 'ahead';
    }
    if (book === undefined) return finish(nothing(), end);
    return finish(streamed(state, client, book, query, since), end);
  } catch (error) {
    await end();
    throw new UpstreamError(
      'The export could not start, because the database did not answer. Try again in a few seconds.',
      { code: 'database_unavailable', facts: { reason: (error as { code?: string }).code ?? 'unknown' } },
    );
  }
}

async function* streamed(
  { families, ledgers }: TradeStoreState,
  client: pg.Client,
  book: number,
  query: TradeQuery,
  since: TradePoint | undefined,
): AsyncGenerator<ExportedTrade[]> {
  const session = sessionOf(client);
  const { groups, cells, every } = await openBook(session, book, await families.list(book), query, ledgers);
  const by = query.sort.by === 'group' ? 'created_at' : query.sort.by;
  for (const group of query.sort.by === 'group' && !since ? groups : [every ? null : cells]) {
    const where = whereOf(book, group, rangesOf(query));
    const which = where.text.replaceAll('book =', 't.book =');
    await client.query(
      since
        ? `declare trades no scroll cursor for select ${TRADE_COLUMNS}, p.${since.by} as position from trade_position p join ` +
            `trade t using (order_id) join trade_family f on f.id = t.cell / 8 where ${which} and p.book = ${book} and ` +
            `p.${since.by} > ${since.after} order by p.${since.by}`
        : `declare trades no scroll cursor for select ${TRADE_COLUMNS}, null as position from trade t join trade_family ` +
            `f on f.id = t.cell / 8 where ${which} order by ${orderBy(by, query.direction)}`,
      where.values,
    );
    for (;;) {
      const rows = await session.query<TradeDbRow & { position: number | null }>(
        `fetch ${FETCH} from trades`,
      );
      if (rows.length > 0) yield rows.map((row) => ({ ...tradeFromRow(row), position: row.position }));
      if (rows.length < FETCH) break;
    }
    await client.query('close trades');
  }
}

/** Closes connection, cursor and lock however reading ends, even before it began. */
function finish(
  rows: AsyncGenerator<ExportedTrade[]>,
  end: () => Promise<void>,
): AsyncGenerator<ExportedTrade[]> {
  const over = async <T>(result: Promise<T>): Promise<T> => {
    await result.catch(() => {});
    await end();
    return result;
  };
  return {
    async next() {
      const result = rows.next();
      const { done } = await result.catch(async (error: unknown) => {
        await end();
        throw error;
      });
      if (done) await end();
      return result;
    },
    return: (value) => over(rows.return(value)),
    throw: (error) => over(rows.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* nothing(): AsyncGenerator<ExportedTrade[]> {}

const sessionOf = (client: pg.Client): Queryable => ({
  query: async (statement, values = []) =>
    (
      await client.query({
        ...(typeof statement === 'string' ? { text: statement } : statement),
        values: [...values],
        types: columnTypes,
      })
    ).rows,
});

async function days({ db, families, ledgers }: TradeStoreState, query: TradeQuery): Promise<DaySum[]> {
  const book = await families.book(query.book);
  if (book === undefined) return [];
  const known = await families.list(book);
  return db.transaction(async (session) => {
    await session.query('set transaction isolation level repeatable read read only');
    const { cells, every } = await openBook(session, book, known, query, ledgers);
    return sumDays(session, book, every ? null : cells, query);
  });
}
