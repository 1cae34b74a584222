/** `firmquote keys`: issue, list and revoke, straight in the venue's database; running venues hear of it at once. */

import { createPostgresBus } from '../../adapters/postgres/bus.ts';
import { migrate } from '../../adapters/postgres/migrate.ts';
import { VENUE_MIGRATIONS } from '../../adapters/postgres/migrations/venue.ts';
import { connectDatabase } from '../../adapters/postgres/pool.ts';
import { createVenueStore } from '../../adapters/postgres/venue-store.ts';
import { createLog } from '../../adapters/pino/log.ts';
import { createRedactor } from '../../adapters/pino/redact.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { RequestError } from '../../domain/errors.ts';
import type { Bus } from '../../ports/bus.ts';
import type { KeyKind, KeyMode, Role, VenueStore } from '../../ports/store.ts';
import { KEYS_TOPIC, mintKey } from '../../venue/keys.ts';
import { loadConfig } from '../config/load.ts';
import { borrowDatabaseUrl } from '../database.ts';
import { VENUE_SCHEMA } from '../venue/schema.ts';
import { seed } from '../venue/seed.ts';
import { zVenueConfig } from '../venue/config.ts';

interface IssueOptions {
  config: string;
  kind: KeyKind;
  mode: KeyMode;
  workspace?: string;
  role?: Role;
  member?: string;
  solver?: string;
  label: string;
}

export async function issueKey(given: object): Promise<void> {
  const options = given as IssueOptions;
  assertComplete(options);
  await withStore(options.config, async (store) => {
    if (options.workspace !== undefined && !(await store.workspace(options.workspace))) throw new RequestError(`There is no workspace "${options.workspace}". Add it to the venue's configuration first.`, { code: 'bad_request' });
    if (options.solver !== undefined && !(await store.listSolvers()).some(({ id }) => id === options.solver)) throw new RequestError(`There is no solver "${options.solver}". Add it to the venue's configuration first.`, { code: 'bad_request' });
    const { text, record } = mintKey(
      { random: systemRandom, clock: systemClock },
      { kind: options.kind, mode: options.mode, workspaceId: options.workspace ?? null, role: options.kind === 'workspace' ? (options.role ?? 'viewer') : null, memberId: options.member ?? null, solverId: options.solver ?? null, label: options.label },
    );
    await store.addKey(record);
    console.error(`Key ${record.id}. This is the only time that its text is shown:`);
    console.log(text);
  });
}

export async function listKeys({ config }: { config: string }): Promise<void> {
  await withStore(config, async (store) => {
    for (const key of await store.listKeys()) {
      const owner = key.solverId ?? key.workspaceId ?? '-';
      const state = key.revokedAtMs === null ? 'live' : `revoked ${new Date(key.revokedAtMs).toISOString()}`;
      console.log([key.id, `fq_${key.mode}_${key.lookup}…`, key.kind, owner, key.role ?? '-', new Date(key.createdAtMs).toISOString(), state, key.label].join('  '));
    }
  });
}

export async function revokeKey(id: string, { config }: { config: string }): Promise<void> {
  await withStore(config, async (store, bus) => {
    if (!(await store.revokeKey(id, systemClock.nowMs()))) throw new RequestError(`There is no live key "${id}". See: firmquote keys list`, { code: 'not_found' });
    await bus.publish(KEYS_TOPIC, id);
    console.log(`${id} is revoked everywhere.`);
  });
}

function assertComplete({ kind, workspace, role, solver }: IssueOptions): void {
  if (kind === 'solver' ? solver === undefined : workspace === undefined) {
    throw new RequestError(kind === 'solver' ? 'A solver key belongs to a roster entry: add --solver ID.' : `A ${kind} key belongs to a workspace: add --workspace ID.`, { code: 'bad_request' });
  }
  if (role !== undefined && kind !== 'workspace') throw new RequestError('Only workspace keys have a role: leave --role out.', { code: 'bad_request' });
}

async function withStore(configFile: string, work: (store: VenueStore, bus: Bus) => Promise<void>): Promise<void> {
  const { config } = await loadConfig(zVenueConfig, configFile, process.env);
  const redactor = createRedactor();
  const log = createLog({ app: 'keys', level: 'silent', redactor });
  const { url, giveBack } = await borrowDatabaseUrl(config.database, { log, secrets: { env: process.env, redactor } });
  const db = connectDatabase({ url, schema: VENUE_SCHEMA, maxConnections: 2, log });
  const bus = createPostgresBus(db, log);
  try {
    await migrate(db, VENUE_MIGRATIONS);
    const store = createVenueStore(db);
    // A key may be issued before the venue ran for the first time.
    await seed(store, config);
    await work(store, bus);
  } finally {
    await bus.close();
    await db.close();
    await giveBack();
  }
}
