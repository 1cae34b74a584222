/** Tables of deliveries into ledgers, derived from facts. */

import type { Migration } from '../migrate.ts';

export const DELIVERY_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-deliveries-1',
    sql: `
create table ledger_delivery (
  order_id bytea not null,
  output_index int not null,
  chain_id bigint not null,
  account text not null,
  token text not null,
  remaining numeric not null,
  requested numeric not null,
  auto_withdraw boolean not null,
  credited_at bigint not null,
  due_at bigint not null,
  primary key (order_id, output_index)
);
create index ledger_delivery_due on ledger_delivery (chain_id, due_at) where auto_withdraw;
create index ledger_delivery_open on ledger_delivery (chain_id, account, token) where remaining > 0;

create table withdrawals_read (
  chain_id bigint primary key,
  block numeric not null,
  log_index bigint not null
);
`,
  },
  {
    id: 'venue-deliveries-2',
    sql: `
alter table ledger_delivery add column look_at bigint not null default 0;
`,
  },
];
