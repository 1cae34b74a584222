/** Accepting, claiming and appending are one statement each, so no crash can split them. */

import type { Fact } from '../../../domain/fact.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import { tradeState } from '../../../settlement/trade-state.ts';
import type {
  Acceptance,
  Claim,
  IdempotencyScope,
  IdempotencyState,
  NewOrder,
  OrderEvent,
  OrderNews,
  OrderRecord,
  OrderStore,
  AppendOutcome,
} from '../../../ports/stores/store.ts';
import { createBatcher } from '../../batcher.ts';
import { channelOf } from '../bus.ts';
import {
  CLAIM_IS_CURRENT,
  claimOrders,
  releaseClaims,
  renewClaims,
  unclaimedOrders,
} from './order-claims.ts';
import { deliveryRows, putDeliveries } from './delivery-store.ts';
import {
  NEW_ORDER_COLUMNS,
  NEW_ORDER_TYPES,
  ORDER_COLUMNS,
  orderFromRow,
  orderToValues,
  toJson,
} from './order-rows.ts';
import { bytes, select, toHex, uintBytes } from '../rows.ts';
import { type Database, isRefusal, UniqueViolation } from '../pool.ts';
import {
  cellOf,
  createFamilies,
  type Families,
  stageRank,
  tradeTerms,
  transactionsOf,
} from '../trades/trade-rows.ts';

const IDEMPOTENCY_MS = 24 * 3_600_000;
const N = NEW_ORDER_COLUMNS.length;

const ACCEPT = {
  name: 'order-accept',
  // Makes racing submissions with the same key wait.
  text: `with gate as (select $${N + 3}::bigint is null or pg_try_advisory_xact_lock($${N + 3}::bigint) as open),
    placed as (
      insert into trade_order (${NEW_ORDER_COLUMNS.join(', ')}, response, updated_at_ms)
      select ${NEW_ORDER_TYPES.map((type, i) => `$${i + 1}::${type}`).join(', ')}, $${N + 1}, $${N} from gate where gate.open
      on conflict do nothing returning order_id, amount_usd, travel_rule),
    fact as (insert into order_fact (order_id, seq, recorded_at_ms, fact) select order_id, 1, $${N}, '{"kind":"accepted"}' from placed),
    event as (insert into order_event (order_id, seq, type, occurred_at_ms) select order_id, 1, 'order.created', $${N} from placed),
    travel as (insert into travel_rule_record (order_id, attempt, state, due_at_ms) select order_id, 1, 'due', $${N} from placed where travel_rule is not null),
    key as (
      insert into idempotency (workspace_id, namespace, mode, key, body_sha256, order_id, response, created_at_ms)
      select $3, $5, $6, $${N + 2}, $${N + 4}, order_id, $${N + 1}, $${N} from placed where $${N + 2}::text is not null
      returning key),
    traded as (
      insert into trade (order_id, book, cell, created_at_ms, amount, speed_ms, terms, state)
      select order_id, $${N + 7}, $${N + 8}, $${N}, coalesce(amount_usd, -1), -1, $${N + 9}::json, $${N + 10}::json from placed),
    fresh as (insert into trade_fresh (book, order_id) select $${N + 7}, order_id from placed)
    select gate.open, (select count(*)::int from placed) as placed,
      case when exists (select from placed) then pg_notify($${N + 5}, $${N + 6}) end
    from gate`,
};

/** Stale appends are skipped. Rows are locked in order, which prevents deadlocks. */
const APPEND = {
  name: 'orders-append',
  text: `with asked as materialized (
      select decode(substr(e."orderId", 3), 'hex') as order_id, e.* from json_to_recordset($1::json) as e
        ("orderId" text, fence bigint, seq int, facts json, added int, status text, final boolean, "atMs" bigint, event text, rank int, "settledAtMs" bigint, state json, gas json, deliveries json)),
    held as (
      select o.order_id from trade_order o join asked a using (order_id) where ${CLAIM_IS_CURRENT} order by o.order_id for update of o),
    moved as (
      update trade_order o set last_seq = a.seq + a.added, status = a.status, final = a.final, updated_at_ms = a."atMs"
      from asked a join held using (order_id) where o.order_id = a.order_id returning o.order_id, o.workspace_id, o.mode),
    news as (select * from asked join moved using (order_id)),
    facts as (
      insert into order_fact (order_id, seq, recorded_at_ms, fact)
      select order_id, seq + f.i, "atMs", f.fact::jsonb from news, json_array_elements(facts) with ordinality as f (fact, i)),
    event as (
      insert into order_event (order_id, seq, type, occurred_at_ms)
      select order_id, coalesce((select max(e.seq) from order_event e where e.order_id = news.order_id), 0) + 1, event, "atMs" from news where event is not null),
    traded as (
      update trade t set cell = t.cell - t.cell % 8 + news.rank, speed_ms = case when "settledAtMs" is null then -1 else greatest("settledAtMs" - t.created_at_ms, 0) end, state = news.state
      from news where t.order_id = news.order_id),
    gas as (
      insert into order_gas (order_id, chain_id, tx_hash, due_at_ms)
      select order_id, tx."chainId", decode(substr(tx."txHash", 3), 'hex'), "atMs" from news, json_to_recordset(gas) as tx ("chainId" bigint, "txHash" text)
      on conflict do nothing),
    delivered as (${putDeliveries('order_id', 'deliveries', 'news')})
    select "orderId" as id, pg_notify($2, json_build_object('orderId', "orderId", 'workspaceId', workspace_id, 'mode', mode, 'event', event)::text) from news`,
};
const MAX_APPENDS = 200;
const MAX_IDEMPOTENCY_READS = 100;

interface Append {
  claim: Claim;
  before: Pick<OrderRecord, 'order' | 'facts'>;
  facts: readonly Fact[];
  outcome: AppendOutcome;
}

interface OrderStoreState {
  readonly db: Database;
  /** The channel of notifications about orders. */
  readonly channel: string;
  readonly families: Families;
  /**
   * Submissions of one turn of the event loop share this read, and then the request to the chain's node. A
   * slow database makes none of them wait for the read of another.
   */
  readonly idempotency: (scope: IdempotencyScope) => Promise<IdempotencyState>;
}

export function createOrderStore(db: Database): OrderStore {
  const state: OrderStoreState = {
    db,
    channel: channelOf(db.schema, 'orders'),
    families: createFamilies(db),
    idempotency: createBatcher((scopes) => idempotencyOfAll(db, scopes), {
      max: MAX_IDEMPOTENCY_READS,
      overlap: true,
    }),
  };
  // Alone, so that one bad or blocked append does not fail the others.
  const append = createBatcher<Append, boolean>((appends) => appendAll(state, appends), {
    max: MAX_APPENDS,
    keyOf: ({ claim }) => claim.orderId,
    retryAlone: isRefusal,
  });

  return {
    idempotency: state.idempotency,
    accept: (order, response, scope) => accept(state, order, response, scope),
    async order(orderId) {
      return (await orders(db, 'order-one', 'order_id = $1', [bytes(orderId)]))[0];
    },
    async orderOfNonce(originChainId, taker, nonce) {
      const values = [originChainId, bytes(taker), uintBytes(nonce)];
      const where = 'origin_chain_id = $1 and taker = $2 and nonce = $3';
      return (await orders(db, 'order-of-nonce', where, values))[0];
    },
    nextLegs: (parentOrderId) =>
      orders(db, 'order-next-legs', 'parent_order_id = $1 order by created_at_ms, order_id', [
        bytes(parentOrderId),
      ]),
    openOrders: (limit, after) =>
      orders(
        db,
        'order-open',
        'not final and (created_at_ms, order_id) > ($1, $2) order by created_at_ms, order_id limit $3',
        [after?.createdAtMs ?? 0, bytes(after?.orderId ?? '0x'), limit],
      ),
    openOrdersOf: (solverId) =>
      orders(db, 'order-open-of', 'not final and solver_ids @> array[$1] order by created_at_ms, order_id', [
        solverId,
      ]),
    unclaimed: (orderIds) => unclaimedOrders(db, orderIds),
    claim: (orderIds, owner, leaseMs, originChainIds) =>
      claimOrders(db, orderIds, owner, leaseMs, originChainIds),
    renew: (claims, leaseMs) => renewClaims(db, claims, leaseMs),
    release: (claims) => releaseClaims(db, claims),
    append: (held, before, facts, outcome) => append({ claim: held, before, facts, outcome }),
    events: (orderId) =>
      select<OrderEvent>(
        db,
        {
          name: 'order-events',
          text: 'select order_id, seq, type, occurred_at_ms from order_event where order_id = $1 order by seq',
        },
        [bytes(orderId)],
      ),
  };
}

async function idempotencyOfAll(
  db: Database,
  scopes: readonly IdempotencyScope[],
): Promise<IdempotencyState[]> {
  const rows = await db.query<{ n: number; body_sha256: string; order_id: Buffer; response: string }>(
    {
      name: 'idempotency-of-all',
      text: `select asked.n, known.body_sha256, known.order_id, known.response
        from unnest($1::text[], $2::text[], $3::text[], $4::text[]) with ordinality as asked (workspace_id, namespace, mode, key, n)
        join idempotency known using (workspace_id, namespace, mode, key) where known.created_at_ms >= $5`,
    },
    [
      scopes.map(({ workspaceId }) => workspaceId),
      scopes.map(({ namespace }) => namespace),
      scopes.map(({ mode }) => mode),
      scopes.map(({ key }) => key),
      Date.now() - IDEMPOTENCY_MS,
    ],
  );
  const known = new Map(rows.map((row) => [row.n, row]));
  return scopes.map(({ bodySha256 }, index): IdempotencyState => {
    const row = known.get(index + 1);
    if (!row) return { kind: 'unknown' };
    return row.body_sha256 === bodySha256
      ? { kind: 'done', orderId: toHex(row.order_id), response: row.response }
      : { kind: 'reused' };
  });
}

async function accept(
  state: OrderStoreState,
  order: NewOrder,
  response: string,
  scope: IdempotencyScope | null,
): Promise<Acceptance> {
  const { db, channel } = state;
  const news: OrderNews = {
    orderId: order.orderId,
    workspaceId: order.workspaceId,
    mode: order.mode,
    event: 'order.created',
  };
  const values = [
    ...orderToValues(order),
    response,
    scope?.key ?? null,
    scope ? lockKey(scope) : null,
    scope?.bodySha256 ?? null,
    channel,
    JSON.stringify(news),
    ...(await tradeValues(state.families, order)),
  ];
  try {
    const [row] = await db.query<{ open: boolean; placed: number }>(ACCEPT, values);
    if (row && !row.open) return { kind: 'in_progress' };
    return row?.placed ? { kind: 'accepted', response } : await explain(state, order, scope);
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error;
    if (scope && (await forgetKey(db, scope))) return accept(state, order, response, scope);
    return explain(state, order, scope);
  }
}

async function tradeValues(families: Families, order: NewOrder): Promise<unknown[]> {
  const terms = tradeTerms(order);
  const { book, family } = await families.of(order, terms);
  const state = tradeState(order.order, [
    { seq: 1, recordedAtMs: order.createdAtMs, fact: { kind: 'accepted' } },
  ]);
  return [book, cellOf(family, state.stage), JSON.stringify(terms), JSON.stringify(state)];
}

async function forgetKey(db: Database, scope: IdempotencyScope): Promise<boolean> {
  const rows = await db.query(
    'delete from idempotency using (select pg_advisory_xact_lock($6::bigint)) gate where ' +
      'workspace_id = $1 and namespace = $2 and mode = $3 and key = $4 and created_at_ms < $5 ' +
      'returning 1',
    [scope.workspaceId, scope.namespace, scope.mode, scope.key, Date.now() - IDEMPOTENCY_MS, lockKey(scope)],
  );
  return rows.length > 0;
}

/** Hashes with FNV-1a, 63 bits. A collision only makes one of two submissions retry. */
function lockKey({ workspaceId, namespace, mode, key }: IdempotencyScope): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(`${workspaceId}\0${namespace}\0${mode}\0${key}`))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return BigInt.asIntN(64, hash).toString();
}

/** Finds out which row of an earlier submission has kept this order from being placed. */
async function explain(
  { db, idempotency }: OrderStoreState,
  order: NewOrder,
  scope: IdempotencyScope | null,
): Promise<Acceptance> {
  if (scope) {
    const known = await idempotency(scope);
    if (known.kind === 'done') return { kind: 'replayed', response: known.response };
    if (known.kind === 'reused') return { kind: 'idempotency_key_reuse' };
  }
  if (order.parentOrderId) {
    const [taken] = await db.query<{ order_id: Buffer }>(
      `select order_id from trade_order where parent_order_id = $1 and status <> 'failed'`,
      [bytes(order.parentOrderId)],
    );
    if (taken && toHex(taken.order_id) !== order.orderId) return { kind: 'leg_taken' };
  }
  const [same] = await db.query<{
    order_id: Buffer;
    quote_id: Buffer;
    workspace_id: string;
    mode: string;
    namespace: string;
    signature: Buffer;
    response: string;
  }>(
    'select order_id, quote_id, workspace_id, mode, namespace, signature, response from ' +
      'trade_order where order_id = $1 or quote_id = $2 or (origin_chain_id = $3 and taker = $4 and ' +
      'nonce = $5) order by order_id = $1 desc, quote_id = $2 desc limit 1',
    [
      bytes(order.orderId),
      bytes(order.quoteId),
      order.originChainId,
      bytes(order.order.user),
      uintBytes(order.order.nonce),
    ],
  );
  if (!same) return { kind: 'in_progress' };
  const sameOrder = toHex(same.order_id) === order.orderId && toHex(same.quote_id) === order.quoteId;
  const sameAccount =
    same.workspace_id === order.workspaceId &&
    same.mode === order.mode &&
    same.namespace === order.namespace &&
    same.signature.equals(bytes(order.signature));
  if (sameOrder && sameAccount) {
    if (scope)
      await db.query(
        `insert into idempotency (workspace_id, namespace, mode, key, body_sha256, order_id, response, created_at_ms)
         values ($1,$2,$3,$4,$5,$6,$7,$8) on conflict do nothing`,
        [
          ...[scope.workspaceId, scope.namespace, scope.mode, scope.key, scope.bodySha256],
          ...[bytes(order.orderId), same.response, order.createdAtMs],
        ],
      );
    return { kind: 'replayed', response: same.response };
  }
  return { kind: sameOrder || toHex(same.quote_id) === order.quoteId ? 'quote_already_used' : 'nonce_used' };
}

async function orders(
  db: Database,
  name: string,
  where: string,
  values: readonly unknown[],
): Promise<OrderRecord[]> {
  const text = `select ${ORDER_COLUMNS} from trade_order o where ${where}`;
  return (await db.query({ name, text }, values)).map(orderFromRow);
}

async function appendAll({ db, channel }: OrderStoreState, appends: readonly Append[]): Promise<boolean[]> {
  const rows = await db.query<{ id: Bytes32 }>(APPEND, [toJson(appends.map(rowOf)), channel]);
  const written = new Set(rows.map(({ id }) => id));
  return appends.map(({ claim }) => written.has(claim.orderId));
}

function rowOf({ claim, before, facts, outcome }: Append): object {
  const seq = before.facts.length;
  const state = tradeState(before.order, [
    ...before.facts,
    ...facts.map((fact, index) => ({ seq: seq + index + 1, recordedAtMs: outcome.atMs, fact })),
  ]);
  return {
    ...outcome,
    orderId: claim.orderId,
    fence: claim.fence,
    seq,
    facts,
    added: facts.length,
    rank: stageRank(state.stage),
    settledAtMs: state.settledAtMs,
    state,
    gas: transactionsOf(facts),
    deliveries: deliveryRows(
      before.facts.map(({ fact }) => fact),
      facts,
    ),
  };
}
