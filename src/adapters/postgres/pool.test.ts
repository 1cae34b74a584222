/** Tests that connections lost in use cost their piece of work, and nothing else. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import type { Database } from './pool.ts';

let postgres: TestPostgres;
let db: Database;
let other: Database;

beforeAll(async () => {
  postgres = await startTestPostgres();
  [db, other] = [await postgres.database('pool', []), await postgres.database('pool', [])];
});
afterAll(() => postgres.stop());

// What is thrown outside of the work, where nobody could catch it, fails the run.
test.each([
  ['between two statements', '', 0],
  ['while a statement runs', 'select pg_sleep(600)', 1],
])(
  'a connection that is lost in a transaction, %s, fails the transaction alone',
  async (_, busy, running) => {
    const lost = db.transaction(async (session) => {
      const [row] = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = row?.pid ?? 0;
      const work = busy === '' ? undefined : session.query(busy);
      work?.catch(() => {});
      await expect
        .poll(
          async () =>
            (
              await other.query(`select 1 from pg_stat_activity where pid = $1 and state = $2`, [
                pid,
                running ? 'active' : 'idle in transaction',
              ])
            ).length,
        )
        .toBe(1);
      await other.query('select pg_terminate_backend($1)', [pid]);
      await expect
        .poll(async () => (await other.query('select 1 from pg_stat_activity where pid = $1', [pid])).length)
        .toBe(0);
      await work;
      for (;;) await session.query('select 1');
    });
    await expect(lost).rejects.toMatchObject({ code: 'database_unavailable' });
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  },
);
