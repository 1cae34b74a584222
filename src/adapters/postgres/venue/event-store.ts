/** Order events. Positions are given after commit, under one lock, so they appear in order. */

import type { EventStore, PlacedEvent } from '../../../ports/stores/store.ts';
import { ORDER_COLUMNS, orderFromRow } from './order-rows.ts';
import { bytes, select } from '../rows.ts';
import type { Database } from '../pool.ts';

const LOCK_KEY = 7_163_002;
const BATCH = 2_000;

const UNPLACED = {
  name: 'event-unplaced',
  text: 'select exists (select from order_event where place is null) as waiting, (select max(place) from order_event) as last',
};

/** Events of one order keep their order, whatever the replicas' clocks said. */
const PLACE = {
  name: 'event-place',
  text: `with fresh as (
      select order_id, seq, row_number() over (order by at, order_id, seq) as n from (
        select order_id, seq, max(occurred_at_ms) over (partition by order_id order by seq) as at
        from (select order_id, seq, occurred_at_ms from order_event where place is null order by order_id, seq limit ${BATCH}) waiting) timed)
    update order_event e set place = coalesce((select max(place) from order_event), 0) + fresh.n, workspace_id = o.workspace_id, mode = o.mode
    from fresh join trade_order o using (order_id) where e.order_id = fresh.order_id and e.seq = fresh.seq returning e.place`,
};

const COLUMNS = 'order_id, seq, type, occurred_at_ms, place, workspace_id, mode';

export function createEventStore(db: Database): EventStore {
  return {
    async placeEvents() {
      for (;;) {
        const [row] = await db.query<{ waiting: boolean; last: number | null }>(UNPLACED);
        if (!row?.waiting) return row?.last ?? 0;
        const placed = await db.transaction(async (session) => {
          // Two statements, so that the read after the lock sees all earlier positions.
          await session.query({ name: 'event-lock', text: 'select pg_advisory_xact_lock($1)' }, [LOCK_KEY]);
          return session.query<{ place: number }>(PLACE);
        });
        if (placed.length > 0 && placed.length < BATCH) return Math.max(...placed.map(({ place }) => place));
      }
    },
    async eventsAfter(place, limit, of) {
      const owned = of ? 'workspace_id = $3 and mode = $4 and ' : '';
      return select<PlacedEvent>(
        db,
        {
          name: of ? 'events-after-of' : 'events-after',
          text: `select ${COLUMNS} from order_event where ${owned}place > $1 order by place limit $2`,
        },
        of ? [place, limit, of.workspaceId, of.mode] : [place, limit],
      );
    },
    async ordersWith(orderIds) {
      if (orderIds.length === 0) return new Map();
      const rows = await db.query(
        {
          name: 'orders-with',
          text: `select ${ORDER_COLUMNS} from trade_order o where order_id = any($1::bytea[])`,
        },
        [orderIds.map(bytes)],
      );
      return new Map(rows.map(orderFromRow).map((order) => [order.orderId, order]));
    },
  };
}
