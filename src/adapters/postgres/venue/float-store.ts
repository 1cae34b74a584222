/**
 * Promises of floats, and transfers between their places. Those of one place take turns under a lock, and
 * read orders in the same snapshot: while an order is accepted, either its promise or the order counts, never
 * neither. While it is paid, either the order counts or the balance is less, because both are of one block. A
 * transfer counts until the block shows its withdrawal as requested.
 */

import { addressToBytes32 } from '../../../domain/hex.ts';
import { convertDown, max, min } from '../../../domain/amount.ts';
import { InvariantError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { OrderMessage } from '../../../domain/order.ts';
import type {
  FloatBlock,
  FloatPlace,
  FloatPromise,
  FloatStore,
  FloatTransfer,
  FloatTransferAnswer,
  FloatUse,
  OriginTimes,
  OwedOutput,
} from '../../../ports/stores/floats.ts';
import { createBatcher } from '../../batcher.ts';
import type { Database, Queryable } from '../pool.ts';
import { orderFromMessage } from '../../../protocol/wire.ts';
import { bytes, toHex, uintBytes } from '../rows.ts';
import { addTransfer } from '../transfer-store.ts';

const MOST_AT_ONCE = 100;

/**
 * Expired promises still count this long, for a node that is so far behind that it does not show their end
 * yet.
 */
const LONGEST_LAG_MS = 600_000;

/** SQL: rows of a place ($1 to $3). */
const OF_PLACE = 'p.venue_id = $1 and p.chain_id = $2 and p.token = $3';
/** SQL: whether an order can still be accepted under the promise; origins and times are $4 and $5. */
const IS_LIVE = `not exists (select from unnest($4::bigint[], $5::bigint[]) as t (chain_id, now) where t.chain_id = p.origin_chain_id and t.now > p.until_s)
  and not exists (select from trade_order o where o.origin_chain_id = p.origin_chain_id and o.taker = p.taker and o.nonce = p.nonce)`;

/** SQL: outputs of the venue's orders ($1) in a token on a chain ($2); conditions on the order follow. */
const outputsOf = (
  token: string,
): string => `trade_order o, jsonb_array_elements(o.message -> 'outputs') with ordinality as part (output, n)
      where o.route ->> 'venueId' = $1 and part.output ->> 'chainId' = $2::text and part.output ->> 'token' = ${token}`;
const IS_OPEN = "not o.final and o.solver_ids @> array[$1] and o.status = 'pending'";

const OWED = {
  name: 'float-owed',
  text: `select o.order_id, o.message, (part.n - 1)::int as index from ${outputsOf('$3')} and ${IS_OPEN}`,
};

/**
 * A transfer whose amount is what the block shows as requested is that request: one transfer of a place is
 * open at a time, and none begins while people have requested something.
 */
const USE = {
  name: 'float-use',
  text: `select
    (select coalesce(sum(p.amount), 0)::text from float_promise p where ${OF_PLACE} and ${IS_LIVE}) as promised,
    (select coalesce(sum((part.output ->> 'amount')::numeric), 0)::text
      from ${outputsOf('$6')} and ${IS_OPEN}
        and not exists (select from unnest($8::bytea[], $9::bigint[]) as paid (order_id, index) where paid.order_id = o.order_id and paid.index = part.n - 1)
    ) as open,
    (select coalesce(sum((part.output ->> 'amount')::numeric), 0)::text
      from ${outputsOf('$6')} and o.final and o.status = 'settled' and o.route ->> 'kind' = 'bridge' and o.updated_at_ms > $10
        and exists (select from order_fact f where f.order_id = o.order_id and f.fact ->> 'kind' = 'filled' and (f.fact ->> 'outputIndex')::bigint = part.n - 1 and (f.fact -> 'evidence' ->> 'blockNumber')::numeric > $7)
    ) as unseen,
    (select coalesce(sum(t.amount), 0)::text
      from transfer t where t.account = $11 and t.from_chain_id = $2 and t.from_token = $12 and t.amount <> $13 and (not t.final or t.created_at_ms > $10)
        and not exists (select from transfer_fact f where f.transfer_id = t.id and f.fact ->> 'kind' = 'requested' and (f.fact ->> 'blockNumber')::numeric <= $7
          and not exists (select from transfer_fact l where l.transfer_id = t.id and l.n > f.n and l.fact ->> 'kind' = 'lapsed'))
    ) as moving`,
};

/** Finds an open transfer to the place ($4, $5), from the place ($2, $3), or the other way. */
const TRANSFER_IS_OPEN = {
  name: 'float-transfer-is-open',
  text: `select exists (select from transfer t where not t.final and t.account = $1
    and ((t.to_chain_id, t.to_token) = ($4, $5) or (t.from_chain_id, t.from_token) = ($2, $3)
      or (t.from_chain_id, t.from_token, t.to_chain_id, t.to_token) = ($4, $5, $2, $3))) as is_open`,
};

/** Sums what transfers moved, in 1e-18 of a whole token. */
const TRANSFERRED = {
  name: 'float-transferred',
  text: `select coalesce(sum(t.amount * power(10::numeric, 18 - p.decimals)), 0)::numeric(78, 0)::text as amount
    from transfer t join unnest($2::bigint[], $3::text[], $4::integer[]) as p (chain_id, token, decimals)
      on p.chain_id = t.from_chain_id and p.token = t.from_token
    where t.account = $1 and t.created_at_ms > $5`,
};

const EXPIRE = {
  name: 'float-expire',
  text: `delete from float_promise p where ${OF_PLACE} and not (${IS_LIVE})`,
};

/** Promises under these nonces, and whether their orders are accepted. */
const GROUPS = {
  name: 'float-groups',
  text: `select n, coalesce(p.amount, 0)::text as amount, exists (select from trade_order o where (o.origin_chain_id, o.taker, o.nonce) = (asked.origin_chain_id, asked.taker, asked.nonce)) as taken
    from unnest($4::bigint[], $5::bytea[], $6::bytea[]) with ordinality as asked (origin_chain_id, taker, nonce, n)
    left join float_promise p on ${OF_PLACE} and (p.origin_chain_id, p.taker, p.nonce) = (asked.origin_chain_id, asked.taker, asked.nonce)
    order by n`,
};

const ADD = {
  name: 'float-add',
  text: `insert into float_promise (venue_id, chain_id, token, origin_chain_id, taker, nonce, amount, until_s)
    select $1, $2, $3, origin_chain_id, taker, nonce, max(amount), max(until_s)
    from unnest($4::bigint[], $5::bytea[], $6::bytea[], $7::numeric[], $8::bigint[]) as a (origin_chain_id, taker, nonce, amount, until_s)
    group by origin_chain_id, taker, nonce
    on conflict (venue_id, chain_id, token, origin_chain_id, taker, nonce) do update
      set amount = greatest(float_promise.amount, excluded.amount), until_s = greatest(float_promise.until_s, excluded.until_s)`,
};

interface Asked {
  promise: FloatPromise;
  now: OriginTimes;
}

export function createFloatStore(db: Database): FloatStore {
  const batchers = new Map<string, (asked: Asked) => Promise<boolean>>();

  /** Calls that wait for the lock of a place share the next turn. */
  function batcherOf(place: FloatPlace): (asked: Asked) => Promise<boolean> {
    const name = nameOf(place);
    const batcher =
      batchers.get(name) ?? createBatcher((batch) => decide(place, batch), { max: MOST_AT_ONCE });
    batchers.set(name, batcher);
    return batcher;
  }

  const decide = (place: FloatPlace, batch: readonly Asked[]): Promise<boolean[]> =>
    db.transaction(async (session) => {
      await lock(session, `float ${nameOf(place)}`);
      const times = earliest(batch.map(({ now }) => now));
      await session.query(EXPIRE, [...placeValues(place), ...timeValues(times)]);
      const uses = new Map<FloatBlock, FloatUse>();
      for (const { asOf } of batch.map(({ promise }) => promise))
        if (!uses.has(asOf)) uses.set(asOf, await useOf(session, place, asOf, times));
      const groups = await groupsOf(session, place, batch);
      let added = 0n;
      const kept = batch.map(({ promise }, index) => {
        const group = groups[index] as Group;
        const more = max(promise.amount - group.amount, 0n);
        const { promised, open, moving } = uses.get(promise.asOf) as FloatUse;
        const limit = min(promise.most, promise.held - moving);
        if (group.taken || promised + open + added + more > limit) return false;
        added += more;
        group.amount = max(group.amount, promise.amount);
        return true;
      });
      const news = batch.flatMap(({ promise }, index) => (kept[index] ? [promise] : []));
      if (news.length > 0)
        await session.query(ADD, [
          ...placeValues(place),
          ...orderValues(news),
          news.map(({ amount }) => amount.toString()),
          news.map(({ until }) => until),
        ]);
      return kept;
    });

  const begin = (wanted: FloatTransfer, now: OriginTimes): Promise<FloatTransferAnswer> =>
    db.transaction(async (session) => {
      const { transfer, held, asOf, low, day } = wanted;
      const { account, from, to, amount } = transfer.move;
      // Always before the lock of a place: transfers from two places may not both begin to a third.
      await lock(session, `float transfers ${account}`);
      await lock(session, `float ${nameOf(wanted)}`);
      const ends = [account, from.chainId, from.token, to.chainId, to.token];
      const [other] = await session.query<{ is_open: boolean }>(TRANSFER_IS_OPEN, ends);
      if (other?.is_open !== false) return 'one_is_open';
      const { promised, open, moving } = await useOf(session, wanted, asOf, now);
      if (held - moving - promised - open - low < amount) return 'not_free';
      const [before] = await session.query<{ amount: string }>(TRANSFERRED, [
        account,
        day.places.map(({ chainId }) => chainId),
        day.places.map(({ token }) => token),
        day.places.map(({ decimals }) => decimals),
        day.sinceMs,
      ]);
      const decimals = day.places.find(
        ({ chainId, token }) => chainId === from.chainId && token === from.token,
      )?.decimals;
      if (decimals === undefined)
        throw new InvariantError('A float transfer leaves a place that is not of its asset.', {
          facts: { ...from },
        });
      const carried = BigInt(before?.amount ?? 0) + convertDown(amount, decimals, 18);
      if (carried > day.most) return 'over_day';
      return (await addTransfer(session, transfer)) ? 'added' : 'one_is_open';
    });

  return {
    promise: (promise, now) => batcherOf(promise)({ promise, now }),
    transfer: begin,
    use: (place, asOf, now) => useOf(db, place, asOf, now),
    owed: async ({ venueId, chainId, token }) =>
      (await db.query<OwedRow>(OWED, [venueId, chainId, addressToBytes32(token)])).map(owedOf),
  };
}

interface Group {
  amount: bigint;
  /** True once an order under this nonce is accepted, so no other quote of the nonce can be. */
  taken: boolean;
}

/** Reads one object per nonce, shared by its promises. */
async function groupsOf(
  session: Queryable,
  place: FloatPlace,
  batch: readonly Asked[],
): Promise<readonly Group[]> {
  const promises = batch.map(({ promise }) => promise);
  const rows = await session.query<{ amount: string; taken: boolean }>(GROUPS, [
    ...placeValues(place),
    ...orderValues(promises),
  ]);
  const groups = new Map<string, Group>();
  return promises.map(({ originChainId, taker, nonce }, index) => {
    const name = `${originChainId} ${taker} ${nonce}`;
    const { amount = '0', taken = false } = rows[index] ?? {};
    const group = groups.get(name) ?? { amount: BigInt(amount), taken };
    groups.set(name, group);
    return group;
  });
}

async function useOf(
  session: Queryable,
  place: FloatPlace,
  { number, requested, paid }: FloatBlock,
  now: OriginTimes,
): Promise<FloatUse> {
  const [row] = await session.query<Record<'promised' | 'open' | 'unseen' | 'moving', string>>(USE, [
    ...placeValues(place),
    ...timeValues(now),
    addressToBytes32(place.token),
    number.toString(),
    paid.map(({ orderId }) => bytes(orderId)),
    paid.map(({ index }) => index),
    Date.now() - LONGEST_LAG_MS,
    place.account,
    place.token,
    requested.toString(),
  ]);
  const { promised = 0, open = 0, unseen = 0, moving = 0 } = row ?? {};
  return { promised: BigInt(promised), open: BigInt(open) + BigInt(unseen), moving: BigInt(moving) };
}

interface OwedRow {
  order_id: Buffer;
  message: OrderMessage;
  index: number;
  [column: string]: unknown;
}

function owedOf({ order_id, message, index }: OwedRow): OwedOutput {
  const orderId: Hex = toHex(order_id);
  const output = orderFromMessage(message).outputs[index];
  if (!output) throw new InvariantError('An order has no such output.', { facts: { orderId, index } });
  return { orderId, index, output };
}

/** Takes for each origin the time that lets fewest promises expire. */
function earliest(all: readonly OriginTimes[]): OriginTimes {
  const times = new Map<number, number>();
  for (const each of all)
    for (const [chainId, now] of each) times.set(chainId, Math.min(now, times.get(chainId) ?? now));
  return times;
}

const lock = (session: Queryable, name: string) =>
  session.query({ name: 'float-lock', text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))' }, [
    name,
  ]);
const nameOf = ({ venueId, chainId, token }: FloatPlace): string => `${venueId} ${chainId} ${token}`;
const placeValues = ({ venueId, chainId, token }: FloatPlace) => [venueId, chainId, bytes(token)];
const timeValues = (now: OriginTimes) => [[...now.keys()], [...now.values()]];
const orderValues = (promises: readonly FloatPromise[]) => [
  promises.map(({ originChainId }) => originChainId),
  promises.map(({ taker }) => bytes(taker)),
  promises.map(({ nonce }) => uintBytes(nonce)),
];
