/** Deletes old rows in small batches, skipping locked rows. */

import type { Queryable } from './pool.ts';

const RETAINED = ['idempotency', 'events', 'slots', 'explanations', 'tickets', 'webhooks'] as const;
export type Kept = (typeof RETAINED)[number];

/** `$1`: rows that ended before this, Unix ms. `$2`: maximum number. */
const LET_GO: Record<Kept, string> = {
  // An order submitted again under a deleted key is still recognised by its own id.
  idempotency: `delete from idempotency where ctid = any(array(select ctid from idempotency where created_at_ms < $1 order by created_at_ms limit $2 for update skip locked)) returning 1`,
  // All events of a final order or none. Events without a position have not been streamed; those after the
  // fan-out's have not become webhook deliveries.
  events: `delete from order_event where order_id in (
      select o.order_id from trade_order o where o.final and o.updated_at_ms < $1 and exists (select from order_event e where e.order_id = o.order_id)
        and not exists (select from order_event e where e.order_id = o.order_id and (e.place is null or e.place = (select max(place) from order_event) or e.place > (select place from webhook_fan_out)))
      order by o.created_at_ms limit $2 for update of o skip locked) returning 1`,
  webhooks: `delete from webhook_delivery where id = any(array(select id from webhook_delivery where state <> 'waiting' and ended_at_ms < $1 order by ended_at_ms limit $2 for update skip locked)) returning 1`,
  // In order of nonce, so that no gap appears; never at or after an open or younger slot.
  slots: `with gone as (
      select s.id from tx_slot s where s.state <> 'open' and s.created_at_ms < $1
        and not exists (select from tx_slot o where o.chain_id = s.chain_id and o.signer = s.signer and o.nonce <= s.nonce and (o.state = 'open' or o.created_at_ms >= $1))
        and exists (select from tx_slot n where n.chain_id = s.chain_id and n.signer = s.signer and n.nonce > s.nonce)
      order by s.chain_id, s.signer, s.nonce limit $2 for update skip locked),
    attempts as (delete from tx_attempt where slot_id in (select id from gone))
    delete from tx_slot where id in (select id from gone) returning 1`,
  explanations: `delete from lp_explanation where ctid = any(array(select ctid from lp_explanation where at_ms < $1 order by at_ms limit $2 for update skip locked)) returning 1`,
  tickets: `delete from ws_ticket where ctid = any(array(select ctid from ws_ticket where expires_at < to_timestamp($1::bigint / 1000.0) order by expires_at limit $2 for update skip locked)) returning 1`,
};

export async function letGo(db: Queryable, what: Kept, beforeMs: number, limit: number): Promise<number> {
  return (await db.query(LET_GO[what], [beforeMs, limit])).length;
}
