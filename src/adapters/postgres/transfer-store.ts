/** Transfers of inventory in PostgreSQL. Two processes cannot both append the same number of a fact. */

import type { BridgeEstimate, SentTransfer } from '../../ports/bridge.ts';
import type { StoredTransfer, TransferStore } from '../../ports/stores/transfers.ts';
import type { TransferFact } from '../../settlement/transfer.ts';
import type { Address } from '../../domain/hex.ts';
import type { Database, Queryable } from './pool.ts';

/** Fields of stored JSON that are bigints, wherever they stand. */
const BIGINTS: ReadonlySet<string> = new Set(['amount', 'blockNumber', 'leastReceived', 'nativeFee']);

const SELECT = `select t.*, t.amount::text as amount, t.estimate::text as estimate, t.sent::text as sent,
  (select jsonb_agg(f.fact order by f.n)::text from transfer_fact f where f.transfer_id = t.id) as facts
  from transfer t`;

interface TransferRow {
  id: string;
  bridge: string;
  account: Address;
  from_chain_id: number;
  from_token: Address;
  to_chain_id: number;
  to_token: Address;
  amount: string;
  reason: string;
  created_at_ms: number;
  estimate: string | null;
  sent: string | null;
  facts: string | null;
  [column: string]: unknown;
}

export function createTransferStore(db: Database): TransferStore {
  const read = async (rest: string, values: readonly unknown[] = []): Promise<StoredTransfer[]> =>
    (await db.query<TransferRow>(`${SELECT} ${rest}`, values)).map(transferOf);

  return {
    add: (transfer) => addTransfer(db, transfer),
    append: (id, at, fact, { sent, final }) =>
      db.transaction(async (session) => {
        // The row's lock: without it a fact could be numbered past one that is not committed yet.
        await session.query('select 1 from transfer where id = $1 for update', [id]);
        const added = await session.query(
          `insert into transfer_fact (transfer_id, n, fact)
           select $1, $2::integer, $3::jsonb
           where $2::integer = (select count(*) from transfer_fact where transfer_id = $1)
           returning n`,
          [id, at, toText(fact)],
        );
        if (added.length === 0) return false;
        await session.query(
          'update transfer set final = $2, sent = coalesce($3::jsonb, sent) where id = $1',
          [id, final, sent === undefined ? null : toText(sent)],
        );
        return true;
      }),
    async putEstimate(id, estimate) {
      await db.query('update transfer set estimate = $2::jsonb where id = $1', [id, toText(estimate)]);
    },
    find: async (id) => (await read('where t.id = $1', [id]))[0],
    open: () => read('where not t.final order by t.created_at_ms, t.id'),
    newest: (limit) => read('order by t.created_at_ms desc, t.id limit $1', [limit]),
  };
}

/** Adds a transfer like `TransferStore.add`, in a transaction of the caller. */
export async function addTransfer(
  session: Queryable,
  { id, bridge, move, reason, createdAtMs }: StoredTransfer,
): Promise<boolean> {
  const added = await session.query(
    `insert into transfer (id, bridge, account, from_chain_id, from_token, to_chain_id, to_token, amount, reason, created_at_ms)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning id`,
    [
      ...[id, bridge, move.account, move.from.chainId, move.from.token],
      ...[move.to.chainId, move.to.token, move.amount.toString(), reason, createdAtMs],
    ],
  );
  return added.length > 0;
}

function transferOf(row: TransferRow): StoredTransfer {
  return {
    id: row.id,
    bridge: row.bridge,
    move: {
      account: row.account,
      from: { chainId: Number(row.from_chain_id), token: row.from_token },
      to: { chainId: Number(row.to_chain_id), token: row.to_token },
      amount: BigInt(row.amount),
    },
    reason: row.reason,
    createdAtMs: Number(row.created_at_ms),
    estimate: fromText<BridgeEstimate>(row.estimate),
    sent: fromText<SentTransfer>(row.sent),
    facts: fromText<TransferFact[]>(row.facts) ?? [],
  };
}

const toText = (value: object): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each));

const fromText = <T>(text: string | null): T | null =>
  text === null
    ? null
    : (JSON.parse(text, (key, value: unknown) =>
        BIGINTS.has(key) && typeof value === 'string' ? BigInt(value) : value,
      ) as T);
