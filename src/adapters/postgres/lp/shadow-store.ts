/** The requests of a shadow LP in PostgreSQL. */

import type { ShadowRequest, ShadowStore } from '../../../ports/stores/shadow-store.ts';
import type { Database } from '../pool.ts';
import { put, select } from '../rows.ts';

const BIGINTS = ['input', 'output', 'volume_micros', 'earned_micros', 'accepted_input', 'accepted_output'];

export function createShadowStore(db: Database): ShadowStore {
  return {
    put: (requests) =>
      db.transaction(async (session) => {
        for (const request of requests)
          await put(session, 'lp_shadow_request', request, { key: 'rfq_id', name: 'lp-shadow-put' });
      }),
    async list({ sinceMs, untilMs }, limit) {
      const newest = await select<ShadowRequest>(
        db,
        'select * from lp_shadow_request where at_ms >= $1 and ($2::bigint is null or at_ms < $2) ' +
          'order by at_ms desc, rfq_id limit $3',
        [sinceMs, untilMs, limit],
        BIGINTS,
      );
      return newest.reverse();
    },
    async keep(newest) {
      await db.query(
        'delete from lp_shadow_request where (at_ms, rfq_id) in ' +
          '(select at_ms, rfq_id from lp_shadow_request order by at_ms desc, rfq_id offset $1)',
        [newest],
      );
    },
  };
}
