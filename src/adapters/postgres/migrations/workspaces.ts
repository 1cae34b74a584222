/** Tables of workspace members and administrative changes. */

import type { Migration } from '../migrate.ts';

export const WORKSPACE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-workspaces-1-members',
    sql: `
create table member (
  workspace_id text not null references workspace,
  id text not null,
  first_name text not null,
  last_name text not null,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  kyc_status text not null check (kyc_status in ('none', 'pending', 'verified', 'rejected')),
  joined_at_ms bigint not null,
  -- Whoever left stays: what they traded names them.
  removed_at_ms bigint,
  primary key (workspace_id, id)
);
-- An address means one person of a workspace at a time.
create unique index member_email on member (workspace_id, lower(email)) where removed_at_ms is null;

alter table trade_order add column member_id text;
create index api_key_member on api_key (workspace_id, member_id) where member_id is not null;

create table admin_audit (
  id bigint generated always as identity primary key,
  at_ms bigint not null,
  who text not null,
  what text not null,
  workspace_id text,
  subject text not null,
  subject_id text not null,
  before jsonb,
  after jsonb
);
create index admin_audit_workspace on admin_audit (workspace_id, id desc);
create function admin_audit_stays() returns trigger language plpgsql as $$ begin raise exception 'the audit trail is append-only'; end $$;
create trigger admin_audit_stays before update or delete on admin_audit for each row execute function admin_audit_stays();
create trigger admin_audit_whole before truncate on admin_audit for each statement execute function admin_audit_stays();
`,
  },
];
