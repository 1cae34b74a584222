/** Travel-rule records in PostgreSQL: one row per attempt. */

import type { TravelRuleRecord, TravelRuleStore } from '../../../ports/stores/travel-rule.ts';
import type { Database } from '../pool.ts';
import { bytes, select } from '../rows.ts';

const COLUMNS =
  'order_id, attempt, state, due_at_ms, started_at_ms, ended_at_ms, transmitter, reference, detail, message_sha256';
const OF_ORDER = `select ${COLUMNS} from travel_rule_record where order_id = $1 order by attempt`;

// Ends the attempts of dead processes and makes room for their successors, which the last statement of
// `takeTravelRule` may take.
const LAPSE = {
  name: 'travel-rule-lapse',
  text: `with lapsed as (
      update travel_rule_record set state = 'unknown', ended_at_ms = $1, detail = 'The process ended while sending; it may have arrived.'
      where (order_id, attempt) in (select order_id, attempt from travel_rule_record where state = 'sending' and lease_until_ms < $1 for update skip locked)
      returning order_id, attempt)
    select order_id, attempt from lapsed`,
};

export function createTravelRuleStore(db: Database): TravelRuleStore {
  return {
    async travelRule(orderId) {
      const statement = { name: 'travel-rule-one', text: `${OF_ORDER} desc limit 1` };
      return (await select<TravelRuleRecord>(db, statement, [bytes(orderId)]))[0];
    },
    travelRuleHistory: (orderId) => select<TravelRuleRecord>(db, OF_ORDER, [bytes(orderId)]),
    travelRulesIn: (states, limit) =>
      select<TravelRuleRecord>(
        db,
        `select ${COLUMNS} from (
           select distinct on (order_id) ${COLUMNS} from travel_rule_record order by order_id, attempt desc) newest
         where state = any($1) order by due_at_ms desc, order_id limit $2`,
        [states, limit],
      ),
    async retryTravelRule(orderId, atMs) {
      const rows = await db.query(
        `insert into travel_rule_record (order_id, attempt, state, due_at_ms)
         select order_id, attempt + 1, 'due', $2 from (select order_id, attempt, state from travel_rule_record where order_id = $1 order by attempt desc limit 1) newest where state = 'abandoned'
         on conflict do nothing returning attempt`,
        [bytes(orderId), atMs],
      );
      return rows.length === 1;
    },
    async takeTravelRule(nowMs, leaseMs, limit) {
      return db.transaction(async (session) => {
        // An order has at most one open attempt: close the old one before inserting the next.
        const lapsed = await session.query<{ order_id: Buffer; attempt: number }>(LAPSE, [nowMs]);
        if (lapsed.length > 0) {
          await session.query(
            'insert into travel_rule_record (order_id, attempt, state, due_at_ms) select order_id, ' +
              `attempt + 1, 'due', $3 from unnest($1::bytea[], $2::int[]) as lapsed (order_id, attempt)`,
            [lapsed.map((row) => row.order_id), lapsed.map((row) => row.attempt), nowMs],
          );
        }
        return select<TravelRuleRecord>(
          session,
          {
            name: 'travel-rule-take',
            text: `update travel_rule_record r set state = 'sending', started_at_ms = $1, lease_until_ms = $1::bigint + $2::bigint
              from (select order_id, attempt from travel_rule_record where state = 'due' and due_at_ms <= $1 order by due_at_ms limit $3 for update skip locked) due
              where r.order_id = due.order_id and r.attempt = due.attempt returning ${COLUMNS.split(', ')
                .map((column) => `r.${column}`)
                .join(', ')}`,
          },
          [nowMs, leaseMs, limit],
        );
      });
    },
    async endTravelRule(
      { orderId, attempt, state, endedAtMs, transmitter, reference, detail, messageSha256 },
      next,
    ) {
      return db.transaction(async (session) => {
        const rows = await session.query(
          `update travel_rule_record set state = $3, ended_at_ms = $4, transmitter = $5, reference = $6, detail = $7, message_sha256 = $8, lease_until_ms = null
           where order_id = $1 and attempt = $2 and state = 'sending' returning attempt`,
          [bytes(orderId), attempt, state, endedAtMs, transmitter, reference, detail, messageSha256],
        );
        if (rows.length === 1 && next)
          await session.query(
            `insert into travel_rule_record (order_id, attempt, state, due_at_ms) values ($1, $2, 'due', $3)`,
            [bytes(orderId), attempt + 1, next.dueAtMs],
          );
        return rows.length === 1;
      });
    },
  };
}
