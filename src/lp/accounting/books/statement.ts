/** Entries and balances of the books for a reader: with slugs of chains and symbols of tokens. */

import type { Bytes32 } from '../../../domain/hex.ts';
import type {
  Balance,
  JournalEntry,
  Posting,
  Statement,
  StatementEntry,
} from '../../../ports/stores/accounting-store.ts';
import { type Bookkeeper, chainSlug } from './bookkeeper.ts';
import { NATIVE_DECIMALS } from './comparison.ts';

const STATEMENT_PAGE = 500;

/** A balance or posting, in base units of the token. */
export interface ShownBalance {
  account: string;
  chain: string;
  token: string;
  /** null: the token is not configured any more. */
  decimals: number | null;
  amount: bigint;
}

/** An entry with the symbol of each posting's token. */
export interface ShownEntry extends Omit<JournalEntry, 'postings'> {
  postings: (Posting & { chain: string; symbol: string; decimals: number | null })[];
}

export interface StatementPage {
  /** The last entry of the window when its first page was read. */
  last: number;
  opening: ShownBalance[];
  closing: ShownBalance[];
  entries: (Omit<StatementEntry, 'postings'> & { postings: ShownBalance[] })[];
  /** `after` of the next page; null: no more. */
  next: number | null;
}

export async function entriesOf(keeper: Bookkeeper, orderId: Bytes32): Promise<ShownEntry[]> {
  const entries = await keeper.deps.store.entries(orderId);
  return entries.map(({ postings, ...entry }) => ({
    ...entry,
    postings: postings.map((posting) => ({ ...posting, ...symbolOf(keeper, posting) })),
  }));
}

/** See `Accounts.statement`. */
export async function statementOf(
  keeper: Bookkeeper,
  of: Statement,
  { after, last }: { after: number; last: number | undefined },
): Promise<StatementPage> {
  const { store } = keeper.deps;
  const ends = last === undefined ? await store.statement(of) : { last, opening: [], closing: [] };
  const entries = await store.statementEntries(of, { after, last: ends.last, limit: STATEMENT_PAGE });
  const shown = (balance: Balance): ShownBalance => shownBalance(keeper, balance);
  return {
    last: ends.last,
    opening: ends.opening.map(shown),
    closing: ends.closing.map(shown),
    entries: entries.map(({ postings, ...entry }) => ({ ...entry, postings: postings.map(shown) })),
    next: entries.length < STATEMENT_PAGE ? null : (entries.at(-1)?.n ?? null),
  };
}

export const bookedBalances = (keeper: Bookkeeper): ShownBalance[] =>
  (keeper.books?.journal.balances() ?? []).map((balance) => shownBalance(keeper, balance));

function shownBalance(keeper: Bookkeeper, { account, chainId, token, amount }: Balance): ShownBalance {
  const info = token === 'native' ? undefined : keeper.reader.infoOf({ chainId, token });
  return {
    account,
    chain: chainSlug(keeper, chainId),
    token: info?.symbol ?? token,
    decimals: token === 'native' ? NATIVE_DECIMALS : (info?.decimals ?? null),
    amount,
  };
}

function symbolOf(keeper: Bookkeeper, { chainId, token }: Pick<Balance, 'chainId' | 'token'>) {
  const { decimals, token: symbol } = shownBalance(keeper, { account: '', chainId, token, amount: 0n });
  return {
    chain: chainSlug(keeper, chainId),
    symbol: symbol === 'native' ? keeper.deps.nativeSymbol(chainId) : symbol,
    decimals,
  };
}
