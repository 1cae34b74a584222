/** Transfers of inventory between chains. */

import type { Migration } from '../migrate.ts';

export const TRANSFER_MIGRATIONS: readonly Migration[] = [
  {
    id: 'transfers-1',
    sql: `
create table transfer (
  id text primary key,
  bridge text not null,
  account text not null,
  from_chain_id bigint not null,
  from_token text not null,
  to_chain_id bigint not null,
  to_token text not null,
  amount numeric not null,
  reason text not null,
  created_at_ms bigint not null,
  estimate jsonb,
  sent jsonb,
  final boolean not null default false
);
create unique index transfer_one_open on transfer (account, from_chain_id, from_token) where not final;
create index transfer_newest on transfer (created_at_ms desc);
create table transfer_fact (
  transfer_id text not null references transfer (id),
  n integer not null,
  fact jsonb not null,
  primary key (transfer_id, n)
);
`,
  },
];
