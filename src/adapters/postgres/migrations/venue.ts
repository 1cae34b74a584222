/** The venue's tables: keys, workspaces, solvers, orders with their facts and events. */

import type { Migration } from '../migrate.ts';
import { DELIVERY_MIGRATIONS } from './deliveries.ts';
import { EVENT_MIGRATIONS } from './events.ts';
import { FIRMNESS_MIGRATIONS } from './firmness.ts';
import { FLOAT_MIGRATIONS } from './floats.ts';
import { KEY_USE_MIGRATIONS } from './key-uses.ts';
import { RECORD_MIGRATIONS } from './records.ts';
import { ROUTE_MIGRATIONS } from './routes.ts';
import { TICKET_MIGRATIONS } from './tickets.ts';
import { TRADE_MIGRATIONS } from './trades.ts';
import { TRANSFER_MIGRATIONS } from './transfers.ts';
import { WEBHOOK_MIGRATIONS } from './webhooks.ts';
import { WORKSPACE_MIGRATIONS } from './workspaces.ts';

export const VENUE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-001-start',
    sql: `
create table api_key (
  id text primary key,
  kind text not null,
  mode text not null,
  workspace_id text,
  role text,
  member_id text,
  solver_id text,
  lookup text not null,
  sha256 text not null unique,
  label text not null,
  created_at_ms bigint not null,
  revoked_at_ms bigint
);
create index api_key_lookup on api_key (lookup);

create table workspace (
  id text primary key,
  name text not null,
  platform_fee_bps int not null,
  eligible_solvers text[],
  max_open_quotes int,
  max_open_notional_usd double precision
);

create table solver (
  id text primary key,
  name text not null,
  kind text not null,
  corridors text[],
  disabled boolean not null,
  first_seen_at_ms bigint,
  last_quote_at_ms bigint
);

create table roster_transition (
  id bigint generated always as identity primary key,
  solver_id text not null,
  from_status text not null,
  to_status text not null,
  reason text not null,
  at_ms bigint not null
);
create index roster_transition_solver on roster_transition (solver_id, id);

create table trade_order (
  order_id bytea primary key,
  quote_id bytea not null,
  workspace_id text not null,
  key_id text not null,
  namespace text not null,
  mode text not null,
  execution_mode text not null,
  origin_chain_id bigint not null,
  dest_chain_ids bigint[] not null,
  taker bytea not null,
  nonce bytea not null,
  message jsonb not null,
  valid_until bigint not null,
  commitments jsonb not null,
  solver_ids text[] not null,
  signature bytea not null,
  sign_scheme text not null,
  funding bytea not null,
  candidate text not null,
  response text not null,
  reference_id text,
  amount_usd double precision,
  status text not null default 'pending',
  -- Nothing is left to be done: settled, refunded, or failed without anything escrowed.
  final boolean not null default false,
  last_seq int not null default 1,
  owner text,
  fence bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  created_at_ms bigint not null,
  updated_at_ms bigint not null,
  constraint trade_order_quote unique (quote_id),
  constraint trade_order_nonce unique (origin_chain_id, taker, nonce)
);
-- However long the history grows, these two hold the few orders that are still open.
create index trade_order_open on trade_order (created_at_ms, order_id) where not final;
create index trade_order_open_solver on trade_order using gin (solver_ids) where not final;
create index trade_order_workspace on trade_order (workspace_id, mode, created_at_ms desc, order_id desc);

create table order_fact (
  order_id bytea not null references trade_order,
  seq int not null,
  recorded_at_ms bigint not null,
  fact jsonb not null,
  primary key (order_id, seq)
);

create table order_event (
  order_id bytea not null references trade_order,
  seq int not null,
  type text not null,
  occurred_at_ms bigint not null,
  primary key (order_id, seq)
);

create table idempotency (
  workspace_id text not null,
  namespace text not null,
  mode text not null,
  key text not null,
  body_sha256 text not null,
  order_id bytea not null,
  response text not null,
  created_at_ms bigint not null,
  constraint idempotency_key primary key (workspace_id, namespace, mode, key)
);
create index idempotency_age on idempotency (created_at_ms);
`,
  },
  ...WORKSPACE_MIGRATIONS,
  ...RECORD_MIGRATIONS,
  ...EVENT_MIGRATIONS,
  ...ROUTE_MIGRATIONS,
  ...TRADE_MIGRATIONS,
  ...DELIVERY_MIGRATIONS,
  ...FIRMNESS_MIGRATIONS,
  ...TICKET_MIGRATIONS,
  ...WEBHOOK_MIGRATIONS,
  ...FLOAT_MIGRATIONS,
  ...KEY_USE_MIGRATIONS,
  ...TRANSFER_MIGRATIONS,
];
