/** `firmquote lp journal`: the accounting ledger beside the chains. Exit code 1: not everything agrees. */

import { formatTokens, parseUnits } from '../../../domain/amount.ts';
import type { Json } from '../../../protocol/json.ts';
import type { AdminReads } from '../../lp/admin/answers.ts';
import { type AdminClient, type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { exportJournal } from './export.ts';
import { printLines, table } from '../../terminal/table.ts';
import { badRequest } from '../../wiring/bad-request.ts';

type Books = Json<AdminReads['/books']>;

const NATIVE_DECIMALS = 18;

interface AccountingOptions extends AdminClientOptions {
  order?: string;
  adjust?: string;
  chain?: string;
  token?: string;
  operator?: string;
  note?: string;
  export?: boolean;
  format?: 'csv' | 'ndjson';
  since?: string;
  until?: string;
  counterparty?: string;
}

export async function showAccounting({
  order,
  adjust,
  chain,
  token,
  operator,
  note,
  export: exporting,
  format = 'csv',
  since = 'all',
  until,
  counterparty,
  ...options
}: AccountingOptions): Promise<void> {
  const client = await openAdminClient(options);
  if (order !== undefined) return showEntries(client, order, options);
  if (exporting === true)
    return exportJournal(client, {
      ...{ format, since },
      ...(until !== undefined && { until }),
      ...(counterparty !== undefined && { counterparty }),
    });
  if (adjust !== undefined) {
    if (chain === undefined || token === undefined || note === undefined)
      throw badRequest('--adjust needs --chain, --token and --note (the reason).');
    const decimals =
      token === 'native' ? NATIVE_DECIMALS : decimalsOf(await client.get('/books'), { chain, token });
    await client.post('/books/adjust', {
      ...{ chain, token, amount: baseUnitsOf(adjust, decimals).toString(), note },
      ...(operator !== undefined && { operator: operator.toLowerCase() }),
    });
  }
  const books = await client.get('/books');
  const rows = [
    ...books.reconciled.map((row) => ({ ...row, symbol: row.token })),
    ...books.gas.map(({ operator: of, ...row }) => ({ ...row, token: `gas of ${of}`, ledger: null })),
  ];
  const off = rows.filter(({ difference }) => difference !== '0');
  // What was not compared does not agree.
  if (rows.length === 0 || off.length > 0) process.exitCode = 1;
  if (options.json) return console.log(JSON.stringify(books));
  if (rows.length === 0)
    return console.log(
      'Nothing was compared: the accounting ledger is not open in this process. Another replica may keep it (leads in firmquote lp status), or its database does not answer.',
    );
  const right = ['block', 'accounting', 'chain', 'inventory', 'difference'];
  const cells = rows.map(
    ({ chain: on, token: of, block, journal, chainSays, ledger, difference, ...unit }) => [
      ...[on, of, block],
      ...[journal, chainSays, ledger, difference].map((amount) =>
        amount === null ? '-' : formatTokens(BigInt(amount), unit),
      ),
    ],
  );
  printLines(table(['chain', 'token', ...right], cells, { right }));
  console.log('');
  console.log(
    off.length === 0
      ? `All ${rows.length} balances of the accounting ledger agree with the chains at these blocks.`
      : `${off.length} of ${rows.length} differ. Nothing is adjusted automatically: find the reason (docs/lp/reconcile.md), then book it with --adjust.`,
  );
  if (books.lag.waiting > 0) console.log(`${books.lag.waiting} entries wait to be written.`);
}

/** Throws `RequestError` when the books have no such row, or its token is not configured any more. */
function decimalsOf({ reconciled }: Books, { chain, token }: { chain: string; token: string }): number {
  const row = reconciled.find((each) => each.chain === chain && each.token === token);
  if (row?.decimals === undefined || row.decimals === null)
    throw badRequest(
      `Nothing was booked: the books have no ${token} on ${chain}. They have: ${reconciled.map((each) => `${each.token} on ${each.chain}`).join(', ') || 'nothing yet'}.`,
    );
  return row.decimals;
}

/** Parses signed amounts such as "-0.5" tokens. Throws `AmountError` on anything else. */
const baseUnitsOf = (text: string, decimals: number): bigint =>
  text.startsWith('-') ? -parseUnits(text.slice(1), decimals) : parseUnits(text, decimals);

async function showEntries(client: AdminClient, order: string, { json }: AdminClientOptions): Promise<void> {
  const { entries } = await client.get('/books/:id', { id: order.toLowerCase() });
  if (json) return console.log(JSON.stringify(entries));
  if (entries.length === 0)
    return console.log('No entries: no event of this order is final yet, or it is not an order of this LP.');
  const rows = entries.flatMap(({ kind, atMs, block, chainId, postings }) => [
    [kind, new Date(atMs).toISOString(), `block ${block ?? '-'} of ${chainId}`, ''],
    ...postings.map(({ account, chain, amount, ...unit }) => [
      '',
      `  ${account}`,
      chain,
      formatTokens(BigInt(amount), unit),
    ]),
  ]);
  printLines(table(['entry', 'account', 'chain', 'amount'], rows, { right: ['amount'] }));
}
