/** Issues API keys of every kind for the demo's venue. */

import { createAdminStore } from '../../adapters/postgres/venue/admin-store.ts';
import { connectDatabase } from '../../adapters/postgres/pool.ts';
import { migrate } from '../../adapters/postgres/migrate.ts';
import { createVenueStore } from '../../adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Log } from '../../ports/log.ts';
import { mintKey, type NewKey } from '../../venue/access/keys.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../venue/schema.ts';
import { TRAVEL_RULE_USD } from './configs.ts';
import type { DemoState } from './state.ts';

export const WORKSPACE = 'demo';
const OTHER_WORKSPACE = 'other';

export async function issueDemoKeys(
  databaseUrl: string,
  state: DemoState,
  log: Log,
): Promise<DemoState['apiKeys']> {
  const db = connectDatabase({ url: databaseUrl, schema: VENUE_SCHEMA, maxConnections: 2, log });
  try {
    await migrate(db, VENUE_TABLES);
    const store = createVenueStore(db);
    for (const [id, name] of [
      [WORKSPACE, 'Demo workspace'],
      [OTHER_WORKSPACE, 'Another workspace'],
    ] as const) {
      await store.putWorkspace({
        id,
        name,
        platformFeeBps: state.config.venue.platformFeeBps,
        eligibleSolvers: null,
        limits: { openQuotes: null, openNotionalUsd: null },
        travelRuleThresholdUsd: id === WORKSPACE ? TRAVEL_RULE_USD : null,
      });
    }
    await createAdminStore(db).change(async (tx) => {
      for (const [id, firstName, role] of [
        ['demo-owner', 'Olga', 'owner'],
        ['demo-admin', 'Adam', 'admin'],
        ['demo-member', 'Mona', 'member'],
      ] as const) {
        await tx.putMember({
          workspaceId: WORKSPACE,
          id,
          firstName,
          lastName: 'Demo',
          email: `${id}@demo.example`,
          role,
          kycStatus: 'verified',
          joinedAtMs: systemClock.nowMs(),
          removedAtMs: null,
        });
      }
    });
    const issue = async (key: Partial<NewKey> & Pick<NewKey, 'kind' | 'label'>): Promise<string> => {
      const { text, record } = mintKey(
        { random: systemRandom, clock: systemClock },
        { mode: 'test', workspaceId: null, role: null, memberId: null, solverId: null, ...key },
      );
      await store.addKey(record);
      return text;
    };
    const solvers: Record<string, string> = {};
    for (const { id, name } of [...state.config.lps, state.config.spareLp]) {
      await store.putSolver({ id, name, kind: 'lp', corridors: null, disabled: false });
      solvers[id] = await issue({ kind: 'solver', solverId: id, label: `demo ${id}` });
    }
    const issueFor = (kind: 'service' | 'workspace', role: 'admin' | 'member', label: string) =>
      issue({
        kind,
        workspaceId: WORKSPACE,
        memberId: `demo-${role}`,
        label,
        ...(kind === 'workspace' && { role }),
      });
    return {
      service: await issueFor('service', 'member', 'demo service'),
      workspaceAdmin: await issueFor('workspace', 'admin', 'demo admin'),
      workspaceMember: await issueFor('workspace', 'member', 'demo member'),
      otherService: await issue({ kind: 'service', workspaceId: OTHER_WORKSPACE, label: 'other service' }),
      solvers,
    };
  } finally {
    await db.close();
  }
}
