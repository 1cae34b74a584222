/** The trade history of a workspace: rows derived from facts, to filter, sort, count and export. */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { OrderStage } from '../../settlement/lifecycle.ts';
import type { TradeState } from '../../settlement/trade-state.ts';
import type { KeyMode } from './store.ts';

export const ORDER_KINDS = ['rfq_direct', 'rfq_split', 'route_dex', 'route_composite'] as const;
export type OrderKind = (typeof ORDER_KINDS)[number];

/** What is fixed when a trade is accepted. */
export interface TradeTerms {
  executionMode: 'apiSubmit' | 'walletBroadcast';
  sourceChainId: number;
  destChainId: number;
  /** On a split, the LP of the largest slice. */
  lp: string;
  orderKind: OrderKind;
  input: { token: Address; amount: string };
  /**
   * Sum of all outputs as the escrow enforces them, in one token. `quoted`: the output shown to the taker,
   * where it is larger.
   */
  output: { token: Address; amount: string; quoted?: string };
  platformFeeBps: number | null;
  lpSpreadBps: number | null;
  /** Delivered into the escrow's ledger rather than to a wallet. */
  deferred: boolean;
}

export interface TradeRow {
  orderId: Bytes32;
  createdAtMs: number;
  memberId: string | null;
  amountUsd: number | null;
  /** From acceptance to settled, both by the venue's clock; null until settled. */
  speedMs: number | null;
  terms: TradeTerms;
  state: TradeState;
}

/** One combination of the values that trades are grouped by. */
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
  /** Selects trades by their family. */
  matches(family: TradeFamily): boolean;
  /** null: every stage. */
  stages: ReadonlySet<OrderStage> | null;
  /** Both inclusive. */
  createdFromMs: number | null;
  createdToMs: number | null;
  minUsd: number | null;
  maxUsd: number | null;
  /**
   * By a value of each trade or by its group. Trades without a value sort as the smallest. Ties are broken by
   * creation, then by order id.
   */
  sort: { by: NumericSort } | { by: 'group'; key(group: TradeGroup): string | number };
  direction: 'asc' | 'desc';
}

/** What sorting by group may use. */
export type TradeGroup = Omit<TradeFamily, 'id'> & { stage: OrderStage };

export interface TradePage {
  rows: TradeRow[];
  /**
   * Exact up to 10,000, and beyond unless both creation and notional are bounded; then an estimate of at
   * least 10,001.
   */
  total: number;
}

/** Gas of one transaction of an order, recorded once the transaction was final. */
export interface CapturedGas {
  chainId: number;
  txHash: Hex;
  /** null until the chain has answered. */
  gasUsed: bigint | null;
  /** Gas and L1 data fee together, wei. */
  feeWei: bigint | null;
  /** USD per whole native coin at that time; null without a reference price. */
  nativeUsd: number | null;
}

export interface DueGas {
  orderId: Bytes32;
  chainId: number;
  txHash: Hex;
}

/** All throw `UpstreamError` when the database does not answer. */
export interface TradeStore {
  /** Every family in a book. */
  families(book: TradeBook): Promise<readonly TradeFamily[]>;
  page(query: TradeQuery, limit: number, offset: number): Promise<TradePage>;
  trade(orderId: Bytes32): Promise<TradeRow | undefined>;
  /**
   * All trades of a query in batches, from one snapshot. undefined when this book, or too many books, are
   * being exported already.
   */
  exportAll(query: TradeQuery): Promise<AsyncGenerator<TradeRow[]> | undefined>;
  gasOf(orderId: Bytes32): Promise<CapturedGas[]>;
}

/** Background work of the worker. No order waits for it. */
export interface TradeUpkeep {
  /**
   * Adds ended trades to the counts. Any number of workers may call it; one does the work. Returns how many
   * were counted.
   */
  fold(): Promise<number>;
  /** Creates rows for orders that have none, such as orders older than the history. */
  adopt(): Promise<number>;
  /** Transactions whose gas is still to be recorded, longest waiting first. */
  dueGas(limit: number): Promise<DueGas[]>;
  recordGas(
    due: DueGas,
    gas: { gasUsed: bigint; feeWei: bigint; nativeUsd: number | null; atMs: number },
  ): Promise<void>;
  /** Not available yet: try again no earlier than this. */
  postponeGas(due: DueGas, untilMs: number): Promise<void>;
}
