/** Books a difference between books and chain that an operator has explained. */

import { formatTokens } from '../../../domain/amount.ts';
import { RequestError } from '../../../domain/errors.ts';
import type { Address } from '../../../domain/hex.ts';
import { type Bookkeeper, note } from './bookkeeper.ts';
import { reconcileGas, reconcileTokens } from './comparison.ts';

const SECOND_READ_MS = 2_000;

/** A difference between books and chain as it is now. */
interface Difference {
  chain: string;
  token: string;
  address: string;
  symbol: string;
  decimals: number | null;
  block: bigint;
  difference: bigint | null;
}

/** See `Accounts.adjust`. */
export async function adjustBooks(
  keeper: Bookkeeper,
  { chain, token, amount, operator }: { chain: string; token: string; amount: bigint; operator: Address },
): Promise<string> {
  const { clock } = keeper.deps;
  const rows = await differencesNow(keeper, token, operator);
  const row = rows.find((each) => each.chain === chain && each.token === token);
  if (row === undefined)
    throw new RequestError(
      `The books have no ${token}${token === 'native' ? ` of ${operator}` : ''} on ${chain}. They have: ${rows.map((each) => `${each.token} on ${each.chain}`).join(', ') || 'nothing yet'}.`,
      { code: 'bad_request' },
    );
  if (row.difference === null || row.difference === 0n)
    throw new RequestError(`Books and chain agree on ${token} on ${chain}: there is nothing to adjust.`, {
      code: 'nothing_to_adjust',
    });
  if (row.difference !== amount)
    throw new RequestError(
      `The difference is ${formatTokens(row.difference, row)} on ${chain}, not ${formatTokens(amount, row)}. Look again (firmquote lp journal) and name exactly what you have explained.`,
      { code: 'wrong_amount' },
    );
  // A movement that was not booked yet has disappeared by the second read.
  await new Promise<void>((resolve) => clock.after(SECOND_READ_MS, resolve));
  const again = (await differencesNow(keeper, token, operator)).find(
    (each) => each.chain === chain && each.token === token,
  );
  if (again?.difference !== amount)
    throw new RequestError(
      `The difference of ${token} on ${chain} is changing: the books are still reading it. Try again in a few seconds.`,
      { code: 'not_settled' },
    );
  const chainId = [...keeper.reader.described.values()].find(({ slug }) => slug === chain)?.id ?? 0;
  note(keeper, {
    kind: 'adjusted',
    money:
      row.address === 'native'
        ? { chainId, token: row.address, operator, amount }
        : { chainId, token: row.address as Address, amount },
    block: row.block,
    atMs: clock.nowMs(),
  });
  await keeper.passes.run();
  keeper.comparison.checkedMs = Number.NEGATIVE_INFINITY;
  return formatTokens(amount, row);
}

/** Reads the chains first, then compares: every token, or the operator's native currency. */
async function differencesNow(keeper: Bookkeeper, token: string, operator: Address): Promise<Difference[]> {
  await keeper.passes.run();
  return token === 'native'
    ? (await reconcileGas(keeper))
        .filter((row) => row.operator === operator)
        .map((row) => ({ ...row, token, address: 'native' }))
    : (await reconcileTokens(keeper)).map((row) => ({ ...row, symbol: row.token }));
}
