/** Claims of orders: one worker at a time may append to an order, under a lease and a fence. */

import type { Bytes32 } from '../../../domain/hex.ts';
import type { Claim } from '../../../ports/stores/store.ts';
import type { Database } from '../pool.ts';
import { bytes, toHex } from '../rows.ts';

/** SQL: no claim was made, or the last one's lease has lapsed. */
const CLAIM_IS_FREE = '(lease_until < clock_timestamp() or owner = $2)';
/** SQL: a higher fence refuses the writes of older claims. */
const NEXT_FENCE = 'fence + 1';
/** SQL: claims still held, of orders ($1) and fences ($2), locked in order. */
const HELD_CLAIMS = `(select order_id, o.fence from trade_order o join unnest($1::bytea[], $2::bigint[]) as asked (order_id, fence) using (order_id) where o.fence = asked.fence order by order_id for update of o) held`;
/** SQL: the newest claim, which has seen every fact. */
export const CLAIM_IS_CURRENT = 'o.fence = a.fence and o.last_seq = a.seq';

export async function unclaimedOrders(db: Database, orderIds: readonly Bytes32[]): Promise<Bytes32[]> {
  const rows = await db.query<{ order_id: Buffer }>(
    {
      name: 'order-unclaimed',
      text: 'select order_id from trade_order where order_id = any($1::bytea[]) and not final and lease_until < clock_timestamp()',
    },
    [orderIds.map(bytes)],
  );
  return rows.map(({ order_id }) => toHex(order_id));
}

export async function claimOrders(
  db: Database,
  orderIds: readonly Bytes32[],
  owner: string,
  leaseMs: number,
  originChainIds: readonly number[] | undefined,
): Promise<Claim[]> {
  const rows = await db.query<{ order_id: Buffer; fence: number; until: number }>(
    {
      name: 'order-claim',
      text: `update trade_order o set owner = $2, fence = ${NEXT_FENCE}, lease_until = clock_timestamp() + $3 * interval '1 millisecond'
        from (select order_id from trade_order where order_id = any($1::bytea[]) and not final and ${CLAIM_IS_FREE} and ($4::bigint[] is null or origin_chain_id = any($4)) for update skip locked) free
        where o.order_id = free.order_id returning o.order_id, o.fence, extract(epoch from lease_until) * 1000 as until`,
    },
    [orderIds.map(bytes), owner, leaseMs, originChainIds ?? null],
  );
  return rows.map(toClaim);
}

export async function renewClaims(db: Database, claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
  if (claims.length === 0) return [];
  const rows = await db.query<{ order_id: Buffer; fence: number; until: number }>(
    {
      name: 'order-renew',
      text: `update trade_order o set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
        from ${HELD_CLAIMS}
        where o.order_id = held.order_id and o.fence = held.fence and not o.final returning o.order_id, o.fence, extract(epoch from lease_until) * 1000 as until`,
    },
    [...idsAndFences(claims), leaseMs],
  );
  return rows.map(toClaim);
}

export async function releaseClaims(db: Database, claims: readonly Claim[]): Promise<void> {
  if (claims.length === 0) return;
  await db.query(
    `update trade_order o set owner = null, lease_until = '-infinity'
      from ${HELD_CLAIMS}
      where o.order_id = held.order_id and o.fence = held.fence`,
    idsAndFences(claims),
  );
}

const idsAndFences = (claims: readonly Claim[]) => [
  claims.map(({ orderId }) => bytes(orderId)),
  claims.map(({ fence }) => fence.toString()),
];

const toClaim = (row: { order_id: Buffer; fence: number; until: number }): Claim => ({
  orderId: toHex(row.order_id),
  fence: BigInt(row.fence),
  leaseUntilMs: Math.floor(Number(row.until)),
});
