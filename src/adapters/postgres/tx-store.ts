/** Slots and attempts of a transactor. Every write checks the fence in the signer's row. */

import { randomUUID } from 'node:crypto';
import { UpstreamError } from '../../domain/errors.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { NewSlot, SlotEnd, TxAttempt, TxSigner, TxSlot, TxStore } from '../../ports/stores/tx-store.ts';
import type { Database, Queryable, Row } from './pool.ts';
import { bytes, fromRow, select } from './rows.ts';

const MOST_TRIES = 5;

/** SQL: the signer's lease has lapsed, or is the asking process's own. */
const SIGNER_IS_FREE = 's.lease_until < clock_timestamp() or s.owner = excluded.owner';
/** SQL: only the newest fence reserves nonces and writes signed bytes. Tests remove each of the two alone. */
const RESERVES_UNDER_FENCE = 'fence = $3';
const WRITES_UNDER_FENCE = 'fence = $3';
/** SQL: a step may take another nonce once the slot of its key has ended without running the step. */
const KEY_IS_FREE = "o.state = 'void'";

export function createTxStore(db: Database): TxStore {
  return {
    leaseSigner: (chainId, signer, owner, leaseMs) => leaseSigner(db, chainId, signer, owner, leaseMs),
    renewSigner: (held, leaseMs) => renewSigner(db, held, leaseMs),
    releaseSigner: (held) => releaseSigner(db, held),
    reserve: (holder, chainNonce, intents, lanes) => reserve(db, holder, chainNonce, intents, lanes),
    addAttempts: (holder, attempts) => addAttempts(db, holder, attempts),
    finish: (holder, ends) => finish(db, holder, ends),
    reopen: (holder, slotIds) => reopen(db, holder, slotIds),
    slotsOf: (chainId, signers, keys) => newestSlots(db, chainId, signers, keys),
    liveSlots: (chainId, signer, from) => liveSlots(db, chainId, signer, from),
    slotsFrom: (chainId, signer, from, limit) => slotsFrom(db, chainId, signer, from, limit),
    keyOf: async (chainId, txHash) =>
      (
        await select<{ key: string; signer: Address }>(
          db,
          `select s.key, s.signer from tx_attempt a join tx_slot s on s.id = a.slot_id
           where a.hash = $2 and s.chain_id = $1 and not a.noop`,
          [chainId, bytes(txHash)],
        )
      )[0],
    // A signer that never sent has no slot, so the end of its lease orders it. A released lease ended at
    // -infinity: that signer comes first.
    signers: async (chainId) =>
      (
        await select<{ signer: Address }>(
          db,
          `select s.signer from tx_signer s where s.chain_id = $1 order by coalesce(
             (select min(t.created_at_ms) from tx_slot t where t.chain_id = s.chain_id and t.signer = s.signer),
             extract(epoch from s.lease_until) * 1000)`,
          [chainId],
        )
      ).map(({ signer }) => signer),
  };
}

/** The row lock delays a takeover until the write is committed. */
async function fenced(
  db: Database,
  holder: TxSigner,
  write: (session: Queryable) => Promise<void>,
): Promise<boolean> {
  return db.transaction(async (session) => {
    const held = await session.query(
      {
        name: 'tx-fence',
        text: `select 1 from tx_signer where chain_id = $1 and signer = $2 and ${WRITES_UNDER_FENCE} for share`,
      },
      [holder.chainId, bytes(holder.signer), holder.fence.toString()],
    );
    if (held.length === 0) return false;
    await write(session);
    return true;
  });
}

async function loadSlots(
  session: Queryable,
  where: string,
  values: readonly unknown[],
  name: string,
): Promise<TxSlot[]> {
  const rows = await session.query(
    {
      name,
      text: `select s.*, (select jsonb_agg(jsonb_build_object('hash', encode(a.hash, 'hex'), 'raw', encode(a.raw, 'hex'), 'fee', a.max_fee_per_gas::text, 'tip', a.max_priority_fee_per_gas::text,
          'gas', a.gas, 'noop', a.noop, 'at', a.created_at_ms) order by a.n) from tx_attempt a where a.slot_id = s.id) as attempts,
          (select array_agg(k.key order by k.n) from tx_key k where k.slot_id = s.id) as keys from tx_slot s where ${where}`,
    },
    values,
  );
  return rows.map(toSlot);
}

/**
 * The second part of the union is for slots without rows in tx_key. A program without the migration
 * `tx-002-lanes`, which may still run beside this one during an upgrade, writes such slots.
 */
const newestSlots = (
  session: Queryable,
  chainId: number,
  signers: readonly Address[],
  keys: readonly string[],
): Promise<TxSlot[]> =>
  loadSlots(
    session,
    `s.signer = any($2::bytea[]) and s.id in (select slot_id from tx_key where chain_id = $1 and key = any($3::text[])
        union select max(id) from tx_slot o where o.chain_id = $1 and o.signer = any($2::bytea[]) and o.key = any($3::text[]) and not exists (select from tx_key k where k.chain_id = $1 and k.key = o.key) group by o.key)`,
    [chainId, signers.map(bytes), keys],
    'tx-newest',
  );

/** Nonces rise from `first`. Throws `KeyTaken` when a key has a live slot that was not seen before. */
async function insertSlots(
  session: Queryable,
  owned: readonly unknown[],
  first: number,
  fresh: readonly NewSlot[],
  lanes: readonly Address[],
): Promise<TxSlot[]> {
  const parts = fresh.flatMap(({ keys }, slot) => keys.map((key, n) => ({ key, slot: slot + 1, n })));
  const held = await session.query<{ slot_id: number }>(
    {
      name: 'tx-reserve',
      text: `with made as (
            insert into tx_slot (chain_id, signer, nonce, key, destination, data, gas, not_after, created_at_ms, value)
            select $1, $2, $3::bigint + i - 1, key, destination, data, gas, not_after, $9, value
            from unnest($4::text[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[], $14::numeric[]) with ordinality as n (key, destination, data, gas, not_after, value, i)
            returning id, nonce),
          advanced as (update tx_signer set next_nonce = $3 + cardinality($4::text[]) where chain_id = $1 and signer = $2)
          insert into tx_key (chain_id, key, slot_id, n)
          select $1, part.key, made.id, part.n from unnest($10::text[], $11::bigint[], $12::int[]) as part (key, slot, n) join made on made.nonce = $3::bigint + part.slot - 1
          on conflict (chain_id, key) do update set slot_id = excluded.slot_id, n = excluded.n
            where exists (select from tx_slot o where o.id = tx_key.slot_id and (${KEY_IS_FREE} or o.signer <> all($13::bytea[])))
          returning slot_id`,
    },
    [
      ...owned,
      first,
      fresh.map(({ key }) => key),
      fresh.map(({ to }) => bytes(to)),
      fresh.map(({ data }) => bytes(data)),
      fresh.map(({ gas }) => gas?.toString() ?? null),
      fresh.map(({ notAfter }) => notAfter),
      Date.now(),
      parts.map(({ key }) => key),
      parts.map(({ slot }) => slot),
      parts.map(({ n }) => n),
      lanes.map(bytes),
      fresh.map(({ value }) => value.toString()),
    ],
  );
  if (held.length !== parts.length) throw new KeyTaken();
  return loadSlots(
    session,
    's.id = any($1::bigint[])',
    [[...new Set(held.map(({ slot_id: id }) => id))]],
    'tx-made',
  );
}

async function leaseSigner(
  db: Database,
  chainId: number,
  signer: Address,
  owner: string,
  leaseMs: number,
): Promise<bigint | undefined> {
  const rows = await db.query<{ fence: number }>(
    `insert into tx_signer as s (chain_id, signer, owner, fence, lease_until) values ($1, $2, $3, 1, clock_timestamp() + $4 * interval '1 millisecond')
         on conflict (chain_id, signer) do update set owner = excluded.owner, fence = s.fence + 1, lease_until = excluded.lease_until
           where ${SIGNER_IS_FREE}
         returning fence`,
    [chainId, bytes(signer), owner, leaseMs],
  );
  return rows[0] && BigInt(rows[0].fence);
}

async function renewSigner(
  db: Database,
  { chainId, signer, fence }: TxSigner,
  leaseMs: number,
): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'tx-renew',
      text: `update tx_signer set lease_until = clock_timestamp() + $4 * interval '1 millisecond' where chain_id = $1 and signer = $2 and fence = $3 returning 1`,
    },
    [chainId, bytes(signer), fence.toString(), leaseMs],
  );
  return rows.length === 1;
}

async function releaseSigner(db: Database, { chainId, signer, fence }: TxSigner): Promise<void> {
  await db.query(
    `update tx_signer set owner = $4, lease_until = '-infinity' where chain_id = $1 and signer = ` +
      '$2 and fence = $3',
    [chainId, bytes(signer), fence.toString(), `released-${randomUUID()}`],
  );
}

async function reserve(
  db: Database,
  holder: TxSigner,
  chainNonce: number,
  intents: readonly NewSlot[],
  lanes: readonly Address[],
): Promise<(TxSlot | undefined)[] | undefined> {
  const owned = [holder.chainId, bytes(holder.signer)];
  const keys = intents.flatMap((intent) => intent.keys);
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction(async (session) => {
        const [row] = await session.query<{ next_nonce: number }>(
          {
            name: 'tx-next',
            text: `select next_nonce from tx_signer where chain_id = $1 and signer = $2 and ${RESERVES_UNDER_FENCE} for update`,
          },
          [...owned, holder.fence.toString()],
        );
        if (!row) return undefined;
        const live = (await newestSlots(session, holder.chainId, lanes, keys)).filter(
          ({ state }) => state !== 'void',
        );
        const taken = new Set(live.flatMap((slot) => slot.keys));
        const fresh = intents.filter((intent) => !intent.keys.some((key) => taken.has(key)));
        const made =
          fresh.length > 0
            ? await insertSlots(session, owned, Math.max(chainNonce, row.next_nonce), fresh, lanes)
            : [];
        return intents.map(
          ({ keys: [key = ''], keys: { length } }) =>
            made.find((slot) => slot.keys[0] === key) ??
            (length === 1 ? live.find((slot) => slot.keys.includes(key)) : undefined),
        );
      });
    } catch (error) {
      // Another signer took one of the keys: the next try sees its slot.
      if (!(error instanceof KeyTaken) || tries === MOST_TRIES) throw error;
    }
  }
}

const addAttempts = (
  db: Database,
  holder: TxSigner,
  attempts: readonly (Omit<TxAttempt, 'createdAtMs'> & { slotId: string })[],
): Promise<boolean> =>
  fenced(db, holder, async (session) => {
    await session.query(
      {
        name: 'tx-attempts',
        text: `insert into tx_attempt (slot_id, n, hash, raw, max_fee_per_gas, max_priority_fee_per_gas, gas, noop, created_at_ms)
              select slot_id, (select coalesce(max(n), 0) + 1 from tx_attempt t where t.slot_id = a.slot_id), hash, raw, fee, tip, gas, noop, $8
              from unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::numeric[], $5::numeric[], $6::bigint[], $7::boolean[]) as a (slot_id, hash, raw, fee, tip, gas, noop)`,
      },
      [
        attempts.map(({ slotId }) => slotId),
        attempts.map(({ hash }) => bytes(hash)),
        attempts.map(({ raw }) => bytes(raw)),
        attempts.map((a) => a.maxFeePerGas.toString()),
        attempts.map((a) => a.maxPriorityFeePerGas.toString()),
        attempts.map(({ gas }) => gas.toString()),
        attempts.map(({ noop }) => noop),
        Date.now(),
      ],
    );
  });

const finish = (db: Database, holder: TxSigner, ends: readonly SlotEnd[]): Promise<boolean> =>
  fenced(db, holder, async (session) => {
    await session.query(
      {
        name: 'tx-finish',
        text: `update tx_slot s set state = e.state, reason = e.reason, mined_hash = e.hash, mined_block = e.block, mined_block_hash = e.block_hash
              from unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bigint[], $6::bytea[]) as e (id, state, reason, hash, block, block_hash) where s.id = e.id`,
      },
      [
        ends.map(({ slotId }) => slotId),
        ends.map(({ state }) => state),
        ends.map(({ reason }) => reason),
        ends.map(({ mined }) => mined && bytes(mined.txHash)),
        ends.map(({ mined }) => mined?.blockNumber.toString() ?? null),
        ends.map(({ mined }) => mined && bytes(mined.blockHash)),
      ],
    );
  });

const reopen = (db: Database, holder: TxSigner, slotIds: readonly string[]): Promise<boolean> =>
  fenced(db, holder, async (session) => {
    await session.query(
      `update tx_slot set state = 'open', reason = null, mined_hash = null, mined_block = null, ` +
        'mined_block_hash = null where id = any($1::bigint[])',
      [slotIds],
    );
  });

const liveSlots = (
  db: Database,
  chainId: number,
  signer: Address,
  { nonce, block }: { nonce: number; block: bigint },
): Promise<TxSlot[]> =>
  loadSlots(
    db,
    `s.chain_id = $1 and s.signer = $2 and (s.state = 'open' or s.nonce >= $3 or s.mined_block ` +
      '>= $4) order by s.nonce',
    [chainId, bytes(signer), nonce, block.toString()],
    'tx-live',
  );

const slotsFrom = (
  db: Database,
  chainId: number,
  signer: Address,
  { nonce, block }: { nonce: number; block: bigint },
  limit: number,
): Promise<TxSlot[]> =>
  loadSlots(
    db,
    's.chain_id = $1 and s.signer = $2 and s.nonce >= $3 and (s.mined_block is null or ' +
      's.mined_block >= $4) order by s.nonce limit $5',
    [chainId, bytes(signer), nonce, block.toString(), limit],
    'tx-from',
  );

class KeyTaken extends UpstreamError {
  constructor() {
    super('Another lane has just taken this step; it will be looked at again.', { code: 'key_taken' });
  }
}

interface StoredSlot extends Omit<TxSlot, 'id' | 'keys' | 'to' | 'value' | 'gas' | 'mined' | 'attempts'> {
  id: number;
  destination: Address;
  value: string;
  gas: number | null;
  minedHash: Hex | null;
  minedBlock: number | null;
  minedBlockHash: Hex | null;
  keys: string[] | null;
  attempts:
    | { hash: string; raw: string; fee: string; tip: string; gas: number; noop: boolean; at: number }[]
    | null;
}

function toSlot(row: Row): TxSlot {
  const { id, destination, value, gas, minedHash, minedBlock, minedBlockHash, keys, attempts, ...slot } =
    fromRow<StoredSlot>(row);
  return {
    ...slot,
    id: String(id),
    keys: keys ?? [slot.key],
    to: destination,
    value: BigInt(value),
    gas: gas === null ? null : BigInt(gas),
    mined:
      minedHash && minedBlockHash && minedBlock !== null
        ? { txHash: minedHash, blockNumber: BigInt(minedBlock), blockHash: minedBlockHash }
        : null,
    attempts: (attempts ?? []).map(({ hash, raw, fee, tip, gas: limit, noop, at }): TxAttempt => ({
      hash: `0x${hash}`,
      raw: `0x${raw}`,
      maxFeePerGas: BigInt(fee),
      maxPriorityFeePerGas: BigInt(tip),
      gas: BigInt(limit),
      noop,
      createdAtMs: at,
    })),
  };
}
