/**
 * Counts of ended trades by cell (family and stage) and bucket of each sortable value, for totals and deep
 * pages. Readers count the rest from `trade_fresh`.
 */

import type { Database, Queryable } from '../pool.ts';

export const SORT_NUMBERS = { created_at: 1, amount_usd: 2, settlement_speed_ms: 3, order_id: 4 } as const;

/** Sortable values as numbers; for order ids the first three bytes, which are evenly distributed. */
const VALUES = `(values (0, 0::double precision), (1, t.created_at_ms), (2, t.amount), (3, t.speed_ms),
  (4, get_byte(t.order_id, 0) * 65536 + get_byte(t.order_id, 1) * 256 + get_byte(t.order_id, 2))) v (sort, value)`;
const ENDED = 't.cell % 8 in (4, 6, 7)';
/** Taken before the snapshot, so the next counter sees the result; readers are not blocked. */
const ALONE = 'lock table trade_fence in share row exclusive mode';
const FOLD_AT_ONCE = 5_000;
/** Above this many trades a full recount is faster than folding. */
const MANY = 50_000;
const SAMPLE = 40_000;
const MAX_BUCKETS = 50;

export const EVERY_CELL = -1;
export const everyCellOf = (stageRank: number): number => -2 - stageRank;

export interface CountOptions {
  bucketSize?: number;
}

function countInto(from: string): string {
  return `with lows as materialized (select sort, array_agg(low order by bucket) as low from trade_fence where book = $1 group by sort)
    insert into trade_count (book, sort, cell, bucket, n)
    select $1, sort, coalesce(cell, -2 - stage, -1), bucket, count(*)
    from (select v.sort, t.cell, t.cell % 8 as stage, coalesce(width_bucket(v.value, lows.low), 0) as bucket from ${from} cross join lateral ${VALUES} left join lows on lows.sort = v.sort) x
    group by grouping sets ((sort, bucket, cell), (sort, bucket, stage), (sort, bucket))
    on conflict (book, sort, cell, bucket) do update set n = trade_count.n + excluded.n`;
}

export async function foldTrades(db: Database, options: CountOptions = {}): Promise<number> {
  const books = await db.query<{ book: number; n: number }>(
    `select f.book, count(*) as n from trade_fresh f join trade t using (order_id) where ${ENDED} ` +
      'group by f.book',
  );
  let folded = 0;
  for (const { book, n } of books) {
    if (n > MANY) {
      await recountTrades(db, book, options);
      folded += n;
      continue;
    }
    folded += await db.transaction((session) => foldBook(session, book));
    const [row] = await db.query<{ counted: number; drawn: number }>(
      'select counted, drawn from trade_book where id = $1',
      [book],
    );
    if (row && row.counted > Math.max(bucketSize(options), row.drawn * 1.25))
      await recountTrades(db, book, options);
  }
  return folded;
}

async function foldBook(session: Queryable, book: number): Promise<number> {
  await session.query(ALONE);
  const ended = await session.query<{ order_id: Buffer }>(
    'delete from trade_fresh where book = $1 and order_id in (select f.order_id from trade_fresh f ' +
      `join trade t using (order_id) where f.book = $1 and ${ENDED} limit ${FOLD_AT_ONCE}) returning ` +
      'order_id',
    [book],
  );
  if (ended.length === 0) return 0;
  await session.query(countInto('(select * from trade where order_id = any($2::bytea[])) t'), [
    book,
    ended.map(({ order_id }) => order_id),
  ]);
  await session.query('update trade_book set counted = counted + $2, version = version + 1 where id = $1', [
    book,
    ended.length,
  ]);
  return ended.length;
}

/** Redraws the buckets of a book and recounts it. Trades that end meanwhile stay fresh. */
export async function recountTrades(db: Database, book: number, options: CountOptions = {}): Promise<void> {
  await db.transaction(async (session) => {
    await session.query(
      'set transaction isolation level repeatable read; set local statement_timeout = 0; set local ' +
        "work_mem = '64MB'; set local jit = off",
    );
    await session.query(ALONE);
    await session.query('delete from trade_count where book = $1', [book]);
    await session.query('delete from trade_fence where book = $1', [book]);
    await session.query(
      `delete from trade_fresh f using trade t where f.book = $1 and t.order_id = f.order_id and ${ENDED}`,
      [book],
    );
    await session.query(
      'insert into trade_fresh (book, order_id) select book, order_id from trade t where book = $1 ' +
        `and not (${ENDED}) on conflict do nothing`,
      [book],
    );
    const [row] = await session.query<{ n: number }>(
      `select count(*) as n from trade t where book = $1 and ${ENDED}`,
      [book],
    );
    const n = row?.n ?? 0;
    const buckets = Math.min(MAX_BUCKETS, Math.ceil(n / bucketSize(options)));
    if (buckets > 1) {
      await session.query(
        `insert into trade_fence (book, sort, bucket, low)
         select $1, sort, bucket, min(value) from (
           select v.sort, v.value, ntile($2) over (partition by v.sort order by v.value) - 1 as bucket from trade t cross join lateral ${VALUES}
           where t.book = $1 and ${ENDED} and v.sort > 0 and get_byte(t.order_id, 31) < $3) x
         where bucket > 0 group by sort, bucket`,
        // Order ids are random, so a sample suffices.
        [book, buckets, Math.ceil((256 * SAMPLE) / Math.max(n, SAMPLE))],
      );
    }
    await session.query(countInto(`(select * from trade t where book = $1 and ${ENDED}) t`), [book]);
    await session.query(
      'update trade_book set counted = $2, drawn = $2, version = version + 1 where id = $1',
      [book, n],
    );
  });
}

const bucketSize = ({ bucketSize: size = 20_000 }: CountOptions): number => size;
