/** Orders of a route venue by the time of the block that filled them, for the books between both. */

import type { UnixSeconds } from '../../../domain/time.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Database } from '../pool.ts';
import { ORDER_COLUMNS, orderFromRow } from './order-rows.ts';

/** Reads the orders filled from `begin` on and before `end`, oldest first. Throws `UpstreamError`. */
export async function filledOrdersOf(
  db: Database,
  venueId: string,
  { begin, end }: { begin: UnixSeconds; end: UnixSeconds },
): Promise<OrderRecord[]> {
  const rows = await db.query(
    `select ${ORDER_COLUMNS} from trade_order o
     where o.route ->> 'venueId' = $1 and exists (
       select from order_fact f where f.order_id = o.order_id and f.fact ->> 'kind' = 'filled'
         and (f.fact -> 'evidence' ->> 'at')::bigint >= $2 and (f.fact -> 'evidence' ->> 'at')::bigint < $3)
     order by o.created_at_ms, o.order_id`,
    [venueId, begin, end],
  );
  return rows.map(orderFromRow);
}
