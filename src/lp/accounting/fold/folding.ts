/**
 * Holds the input of one fold, and what the fold has changed so far: trades, positions and transfers of the
 * pass.
 */

import type { Bytes32 } from '../../../domain/hex.ts';
import type { Money } from '../../../inventory/event.ts';
import type { Clock } from '../../../ports/clock.ts';
import type {
  BookedTransfer,
  GasCursor,
  JournalBatch,
  JournalCursor,
  JournalEntry,
  Mark,
  PositionRow,
  StoredExplanation,
  TradeRecord,
} from '../../../ports/stores/accounting-store.ts';
import type { Rational } from '../../../pricing/rational.ts';
import type { ChainSighting, QuoteRecord } from '../../quote-log/quote-events.ts';
import type { Routes } from '../../routes/route.ts';
import type { ChainReader } from '../reader/chain-reader.ts';
import { gasKey, type OpeningBalances, type Reading } from '../reader/reading.ts';
import type { Exchange, FactPlace, NativeMoney } from '../ledger/facts.ts';
import { toAtto } from '../../../inventory/bucket.ts';
import { applyOwnerMove, emptyPosition } from '../pnl.ts';
import type { Horizon } from '../taker-costs.ts';
import { type Books, replaceInSums } from './books.ts';

/** Something that this process has seen or measured, for the books. Facts of the chains are read instead. */
export type Note =
  | { kind: 'accepted'; trade: TradeRecord; record: QuoteRecord | undefined }
  | { kind: 'filled'; exchange: Exchange; place: FactPlace }
  | { kind: 'unfilled'; orderId: Bytes32; was: Pick<ChainSighting, 'blockHash' | 'txHash'>; atMs: number }
  | { kind: 'failed'; orderId: Bytes32 }
  | { kind: 'adjusted'; money: Money | NativeMoney; block: bigint; atMs: number }
  | { kind: 'mark'; orderId: Bytes32; horizon: Horizon; mark: Mark };

export interface FoldDeps {
  clock: Clock;
  reader: Pick<ChainReader, 'infoOf' | 'described'>;
  routes(): Routes;
  usd(asset: string): Rational | undefined;
  native(chainId: number): Rational | undefined;
  /** Quote tokens for one base token. */
  mid(pair: string): number | undefined;
  /** Called for a trade whose acceptance was not seen: its marks are still due. */
  found(trade: TradeRecord): void;
}

export interface Pass {
  openings: readonly OpeningBalances[];
  readings: readonly Reading[];
  notes: readonly Note[];
  /** The ids of the pass that the store has already. */
  known: ReadonlySet<string>;
  /** Trades of the pass that memory has forgotten. */
  older: ReadonlyMap<Bytes32, TradeRecord>;
  /** The stored state of each transfer that a fact of the pass names. */
  transfers: ReadonlyMap<string, BookedTransfer>;
  /** Fills from before the books were opened that are not claimed yet. */
  inFlight: readonly Exchange[];
  /** Values every position again, so that the change of its value is known by time. */
  revalue: boolean;
}

export interface Batch extends JournalBatch {
  entries: JournalEntry[];
  cursors: JournalCursor[];
  gas: GasCursor[];
  trades: TradeRecord[];
  positions: PositionRow[];
  transfers: BookedTransfer[];
  explanations: StoredExplanation[];
}

/** One fold in progress. Its functions change the books and the batch together. */
export interface Folding {
  deps: FoldDeps;
  held: Books;
  pass: Pass;
  batch: Batch;
  /** Trades that this fold has changed. */
  touched: Map<Bytes32, TradeRecord>;
  /** Assets whose position this fold has changed. */
  shifted: Set<string>;
  /** Transfers that this fold has changed, by id. */
  moved: Map<string, BookedTransfer>;
}

export const tradeOfId = ({ touched, held, pass }: Folding, orderId: Bytes32): TradeRecord | undefined =>
  touched.get(orderId) ?? held.trades.get(orderId) ?? pass.older.get(orderId);

export function putTrade(folding: Folding, trade: TradeRecord): void {
  replaceInSums(folding.held.sums, trade, tradeOfId(folding, trade.orderId));
  folding.touched.set(trade.orderId, trade);
}

/** Changes the position of the money's asset. Returns the realised profit, in millionths of USD. */
export function shiftPosition(
  { deps, held: { positions }, shifted }: Folding,
  money: Money,
  change: (position: PositionRow, quantity: bigint) => PositionRow,
): bigint {
  const info = deps.reader.infoOf(money);
  if (info === undefined) return 0n;
  const before = positions.get(info.symbol) ?? emptyPosition(info.symbol);
  const after = change(
    before,
    money.amount < 0n ? -toAtto(-money.amount, info.decimals) : toAtto(money.amount, info.decimals),
  );
  positions.set(info.symbol, after);
  shifted.add(info.symbol);
  return after.realisedMicros - before.realisedMicros;
}

/** Counts money as the owner's deposit (positive) or withdrawal (negative), which is no profit. */
export const ownerMoves = (folding: Folding, money: Money): bigint =>
  shiftPosition(folding, money, (position, quantity) =>
    applyOwnerMove(position, quantity, folding.deps.usd(position.asset)),
  );

export function reachGas({ held, batch }: Folding, cursor: GasCursor): void {
  held.gas.set(gasKey(cursor), cursor);
  batch.gas.push(cursor);
}
