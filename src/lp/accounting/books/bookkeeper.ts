/**
 * Keeps in memory the state of one LP process's accounting, and the notes that wait for its next pass. Only
 * one replica keeps the books; the other replicas do no accounting.
 */

import type { Address } from '../../../domain/hex.ts';
import type { Ledger } from '../../../inventory/ledger.ts';
import type { JournalStore, StoredExplanation } from '../../../ports/stores/accounting-store.ts';
import type { Market } from '../../market/market.ts';
import type { Passes } from '../../passes.ts';
import type { RecentQuotes } from '../../quote-log/recent-quotes.ts';
import type { OpenAward } from '../../settlement/awards.ts';
import type { ChainReader } from '../reader/chain-reader.ts';
import type { ReaderDeps, ReaderOptions } from '../reader/reading.ts';
import type { Books } from '../fold/books.ts';
import type { Folder } from '../fold/fold.ts';
import type { Note } from '../fold/folding.ts';
import type { Markouts } from '../markout.ts';
import type { TakerCosts } from '../taker-costs.ts';

export interface AccountsDeps extends ReaderDeps {
  store: JournalStore;
  open(): readonly OpenAward[];
  market(): Pick<Market, 'pair'>;
  ledger: Pick<Ledger, 'bucket'>;
  takers: TakerCosts;
}

export interface AccountsOptions extends ReaderOptions {
  reconcileMs: number;
  explain: { keep: number };
  journal: { everyMs: number };
  /** True while another replica keeps the books; `start` ends it. */
  following: boolean;
}

/** Balances of one token on one chain by the books, the chain and the inventory ledger, in base units. */
export interface Reconciled {
  chain: string;
  token: string;
  address: string;
  /** null: the token is not configured any more. */
  decimals: number | null;
  block: bigint;
  journal: bigint;
  chainSays: bigint | null;
  /** null while the inventory ledger is at another block. */
  ledger: bigint | null;
  difference: bigint | null;
}

/** The native currency of an operator, running or rotated out, in wei. */
export interface ReconciledGas {
  chain: string;
  operator: Address;
  /** The native currency's symbol, such as "ETH". */
  symbol: string;
  decimals: number;
  block: bigint;
  journal: bigint;
  chainSays: bigint;
  difference: bigint;
}

/** The last comparison of the books with the chains, and what was said about it. */
interface Comparison {
  /** Blocks up to which the books are compared before the first quote; undefined once they were. */
  due: ReadonlyMap<number, bigint> | undefined;
  checked: Reconciled[];
  checkedGas: ReconciledGas[];
  /** Monotonic time of the comparison. */
  checkedMs: number;
  /** The difference that the log reported last, by chain and token. */
  saidDifferences: Map<string, bigint>;
}

/** The parts and the state of the accounting. Its times in ms are monotonic, except `heardMs`. */
export interface Bookkeeper {
  deps: AccountsDeps;
  options: AccountsOptions;
  reader: ChainReader;
  folder: Folder;
  markouts: Markouts;
  recentQuotes: RecentQuotes;
  /** Runs one pass over notes and chains at a time. */
  passes: Passes;
  /** Notes that wait for the database. */
  notes: Note[];
  /** Explanations of quotes that were accepted while another replica kept the books. */
  unexplained: StoredExplanation[];
  /** The epoch under which this process writes; undefined while it does not keep the books. */
  epoch: number | undefined;
  /** Memory of the store; undefined until loaded, and again after a failed write. */
  books: Books | undefined;
  /** true when another process has taken the books over. */
  lost: boolean;
  following: boolean;
  stopped: boolean;
  /** true when taker costs must be loaded together with the books. */
  stale: boolean;
  /** true when the marks of stored trades were scheduled. */
  watched: boolean;
  startedMs: number;
  takersWrittenMs: number;
  revaluedMs: number;
  /** The newest change of taker costs that was read from the leading replica, by the store's clock. */
  heardMs: number;
  comparison: Comparison;
  /** Ends the timer of the next pass. */
  cancel(): void;
}

/** Most notes waiting for the database. Chain facts never wait here: they are read from the chain. */
export const MOST_NOTES = 20_000;

/** Adds a note to those of the next pass. */
export function note({ deps, notes, following }: Bookkeeper, made: Note): void {
  if (following) return;
  if (notes.length >= MOST_NOTES)
    return deps.log.error(
      { kind: made.kind },
      'the accounting queue is full: a note was dropped, and its trade will be marked as late',
    );
  notes.push(made);
}

export const chainSlug = ({ reader }: Bookkeeper, chainId: number): string =>
  reader.described.get(chainId)?.slug ?? String(chainId);
