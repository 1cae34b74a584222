/** Tickets of WebSockets, by the SHA-256 of their text. */

import type { Migration } from '../migrate.ts';

export const TICKET_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-tickets-1-start',
    sql: `
create table ws_ticket (
  sha256 text primary key,
  key_id text not null,
  expires_at timestamptz not null,
  used boolean not null default false
);
create index ws_ticket_age on ws_ticket (expires_at);
`,
  },
];
