/** The LP's memory in PostgreSQL. Opening it raises the epoch, and every write shows the epoch it was opened with: a process that was taken over can write nothing more. */

import type { SignedCommitment } from '../../domain/commitment.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Hex } from '../../domain/hex.ts';
import type { OrderMessage } from '../../domain/order.ts';
import type { LedgerSnapshot } from '../../inventory/snapshot.ts';
import type { AwardStage, CleanStop, LpAward, LpStore, Opening } from '../../ports/lp-store.ts';
import { orderFromMessage, orderToMessage } from '../../protocol/wire.ts';
import { bytes, toHex } from './order-rows.ts';
import type { Database, Queryable, Row } from './pool.ts';

/** Takes a database that `migrate` brought up to date with `LP_MIGRATIONS`; one schema for each LP. */
export function createLpStore(db: Database): LpStore {
  let epoch: number | undefined;

  /** Runs a write only while the epoch is ours. The row lock keeps a takeover waiting until the write is in. */
  async function owned(write: (session: Queryable) => Promise<unknown>): Promise<boolean> {
    if (epoch === undefined) throw new InvariantError('The LP store was not opened.');
    return db.transaction(async (session) => {
      const held = await session.query({ name: 'lp-owner', text: 'select 1 from lp_owner where epoch = $1 for share' }, [epoch]);
      if (held.length === 0) return false;
      await write(session);
      return true;
    });
  }

  return {
    async open(): Promise<Opening> {
      return db.transaction(async (session) => {
        await session.query('insert into lp_owner (epoch) values (0) on conflict do nothing');
        const [owner] = await session.query<{ epoch: number; clean: StoredStop | null }>('select epoch, clean from lp_owner for update');
        const taken = (owner?.epoch ?? 0) + 1;
        await session.query('update lp_owner set epoch = $1, clean = null', [taken]);
        const leases = await session.query<{ chain_id: number; signed_up_to: number; clean: boolean }>('select chain_id, signed_up_to, clean from lp_lease');
        await session.query('update lp_lease set clean = false');
        const awards = await session.query<AwardRow>(`select * from lp_award where stage in ('committed', 'filled') order by accepted_at_ms, order_id`);
        const risk = await session.query<{ name: string; value: unknown }>('select name, value from lp_risk');
        const [curves] = await session.query<{ curves: unknown }>('select curves from lp_calibration');
        epoch = taken;
        return {
          epoch: taken,
          leases: new Map(leases.map((row) => [row.chain_id, { signedUpTo: row.signed_up_to, clean: row.clean }])),
          clean: owner?.clean ? fromStored(owner.clean) : null,
          awards: awards.map(toAward),
          risk: new Map(risk.map(({ name, value }) => [name, value])),
          curves: curves?.curves ?? null,
        };
      });
    },
    writeLease: (chainId, { signedUpTo, clean }) =>
      owned((session) =>
        session.query(
          { name: 'lp-lease', text: 'insert into lp_lease (chain_id, signed_up_to, clean) values ($1, $2, $3) on conflict (chain_id) do update set signed_up_to = greatest(lp_lease.signed_up_to, excluded.signed_up_to), clean = excluded.clean' },
          [chainId, signedUpTo, clean],
        ),
      ),
    putAward: (award) =>
      owned((session) =>
        session.query(
          {
            name: 'lp-award',
            text: `insert into lp_award (order_id, quote_id, message, output_index, commitment, stage, fill, note, accepted_at_ms, updated_at_ms) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
              on conflict (order_id) do update set commitment = coalesce(excluded.commitment, lp_award.commitment), stage = excluded.stage, fill = excluded.fill, note = excluded.note, updated_at_ms = excluded.updated_at_ms`,
          },
          [
            bytes(award.orderId),
            bytes(award.quoteId),
            JSON.stringify(orderToMessage(award.order)),
            award.outputIndex,
            award.commitment && JSON.stringify(award.commitment),
            award.stage,
            award.fill && JSON.stringify({ ...award.fill, blockNumber: award.fill.blockNumber.toString() }),
            award.note,
            award.acceptedAtMs,
            award.updatedAtMs,
          ],
        ),
      ),
    putRisk: (name, value) =>
      owned((session) =>
        session.query({ name: 'lp-risk', text: 'insert into lp_risk (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value' }, [name, JSON.stringify(value)]),
      ),
    putCurves: (curves) =>
      owned((session) => session.query({ name: 'lp-curves', text: 'insert into lp_calibration (curves) values ($1) on conflict (one) do update set curves = excluded.curves' }, [JSON.stringify(curves)])),
    async award(orderId) {
      const [row] = await db.query<AwardRow>('select * from lp_award where order_id = $1', [bytes(orderId)]);
      return row && toAward(row);
    },
    async listAwards(limit) {
      return (await db.query<AwardRow>('select * from lp_award order by accepted_at_ms desc, order_id limit $1', [limit])).map(toAward);
    },
    stop: ({ ledger, cursors }) =>
      owned(async (session) => {
        const stored: StoredStop = { ledger, cursors: cursors.map((cursor) => ({ ...cursor, block: cursor.block.toString() })) };
        await session.query('update lp_owner set clean = $1', [JSON.stringify(stored)]);
        await session.query('update lp_lease set clean = true');
      }),
    async ping() {
      await db.query('select 1');
    },
    close: () => db.close(),
  };
}

interface StoredStop {
  ledger: LedgerSnapshot;
  cursors: { chainId: number; block: string; hash: Hex }[];
}

const fromStored = ({ ledger, cursors }: StoredStop): CleanStop => ({ ledger, cursors: cursors.map((cursor) => ({ ...cursor, block: BigInt(cursor.block) })) });

interface AwardRow extends Row {
  order_id: Buffer;
  quote_id: Buffer;
  message: OrderMessage;
  output_index: number;
  commitment: SignedCommitment | null;
  stage: AwardStage;
  fill: { timestamp: number; txHash: Hex; blockNumber: string } | null;
  note: string | null;
  accepted_at_ms: number;
  updated_at_ms: number;
}

function toAward(row: AwardRow): LpAward {
  return {
    orderId: toHex(row.order_id),
    quoteId: toHex(row.quote_id),
    order: orderFromMessage(row.message),
    outputIndex: row.output_index,
    commitment: row.commitment,
    stage: row.stage,
    fill: row.fill && { ...row.fill, blockNumber: BigInt(row.fill.blockNumber) },
    note: row.note,
    acceptedAtMs: row.accepted_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}
