/** `firmquote lp journal`. */

import { type AdminClient, type AdminClientOptions, openAdminClient } from './admin-client.ts';
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
  gas: { chain: string; block: string; journal: string; chainSays: string }[];
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
  note?: string;
}

export async function showAccounting({
  order,
  adjust,
  chain,
  token,
  note,
  ...options
}: AccountingOptions): Promise<void> {
  const client = await openAdminClient(options);
  if (order !== undefined) return showEntries(client, order, options);
  if (adjust !== undefined) {
    if (chain === undefined || token === undefined || note === undefined)
      throw badRequest('--adjust needs --chain, --token and --note (the reason).');
    await client.post('/books/adjust', { chain, token, amount: adjust, note });
  }
  const books = await client.get<Books>('/books');
  if (options.json) return console.log(JSON.stringify(books));
  const right = ['block', 'accounting', 'chain', 'inventory', 'difference'];
  const rows = books.reconciled.map(
    ({ chain: on, token: of, block, journal, chainSays, ledger, difference }) => [
      on,
      of,
      block,
      journal,
      chainSays ?? '-',
      ledger ?? '-',
      difference ?? '-',
    ],
  );
  const gas = books.gas.map(({ chain: on, block, journal, chainSays }) => [
    on,
    'operator gas',
    block,
    journal,
    chainSays,
    '-',
    (BigInt(chainSays) - BigInt(journal)).toString(),
  ]);
  printLines(table(['chain', 'token', ...right], [...rows, ...gas], { right }));
  const off = rows.filter((row) => row[6] !== '0');
  console.log('');
  console.log(
    off.length === 0
      ? 'The accounting ledger agrees with the chains at these blocks, in base units.'
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
