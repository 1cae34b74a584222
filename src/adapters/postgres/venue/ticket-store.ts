/** Tickets of WebSockets. One clock, the database's, decides for all replicas when a ticket has expired. */

import type { ApiKey, TicketStore } from '../../../ports/stores/store.ts';
import type { Database } from '../pool.ts';
import { select } from '../rows.ts';
import { KEY_COLUMNS } from './venue-rows.ts';

export const createTicketStore = (db: Database): TicketStore => ({
  async addTicket({ sha256, keyId, lifeMs }) {
    const [row] = await db.query<{ ms: string }>(
      {
        name: 'ticket-add',
        text: `insert into ws_ticket (sha256, key_id, expires_at) values ($1, $2, now() + $3 * interval '1 ms')
               returning trunc(extract(epoch from expires_at) * 1000)::bigint as ms`,
      },
      [sha256, keyId, lifeMs],
    );
    return Number(row?.ms);
  },
  async useTicket(sha256) {
    // Of two concurrent calls, the second waits for the row and then finds the ticket used.
    const [spent] = await db.query<{ keyId: string }>(
      {
        name: 'ticket-use',
        text: `update ws_ticket set used = true where sha256 = $1 and not used and expires_at > now()
               returning key_id as "keyId"`,
      },
      [sha256],
    );
    if (spent) {
      const [key] = await select<ApiKey>(
        db,
        {
          name: 'ticket-key',
          text: `select ${KEY_COLUMNS} from api_key where id = $1 and revoked_at_ms is null`,
        },
        [spent.keyId],
      );
      return key ? { kind: 'fresh', key } : { kind: 'unknown' };
    }
    const [old] = await db.query<{ used: boolean }>('select used from ws_ticket where sha256 = $1', [sha256]);
    return { kind: old === undefined ? 'unknown' : old.used ? 'used' : 'expired' };
  },
});
