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
  {
    id: 'lp-6-audit',
    sql: `
      -- Who did what to this LP. Rows only ever arrive.
      create table lp_audit (
        id bigint generated always as identity primary key,
        at_ms bigint not null,
        who text not null,
        what text not null,
        note text,
        changes jsonb not null,
        config_sha256 text
      );
      create index lp_audit_what on lp_audit (what, id desc);
      create function lp_audit_stays() returns trigger language plpgsql as $$ begin raise exception 'the audit trail is append-only'; end $$;
      create trigger lp_audit_stays before update or delete on lp_audit for each row execute function lp_audit_stays();
      create trigger lp_audit_whole before truncate on lp_audit for each statement execute function lp_audit_stays();
    `,
  },
];
