/**
 * `firmquote lp journal --export`: the accounting ledger of a window as CSV or NDJSON. Opening balances, then
 * every posting, then closing balances: opening plus postings is closing, for each account and token.
 */

import { formatUnits } from '../../../domain/amount.ts';
import { type CsvCell, csvLineOf } from '../../../protocol/csv.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import type { Json } from '../../../protocol/json.ts';
import type { AdminReads } from '../../lp/admin/answers.ts';
import type { AdminClient } from '../../lp/admin-client.ts';
import { timeOf } from './pnl.ts';

type Amount = Json<AdminReads['/books/export']>['opening'][number];

interface ExportOptions {
  format: 'csv' | 'ndjson';
  since: string;
  until?: string;
  counterparty?: string;
}

const COLUMNS = [
  ...['row', 'time', 'entry', 'kind', 'counterparty', 'order_id', 'tx_hash', 'block'],
  ...['chain', 'account', 'token', 'amount', 'base_units'],
] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], CsvCell>>;

export async function exportJournal(
  client: AdminClient,
  { format, since, until, counterparty }: ExportOptions,
): Promise<void> {
  const nowMs = Date.now();
  const [sinceMs, untilMs] = [timeOf(since, nowMs), until === undefined ? undefined : timeOf(until, nowMs)];
  if (untilMs !== undefined && untilMs <= sinceMs)
    throw badRequest(`--until ${until} is not after --since ${since}.`);
  const query = new URLSearchParams({
    sinceMs: String(sinceMs),
    ...(untilMs !== undefined && { untilMs: String(untilMs) }),
    ...(counterparty !== undefined && { counterparty: counterparty.toLowerCase() }),
  });
  const write = (row: Row): void =>
    console.log(
      format === 'csv'
        ? csvLineOf(COLUMNS.map((column) => row[column]))
        : JSON.stringify(Object.fromEntries(COLUMNS.map((column) => [column, row[column] ?? null]))),
    );
  const first = await client.get('/books/export', { query: query.toString() });
  if (format === 'csv') console.log(COLUMNS.join(','));
  const edge = (row: 'opening' | 'closing', amounts: readonly Amount[], atMs: number | undefined): void => {
    for (const each of amounts)
      write({ row, time: iso(atMs), counterparty: counterparty ?? null, ...amountOf(each) });
  };
  edge('opening', first.opening, sinceMs === 0 ? undefined : sinceMs);
  for (let page = first; ;) {
    for (const { n, atMs, kind, counterparty: party, orderId, txHash, block, postings } of page.entries)
      for (const posting of postings)
        write({
          ...{ row: 'posting', time: iso(atMs), entry: n, kind, counterparty: party },
          ...{ order_id: orderId, tx_hash: txHash, block, ...amountOf(posting) },
        });
    if (page.next === null) break;
    query.set('last', String(first.last));
    query.set('after', String(page.next));
    page = await client.get('/books/export', { query: query.toString() });
  }
  edge('closing', first.closing, untilMs ?? nowMs);
}

const iso = (ms: number | undefined): string | null => (ms === undefined ? null : new Date(ms).toISOString());

const amountOf = ({ account, chain, token, decimals, amount }: Amount): Row => ({
  ...{ chain, account, token },
  amount: decimals === null ? null : formatUnits(BigInt(amount), decimals),
  base_units: amount,
});
