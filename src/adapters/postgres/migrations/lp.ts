/** Tables of an LP: its owner, awards, leases and clean stop. */

import type { Migration } from '../migrate.ts';
import { LP_PROFIT_MIGRATIONS } from './lp-profit.ts';
import { LP_REPLICA_MIGRATIONS } from './lp-replicas.ts';
import { LP_TRANSFER_MIGRATIONS } from './lp-transfers.ts';

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
    id: 'lp-4-risk',
    sql: `
      -- What a risk control must remember over a crash, one row a control.
      create table lp_risk (
        name text primary key,
        value jsonb not null
      );
    `,
  },
  {
    id: 'lp-2-journal',
    sql: `
      -- Double-entry books. Entries and postings only ever arrive; what is wrong is reversed by another entry.
      create table lp_entry (
        n bigint generated always as identity primary key,
        id text not null unique,
        kind text not null,
        at_ms bigint not null,
        order_id bytea,
        chain_id bigint not null,
        block bigint,
        tx_hash bytea
      );
      create index lp_entry_order on lp_entry (order_id, n) where order_id is not null;
      create table lp_posting (
        entry bigint not null references lp_entry,
        account text not null,
        chain_id bigint not null,
        token text not null,
        amount numeric(78) not null
      );
      create index lp_posting_entry on lp_posting (entry);
      -- The sums of all postings, kept beside them so that a start does not add up years.
      create table lp_balance (
        account text not null,
        chain_id bigint not null,
        token text not null,
        amount numeric(78) not null,
        primary key (account, chain_id, token)
      );
      -- Fills that were seen and are neither at depth nor reversed.
      create table lp_pending (id text primary key references lp_entry (id));
      create table lp_journal_cursor (
        chain_id bigint primary key,
        block bigint not null,
        hash bytea not null,
        nonce bigint not null
      );
      create table lp_trade (
        order_id bytea primary key,
        quote_id bytea,
        accepted_at_ms bigint not null,
        taker bytea not null,
        pair text not null,
        corridor text not null,
        side text not null,
        stage text not null,
        counted boolean not null,
        -- Not over yet, or a mark is still to come.
        open boolean not null,
        mid double precision,
        late boolean not null,
        paid_micros numeric(40) not null,
        input_micros numeric(40) not null,
        fees_micros numeric(40) not null,
        earned_micros numeric(40) not null,
        paid numeric(78) not null,
        earned numeric(78) not null,
        gas_micros numeric(40) not null,
        realised_micros numeric(40) not null,
        marks jsonb not null
      );
      create index lp_trade_accepted on lp_trade (accepted_at_ms);
      create index lp_trade_open on lp_trade (accepted_at_ms) where open;
      create table lp_position (
        asset text primary key,
        quantity numeric(60) not null,
        cost_micros numeric(40) not null,
        realised_micros numeric(40) not null,
        owner_micros numeric(40) not null,
        unpriced numeric(60) not null
      );
      -- Why an accepted quote was priced as it was.
      create table lp_explanation (
        order_id bytea primary key,
        quote_id text not null,
        rfq_id text not null,
        at_ms bigint not null,
        explanation jsonb not null
      );
      create index lp_explanation_quote on lp_explanation (quote_id);
      create index lp_explanation_rfq on lp_explanation (rfq_id);
    `,
  },
  {
    id: 'lp-3-takers',
    sql: `
      create table lp_taker (
        key text primary key,
        means double precision[] not null,
        trades double precision[] not null,
        seen_ms bigint not null
      );
      create index lp_taker_seen on lp_taker (seen_ms desc);
    `,
  },
  {
    id: 'lp-5-calibration',
    sql: `
      -- The win-rate curves that quotes taught us.
      create table lp_calibration (
        one boolean primary key default true check (one),
        curves jsonb not null
      );
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
  {
    id: 'lp-7-clean-as-written',
    sql: `
      -- A hundred thousand holds are 70 MB: kept as they were written, neither taken apart nor compressed, for a stop has ten seconds.
      alter table lp_owner alter column clean type json using clean::json;
      alter table lp_owner alter column clean set storage external;
    `,
  },
  ...LP_REPLICA_MIGRATIONS,
  {
    id: 'lp-9-clean-in-pieces',
    sql: `
      -- Promises on their way into lp_owner.clean, within the transaction of a stop only: no message is so large that a loop stands still for it.
      create unlogged table lp_clean_piece (
        piece integer primary key,
        promises text not null
      );
      alter table lp_clean_piece alter column promises set storage external;
    `,
  },
  {
    id: 'lp-10-gas-per-operator',
    sql: `
      -- lp_journal_cursor.nonce belongs to whichever operator runs; these stay when a key is rotated out.
      create table lp_gas_cursor (
        chain_id bigint not null,
        operator bytea not null,
        nonce bigint not null,
        -- The operator's opening balance is of this block.
        block bigint not null,
        primary key (chain_id, operator)
      );
    `,
  },
  ...LP_PROFIT_MIGRATIONS,
  {
    id: 'lp-12-signals',
    sql: `
      -- What the operator expects of a pair for a while; all replicas price with it.
      create table lp_signal (
        n bigint generated always as identity,
        id text primary key,
        pair text not null,
        side text,
        expires_at_ms bigint not null,
        signal jsonb not null
      );
    `,
  },
  {
    id: 'lp-13-audit-address',
    sql: `
      -- Where the caller of the admin API was.
      alter table lp_audit add column address text;
    `,
  },
  ...LP_TRANSFER_MIGRATIONS,
  {
    id: 'lp-15-pricing-versions',
    sql: `
      -- The pricing parameters that were in force. \`json\` keeps the order in which the file had them.
      create table lp_pricing_version (
        n bigint generated always as identity primary key,
        at_ms bigint not null,
        who text not null,
        note text,
        parameters json not null
      );
      create trigger lp_pricing_version_stays before update or delete on lp_pricing_version for each row execute function lp_audit_stays();
      create trigger lp_pricing_version_whole before truncate on lp_pricing_version for each statement execute function lp_audit_stays();
    `,
  },
];
