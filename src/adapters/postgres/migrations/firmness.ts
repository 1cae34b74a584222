/** Tables of the firmness view: answer times of solvers, their accounts, and claims on their bonds. */

import type { Migration } from '../migrate.ts';

export const FIRMNESS_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-firmness-1-start',
    sql: `
-- How many answers of a solver took so long; its buckets are those of venue/solvers/answer-times.ts.
create table solver_answer (
  solver_id text not null,
  hour bigint not null,
  bucket smallint not null,
  n bigint not null,
  primary key (solver_id, hour, bucket)
) with (fillfactor = 70);

-- The account that a solver last proved on each chain.
create table solver_account (
  solver_id text not null,
  chain_id bigint not null,
  account bytea not null,
  primary key (solver_id, chain_id)
);

-- What the bond contracts paid, final on the chain.
create table bond_claim (
  chain_id bigint not null,
  tx_hash bytea not null,
  log_index int not null,
  block bigint not null,
  at_ms bigint not null,
  account bytea not null,
  order_id bytea not null,
  quote_id bytea not null,
  token bytea not null,
  reason text not null,
  promised numeric(78) not null,
  paid numeric(78) not null,
  forfeited numeric(78) not null,
  primary key (chain_id, tx_hash, log_index)
);
create index bond_claim_account on bond_claim (account, at_ms);
`,
  },
];
