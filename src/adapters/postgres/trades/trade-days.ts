/** Sums of a workspace's trades per UTC day, stage and token. */

import type { DaySum, TradeQuery } from '../../../ports/stores/trades.ts';
import { type OrderStage, STAGES } from '../../../settlement/lifecycle.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Queryable, Row } from '../pool.ts';
import { rangesOf, whereOf } from './trade-where.ts';
import { CELL_STAGES } from './trade-rows.ts';

const DAY_MS = 86_400_000;

interface DayRow extends Row {
  day: number;
  rank: number;
  source_chain: number;
  dest_chain: number;
  input: Address;
  output: Address;
  trades: number;
  input_amount: string;
  output_amount: string;
  priced: number;
  usd: string;
}

/** `session` is inside a transaction with one snapshot. `cells`: null for all. */
export async function sumDays(
  session: Queryable,
  book: number,
  cells: readonly number[] | null,
  query: TradeQuery,
): Promise<DaySum[]> {
  const where = whereOf(book, cells, rangesOf(query));
  const rows = await session.query<DayRow>(
    `select t.created_at_ms / ${DAY_MS} as day, t.cell % ${CELL_STAGES} as rank, f.source_chain, f.dest_chain,
       t.terms->'input'->>'token' as input, t.terms->'output'->>'token' as output, count(*) as trades,
       sum((t.terms->'input'->>'amount')::numeric)::text as input_amount,
       sum(coalesce(t.state->>'delivered', t.terms->'output'->>'amount')::numeric)::text as output_amount,
       count(*) filter (where t.amount >= 0) as priced, coalesce(sum(t.amount::numeric) filter (where t.amount >= 0), 0)::text as usd
     from trade t join trade_family f on f.id = t.cell / ${CELL_STAGES} where ${where.text.replaceAll('book =', 't.book =')}
     group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6`,
    where.values,
  );
  return rows.map((row) => ({
    dayMs: row.day * DAY_MS,
    stage: STAGES[row.rank] as OrderStage,
    input: { chainId: row.source_chain, token: row.input, amount: BigInt(row.input_amount) },
    output: { chainId: row.dest_chain, token: row.output, amount: BigInt(row.output_amount) },
    trades: row.trades,
    priced: row.priced,
    amountUsd: Number(row.usd),
  }));
}
