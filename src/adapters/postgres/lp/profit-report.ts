/** The profit of an LP, summed over a window of its books. */

import type { Hex } from '../../../domain/hex.ts';
import type {
  Posting,
  ProfitKey,
  ProfitRow,
  ProfitTrade,
  ProfitWindow,
  StoredProfit,
  TransferCosts,
} from '../../../ports/stores/accounting-store.ts';
import type { Database, Queryable } from '../pool.ts';
import { bytes, select } from '../rows.ts';

/** How long after the fill a trade is marked, s. */
export const MARKS = ['1', '10', '60'] as const;

const KEYS: Record<ProfitKey, string> = {
  pair: 'pair',
  corridor: 'corridor',
  taker: `'0x' || encode(taker, 'hex')`,
  trade: `'0x' || encode(order_id, 'hex')`,
};

const PROFIT_BIGINTS = [
  ...['volume_micros', 'gross_micros', 'fees_micros', 'gas_micros', 'lost_micros', 'realised_micros'],
  ...MARKS.map((horizon) => `mark_${horizon}`),
];
const PROFIT_SUMS =
  'coalesce(sum(p.trades), 0)::int as trades, coalesce(sum(p.late), 0)::int as late, ' +
  PROFIT_BIGINTS.map((name) => `coalesce(sum(p.${name.replace('_micros', '')}), 0)::text as ${name}`).join(
    ', ',
  );
/** `$1`, `$2`: the window. */
export const IN_WINDOW = 'p.at_ms >= $1 and p.at_ms < coalesce($2::bigint, 9223372036854775807)';

/** Computes the profit of one snapshot, so that the parts of a report add up. */
export function profit(
  db: Database,
  by: ProfitKey,
  { sinceMs, untilMs }: ProfitWindow,
  limit: number,
): Promise<StoredProfit> {
  const window = [sinceMs, untilMs];
  type Row = Omit<ProfitRow, 'markMicros'> & { mark_1: bigint; mark_10: bigint; mark_60: bigint };
  const rowOf = ({ mark_1, mark_10, mark_60, ...row }: Row): ProfitRow => ({
    ...row,
    markMicros: { 1: mark_1, 10: mark_10, 60: mark_60 },
  });
  return db.transaction(async (session) => {
    await session.query('set transaction isolation level repeatable read read only');
    const rows = await select<Row>(
      session,
      `select ${KEYS[by]} as key, ${PROFIT_SUMS} from lp_profit p join lp_trade using (order_id) where ${IN_WINDOW}
       group by ${by === 'trade' ? 'order_id, accepted_at_ms' : KEYS[by]} order by ${by === 'trade' ? 'accepted_at_ms desc' : 'sum(p.volume) desc'} limit $3`,
      [...window, limit],
      PROFIT_BIGINTS,
    );
    const all = await select<Row>(
      session,
      `select 'all' as key, ${PROFIT_SUMS} from lp_profit p where p.order_id is not null and ${IN_WINDOW}`,
      window,
      PROFIT_BIGINTS,
    );
    const assets = await select<StoredProfit['assets'][number]>(
      session,
      `select p.asset, sum(p.realised)::text as realised, sum(p.unrealised)::text as unrealised, sum(p.owner)::text as owner
       from lp_profit p where p.asset is not null and ${IN_WINDOW} group by p.asset order by p.asset`,
      window,
      ['realised', 'unrealised', 'owner'],
    );
    const [transfers] = await select<TransferCosts>(
      session,
      `select coalesce(sum(p.trades), 0)::int as transfers, coalesce(sum(p.under_way_ms), 0)::bigint as under_way_ms,
         coalesce(sum(p.volume), 0)::text as moved_micros, coalesce(sum(p.fees), 0)::text as fees_micros, coalesce(sum(p.gas), 0)::text as gas_micros
       from lp_profit p where p.transfer_id is not null and ${IN_WINDOW}`,
      window,
      ['moved_micros', 'fees_micros', 'gas_micros'],
    );
    const [timed] = await session.query<{ from: number | null; [column: string]: unknown }>(
      `select case when exists (select 1 from lp_profit where at_ms = 0)
         then coalesce((select min(at_ms) from lp_profit where at_ms > 0), lp_booked_at()) end as from`,
    );
    const trades = by === 'trade' ? await profitTrades(session, rows) : undefined;
    return {
      rows: rows.map((row) => {
        const figures = rowOf(row);
        const found = trades?.get(row.key);
        if (found === undefined) return figures;
        const { taken, ...trade } = found;
        // A mark that was not taken is no mark of zero.
        const marks = Object.entries(figures.markMicros).filter(([horizon]) => taken.includes(horizon));
        return { ...figures, markMicros: Object.fromEntries(marks), trade };
      }),
      all: rowOf(all[0] as Row),
      transfers: transfers as TransferCosts,
      assets,
      timedFromMs: timed?.from ?? null,
    };
  });
}

async function profitTrades(
  session: Queryable,
  rows: readonly { key: string }[],
): Promise<Map<string, ProfitTrade & { taken: string[] }>> {
  type Row = Omit<ProfitTrade, 'moved'> & {
    key: string;
    taken: string[];
    moved: (Omit<Posting, 'amount'> & { amount: string })[] | null;
  };
  const found = await select<Row>(
    session,
    `select '0x' || encode(t.order_id, 'hex') as key, t.accepted_at_ms, t.taker, t.pair, t.corridor, t.side, t.stage,
       array(select m.key from jsonb_each(t.marks) m where m.value ->> 'bps' is not null) as taken,
       (select jsonb_agg(jsonb_build_object('account', s.account, 'chainId', s.chain_id, 'token', s.token, 'amount', s.amount::text)) from (
          select p.account, p.chain_id, p.token, sum(p.amount) as amount from lp_entry e join lp_posting p on p.entry = e.n
          where e.order_id = t.order_id and (p.account like 'trading:%' or p.account like 'expense:%-fee') group by 1, 2, 3) s) as moved
     from lp_trade t where t.order_id = any($1::bytea[])`,
    [rows.map(({ key }) => bytes(key as Hex))],
  );
  return new Map(
    found.map(({ key, moved, ...trade }) => [
      key,
      { ...trade, moved: (moved ?? []).map((each) => ({ ...each, amount: BigInt(each.amount) })) },
    ]),
  );
}
