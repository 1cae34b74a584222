/** The venue's store: keys, workspaces, members and solvers here, the rest beside it. */

import type { Member } from '../../../ports/stores/members.ts';
import type { ApiKey, SolverRecord } from '../../../ports/stores/store.ts';
import type { VenueStore } from '../../../ports/stores/venue-store.ts';
import { put, select } from '../rows.ts';
import { createEventStore } from './event-store.ts';
import { createFirmnessStore } from './firmness-store.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { createOrderStore } from './order-store.ts';
import { createTradeStore } from '../trades/trade-store.ts';
import { createKeyUseStore } from './key-use-store.ts';
import { createTicketStore } from './ticket-store.ts';
import { createTravelRuleStore } from './travel-rule-store.ts';
import { createWebhookStore } from './webhook-store.ts';
import type { Database } from '../pool.ts';
import {
  addKey,
  KEY_COLUMNS,
  MEMBER_COLUMNS,
  putSolver,
  putWorkspace,
  selectWorkspaces,
  SOLVER_COLUMNS,
} from './venue-rows.ts';

export function createVenueStore(db: Database): VenueStore {
  return {
    ...createOrderStore(db),
    ...createDeliveryStore(db),
    ...createTravelRuleStore(db),
    ...createEventStore(db),
    ...createFirmnessStore(db),
    ...createTicketStore(db),
    ...createKeyUseStore(db),
    trades: createTradeStore(db),
    webhooks: createWebhookStore(db),

    findKey: (lookup) =>
      select<ApiKey>(db, { name: 'key-find', text: `select ${KEY_COLUMNS} from api_key where lookup = $1` }, [
        lookup,
      ]),
    addKey: (key) => addKey(db, key),
    async revokeKey(id, atMs) {
      const revoked = await db.query(
        'update api_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null returning id',
        [id, atMs],
      );
      return revoked.length === 1;
    },
    async liveKeys(ids) {
      const rows = await db.query<{ id: string }>(
        { name: 'keys-live', text: 'select id from api_key where id = any($1) and revoked_at_ms is null' },
        [ids],
      );
      return rows.map(({ id }) => id);
    },
    listKeys: () => select<ApiKey>(db, `select ${KEY_COLUMNS} from api_key order by created_at_ms, id`),

    async workspace(id) {
      return (await selectWorkspaces(db, 'id = $1', [id], 'workspace-one'))[0];
    },
    putWorkspace: (workspace) => putWorkspace(db, workspace),
    listWorkspaces: () => selectWorkspaces(db, 'true'),

    async member(workspaceId, id) {
      const statement = {
        name: 'member-one',
        text: `select ${MEMBER_COLUMNS} from member where workspace_id = $1 and id = $2`,
      };
      return (await select<Member>(db, statement, [workspaceId, id]))[0];
    },
    listMembers: (workspaceId) =>
      select<Member>(
        db,
        {
          name: 'member-list',
          text: `select ${MEMBER_COLUMNS} from member where workspace_id = $1 order by joined_at_ms, id`,
        },
        [workspaceId],
      ),

    listSolvers: () => select<SolverRecord>(db, `select ${SOLVER_COLUMNS} from solver order by id`),
    putSolver: (solver) => putSolver(db, solver),
    async solverSeen(id, atMs) {
      await db.query(
        `update solver set first_seen_at_ms = $2
         where id = $1 and (first_seen_at_ms is null or first_seen_at_ms > $2)`,
        [id, atMs],
      );
    },
    async solverQuoted(id, atMs) {
      await db.query('update solver set last_quote_at_ms = greatest(last_quote_at_ms, $2) where id = $1', [
        id,
        atMs,
      ]);
    },
    addTransition: ({ solverId, from, to, reason, atMs }) =>
      put(db, 'roster_transition', { solverId, fromStatus: from, toStatus: to, reason, atMs }),

    async ping() {
      await db.query('select 1');
    },
    close: () => db.close(),
  };
}
