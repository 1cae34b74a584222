/** Orders that route venues settle, and legs of a route that are orders of their own. */

import type { Migration } from '../migrate.ts';

export const ROUTE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-routes-001',
    sql: `
alter table trade_order add column route jsonb, add column parent_order_id bytea references trade_order;
-- A leg is taken once; after it failed, and its money is back, it may be tried again.
create unique index trade_order_next_leg on trade_order (parent_order_id) where parent_order_id is not null and status <> 'failed';
create index trade_order_parent on trade_order (parent_order_id) where parent_order_id is not null;
`,
  },
];
