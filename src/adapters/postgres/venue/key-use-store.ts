/** The valid keys of a workspace, with when each was last used and who issued it. */

import type { KeyInUse, KeyUseStore } from '../../../ports/stores/key-uses.ts';
import type { Database } from '../pool.ts';
import { select } from '../rows.ts';
import { KEY_COLUMNS } from './venue-rows.ts';

export const createKeyUseStore = (db: Database): KeyUseStore => ({
  async addKeyUses(uses) {
    // In order of key, so that two replicas do not wait for each other.
    const sorted = uses.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1));
    await db.query(
      {
        name: 'key-uses-add',
        text: `insert into api_key_use (key_id, at_ms)
               select u.key_id, u.at_ms from unnest($1::text[], $2::bigint[]) with ordinality u(key_id, at_ms, n)
               where exists (select from api_key where id = u.key_id) order by u.n
               on conflict (key_id) do update set at_ms = greatest(api_key_use.at_ms, excluded.at_ms)`,
      },
      [sorted.map(({ keyId }) => keyId), sorted.map(({ atMs }) => atMs)],
    );
  },
  keysInUse: (workspaceId, mode) =>
    select<KeyInUse>(
      db,
      {
        name: 'keys-in-use',
        text: `select ${KEY_COLUMNS}, (select at_ms from api_key_use where key_id = id) as last_used_at_ms,
                 (select who from admin_audit where what = 'key.issue' and subject_id = api_key.id limit 1) as issuer
               from api_key where workspace_id = $1 and mode = $2 and revoked_at_ms is null
               order by created_at_ms, id`,
      },
      [workspaceId, mode],
    ),
});
