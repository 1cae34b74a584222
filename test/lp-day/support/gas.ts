/** What the LP's keys paid for gas: by the receipts of the chains, and by the LP's own books. */

import type { TestChain } from '../../support/devnet.ts';
import type { Day } from './day.ts';

export interface ExportRow {
  row: 'opening' | 'posting' | 'closing';
  entry: number | null;
  account: string;
  chain: string;
  token: string;
  base_units: string;
}

/** The LP's books, from the first row on. */
export async function bookRows({ operator }: Day): Promise<ExportRow[]> {
  const text = await operator.ok('journal', '--export', '--format', 'ndjson');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ExportRow);
}

/** In wei, of every transaction that one of these keys ever sent on this chain, also the reverted ones. */
export async function spent({ anvil }: TestChain, keys: readonly string[]): Promise<bigint> {
  const head = Number(await anvil.rpc<string>('eth_blockNumber'));
  let wei = 0n;
  for (let number = 0; number <= head; number += 1) {
    const { transactions } = await anvil.rpc<{ transactions: { from: string; hash: string }[] }>(
      'eth_getBlockByNumber',
      [`0x${number.toString(16)}`, true],
    );
    for (const { hash } of transactions.filter(({ from }) => keys.includes(from))) {
      const receipt = await anvil.rpc<{ gasUsed: string; effectiveGasPrice: string }>(
        'eth_getTransactionReceipt',
        [hash],
      );
      wei += BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice);
    }
  }
  return wei;
}

/** What the books closed these accounts with on a chain. */
export const closing = (
  rows: readonly ExportRow[],
  slug: string,
  which: (row: ExportRow) => boolean,
): bigint =>
  rows
    .filter((row) => row.row === 'closing' && row.chain === slug && which(row))
    .reduce((sum, { base_units: amount }) => sum + BigInt(amount), 0n);
