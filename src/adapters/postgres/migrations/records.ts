/** Compliance records: screening at acceptance, travel-rule duty, and transmissions. */

import type { Migration } from '../migrate.ts';

export const RECORD_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-records-1-compliance',
    sql: `
alter table workspace add column travel_rule_threshold_usd double precision;
alter table trade_order add column screening jsonb, add column travel_rule jsonb;

create table travel_rule_record (
  order_id bytea not null references trade_order,
  attempt int not null check (attempt >= 1),
  state text not null check (state in ('due', 'sending', 'transmitted', 'failed', 'unknown', 'abandoned')),
  due_at_ms bigint not null,
  lease_until_ms bigint,
  started_at_ms bigint,
  ended_at_ms bigint,
  transmitter text,
  reference text,
  detail text,
  message_sha256 text,
  primary key (order_id, attempt)
);
-- An order has one attempt at work at most.
create unique index travel_rule_one_open on travel_rule_record (order_id) where state in ('due', 'sending');
create index travel_rule_due on travel_rule_record (due_at_ms) where state = 'due';
create index travel_rule_sending on travel_rule_record (lease_until_ms) where state = 'sending';
`,
  },
];
