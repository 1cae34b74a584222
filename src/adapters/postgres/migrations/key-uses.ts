/** Stores when each API key was last used, beside the keys, so that the frequent write locks none of them. */

import type { Migration } from '../migrate.ts';

export const KEY_USE_MIGRATIONS: readonly Migration[] = [
  {
    id: 'venue-key-uses-1',
    sql: `
create table api_key_use (key_id text primary key references api_key, at_ms bigint not null);
create index api_key_workspace on api_key (workspace_id, mode) where revoked_at_ms is null;
create index admin_audit_key_issue on admin_audit (subject_id) where what = 'key.issue';
`,
  },
];
