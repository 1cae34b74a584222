/** Rebuilds the trade history from orders and facts while the venue runs. */

import { rebuildDeliveries } from '../venue/delivery-store.ts';
import { ORDER_COLUMNS, orderFromRow } from '../venue/order-rows.ts';
import type { Database } from '../pool.ts';
import { bytes } from '../rows.ts';
import { type CountOptions, recountTrades } from './trade-counts.ts';
import { CELL_STAGES, createFamilies, type Families, tradeColumns, tradeTerms } from './trade-rows.ts';

const BATCH = 500;

export async function rebuildTrades(
  db: Database,
  options: CountOptions = {},
  progress: (done: number) => void = () => {},
): Promise<number> {
  const done = await writeAll(db, 'order_id > $1', progress);
  await recountAll(db, options);
  return done;
}

export async function adoptTrades(db: Database, options: CountOptions = {}): Promise<number> {
  const missing = 'order_id > $1 and not exists (select from trade t where t.order_id = o.order_id)';
  let done = 0;
  for (;;) {
    // Again until nothing is missing: an order may have been inserted behind the pass.
    const written = await writeAll(db, missing);
    if (written === 0) break;
    done += written;
  }
  if (done > 0) await recountAll(db, options);
  return done;
}

async function recountAll(db: Database, options: CountOptions): Promise<void> {
  for (const { id } of await db.query<{ id: number }>('select id from trade_book order by id'))
    await recountTrades(db, id, options);
}

async function writeAll(db: Database, where: string, progress = (_done: number) => {}): Promise<number> {
  const families = createFamilies(db);
  let done = 0;
  for (let after: Buffer | undefined = bytes('0x'); ;) {
    const rows: { order_id: Buffer }[] = await db.query(
      `select order_id from trade_order o where ${where} order by order_id limit $2`,
      [after, BATCH],
    );
    if (rows.length === 0) return done;
    const ids = rows.map(({ order_id: id }) => id);
    done += await writeBatch(db, families, ids);
    after = ids.at(-1);
    progress(done);
  }
}

async function writeBatch(db: Database, families: Families, ids: readonly Buffer[]): Promise<number> {
  return db.transaction(async (session) => {
    // An append updates the order's row, so it waits for this batch.
    await session.query(
      'select from trade_order where order_id = any($1::bytea[]) order by order_id for share',
      [ids],
    );
    const records = (
      await session.query(
        `select ${ORDER_COLUMNS} from trade_order o where order_id = any($1::bytea[]) order by order_id`,
        [ids],
      )
    ).map(orderFromRow);
    const columns: unknown[][] = [[], [], [], [], [], [], [], []];
    for (const record of records) {
      const { book, family } = await families.of(record, tradeTerms(record));
      const { created_at_ms, amount, speed_ms, terms, state, rank } = tradeColumns(record);
      [
        bytes(record.orderId),
        book,
        family * CELL_STAGES + rank,
        created_at_ms,
        amount,
        speed_ms,
        terms,
        state,
      ].forEach((value, index) => columns[index]?.push(value));
    }
    await session.query(
      `insert into trade (order_id, book, cell, created_at_ms, amount, speed_ms, terms, state)
       select * from unnest($1::bytea[], $2::int[], $3::int[], $4::bigint[], $5::double precision[], $6::bigint[], $7::json[], $8::json[])
       on conflict (order_id) do update set book = excluded.book, cell = excluded.cell, created_at_ms = excluded.created_at_ms, amount = excluded.amount,
         speed_ms = excluded.speed_ms, terms = excluded.terms, state = excluded.state`,
      columns,
    );
    for (const record of records) await rebuildDeliveries(session, record);
    return records.length;
  });
}
