/** Webhook endpoints, deliveries and attempts, and where the fan-out of events has got to. */

import type { Migration } from '../migrate.ts';

export const WEBHOOK_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-webhooks-1',
    sql: `
create table webhook_endpoint (
  id text primary key,
  workspace_id text not null,
  mode text not null,
  url text not null,
  description text not null,
  events text[] not null,
  secret text not null,
  previous_secret text,
  previous_until_ms bigint,
  from_place bigint not null,
  disabled_at_ms bigint,
  disabled_reason text,
  failing_since_ms bigint,
  last_failure text,
  paused_until_ms bigint,
  created_at_ms bigint not null,
  updated_at_ms bigint not null
);
create index webhook_endpoint_workspace on webhook_endpoint (workspace_id, mode, created_at_ms);

create table webhook_delivery (
  id text primary key,
  place bigint generated always as identity unique,
  endpoint_id text not null references webhook_endpoint on delete cascade,
  type text not null,
  body text not null,
  state text not null check (state in ('waiting', 'delivered', 'failed')),
  attempts int not null default 0,
  due_at_ms bigint not null,
  give_up_at_ms bigint not null,
  lease_until_ms bigint,
  created_at_ms bigint not null,
  ended_at_ms bigint,
  last_failure text
);
create index webhook_delivery_waiting on webhook_delivery (endpoint_id, due_at_ms) where state = 'waiting';
create index webhook_delivery_log on webhook_delivery (endpoint_id, place);
create index webhook_delivery_age on webhook_delivery (ended_at_ms) where state <> 'waiting';

create table webhook_attempt (
  delivery_id text not null references webhook_delivery on delete cascade,
  attempt int not null,
  started_at_ms bigint not null,
  ended_at_ms bigint,
  status int,
  failure text,
  primary key (delivery_id, attempt)
);

create table webhook_fan_out (only_row boolean primary key default true check (only_row), place bigint not null);

create table roster_status (solver_id text primary key, status text not null);
create table roster_change (
  id bigint generated always as identity primary key,
  solver_id text not null,
  status text not null,
  occurred_at_ms bigint not null,
  test jsonb,
  live jsonb
);
`,
  },
];
