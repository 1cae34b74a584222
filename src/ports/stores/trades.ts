/** The trade history of a workspace: rows derived from facts. */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { OrderStage } from '../../settlement/lifecycle.ts';
import type { TradeState } from '../../settlement/trade-state.ts';
import type { RouteKind } from '../route-venue.ts';
import type { KeyMode } from './store.ts';

export const ORDER_KINDS = ['rfq_direct', 'rfq_split', 'route_dex', 'route_composite'] as const;
export type OrderKind = (typeof ORDER_KINDS)[number];

export interface TradeLegName {
  kind: 'rfq' | RouteKind;
  solverId: string;
  dependsOn: readonly number[];
  /** The fees as quoted. null: not known; absent on trades of older releases. */
  fees?: readonly { asset: string; amount: string }[] | null;
}

/** Fixed at acceptance. */
export interface TradeTerms {
  executionMode: 'apiSubmit' | 'walletBroadcast';
  sourceChainId: number;
  destChainId: number;
  /** The LP; on a split, the LP of the largest slice. */
  lp: string;
  orderKind: OrderKind;
  /**
   * The legs of the whole route or split, in order, as quoted. Absent on older trades, and where only `lp`
   * fills.
   */
  legs?: readonly TradeLegName[];
  input: { token: Address; amount: string };
  /** Sum of all outputs, as enforced. `quoted`: as shown to the taker, where larger. */
  output: { token: Address; amount: string; quoted?: string };
  platformFeeBps: number | null;
  lpSpreadBps: number | null;
  deferred: boolean;
}

export interface TradeRow {
  orderId: Bytes32;
  createdAtMs: number;
  memberId: string | null;
  amountUsd: number | null;
  /** The time from acceptance to settled, in milliseconds; null until settled. */
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

export interface TradeBook {
  workspaceId: string;
  mode: KeyMode;
}

const NUMERIC_SORTS = ['created_at', 'amount_usd', 'settlement_speed_ms', 'order_id'] as const;
export type NumericSort = (typeof NUMERIC_SORTS)[number];

export interface TradeQuery {
  book: TradeBook;
  matches(family: TradeFamily): boolean;
  /** null: every stage. */
  stages: ReadonlySet<OrderStage> | null;
  /** Both inclusive. */
  createdFromMs: number | null;
  createdToMs: number | null;
  minUsd: number | null;
  maxUsd: number | null;
  /** Trades without a value sort as the smallest. Ties are broken by creation, then by order id. */
  sort: { by: NumericSort } | { by: 'group'; key(group: TradeGroup): string | number };
  direction: 'asc' | 'desc';
}

export type TradeGroup = Omit<TradeFamily, 'id'> & { stage: OrderStage };

export interface TradePage {
  rows: TradeRow[];
  /**
   * Exact up to 10,000, and beyond unless both creation and notional are bounded; then an estimate of at
   * least 10,001.
   */
  total: number;
}

/** A place in the order in which a book's trades were created, or last changed. 0 is before the first. */
export interface TradePoint {
  by: 'created' | 'changed';
  after: number;
}

/** `position` of its creation or last change, as asked; null without a `TradePoint`. */
export type ExportedTrade = TradeRow & { position: number | null };

/** Trades of one UTC day, stage and pair of tokens. */
export interface DaySum {
  dayMs: number;
  stage: OrderStage;
  input: TokenSum;
  output: TokenSum;
  trades: number;
  /** Trades with a notional; `amountUsd` is theirs. */
  priced: number;
  amountUsd: number;
}

export interface TokenSum {
  chainId: number;
  token: Address;
  amount: bigint;
}

export interface CapturedGas {
  chainId: number;
  txHash: Hex;
  /** null until the chain has answered. */
  gasUsed: bigint | null;
  /** Gas and L1 data fee, wei. */
  feeWei: bigint | null;
  /** The price of a whole native coin at that time; null without a price. */
  nativeUsd: number | null;
}

export interface DueGas {
  orderId: Bytes32;
  chainId: number;
  txHash: Hex;
}

export interface TradeStore {
  families(book: TradeBook): Promise<readonly TradeFamily[]>;
  page(query: TradeQuery, limit: number, offset: number): Promise<TradePage>;
  trade(orderId: Bytes32): Promise<TradeRow | undefined>;
  /**
   * Exports in batches, from one snapshot. With `since`, in order of position, whatever the query's sort.
   * `busy`: this book, or too many, are being exported. `ahead`: no position is as far as `since`.
   */
  exportAll(
    query: TradeQuery,
    since?: TradePoint,
  ): Promise<AsyncGenerator<ExportedTrade[]> | 'busy' | 'ahead'>;
  days(query: TradeQuery): Promise<DaySum[]>;
  gasOf(orderId: Bytes32): Promise<CapturedGas[]>;
}

/** Background work. No order waits for it. */
export interface TradeUpkeep {
  /** Counts ended trades; safe to call from any number of workers. Returns how many. */
  fold(): Promise<number>;
  adopt(): Promise<number>;
  /** Gives positions to new and changed trades. Returns how many. */
  givePositions(): Promise<number>;
  dueGas(limit: number): Promise<DueGas[]>;
  recordGas(
    due: DueGas,
    gas: { gasUsed: bigint; feeWei: bigint; nativeUsd: number | null; atMs: number },
  ): Promise<void>;
  postponeGas(due: DueGas, untilMs: number): Promise<void>;
}
