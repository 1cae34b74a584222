/** Answer times, ended orders and bond claims of solvers in PostgreSQL. */

import type {
  AnswerCount,
  BondClaimRecord,
  FadedOrder,
  FirmnessStore,
  SolverAccount,
} from '../../../ports/stores/firmness.ts';
import type { OrderStage } from '../../../settlement/lifecycle.ts';
import type { Database } from '../pool.ts';
import { bytes, select } from '../rows.ts';
import { CELL_STAGES, stageRank } from '../trades/trade-rows.ts';

const CLAIM_COLUMNS =
  'chain_id, tx_hash, log_index, block::text, at_ms, account, order_id, quote_id, token, reason, ' +
  'promised::text, paid::text, forfeited::text';
const ENDED_BADLY: readonly OrderStage[] = ['refund_pending', 'refunded', 'failed'];

/** SQL: cells of the solver ($1) in this mode ($2) at these stages ($3). */
const CELLS = `select f.id * ${CELL_STAGES} + stage from trade_family f join trade_book b on b.id = f.book, unnest($3::int[]) as stage
  where f.lp = $1 and b.mode = $2`;

export function createFirmnessStore(db: Database): FirmnessStore {
  return {
    async addBondClaim({
      chainId,
      txHash,
      logIndex,
      block,
      atMs,
      account,
      orderId,
      quoteId,
      token,
      ...paid
    }) {
      await db.query(
        {
          name: 'bond-claim-add',
          text: `insert into bond_claim (chain_id, tx_hash, log_index, block, at_ms, account, order_id, quote_id, token, reason, promised, paid, forfeited)
            values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing`,
        },
        [
          ...[chainId, bytes(txHash), logIndex, block.toString(), atMs],
          ...[account, orderId, quoteId, token].map(bytes),
          ...[paid.reason, paid.promised.toString(), paid.paid.toString(), paid.forfeited.toString()],
        ],
      );
    },
    bondClaims: (accounts, sinceMs, limit) =>
      select<BondClaimRecord>(
        db,
        {
          name: 'bond-claims',
          text: `select ${CLAIM_COLUMNS} from bond_claim join unnest($1::bigint[], $2::bytea[]) as asked (chain_id, account) using (chain_id, account)
            where at_ms >= $3 order by at_ms desc, chain_id, log_index limit $4`,
        },
        [
          accounts.map(({ chainId }) => chainId),
          accounts.map(({ account }) => bytes(account)),
          sinceMs,
          limit,
        ],
        ['block', 'promised', 'paid', 'forfeited'],
      ),
    async addAnswers(rows) {
      // In one order, so that two replicas cannot wait for each other.
      const sorted = rows.toSorted(
        (a, b) => a.solverId.localeCompare(b.solverId) || a.hour - b.hour || a.bucket - b.bucket,
      );
      await db.query(
        {
          name: 'solver-answers-add',
          text: `insert into solver_answer (solver_id, hour, bucket, n) select * from unnest($1::text[], $2::bigint[], $3::smallint[], $4::bigint[])
            on conflict (solver_id, hour, bucket) do update set n = solver_answer.n + excluded.n`,
        },
        [
          sorted.map(({ solverId }) => solverId),
          sorted.map(({ hour }) => hour),
          sorted.map(({ bucket }) => bucket),
          sorted.map(({ n }) => n),
        ],
      );
    },
    answerCounts: (solverId, sinceHour) =>
      select<AnswerCount>(
        db,
        {
          name: 'solver-answers',
          text: 'select bucket, sum(n)::float8 as n from solver_answer where solver_id = $1 and hour >= $2 group by bucket order by bucket',
        },
        [solverId, sinceHour],
      ),
    async putSolverAccounts(solverId, accounts) {
      await db.query(
        `insert into solver_account (solver_id, chain_id, account) select $1, * from unnest($2::bigint[], $3::bytea[])
         on conflict (solver_id, chain_id) do update set account = excluded.account where solver_account.account <> excluded.account`,
        [solverId, accounts.map(({ chainId }) => chainId), accounts.map(({ account }) => bytes(account))],
      );
    },
    solverAccounts: (solverId) =>
      select<SolverAccount>(
        db,
        {
          name: 'solver-accounts',
          text: 'select chain_id, account from solver_account where solver_id = $1 order by chain_id',
        },
        [solverId],
      ),
    async orderCounts(solverId, mode, sinceMs, fades) {
      const every = Array.from({ length: CELL_STAGES }, (_, rank) => rank);
      const rows = await db.query<{ rank: number; n: number }>(
        {
          name: 'solver-order-counts',
          text: `select cell % ${CELL_STAGES} as rank, count(*)::float8 as n from trade where cell = any(array(${CELLS})) and created_at_ms >= $4 group by 1`,
        },
        [solverId, mode, every, sinceMs],
      );
      const [faded] = await db.query<{ n: number }>(
        {
          name: 'solver-fade-count',
          text: `select count(*)::float8 as n from trade where cell = any(array(${CELLS})) and created_at_ms >= $4 and state ->> 'failureCode' = any($5)`,
        },
        [solverId, mode, ENDED_BADLY.map(stageRank), sinceMs, fades],
      );
      return {
        awarded: rows.reduce((sum, { n }) => sum + n, 0),
        settled: rows.find(({ rank }) => rank === stageRank('settled'))?.n ?? 0,
        faded: faded?.n ?? 0,
      };
    },
    fadedOrders: (solverId, mode, sinceMs, fades, limit) =>
      select<FadedOrder>(
        db,
        {
          name: 'solver-faded-orders',
          text: `select t.order_id, o.quote_id, t.state ->> 'failureCode' as failure_code, t.created_at_ms from trade t join trade_order o using (order_id)
            where t.cell = any(array(${CELLS})) and t.created_at_ms >= $4 and t.state ->> 'failureCode' = any($5)
            order by t.created_at_ms desc, t.order_id limit $6`,
        },
        [solverId, mode, ENDED_BADLY.map(stageRank), sinceMs, fades, limit],
      ),
  };
}
