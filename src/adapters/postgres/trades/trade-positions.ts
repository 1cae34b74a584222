/**
 * Positions of new and changed trades of a workspace. They are given after commit, one book at a time, so a
 * snapshot that shows a position shows all positions before it: a client that asks for what came after one
 * misses nothing.
 */

import type { TradePoint } from '../../../ports/stores/trades.ts';
import type { Database, Queryable } from '../pool.ts';

const AT_ONCE = 2_000;

/** Skips trades that a transaction is changing; that change gets a position of its own. */
const GIVE = `with due as (
    select p.order_id from trade_position p join trade t using (order_id) where p.book = $1 and p.changed is null
    order by t.created_at_ms, p.order_id limit ${AT_ONCE} for update of p skip locked),
  numbered as (select order_id, row_number() over () as n from due),
  book as (update trade_book set positions = positions + (select count(*) from numbered) where id = $1 returning positions)
  update trade_position p set changed = last - (select count(*) from numbered) + n, created = coalesce(created, last - (select count(*) from numbered) + n)
  from numbered cross join (select positions as last from book) book where p.order_id = numbered.order_id returning p.order_id`;

/** Returns how many it gave. */
export async function givePositions(db: Database, book: number): Promise<number> {
  for (let given = 0; ;) {
    const [due] = await db.query(
      {
        name: 'trade-positions-due',
        text: 'select from trade_position where book = $1 and changed is null limit 1',
      },
      [book],
    );
    if (!due) return given;
    const batch = await db.transaction(async (session) => {
      // A statement of its own, so that the next one sees all earlier positions.
      await session.query('select from trade_book where id = $1 for no key update', [book]);
      return session.query(GIVE, [book]);
    });
    given += batch.length;
    if (batch.length < AT_ONCE) return given;
  }
}

export async function givePositionsOfAll(db: Database): Promise<number> {
  let given = 0;
  for (const { book } of await db.query<{ book: number }>(
    'select distinct book from trade_position where changed is null',
  ))
    given += await givePositions(db, book);
  return given;
}

export async function isAhead(session: Queryable, book: number, { after }: TradePoint): Promise<boolean> {
  const [row] = await session.query<{ positions: number }>('select positions from trade_book where id = $1', [
    book,
  ]);
  return after > (row?.positions ?? 0);
}
