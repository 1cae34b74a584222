/** Tables of an LP: one row says who owns the store; awards, leases and the clean stop hang on it. */

import type { Migration } from '../migrate.ts';

export const LP_MIGRATIONS: readonly Migration[] = [
  {
    id: 'lp-1-awards',
    sql: `
      -- The fence: whoever cannot show the current epoch writes nothing.
      create table lp_owner (
        one boolean primary key default true check (one),
        epoch bigint not null,
        -- The ledger and cursors of a clean stop; handed out once.
        clean jsonb
      );
      create table lp_lease (
        chain_id bigint primary key,
        signed_up_to bigint not null,
        clean boolean not null
      );
      create table lp_award (
        order_id bytea primary key,
        quote_id bytea not null,
        message jsonb not null,
        output_index int not null,
        commitment jsonb,
        stage text not null,
        fill jsonb,
        note text,
        accepted_at_ms bigint not null,
        updated_at_ms bigint not null
      );
      create index lp_award_open on lp_award (accepted_at_ms) where stage in ('committed', 'filled');
      create index lp_award_newest on lp_award (accepted_at_ms desc);
    `,
  },
];
