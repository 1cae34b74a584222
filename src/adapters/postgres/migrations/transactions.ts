/** A transactor's tables: signer leases, nonces, and all signed bytes. */

import type { Migration } from '../migrate.ts';
import { TX_LANE_MIGRATIONS } from './tx-lanes.ts';

export const TRANSACTION_MIGRATIONS: readonly Migration[] = [
  {
    id: 'tx-001-start',
    sql: `
create table tx_signer (
  chain_id bigint not null,
  signer bytea not null,
  owner text not null,
  fence bigint not null,
  lease_until timestamptz not null,
  next_nonce bigint not null default 0,
  primary key (chain_id, signer)
);

create table tx_slot (
  id bigint generated always as identity primary key,
  chain_id bigint not null,
  signer bytea not null,
  nonce bigint not null,
  key text not null,
  destination bytea not null,
  data bytea not null,
  gas bigint,
  not_after bigint,
  state text not null default 'open',
  reason text,
  mined_hash bytea,
  mined_block bigint,
  mined_block_hash bytea,
  created_at_ms bigint not null,
  constraint tx_slot_nonce unique (chain_id, signer, nonce)
);
-- One live slot a key: asking twice can never send twice.
create unique index tx_slot_key on tx_slot (chain_id, signer, key) where state <> 'void';
create index tx_slot_key_any on tx_slot (chain_id, signer, key, id desc);
create index tx_slot_mined on tx_slot (chain_id, signer, mined_block);
create index tx_slot_open on tx_slot (chain_id, signer, nonce) where state = 'open';

create table tx_attempt (
  slot_id bigint not null references tx_slot,
  n int not null,
  hash bytea not null,
  raw bytea not null,
  max_fee_per_gas numeric(78) not null,
  max_priority_fee_per_gas numeric(78) not null,
  gas bigint not null,
  noop boolean not null,
  created_at_ms bigint not null,
  primary key (slot_id, n)
);
`,
  },
  ...TX_LANE_MIGRATIONS,
  {
    id: 'tx-003-value',
    sql: `
-- Wei. Programs of the previous release write none.
alter table tx_slot add column value numeric(78) not null default 0;
`,
  },
  {
    id: 'tx-004-by-hash',
    sql: `
-- The books ask what a transaction on the chain was for.
create index tx_attempt_hash on tx_attempt (hash);
`,
  },
];
