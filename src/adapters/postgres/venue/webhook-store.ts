/** Webhooks in PostgreSQL. Events become deliveries in the transaction that moves the fan-out's position. */

import type {
  AttemptEnd,
  NewDelivery,
  RosterChange,
  WebhookAttempt,
  WebhookBacklog,
  WebhookDelivery,
  WebhookEndpoint,
  WebhookStore,
} from '../../../ports/stores/webhooks.ts';
import type { Database, Queryable } from '../pool.ts';
import { patch, put, select } from '../rows.ts';

const ENDPOINT =
  'id, workspace_id, mode, url, description, events, secret, previous_secret, previous_until_ms, from_place, ' +
  'disabled_at_ms, disabled_reason, failing_since_ms, last_failure, paused_until_ms, created_at_ms, updated_at_ms';
const DELIVERY =
  'id, place, endpoint_id, type, body, state, attempts, due_at_ms, give_up_at_ms, created_at_ms, ended_at_ms, ' +
  'last_failure';

/** Every endpoint starts at or after the position that is stored first, so no event of any is passed over. */
const START_FAN_OUT = `insert into webhook_fan_out (place)
  select coalesce($1::bigint, (select max(place) from order_event), 0) on conflict do nothing`;

const ENQUEUE = {
  name: 'webhook-enqueue',
  // The lock makes the disabling or removal of an endpoint wait, or is refused the row that is gone.
  text: `insert into webhook_delivery (id, endpoint_id, type, body, state, due_at_ms, give_up_at_ms, created_at_ms)
    select d.id, e.id, d.type, d.body, 'waiting', d."createdAtMs", d."giveUpAtMs", d."createdAtMs"
    from json_to_recordset($1::json) as d (id text, "endpointId" text, type text, body text, "createdAtMs" bigint, "giveUpAtMs" bigint)
    join webhook_endpoint e on e.id = d."endpointId" where e.disabled_at_ms is null for share of e
    on conflict do nothing`,
};

const TAKE = {
  name: 'webhook-take',
  text: `with due as (
      select d.id from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
      where d.endpoint_id = $1 and e.disabled_at_ms is null and coalesce(e.paused_until_ms, 0) <= $2
        and d.state = 'waiting' and d.due_at_ms <= $2 and coalesce(d.lease_until_ms, 0) <= $2
      order by d.due_at_ms, d.place limit $4 for update of d skip locked),
    taken as (
      update webhook_delivery d set attempts = d.attempts + 1, lease_until_ms = $2::bigint + $3::bigint
      from due where d.id = due.id returning d.*),
    logged as (insert into webhook_attempt (delivery_id, attempt, started_at_ms) select id, attempts, $2 from taken)
    select ${DELIVERY} from taken order by place`,
};

/** `$5` null: delivered. An attempt that another one has replaced is only logged, unless it delivered. */
const END = {
  name: 'webhook-end',
  text: `with logged as (
      update webhook_attempt set ended_at_ms = $3, status = $4, failure = $5 where delivery_id = $1 and attempt = $2),
    moved as (
      update webhook_delivery set
        state = case when $5::text is null then 'delivered' when $6::bigint is null then 'failed' else 'waiting' end,
        ended_at_ms = case when $5::text is not null and $6::bigint is not null then null else $3::bigint end,
        due_at_ms = coalesce($6, due_at_ms), lease_until_ms = null, last_failure = coalesce($5, last_failure)
      where id = $1 and attempts = $2 and state <> 'delivered' and (state = 'waiting' or $5::text is null)
      returning endpoint_id)
    select endpoint_id from moved`,
};
const END_OF_ENDPOINT = {
  name: 'webhook-end-endpoint',
  text: `update webhook_endpoint set
      failing_since_ms = case when $3::text is null then null else coalesce(failing_since_ms, $2::bigint) end,
      last_failure = coalesce($3, last_failure),
      paused_until_ms = case when $3::text is null then null else greatest(paused_until_ms, $4::bigint) end
    where id = $1 and ($3::text is not null or failing_since_ms is not null or paused_until_ms is not null)`,
};

const ROSTER_CHANGED = {
  name: 'roster-changed',
  // A solver without a row has never been shown: it is offline.
  text: `with moved as (
      insert into roster_status (solver_id, status)
      select $1, $2 where $2 <> 'offline' or exists (select from roster_status where solver_id = $1)
      on conflict (solver_id) do update set status = excluded.status where roster_status.status <> excluded.status
      returning solver_id)
    insert into roster_change (solver_id, status, occurred_at_ms, test, live)
    select solver_id, $2, $3, $4::jsonb, $5::jsonb from moved returning id`,
};

export function createWebhookStore(db: Database): WebhookStore {
  return {
    add: (endpoint, limit) => add(db, endpoint, limit),
    list: (workspaceId, mode) => endpoints(db, 'workspace_id = $1 and mode = $2', [workspaceId, mode]),
    endpoint: (id) => endpointOf(db, id),
    async change(id, change) {
      await patch(db, 'webhook_endpoint', id, change);
      return endpointOf(db, id);
    },
    disable: (id, atMs, reason) => disable(db, id, atMs, reason),
    async remove(id) {
      return (await db.query('delete from webhook_endpoint where id = $1 returning id', [id])).length > 0;
    },
    failingSince: (beforeMs) =>
      endpoints(db, 'disabled_at_ms is null and failing_since_ms <= $1', [beforeMs]),

    listening: (workspaceIds) =>
      endpoints(db, 'disabled_at_ms is null and ($1::text[] is null or workspace_id = any($1))', [
        workspaceIds ?? null,
      ]),
    eventPlace: () => eventPlace(db),
    fanOutEvents: (from, to, deliveries) => fanOutEvents(db, from, to, deliveries),
    rosterChanged: (change) => rosterChanged(db, change),
    rosterChanges: (limit) => rosterChanges(db, limit),
    fanOutRoster: (deliveries) => fanOutRoster(db, deliveries),
    enqueue: (delivery) => enqueue(db, [delivery]),

    take: (endpointId, nowMs, leaseMs, limit) =>
      select<WebhookDelivery>(db, TAKE, [endpointId, nowMs, leaseMs, limit]),
    end: (delivery, outcome) => end(db, delivery, outcome),
    dueEndpoints: (nowMs) => dueEndpoints(db, nowMs),
    nextDue: (endpointId) => nextDue(db, endpointId),

    deliveries: (endpointId, page) => deliveriesOf(db, endpointId, page),
    async delivery(endpointId, id) {
      const text = `select ${DELIVERY} from webhook_delivery where endpoint_id = $1 and id = $2`;
      return (await select<WebhookDelivery>(db, text, [endpointId, id]))[0];
    },
    attempts: (id) =>
      select<WebhookAttempt>(
        db,
        'select attempt, started_at_ms, ended_at_ms, status, failure from webhook_attempt where delivery_id = $1 order by attempt',
        [id],
      ),
    resend: (id, nowMs, giveUpAtMs) => resend(db, id, nowMs, giveUpAtMs),
    backlog: (nowMs) => backlog(db, nowMs),
  };
}

const endpoints = (on: Queryable, where: string, values: readonly unknown[]): Promise<WebhookEndpoint[]> =>
  select<WebhookEndpoint>(
    on,
    `select ${ENDPOINT} from webhook_endpoint where ${where} order by created_at_ms, id`,
    values,
  );

const endpointOf = async (db: Database, id: string): Promise<WebhookEndpoint | undefined> =>
  (await endpoints(db, 'id = $1', [id]))[0];

function add(db: Database, endpoint: WebhookEndpoint, limit: number): Promise<boolean> {
  return db.transaction(async (session) => {
    // One at a time per workspace, also where it has no endpoint to lock.
    await session.query('select pg_advisory_xact_lock(hashtext($1))', [
      `${db.schema} webhooks ${endpoint.workspaceId}`,
    ]);
    const { workspaceId, mode } = endpoint;
    const present = await endpoints(session, 'workspace_id = $1 and mode = $2', [workspaceId, mode]);
    if (present.length >= limit) return false;
    await session.query(START_FAN_OUT, [endpoint.fromPlace]);
    await put(session, 'webhook_endpoint', endpoint);
    return true;
  });
}

function disable(db: Database, id: string, atMs: number, reason: string): Promise<boolean> {
  return db.transaction(async (session) => {
    const disabled = await session.query(
      `update webhook_endpoint set disabled_at_ms = $2, disabled_reason = $3, paused_until_ms = null
       where id = $1 and disabled_at_ms is null returning id`,
      [id, atMs, reason],
    );
    // A second statement: it sees what was enqueued while the first one waited.
    if (disabled.length > 0)
      await session.query(
        `update webhook_delivery set state = 'failed', ended_at_ms = $2, lease_until_ms = null,
           last_failure = coalesce(last_failure, 'The endpoint was disabled before it was sent.')
         where endpoint_id = $1 and state = 'waiting'`,
        [id, atMs],
      );
    return disabled.length > 0;
  });
}

async function eventPlace(db: Database): Promise<number> {
  const read = () => db.query<{ place: number }>('select place from webhook_fan_out');
  const [row] = await read();
  if (row) return row.place;
  await db.query(START_FAN_OUT, [null]);
  return (await read())[0]?.place ?? 0;
}

function fanOutEvents(
  db: Database,
  from: number,
  to: number,
  deliveries: readonly NewDelivery[],
): Promise<boolean> {
  return db.transaction(async (session) => {
    const moved = await session.query(
      'update webhook_fan_out set place = $2 where place = $1 returning place',
      [from, to],
    );
    if (moved.length > 0) await enqueue(session, deliveries);
    return moved.length > 0;
  });
}

async function rosterChanged(
  db: Database,
  { solverId, status, occurredAtMs, test, live }: RosterChange,
): Promise<boolean> {
  const json = (value: object | null) => value && JSON.stringify(value);
  const rows = await db.query(ROSTER_CHANGED, [solverId, status, occurredAtMs, json(test), json(live)]);
  return rows.length > 0;
}

const rosterChanges = (db: Database, limit: number) =>
  select<RosterChange & { id: number }>(
    db,
    {
      name: 'roster-changes',
      text: 'select id, solver_id, status, occurred_at_ms, test, live from roster_change order by id limit $1',
    },
    [limit],
  );

function fanOutRoster(db: Database, deliveries: ReadonlyMap<number, readonly NewDelivery[]>): Promise<void> {
  return db.transaction(async (session) => {
    const taken = await session.query<{ id: number }>(
      'delete from roster_change where id = any($1) returning id',
      [[...deliveries.keys()]],
    );
    await enqueue(
      session,
      taken.flatMap(({ id }) => deliveries.get(id) ?? []),
    );
  });
}

async function enqueue(session: Queryable, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length > 0) await session.query(ENQUEUE, [JSON.stringify(deliveries)]);
}

function end(
  db: Database,
  { id, attempts }: Pick<WebhookDelivery, 'id' | 'attempts'>,
  { atMs, status, failure, nextDueAtMs, pauseUntilMs }: AttemptEnd,
): Promise<boolean> {
  return db.transaction(async (session) => {
    const [moved] = await session.query<{ endpoint_id: string }>(END, [
      ...[id, attempts, atMs, status, failure, nextDueAtMs],
    ]);
    if (moved) await session.query(END_OF_ENDPOINT, [moved.endpoint_id, atMs, failure, pauseUntilMs]);
    return moved !== undefined;
  });
}

async function dueEndpoints(db: Database, nowMs: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    {
      name: 'webhook-due-endpoints',
      text: `select distinct e.id from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
        where d.state = 'waiting' and d.due_at_ms <= $1 and coalesce(d.lease_until_ms, 0) <= $1
          and e.disabled_at_ms is null and coalesce(e.paused_until_ms, 0) <= $1`,
    },
    [nowMs],
  );
  return rows.map(({ id }) => id);
}

async function nextDue(db: Database, endpointId: string): Promise<number | undefined> {
  const [row] = await db.query<{ due: number | null }>(
    {
      name: 'webhook-next-due',
      text: `select min(greatest(d.due_at_ms, d.lease_until_ms, e.paused_until_ms)) as due
        from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
        where d.endpoint_id = $1 and d.state = 'waiting' and e.disabled_at_ms is null`,
    },
    [endpointId],
  );
  return row?.due ?? undefined;
}

const deliveriesOf = (
  db: Database,
  endpointId: string,
  { state, before, limit }: Parameters<WebhookStore['deliveries']>[1],
) =>
  select<WebhookDelivery>(
    db,
    {
      name: 'webhook-deliveries',
      text: `select ${DELIVERY} from webhook_delivery where endpoint_id = $1 and ($2::text is null or state = $2)
        and ($3::bigint is null or place < $3) order by place desc limit $4`,
    },
    [endpointId, state ?? null, before ?? null, limit],
  );

async function resend(db: Database, id: string, nowMs: number, giveUpAtMs: number): Promise<boolean> {
  const rows = await db.query(
    `update webhook_delivery set state = 'waiting', due_at_ms = $2, give_up_at_ms = $3, lease_until_ms = null, ended_at_ms = null
     where id = $1 and state <> 'waiting' returning id`,
    [id, nowMs, giveUpAtMs],
  );
  return rows.length > 0;
}

async function backlog(db: Database, nowMs: number): Promise<WebhookBacklog> {
  const [row] = await select<WebhookBacklog>(
    db,
    {
      name: 'webhook-backlog',
      text: `select count(*)::int as waiting,
          min(greatest(d.due_at_ms, e.paused_until_ms)) filter (where e.disabled_at_ms is null and d.due_at_ms <= $1
            and coalesce(e.paused_until_ms, 0) <= $1 and coalesce(d.lease_until_ms, 0) <= $1) as overdue_since_ms,
          (select count(*)::int from webhook_endpoint where disabled_at_ms is not null) as disabled
        from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id where d.state = 'waiting'`,
    },
    [nowMs],
  );
  return row ?? { waiting: 0, overdueSinceMs: null, disabled: 0 };
}
