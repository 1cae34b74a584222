/**
 * The history of a workspace as it is asked for: rows derived from facts, filtered, sorted, counted and
 * streamed.
 */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { Stage } from '../../settlement/lifecycle.ts';
import type { TradeState } from '../../settlement/trade-state.ts';
import type { KeyMode } from './store.ts';

export const ORDER_KINDS = ['rfq_direct', 'rfq_split', 'route_dex', 'route_composite'] as const;
export type OrderKind = (typeof ORDER_KINDS)[number];

/** What a trade is from its first moment on. */
export interface TradeTerms {
  executionMode: 'apiSubmit' | 'walletBroadcast';
  sourceChainId: number;
  destChainId: number;
  /** The largest slice's on a split. */
  lp: string;
  orderKind: OrderKind;
  input: { token: Address; amount: string };
  /**
   * All outputs together, as the escrow enforces them; they are of one token. `quoted`: what was shown, where
   * that is more.
   */
  output: { token: Address; amount: string; quoted?: string };
  platformFeeBps: number | null;
  lpSpreadBps: number | null;
  /** Delivered into the ledger of the escrow rather than to a wallet. */
  deferred: boolean;
}

export interface TradeRow {
  orderId: Bytes32;
  createdAtMs: number;
  memberId: string | null;
  amountUsd: number | null;
  /** From acceptance to settled, both by the venue's clock; null until then. */
  speedMs: number | null;
  terms: TradeTerms;
  state: TradeState;
}

/** One combination of what trades are grouped by; a book has few of them. */
export interface TradeFamily {
  id: number;
  sourceChainId: number;
  destChainId: number;
  lp: string;
  memberId: string | null;
  orderKind: OrderKind;
}

/** A workspace's trades of one mode. */
export interface TradeBook {
  workspaceId: string;
  mode: KeyMode;
}

export const NUMERIC_SORTS = ['created_at', 'amount_usd', 'settlement_speed_ms', 'order_id'] as const;
export type NumericSort = (typeof NUMERIC_SORTS)[number];

export interface TradeQuery {
  book: TradeBook;
  /** Which trades, by what groups them. */
  matches(family: TradeFamily): boolean;
  /** null: every stage. */
  stages: ReadonlySet<Stage> | null;
  /** Both inclusive. */
  createdFromMs: number | null;
  createdToMs: number | null;
  minUsd: number | null;
  maxUsd: number | null;
  /**
   * By a value of each trade, or by its group; a trade without a value counts as the smallest. Ties go by
   * creation, then by order id.
   */
  sort: { by: NumericSort } | { by: 'group'; key(group: TradeGroup): string | number };
  direction: 'asc' | 'desc';
}

/** What a sort by group may look at. */
export type TradeGroup = Omit<TradeFamily, 'id'> & { stage: Stage };

export interface TradePage {
  rows: TradeRow[];
  /**
   * Exact up to 10,000, and beyond unless both creation and notional are bounded: then an estimate that is
   * never below 10,001.
   */
  total: number;
}

/** Gas of one transaction of an order, as it was captured when the chain had it at depth. */
export interface CapturedGas {
  chainId: number;
  txHash: Hex;
  /** null: the chain has been asked and has not answered yet. */
  gasUsed: bigint | null;
  /** Gas and data fee together, wei. */
  feeWei: bigint | null;
  /** USD for one whole native coin then; null without a reference price. */
  nativeUsd: number | null;
}

export interface DueGas {
  orderId: Bytes32;
  chainId: number;
  txHash: Hex;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface TradeStore {
  /** Every combination that occurs in a book. */
  families(book: TradeBook): Promise<readonly TradeFamily[]>;
  page(query: TradeQuery, limit: number, offset: number): Promise<TradePage>;
  trade(orderId: Bytes32): Promise<TradeRow | undefined>;
  /**
   * All trades of a query in batches, from one snapshot. undefined: this book is being exported already, or
   * too many books are.
   */
  exportAll(query: TradeQuery): Promise<AsyncGenerator<TradeRow[]> | undefined>;
  gasOf(orderId: Bytes32): Promise<CapturedGas[]>;
}

/** What the worker does for history beside settling: none of it is ever waited for by an order. */
export interface TradeUpkeep {
  /**
   * Counts trades that came to their end. Any number of workers may try; one does it. Answers with how many
   * were counted.
   */
  fold(): Promise<number>;
  /** Makes rows for orders that have none, such as those of a version without history. */
  adopt(): Promise<number>;
  /** Transactions whose gas is to be captured, longest waiting first. */
  dueGas(limit: number): Promise<DueGas[]>;
  recordGas(
    due: DueGas,
    gas: { gasUsed: bigint; feeWei: bigint; nativeUsd: number | null; atMs: number },
  ): Promise<void>;
  /** It is not there yet: asked again no earlier than this. */
  postponeGas(due: DueGas, untilMs: number): Promise<void>;
}
