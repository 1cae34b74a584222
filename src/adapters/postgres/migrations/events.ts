/** Positions of order events are assigned after commit, so a client that resumes misses nothing. */

import type { Migration } from '../migrate.ts';

export const EVENT_MIGRATIONS: readonly Migration[] = [
  {
    id: 'events-001-places',
    sql: `
alter table order_event add column place bigint, add column workspace_id text, add column mode text;
-- Numbers from a sequence become visible in another order than they were drawn; a place is given only once the event is there for all to see.
update order_event e set place = n.place, workspace_id = o.workspace_id, mode = o.mode
  from (select order_id, seq, row_number() over (order by occurred_at_ms, order_id, seq) as place from order_event) n join trade_order o using (order_id)
  where e.order_id = n.order_id and e.seq = n.seq;
create unique index order_event_place on order_event (place);
create index order_event_stream on order_event (workspace_id, mode, place);
create index order_event_unplaced on order_event (order_id, seq) where place is null;
`,
  },
];
