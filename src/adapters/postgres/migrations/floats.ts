/** Creates the tables of what route venues have promised out of floats of their own. */

import type { Migration } from '../migrate.ts';

export const FLOAT_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-floats-1',
    sql: `
create table float_promise (
  venue_id text not null,
  chain_id bigint not null,
  token bytea not null,
  origin_chain_id bigint not null,
  taker bytea not null,
  nonce bytea not null,
  amount numeric not null,
  until_s bigint not null,
  primary key (venue_id, chain_id, token, origin_chain_id, taker, nonce)
);
`,
  },
  {
    id: 'venue-floats-2',
    sql: `
create index trade_order_settled_bridge on trade_order ((route ->> 'venueId'), updated_at_ms) where final and status = 'settled' and route ->> 'kind' = 'bridge';
`,
  },
];
