/**
 * `firmquote lp journal`: compares the accounting ledger with inventory and chains, shows the entries of one
 * order, and books an adjustment.
 */

import { RequestError } from '../../../domain/errors.ts';
import { type Door, type DoorOptions, openDoor } from './admin-client.ts';
import { table } from '../table.ts';

/** Amounts are decimal text. */
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

export interface AccountingOptions extends DoorOptions {
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
  const door = await openDoor(options);
  if (order !== undefined) return showEntries(door, order, options);
  if (adjust !== undefined) {
    if (chain === undefined || token === undefined || note === undefined)
      throw new RequestError(
        'Which difference, and what explains it? Name --chain, --token and --note with --adjust.',
        { code: 'bad_request' },
      );
    await door.post('/books/adjust', { chain, token, amount: adjust, note });
  }
  const books = await door.get<Books>('/books');
  if (options.json) return console.log(JSON.stringify(books));
  const right = ['block', 'books', 'chain says', 'ledger', 'difference'];
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
    "operator's native",
    block,
    journal,
    chainSays,
    '-',
    (BigInt(chainSays) - BigInt(journal)).toString(),
  ]);
  for (const line of table(['chain', 'token', ...right], [...rows, ...gas], { right })) console.log(line);
  const off = rows.filter((row) => row[6] !== '0');
  console.log('');
  console.log(
    off.length === 0
      ? 'Books and chains agree, in base units, at these blocks.'
      : `${off.length} of ${rows.length} differ. Nothing is adjusted by itself: find what moved (docs/lp/reconcile.md), then book it with --adjust.`,
  );
  if (books.lag.waiting > 0) console.log(`${books.lag.waiting} notes wait to be written.`);
}

async function showEntries(door: Door, order: string, { json }: DoorOptions): Promise<void> {
  const { entries } = await door.get<{ entries: Entry[] }>(
    `/books/${encodeURIComponent(order.toLowerCase())}`,
  );
  if (json) return console.log(JSON.stringify(entries));
  if (entries.length === 0)
    return console.log(
      'No entry: nothing of this order has been final on a chain yet, or it is none of ours.',
    );
  const rows = entries.flatMap(({ kind, atMs, block, chainId, postings }) => [
    [kind, new Date(atMs).toISOString(), `block ${block ?? '-'} of ${chainId}`, ''],
    ...postings.map(({ account, chainId: on, token, amount }) => [
      '',
      `  ${account}`,
      `${token} of ${on}`,
      amount,
    ]),
  ]);
  for (const line of table(['entry', 'account', 'token', 'amount'], rows, { right: ['amount'] }))
    console.log(line);
}
