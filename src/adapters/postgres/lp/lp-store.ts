/** The LP's state. Opening it raises the epoch, and every write checks its epoch. */

import { randomUUID } from 'node:crypto';
import { InvariantError } from '../../../domain/errors.ts';
import type { SnapshotChunks } from '../../../inventory/snapshot.ts';
import type { ChainCursor, LpAward, LpSignal, LpStore, Opening } from '../../../ports/stores/lp-store.ts';
import type { Database, Queryable } from '../pool.ts';
import { bytes, put } from '../rows.ts';
import { AWARD_COLUMNS, awardValues, OPEN_AWARDS, toAward } from './award-rows.ts';
import { readClean, writeClean } from './clean-stop.ts';

type Write = (session: Queryable) => Promise<unknown>;

interface LpStoreState {
  /** undefined before the store is opened, -1 while another replica leads. */
  epoch: number | undefined;
  /** This process among the replicas of an LP; undefined when it runs alone. */
  shared: { replica: string; process: string; since: number } | undefined;
}

export function createLpStore(db: Database): LpStore {
  const state: LpStoreState = { epoch: undefined, shared: undefined };

  return {
    join: (replica) => join(db, state, replica),
    lead: (leaseMs) => lead(db, state, leaseMs),
    epoch: () => state.epoch ?? -1,
    async signedUpTo() {
      const rows = await db.query<{ chain_id: number; signed_up_to: number }>(
        'select chain_id, max(signed_up_to) as signed_up_to from (select chain_id, signed_up_to from ' +
          'lp_lease union all select chain_id, signed_up_to from lp_replica_lease) every group by ' +
          'chain_id',
      );
      return new Map(rows.map((row) => [row.chain_id, row.signed_up_to]));
    },
    async awardsBut(known) {
      const rows = await db.query(
        {
          name: 'lp-awards-but',
          text: `select ${AWARD_COLUMNS} from lp_award where stage in ('committed', 'filled') and order_id <> all($1::bytea[]) order by accepted_at_ms, order_id limit 500`,
        },
        [known.map(bytes)],
      );
      return rows.map(toAward);
    },
    open: () => open(db, state),
    writeLease: (chainId, lease) => writeLease(db, state, chainId, lease),
    putAward: (award) => putAward(db, state, award),
    putRisk(name, value) {
      const putAs = (as: string) => (session: Queryable) =>
        put(session, 'lp_risk', { name: as, value: JSON.stringify(value) }, { key: 'name', name: 'lp-risk' });
      return state.shared === undefined
        ? owned(db, state, putAs(name))
        : ours(db, state.shared, putAs(`${name}@${state.shared.replica}`));
    },
    async putKillReasons(reasons) {
      if (state.shared === undefined) throw new InvariantError('Only replicas share a kill switch.');
      return ours(db, state.shared, (session) =>
        reasons === null
          ? session.query('delete from lp_risk where name = $1', [KILL])
          : session.query(PULL, [KILL, JSON.stringify(reasons)]),
      );
    },
    async killReasons() {
      const [row] = await db.query<{ value: unknown }>(
        { name: 'lp-kill', text: 'select value from lp_risk where name = $1' },
        [KILL],
      );
      return row?.value;
    },
    putPauses: (changes) =>
      anyOfUs(db, state, (session) =>
        changes === null
          ? session.query('delete from lp_risk where name = $1', [PAUSES])
          : session.query(
              'insert into lp_risk (name, value) values ($1, jsonb_strip_nulls($2::jsonb)) on conflict (name) do update set value = jsonb_strip_nulls(lp_risk.value || $2::jsonb)',
              [PAUSES, JSON.stringify(changes)],
            ),
      ),
    async pauses() {
      const [row] = await db.query<{ value: Record<string, string> }>(
        { name: 'lp-pauses', text: 'select value from lp_risk where name = $1' },
        [PAUSES],
      );
      return row?.value ?? {};
    },
    putSignal: (signal) => putSignal(db, state, signal),
    dropSignals: (ids) =>
      anyOfUs(db, state, (session) =>
        session.query({ name: 'lp-signals-dropped', text: 'delete from lp_signal where id = any($1)' }, [
          [...ids],
        ]),
      ),
    signals: () => signals(db),
    putCurves: (json) =>
      owned(db, state, (session) =>
        session.query(
          {
            name: 'lp-curves',
            text: 'insert into lp_calibration (curves) values ($1) on conflict (one) do update set curves = excluded.curves',
          },
          [json],
        ),
      ),
    async award(orderId) {
      const [row] = await db.query(`select ${AWARD_COLUMNS} from lp_award where order_id = $1`, [
        bytes(orderId),
      ]);
      return row && toAward(row);
    },
    async listAwards(limit) {
      const text = `select ${AWARD_COLUMNS} from lp_award order by accepted_at_ms desc, order_id limit $1`;
      return (await db.query(text, [limit])).map(toAward);
    },
    stop: (snapshot) => stop(db, state, snapshot),
    async ping() {
      await db.query('select 1');
    },
    close: () => db.close(),
  };
}

/** Runs a write only while the owner's row says so. The row lock delays a takeover until the commit. */
const writeWhile = (
  db: Database,
  name: string,
  condition: string,
  value: number,
  write: Write,
): Promise<boolean> =>
  db.transaction(async (session) => {
    const text = `select 1 from lp_owner where ${condition} for share`;
    if ((await session.query({ name, text }, [value])).length === 0) return false;
    await write(session);
    return true;
  });

async function owned(db: Database, state: LpStoreState, write: Write): Promise<boolean> {
  if (state.epoch === undefined) throw new InvariantError('The LP store was not opened.');
  return writeWhile(db, 'lp-owner', 'epoch = $1', state.epoch, write);
}

const ours = (db: Database, { since }: { since: number }, write: Write): Promise<boolean> =>
  writeWhile(db, 'lp-shared', 'epoch = led_epoch and shared_since = $1', since, write);

const anyOfUs = (db: Database, state: LpStoreState, write: Write): Promise<boolean> =>
  state.shared === undefined ? owned(db, state, write) : ours(db, state.shared, write);

async function join(db: Database, state: LpStoreState, replica: string): ReturnType<LpStore['join']> {
  return db.transaction(async (session) => {
    await session.query('insert into lp_owner (epoch) values (0) on conflict do nothing');
    const [owner] = await session.query<{
      epoch: number;
      led_epoch: number | null;
      shared_since: number | null;
    }>('select epoch, led_epoch, shared_since from lp_owner for update');
    let since = owner?.shared_since ?? 0;
    if (owner?.epoch !== owner?.led_epoch) {
      since = (owner?.epoch ?? 0) + 1;
      await session.query(
        'update lp_owner set epoch = $1, led_epoch = $1, shared_since = $1, leader = null, ' +
          'leads_until = null, clean = null',
        [since],
      );
    }
    state.shared = { replica, process: `${replica} ${randomUUID()}`, since };
    state.epoch = -1;
    const leases = await session.query<{ chain_id: number; signed_up_to: number }>(
      'select chain_id, signed_up_to from lp_replica_lease where replica = $1',
      [replica],
    );
    const awards = await session.query(OPEN_AWARDS);
    const suffix = `@${replica}`;
    // An earlier version had one kill switch per replica.
    const [own] = await session.query<{ value: unknown }>(
      'delete from lp_risk where name = $1 returning value',
      [`${KILL}${suffix}`],
    );
    if (own !== undefined) await session.query(PULL, [KILL, JSON.stringify(own.value)]);
    const [kill] = await session.query<{ value: unknown }>('select value from lp_risk where name = $1', [
      KILL,
    ]);
    const risk = await session.query<{ name: string; value: unknown }>(
      'select name, value from lp_risk where right(name, length($1)) = $1',
      [suffix],
    );
    const [curves] = await session.query<{ curves: unknown }>('select curves from lp_calibration');
    return {
      epoch: -1,
      generation: String(since),
      clean: null,
      leases: new Map(leases.map((row) => [row.chain_id, { signedUpTo: row.signed_up_to, clean: false }])),
      awards: awards.map(toAward),
      risk: new Map([
        ...risk.map(({ name, value }): [string, unknown] => [name.slice(0, -suffix.length), value]),
        [KILL, kill?.value],
      ]),
      curves: curves?.curves ?? null,
    };
  });
}

async function lead(db: Database, state: LpStoreState, leaseMs: number): ReturnType<LpStore['lead']> {
  if (state.shared === undefined) throw new InvariantError('Only a replica can lead.');
  const { process, since } = state.shared;
  const [led] = await db.query<{ epoch: number }>(
    {
      name: 'lp-lead',
      text: `update lp_owner set
              epoch = case when leader = $1 then epoch else epoch + 1 end, led_epoch = case when leader = $1 then epoch else epoch + 1 end,
              leader = $1, leads_until = clock_timestamp() + $2 * interval '1 millisecond'
            where epoch = led_epoch and shared_since = $3 and ((leader = $1 and epoch = $4) or leader is null or leads_until < clock_timestamp()) returning epoch`,
    },
    [process, leaseMs, since, state.epoch],
  );
  if (led !== undefined) {
    state.epoch = led.epoch;
    return { mine: true, taken: true, over: false };
  }
  state.epoch = -1;
  const [now] = await db.query<{ shared: boolean; taken: boolean }>(
    {
      name: 'lp-led',
      text: 'select epoch = led_epoch and shared_since = $1 as shared, coalesce(leads_until > clock_timestamp(), false) as taken from lp_owner',
    },
    [since],
  );
  return { mine: false, taken: now?.taken === true, over: now?.shared !== true };
}

async function open(db: Database, state: LpStoreState): Promise<Opening> {
  return db.transaction(async (session) => {
    await session.query('insert into lp_owner (epoch) values (0) on conflict do nothing');
    const [owner] = await session.query<{ epoch: number; stopped: boolean }>(
      'select epoch, clean is not null as stopped from lp_owner for update',
    );
    const taken = (owner?.epoch ?? 0) + 1;
    const clean = owner?.stopped === true ? await readClean(session) : null;
    await session.query(OPEN_LP, [taken]);
    // Holds of replicas are not in this ledger, so their leases count as those of a crashed owner.
    await session.query(`insert into lp_lease (chain_id, signed_up_to, clean) select chain_id, max(signed_up_to), false from lp_replica_lease group by chain_id
          on conflict (chain_id) do update set signed_up_to = greatest(lp_lease.signed_up_to, excluded.signed_up_to), clean = false`);
    await session.query('delete from lp_replica_lease');
    const leases = await session.query<{ chain_id: number; signed_up_to: number; clean: boolean }>(
      'select chain_id, signed_up_to, clean from lp_lease',
    );
    await session.query('update lp_lease set clean = false');
    const awards = await session.query(OPEN_AWARDS);
    const risk = await session.query<{ name: string; value: unknown }>('select name, value from lp_risk');
    const [curves] = await session.query<{ curves: unknown }>('select curves from lp_calibration');
    state.epoch = taken;
    return {
      epoch: taken,
      leases: new Map(
        leases.map((row) => [row.chain_id, { signedUpTo: row.signed_up_to, clean: row.clean }]),
      ),
      clean,
      awards: awards.map(toAward),
      risk: new Map(risk.map(({ name, value }) => [name, value])),
      curves: curves?.curves ?? null,
    };
  });
}

const writeLease = (
  db: Database,
  state: LpStoreState,
  chainId: number,
  { signedUpTo, clean }: { signedUpTo: number; clean: boolean },
): Promise<boolean> =>
  state.shared !== undefined
    ? ours(db, state.shared, (session) =>
        session.query(
          {
            name: 'lp-replica-lease',
            text: 'insert into lp_replica_lease (replica, chain_id, signed_up_to) values ($1, $2, $3) on conflict (replica, chain_id) do update set signed_up_to = greatest(lp_replica_lease.signed_up_to, excluded.signed_up_to)',
          },
          [state.shared?.replica, chainId, signedUpTo],
        ),
      )
    : owned(db, state, (session) =>
        session.query(
          {
            name: 'lp-lease',
            text: 'insert into lp_lease (chain_id, signed_up_to, clean) values ($1, $2, $3) on conflict (chain_id) do update set signed_up_to = greatest(lp_lease.signed_up_to, excluded.signed_up_to), clean = excluded.clean',
          },
          [chainId, signedUpTo, clean],
        ),
      );

async function putAward(db: Database, state: LpStoreState, award: LpAward): Promise<boolean> {
  const upsert = (text: string, name: string) => (session: Queryable) =>
    session.query(
      {
        name,
        text: `insert into lp_award (${AWARD_COLUMNS}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (order_id) do update set ${text}`,
      },
      awardValues(award),
    );
  const whole = upsert(
    'commitment = coalesce(excluded.commitment, lp_award.commitment), stage = excluded.stage, ' +
      'fill = excluded.fill, note = excluded.note, updated_at_ms = excluded.updated_at_ms',
    'lp-award',
  );
  if (await owned(db, state, whole)) return true;
  // Any replica may insert an award; only the leader updates it.
  return (
    state.shared !== undefined &&
    ours(
      db,
      state.shared,
      upsert('commitment = coalesce(lp_award.commitment, excluded.commitment)', 'lp-award-heard'),
    )
  );
}

const putSignal = (
  db: Database,
  state: LpStoreState,
  { id, pair, side, expiresAtMs, ...rest }: LpSignal,
): Promise<boolean> =>
  anyOfUs(db, state, async (session) => {
    await session.query(
      {
        name: 'lp-signal-replaced',
        text: 'delete from lp_signal where pair = $1 and (side is null or $2::text is null or side = $2)',
      },
      [pair, side],
    );
    await put(
      session,
      'lp_signal',
      { id, pair, side, expiresAtMs, signal: JSON.stringify(rest) },
      { key: 'id', name: 'lp-signal' },
    );
  });

async function signals(db: Database): Promise<LpSignal[]> {
  const rows = await db.query<{
    id: string;
    pair: string;
    side: LpSignal['side'];
    expires_at_ms: number;
    signal: Omit<LpSignal, 'id' | 'pair' | 'side' | 'expiresAtMs'>;
  }>({ name: 'lp-signals', text: 'select id, pair, side, expires_at_ms, signal from lp_signal order by n' });
  return rows.map(({ id, pair, side, expires_at_ms: expiresAtMs, signal }) => ({
    ...{ id, pair, side, expiresAtMs },
    ...signal,
  }));
}

async function stop(
  db: Database,
  state: LpStoreState,
  { ledger, cursors }: { ledger: SnapshotChunks; cursors: readonly ChainCursor[] },
): Promise<boolean> {
  if (state.shared !== undefined) {
    await db.query('update lp_owner set leader = null, leads_until = null where leader = $1', [
      state.shared.process,
    ]);
    return true;
  }
  return owned(db, state, async (session) => {
    await writeClean(session, { ledger, cursors });
    await session.query('update lp_lease set clean = true');
  });
}

const KILL = 'kill';
const PAUSES = 'paused_parts';
/** SQL: a clean stop counts for one start only, so opening the store deletes it. */
const OPEN_LP = 'update lp_owner set epoch = $1, clean = null';
const PULL =
  'insert into lp_risk (name, value) values ($1, $2) on conflict (name) do update set value = lp_risk.value || excluded.value';
