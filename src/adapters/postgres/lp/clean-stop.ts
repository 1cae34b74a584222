/** The clean stop of an LP: its ledger and its place on each chain, in one JSON value of the database. */

import { InvariantError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { SnapshotChunks, StoredBooks, StoredHold } from '../../../inventory/snapshot.ts';
import type { ChainCursor, CleanStop } from '../../../ports/stores/lp-store.ts';
import type { Queryable, Row } from '../pool.ts';

const FETCHED = 200;

/** Writes the clean stop inside the database, because writing it as one text would block the event loop. */
export async function writeClean(
  session: Queryable,
  { ledger: { books, chunks }, cursors }: { ledger: SnapshotChunks; cursors: readonly ChainCursor[] },
): Promise<void> {
  for (const [piece, write] of chunks.entries())
    await session.query(
      { name: 'lp-clean-piece', text: 'insert into lp_clean_piece (piece, promises) values ($1, $2)' },
      [piece, JSON.stringify(write()).slice(1, -1)],
    );
  const text = JSON.stringify({
    cursors: cursors.map((cursor) => ({ ...cursor, block: cursor.block.toString() })),
    ledger: { ...books, promises: [] },
  });
  await session.query(
    "update lp_owner set clean = ($1::text || (select coalesce(string_agg(promises, ',' order by " +
      "piece), '') from lp_clean_piece) || $2::text)::json",
    [text.slice(0, -ENDING.length), ENDING],
  );
  // `truncate` would wait for a running backup.
  await session.query('delete from lp_clean_piece');
}

const ENDING = ']}}';

export async function readClean(session: Queryable): Promise<CleanStop> {
  // Extracting paths from a text this long would parse it again each time.
  const [stored] = await session.query<
    Row & StoredBooks & { cursors: { chainId: number; block: string; hash: Hex }[] }
  >(
    `select cursors, books.* from lp_owner, json_to_record(clean) as stop (cursors json, ledger json),
      json_to_record(ledger) as books (version integer, clocks json, buckets json, deposits json, withdrawals json)`,
  );
  if (stored === undefined) throw new InvariantError('The clean stop disappeared from a locked row.');
  const promises: StoredHold[] = [];
  await session.query(
    `declare lp_clean no scroll cursor for select json_array_elements(clean #> '{ledger,promises}') ` +
      'as promise from lp_owner',
  );
  for (;;) {
    const some = await session.query<{ promise: StoredHold }>(`fetch ${FETCHED} from lp_clean`);
    if (some.length === 0) break;
    for (const { promise } of some) promises.push(promise);
  }
  await session.query('close lp_clean');
  const { cursors, ...books } = stored;
  return {
    ledger: { ...books, promises },
    cursors: cursors.map((cursor) => ({ ...cursor, block: BigInt(cursor.block) })),
  };
}
