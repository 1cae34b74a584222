/** `firmquote lp journal`: the accounting ledger beside the chains. Exit code 1: not everything agrees. */

import { type AdminClient, type AdminClientOptions, openAdminClient } from './admin-client.ts';
import { exportJournal } from './export.ts';
import { printLines, table } from '../table.ts';
import { badRequest } from '../../bad-request.ts';

interface Books {
  reconciled: {
    chain: string;
    token: string;
    block: string;
    journal: string;
    chainSays: string | null;
    ledger: string | null;
    difference: string | null;
  }[];
  gas: {
    chain: string;
    operator: string;
    block: string;
    journal: string;
    chainSays: string;
    difference: string;
  }[];
  lag: { waiting: number; chains: { chain: string; blocks: number }[] };
}

interface Entry {
  id: string;
  kind: string;
  atMs: number;
  chainId: number;
  block: string | null;
  postings: { account: string; chainId: number; token: string; amount: string }[];
}

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
    await client.post('/books/adjust', {
      ...{ chain, token, amount: adjust, note },
      ...(operator !== undefined && { operator: operator.toLowerCase() }),
    });
  }
  const books = await client.get<Books>('/books');
  const rows = [
    ...books.reconciled,
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
  const cells = rows.map(({ chain: on, token: of, block, journal, chainSays, ledger, difference }) => [
    ...[on, of, block, journal],
    ...[chainSays ?? '-', ledger ?? '-', difference ?? '-'],
  ]);
  printLines(table(['chain', 'token', ...right], cells, { right }));
  console.log('');
  console.log(
    off.length === 0
      ? `All ${rows.length} balances of the accounting ledger agree with the chains at these blocks, in base units.`
      : `${off.length} of ${rows.length} differ. Nothing is adjusted automatically: find the reason (docs/lp/reconcile.md), then book it with --adjust.`,
  );
  if (books.lag.waiting > 0) console.log(`${books.lag.waiting} entries wait to be written.`);
}

async function showEntries(client: AdminClient, order: string, { json }: AdminClientOptions): Promise<void> {
  const { entries } = await client.get<{ entries: Entry[] }>(
    `/books/${encodeURIComponent(order.toLowerCase())}`,
  );
  if (json) return console.log(JSON.stringify(entries));
  if (entries.length === 0)
    return console.log('No entries: no event of this order is final yet, or it is not an order of this LP.');
  const rows = entries.flatMap(({ kind, atMs, block, chainId, postings }) => [
    [kind, new Date(atMs).toISOString(), `block ${block ?? '-'} of ${chainId}`, ''],
    ...postings.map(({ account, chainId: on, token, amount }) => [
      '',
      `  ${account}`,
      `${token} of ${on}`,
      amount,
    ]),
  ]);
  printLines(table(['entry', 'account', 'token', 'amount'], rows, { right: ['amount'] }));
}
