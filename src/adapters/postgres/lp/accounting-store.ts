/** The LP's books. Each batch is one transaction behind the fence of the LP's other writes. */

import { InvariantError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type {
  Balance,
  BookedTransfer,
  GasCursor,
  JournalBatch,
  JournalCursor,
  JournalEntry,
  JournalStore,
  PositionRow,
  Posting,
  StatementEntry,
  StoredExplanation,
  TakerMarks,
  TradeRecord,
} from '../../../ports/stores/accounting-store.ts';
import type { Database, Queryable } from '../pool.ts';
import { bytes, put, select } from '../rows.ts';
import { IN_WINDOW, MARKS, profit } from './profit-report.ts';

const MOST_OPEN = 20_000;
const MOST_TAKERS = 1_000_000;

export function createJournalStore(db: Database): JournalStore {
  let epoch: number | undefined;

  const takersSince = (sinceMs: number): Promise<TakerMarks[]> =>
    select<TakerMarks>(
      db,
      {
        name: 'journal-takers',
        text: 'select key, means, trades, seen_ms from lp_taker where seen_ms >= $1 order by seen_ms desc limit $2',
      },
      [sinceMs, MOST_TAKERS],
    );

  const cursors = (): Promise<JournalCursor[]> =>
    select<JournalCursor>(db, 'select chain_id, block, hash, nonce from lp_journal_cursor', [], ['block']);

  return {
    async open(owner) {
      epoch = owner;
      const [read, gas, began, balances, positions, pending, trades, takers] = await Promise.all([
        cursors(),
        select<GasCursor>(db, 'select chain_id, operator, nonce, block from lp_gas_cursor', [], ['block']),
        select<{ chainId: number; block: bigint }>(
          db,
          `select chain_id, min(block) as block from lp_entry where kind = 'opening' group by chain_id`,
          [],
          ['block'],
        ),
        select<Balance>(db, 'select account, chain_id, token, amount from lp_balance', [], ['amount']),
        select<PositionRow>(
          db,
          `select asset, ${POSITION_BIGINTS.join(', ')} from lp_position`,
          [],
          POSITION_BIGINTS,
        ),
        entriesWhere(db, 'e.id in (select id from lp_pending)', []),
        select<TradeRecord>(
          db,
          `select ${TRADE_COLUMNS} from (
             select * from lp_trade where open order by accepted_at_ms desc limit $1) newest order by accepted_at_ms`,
          [MOST_OPEN],
          TRADE_BIGINTS,
        ),
        takersSince(0),
      ]);
      return { cursors: read, gas, began, balances, positions, pending, trades, takers };
    },
    cursors,
    explain: (rows) => db.transaction((session) => writeExplanations(session, rows)),
    takersSince,
    async known(ids) {
      if (ids.length === 0) return new Set();
      return new Set(
        (
          await db.query<{ id: string }>(
            { name: 'journal-known', text: 'select id from lp_entry where id = any($1::text[])' },
            [ids],
          )
        ).map(({ id }) => id),
      );
    },
    async write(batch) {
      if (epoch === undefined) throw new InvariantError('The accounting store was not opened.');
      return db.transaction(async (session) => {
        const held = await session.query(
          { name: 'lp-owner', text: 'select 1 from lp_owner where epoch = $1 for share' },
          [epoch],
        );
        if (held.length === 0) return false;
        await writeEntries(session, batch.entries);
        await writeRest(session, batch);
        return true;
      });
    },
    async trade(orderId) {
      const statement = {
        name: 'journal-trade',
        text: `select ${TRADE_COLUMNS} from lp_trade where order_id = $1`,
      };
      return (await select<TradeRecord>(db, statement, [bytes(orderId)], TRADE_BIGINTS))[0];
    },
    transfers: async (ids) =>
      ids.length === 0
        ? []
        : select<BookedTransfer>(
            db,
            `select ${TRANSFER_COLUMNS} from lp_transfer where id = any($1::text[])`,
            [ids],
            TRANSFER_BIGINTS,
          ),
    transfersIn: ({ sinceMs, untilMs }, limit) =>
      select<BookedTransfer>(
        db,
        `select ${TRANSFER_COLUMNS} from lp_transfer
         where id in (select p.transfer_id from lp_profit p where p.transfer_id is not null and ${IN_WINDOW})
         order by coalesce(departed_at_ms, 9223372036854775807) desc, id limit $3`,
        [sinceMs, untilMs, limit],
        TRANSFER_BIGINTS,
      ),
    profit: (by, window, limit) => profit(db, by, window, limit),
    entries: (orderId) => entriesWhere(db, 'e.order_id = $1', [bytes(orderId)]),
    async statement(of) {
      const [{ last } = { last: 0 }] = await db.query<{ last: number }>(
        'select coalesce(max(n), 0) as last from lp_entry',
      );
      const sums = (edgeMs: number | null) =>
        select<Balance>(
          db,
          `select p.account, p.chain_id, p.token, sum(p.amount)::text as amount from ${ENTRIES} join lp_posting p on p.entry = e.n
           where ($1::bigint is null or e.at_ms < $1) and e.n <= $2 and ($3::text is null or ${COUNTERPARTY} = $3)
           group by 1, 2, 3 having sum(p.amount) <> 0 order by 1, 2, 3`,
          [edgeMs, last, of.counterparty],
          ['amount'],
        );
      return { last, opening: await sums(of.sinceMs), closing: await sums(of.untilMs) };
    },
    statementEntries: ({ sinceMs, untilMs, counterparty }, { after, last, limit }) =>
      entriesWhere<StatementEntry>(
        db,
        `e.at_ms >= $1 and ($2::bigint is null or e.at_ms < $2) and ($3::text is null or ${COUNTERPARTY} = $3) and e.n > $4 and e.n <= $5`,
        [sinceMs, untilMs, counterparty, after, last, limit],
        { more: `, e.n, ${COUNTERPARTY} as counterparty`, tail: 'limit $6' },
      ),
    explanations: (id) =>
      select<StoredExplanation>(
        db,
        'select order_id, quote_id, rfq_id, at_ms, explanation from lp_explanation where quote_id = $1 or rfq_id = $1 or order_id = $2 order by at_ms desc limit 100',
        [id, /^0x[0-9a-f]{64}$/.test(id) ? bytes(id as Hex) : null],
      ),
    async audit() {
      const [row] = await db.query<{ postings: number; unbalanced: number; astray: number }>(`
        with sums as (select account, chain_id, token, sum(amount) as amount from lp_posting group by 1, 2, 3)
        select (select count(*) from lp_posting) as postings,
          (select count(*) from (select 1 from lp_posting group by entry, chain_id, token having sum(amount) <> 0) wrong) as unbalanced,
          (select count(*) from sums full join lp_balance using (account, chain_id, token) where coalesce(sums.amount, 0) <> coalesce(lp_balance.amount, 0)) as astray`);
      return row ?? { postings: 0, unbalanced: 0, astray: 0 };
    },
  };
}

async function writeEntries(session: Queryable, entries: readonly JournalEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const rows = await session.query<{ n: number; id: string }>(
    {
      name: 'journal-entries',
      text: `insert into lp_entry (id, kind, at_ms, order_id, chain_id, block, tx_hash)
        select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[], $7::bytea[]) returning n, id`,
    },
    [
      entries.map(({ id }) => id),
      entries.map(({ kind }) => kind),
      entries.map(({ atMs }) => atMs),
      entries.map(({ orderId }) => orderId && bytes(orderId)),
      entries.map(({ chainId }) => chainId),
      entries.map(({ block }) => block?.toString() ?? null),
      entries.map(({ txHash }) => txHash && bytes(txHash)),
    ],
  );
  const numbers = new Map(rows.map(({ n, id }) => [id, n]));
  const postings = entries.flatMap((entry) =>
    entry.postings.map((posting) => ({ ...posting, entry: numbers.get(entry.id) })),
  );
  await session.query(
    {
      name: 'journal-postings',
      text: `with new as (insert into lp_posting (entry, account, chain_id, token, amount)
          select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::numeric[]) returning account, chain_id, token, amount)
        insert into lp_balance as b (account, chain_id, token, amount) select account, chain_id, token, sum(amount) from new group by 1, 2, 3
        on conflict (account, chain_id, token) do update set amount = b.amount + excluded.amount`,
    },
    [
      postings.map(({ entry }) => entry),
      postings.map(({ account }) => account),
      postings.map(({ chainId }) => chainId),
      postings.map(({ token }) => token),
      postings.map(({ amount }) => amount.toString()),
    ],
  );
  const seen = entries.filter(({ kind }) => kind === 'fill').map(({ id }) => id);
  if (seen.length > 0) await session.query('insert into lp_pending select unnest($1::text[])', [seen]);
  const over = entries.flatMap(({ kind, id }) =>
    kind === 'sent'
      ? [`fill:${id.slice('sent:'.length)}`]
      : kind === 'reversal'
        ? [id.slice('reversal:'.length)]
        : [],
  );
  if (over.length > 0) await session.query('delete from lp_pending where id = any($1::text[])', [over]);
}

async function writeRest(
  session: Queryable,
  { cursors, gas, trades, positions, transfers, takers, explanations }: JournalBatch,
): Promise<void> {
  for (const cursor of cursors)
    await put(
      session,
      'lp_journal_cursor',
      { ...cursor, hash: bytes(cursor.hash) },
      { key: 'chain_id', name: 'journal-cursor' },
    );
  for (const cursor of gas)
    await put(
      session,
      'lp_gas_cursor',
      { ...cursor, operator: bytes(cursor.operator) },
      { key: 'chain_id, operator', name: 'journal-gas-cursor' },
    );
  for (const trade of trades)
    await put(session, 'lp_trade', tradeRow(trade), { key: 'order_id', name: 'journal-put-trade' });
  for (const position of positions)
    await put(session, 'lp_position', position, { key: 'asset', name: 'journal-position' });
  for (const transfer of transfers)
    await put(session, 'lp_transfer', transfer, { key: 'id', name: 'journal-put-transfer' });
  for (const taker of takers) await put(session, 'lp_taker', taker, { key: 'key', name: 'journal-taker' });
  await writeExplanations(session, explanations);
}

async function writeExplanations(session: Queryable, rows: readonly StoredExplanation[]): Promise<void> {
  for (const { orderId, quoteId, rfqId, atMs, explanation } of rows) {
    await session.query(
      {
        name: 'journal-explanation',
        text: 'insert into lp_explanation (order_id, quote_id, rfq_id, at_ms, explanation) values ($1, $2, $3, $4, $5) on conflict (order_id) do nothing',
      },
      [bytes(orderId), quoteId, rfqId, atMs, JSON.stringify(explanation)],
    );
  }
}

const TRADE_BIGINTS = [
  ...['paid_micros', 'input_micros', 'fees_micros', 'earned_micros'],
  ...['paid', 'earned', 'gas_micros', 'realised_micros'],
];
const TRADE_COLUMNS = `order_id, quote_id, accepted_at_ms, taker, pair, corridor, side, stage, counted, mid, late, ${TRADE_BIGINTS.join(', ')}, marks`;
const TRANSFER_BIGINTS = ['departed', 'ended', 'moved_micros', 'fee_micros', 'gas_micros'];
const TRANSFER_COLUMNS = `id, asset, from_chain, to_chain, bridge, stage, departed_at_ms, ended_at_ms, ${TRANSFER_BIGINTS.join(', ')}`;
const POSITION_BIGINTS = [
  ...['quantity', 'cost_micros', 'realised_micros', 'owner_micros'],
  ...['unpriced', 'unrealised_micros'],
];

function tradeRow(trade: TradeRecord): object {
  const { stage, counted, marks } = trade;
  const over = stage === 'failed' || (counted && (stage === 'finalised' || stage === 'lost'));
  return {
    ...trade,
    orderId: bytes(trade.orderId),
    quoteId: trade.quoteId && bytes(trade.quoteId),
    taker: bytes(trade.taker),
    open: !over || MARKS.some((horizon) => marks[horizon] === undefined),
  };
}

const ENTRIES = 'lp_entry e left join lp_trade t using (order_id)';
const COUNTERPARTY = `case when t.taker is not null then '0x' || encode(t.taker, 'hex') when e.kind = 'gas' then 'network' when e.kind in ('departed', 'arrived', 'returned') then 'bridge' else 'owner' end`;

async function entriesWhere<T extends JournalEntry = JournalEntry>(
  session: Queryable,
  where: string,
  values: readonly unknown[],
  { more = '', tail = '' }: { more?: string; tail?: string } = {},
): Promise<T[]> {
  type StoredEntry = Omit<T, 'postings'> & {
    postings: (Omit<Posting, 'amount'> & { amount: string })[] | null;
  };
  const rows = await select<StoredEntry>(
    session,
    `select e.id, e.kind, e.at_ms, e.order_id, e.chain_id, e.block, e.tx_hash, (select jsonb_agg(jsonb_build_object('account', p.account, 'chainId', p.chain_id, 'token', p.token, 'amount', p.amount::text)) from lp_posting p where p.entry = e.n) as postings${more}
     from ${ENTRIES} where ${where} order by e.n ${tail}`,
    values,
    ['block'],
  );
  return rows.map(
    ({ postings, ...entry }) =>
      ({
        ...entry,
        postings: (postings ?? []).map((posting) => ({ ...posting, amount: BigInt(posting.amount) })),
      }) as unknown as T,
  );
}
