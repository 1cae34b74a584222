/** What the books read of a chain: facts and opening balances, and the reader's dependencies and state. */

import type { LRUCache } from 'lru-cache';
import { type Chain, tokenOf, type TokenInfo } from '../../../domain/chain.ts';
import type { Address, Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { Money } from '../../../inventory/event.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { GasCursor, JournalCursor } from '../../../ports/stores/accounting-store.ts';
import type { Log } from '../../../ports/log.ts';
import type { ChainCursor, LpStore } from '../../../ports/stores/lp-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import type { Rational } from '../../../pricing/rational.ts';
import type { Routes } from '../../routes/route.ts';
import type { Exchange, FactPlace, Gas, NativeMoney } from '../ledger/facts.ts';
import type { AccountingLedger } from '../ledger/ledger.ts';
import type { TransferSources, TransferSteps } from '../transfers/recognise.ts';

export interface ReaderDeps {
  awards: Pick<LpStore, 'award'>;
  chains: ReadonlyMap<number, ChainPort>;
  /** The last final block that the inventory ledger has processed. */
  final(chainId: number): ChainCursor | undefined;
  usd(asset: string): Rational | undefined;
  native(chainId: number): Rational | undefined;
  nativeSymbol(chainId: number): string;
  routes(): Routes;
  /** The operators' transactions; without them the books have no gas costs. */
  transactions: Pick<TxStore, 'slotsFrom' | 'signers' | 'keyOf'> | undefined;
  transfers: TransferSources['transfers'];
  clock: Clock;
  log: Log;
}

export interface ReaderOptions {
  account: Address;
  operator: Address;
  tokens: readonly { chainId: number; token: Address }[];
  maxBlocks: number;
}

export type ReadFact = { id: string } & (
  | {
      kind: 'sent' | 'credited' | 'refunded';
      exchange: Exchange;
      place: FactPlace;
      order: StandardOrder | undefined;
    }
  | { kind: 'departed'; transfer: StoredTransfer; money: Money; place: FactPlace }
  | {
      kind: 'arrived' | 'returned';
      transfer: StoredTransfer;
      /** The money that left the source, and the block in which it did. */
      left: Money & { block: bigint };
      money: Money;
      place: FactPlace;
      logIndex: number;
    }
  | { kind: 'owner'; money: Money; place: FactPlace; logIndex: number }
  | (Gas & {
      kind: 'gas';
      transfer?: StoredTransfer;
      /** The operator from whose balance a program without `GasCursor` took the gas of every operator. */
      payer: Address;
    })
);

/** Final blocks of one chain, up to the cursor. */
export interface Reading {
  cursor: JournalCursor;
  gas: GasCursor[];
  facts: ReadFact[];
}

/** Opening balances of a chain or newly configured token at one final block. */
export interface OpeningBalances {
  cursor: JournalCursor;
  balances: Money[];
  /** The native balances of operators that the books do not have yet. */
  native: NativeMoney[];
  /**
   * The account that takes over what a program without `GasCursor` booked for all operators together;
   * undefined when it booked nothing.
   */
  legacyGasOperator: Address | undefined;
  fresh: boolean;
}

/** How far the books have read the chains. */
export interface BooksProgress {
  cursors: ReadonlyMap<number, JournalCursor>;
  /** The gas cursors by `gasKey`. */
  gas: ReadonlyMap<string, GasCursor>;
  /** The block at which the books of a chain were opened. */
  began: ReadonlyMap<number, bigint>;
  /** Ids of the opening entries, one for each token whose books are open. */
  opened: ReadonlySet<string>;
  journal: Pick<AccountingLedger, 'gasOfAll'>;
}

export const gasKey = ({ chainId, operator }: Pick<GasCursor, 'chainId' | 'operator'>): string =>
  `${chainId}:${operator}`;

export interface ReaderState {
  readonly deps: ReaderDeps;
  readonly options: ReaderOptions;
  readonly described: ReadonlyMap<number, Chain>;
  readonly steps: TransferSteps;
  /** Orders that the LP serves, as the books see them. */
  readonly exchanges: LRUCache<Bytes32, { exchange: Exchange; order: StandardOrder }>;
  /** Chains that still have the last block of the books. */
  readonly trusted: Set<number>;
  /** The operators of each chain in the order of their first use, the running operator included. */
  readonly operators: Map<number, readonly Address[]>;
}

export function infoOf(
  { described }: ReaderState,
  { chainId, token }: Pick<Money, 'chainId' | 'token'>,
): TokenInfo | undefined {
  const chain = described.get(chainId);
  return chain && tokenOf(chain, token);
}
