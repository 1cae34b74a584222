/** Ledger deliveries in PostgreSQL: rows derived from facts, written with them. */

import type { Fact, FactOf } from '../../../domain/fact.ts';
import type {
  DeliveryStore,
  DueDelivery,
  LateFacts,
  LedgerDelivery,
} from '../../../ports/stores/deliveries.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import { foldCredits } from '../../../settlement/deferred.ts';
import { tradeState } from '../../../settlement/trade-state.ts';
import { channelOf } from '../bus.ts';
import type { Database, Queryable } from '../pool.ts';
import { bytes, select } from '../rows.ts';
import { toJson } from './order-rows.ts';

export const putDeliveries = (orderId: string, rows: string, source: string): string => `
  insert into ledger_delivery (order_id, output_index, chain_id, account, token, remaining, requested, auto_withdraw, credited_at, due_at)
  select ${orderId}, d.* from ${source}, json_to_recordset(${rows}) as d (output_index int, chain_id bigint, account text, token text, remaining numeric, requested numeric, auto_withdraw boolean, credited_at bigint, due_at bigint)
  on conflict (order_id, output_index) do update set remaining = excluded.remaining, requested = excluded.requested, auto_withdraw = excluded.auto_withdraw`;

const OURS: ReadonlySet<Fact['kind']> = new Set<Fact['kind']>([
  'credited',
  'withdrawal_requested',
  'withdrawn',
]);

interface DeliveryValues {
  output_index: number;
  chain_id: number;
  account: string;
  token: string;
  remaining: string;
  requested: string;
  auto_withdraw: boolean;
  credited_at: number;
  due_at: number;
}

export function deliveryRows(before: readonly Fact[], added: readonly Fact[]): DeliveryValues[] {
  if (!added.some(({ kind }) => OURS.has(kind))) return [];
  const all = [...before, ...added];
  const credited = all.filter((fact): fact is FactOf<'credited'> => fact.kind === 'credited');
  return foldCredits(all).flatMap(
    ({ outputIndex, amount, withdrawn, requested, autoWithdraw, ended, creditedAt, windowSeconds }) => {
      const fact = credited.find((each) => each.outputIndex === outputIndex);
      if (!fact) return [];
      return {
        output_index: outputIndex,
        chain_id: fact.evidence.chainId,
        account: fact.account,
        token: fact.token,
        remaining: (BigInt(amount) - BigInt(withdrawn)).toString(),
        requested,
        auto_withdraw: autoWithdraw && !ended,
        credited_at: creditedAt,
        due_at: creditedAt + windowSeconds,
      };
    },
  );
}

export async function rebuildDeliveries(session: Queryable, { orderId, facts }: OrderRecord): Promise<void> {
  const rows = deliveryRows(
    [],
    facts.map(({ fact }) => fact),
  );
  if (rows.length > 0)
    await session.query(putDeliveries('$1::bytea', '$2::json', '(select) moved'), [
      bytes(orderId),
      JSON.stringify(rows),
    ]);
}

const APPEND_LATE = {
  name: 'order-append-late',
  text: `with moved as (
      update trade_order set last_seq = last_seq + cardinality($3::text[]), updated_at_ms = $4
      where order_id = $1 and last_seq = $2 returning workspace_id, mode),
    facts as (
      insert into order_fact (order_id, seq, recorded_at_ms, fact)
      select $1, $2 + f.i, $4, f.fact::jsonb from moved, unnest($3::text[]) with ordinality as f (fact, i)),
    traded as (update trade set state = $5::json where order_id = $1 and exists (select from moved)),
    delivered as (${putDeliveries('$1', '$6::json', 'moved')})
    select pg_notify($7, json_build_object('orderId', '0x' || encode($1, 'hex'), 'workspaceId', workspace_id, 'mode', mode, 'event', null::text)::text) from moved`,
};

class Moved extends Error {}

/** Greater than any log index. */
const WHOLE_BLOCK = 2 ** 31;

const COLUMNS = 'order_id, output_index, workspace_id, remaining as left, requested, auto_withdraw';
/** Limit, because anyone can create tiny deliveries for an account. */
const MOST_OPEN = 1_000;

export function createDeliveryStore(db: Database): DeliveryStore {
  const channel = channelOf(db.schema, 'orders');

  async function append(session: Queryable, { before, facts }: LateFacts, atMs: number): Promise<boolean> {
    const seq = before.facts.length;
    const state = tradeState(before.order, [
      ...before.facts,
      ...facts.map((fact, index) => ({ seq: seq + index + 1, recordedAtMs: atMs, fact })),
    ]);
    const rows = JSON.stringify(
      deliveryRows(
        before.facts.map(({ fact }) => fact),
        facts,
      ),
    );
    return (
      (
        await session.query(APPEND_LATE, [
          bytes(before.orderId),
          seq,
          facts.map(toJson),
          atMs,
          JSON.stringify(state),
          rows,
          channel,
        ])
      ).length === 1
    );
  }

  return {
    dueDeliveries: (chainId, now, limit) =>
      select<DueDelivery>(
        db,
        {
          name: 'delivery-due',
          text: `select ${COLUMNS}, look_at from ledger_delivery join trade_order using (order_id) where chain_id = $1 and auto_withdraw and due_at <= $2 order by look_at, due_at, order_id, output_index limit $3`,
        },
        [chainId, now, limit],
        ['left', 'requested'],
      ),
    async postponeDelivery({ orderId, outputIndex }, until) {
      await db.query(
        {
          name: 'delivery-postpone',
          text: 'update ledger_delivery set look_at = greatest(look_at, $3) where order_id = $1 and output_index = $2',
        },
        [bytes(orderId), outputIndex, until],
      );
    },
    openDeliveries: (chainId, account, token) =>
      select<LedgerDelivery>(
        db,
        {
          name: 'delivery-open',
          text: `select ${COLUMNS} from ledger_delivery join trade_order using (order_id) where chain_id = $1 and account = $2 and token = $3 and remaining > 0 order by credited_at, created_at_ms, order_id, output_index limit ${MOST_OPEN}`,
        },
        [chainId, account, token],
        ['left', 'requested'],
      ),
    appendLate: (late, atMs) => append(db, late, atMs),
    async withdrawalsRead(chainId, block) {
      await db.query(
        'insert into withdrawals_read (chain_id, block, log_index) values ($1, $2, $3) on conflict ' +
          'do nothing',
        [chainId, block.toString(), WHOLE_BLOCK],
      );
      const [row] = await db.query<{ block: string; log_index: number }>(
        'select block, log_index from withdrawals_read where chain_id = $1',
        [chainId],
      );
      return { block: BigInt(row?.block ?? block), logIndex: row?.log_index ?? WHOLE_BLOCK };
    },
    async readWithdrawal(chainId, { block, logIndex }, late, atMs) {
      try {
        return await db.transaction(async (session) => {
          const first = await session.query(
            'update withdrawals_read set block = $2, log_index = $3 where chain_id = $1 and (block, ' +
              'log_index) < ($2::numeric, $3::bigint) returning 1',
            [chainId, block.toString(), Math.min(logIndex, WHOLE_BLOCK)],
          );
          if (first.length === 0) return 'known';
          for (const each of late) if (!(await append(session, each, atMs))) throw new Moved();
          return 'written';
        });
      } catch (error) {
        if (error instanceof Moved) return 'moved';
        throw error;
      }
    },
  };
}
