/**
 * Folds facts and notes into entries, trades and positions. Synchronous, so a batch applies fully or not at
 * all.
 */

import type { Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { TradeRecord } from '../../../ports/stores/accounting-store.ts';
import { gasKey, type OpeningBalances } from '../reader/reading.ts';
import { type Exchange, idOf } from '../ledger/facts.ts';
import { emptyPosition, valueOf, valueUnpriced } from '../pnl.ts';
import type { Books } from './books.ts';
import { foldReading } from './fold-facts.ts';
import { foldNote } from './fold-notes.ts';
import { type Batch, type FoldDeps, type Folding, ownerMoves, type Pass, reachGas } from './folding.ts';
import { tradeRecordOf } from './trade-record.ts';

export interface Folder {
  /** Applies a pass to the books in memory, and returns what the store writes for it. */
  fold(held: Books, pass: Pass): Batch;
  /** The record of a trade at the prices of now; see `tradeRecordOf`. */
  tradeOf(
    exchange: Exchange,
    order: StandardOrder,
    atMs: number,
    quoteId: Bytes32 | null,
    late: boolean,
  ): TradeRecord;
}

export function createFolder(deps: FoldDeps): Folder {
  return {
    fold: (held, pass) => fold(deps, held, pass),
    tradeOf: (exchange, order, atMs, quoteId, late) =>
      tradeRecordOf(deps, exchange, order, atMs, quoteId, late),
  };
}

/** Folds openings first, then notes, then facts of the chains; it values positions at the end. */
function fold(deps: FoldDeps, held: Books, pass: Pass): Batch {
  const batch: Batch = {
    entries: [],
    cursors: [],
    gas: [],
    trades: [],
    positions: [],
    transfers: [],
    takers: [],
    explanations: [],
  };
  const folding: Folding = {
    ...{ deps, held, pass, batch },
    touched: new Map(),
    shifted: new Set(),
    moved: new Map(),
  };
  for (const opening of pass.openings) foldOpening(folding, opening);
  for (const made of pass.notes) foldNote(folding, made);
  for (const reading of pass.readings) foldReading(folding, reading);
  valuePositions(folding);
  for (const symbol of folding.shifted)
    batch.positions.push(held.positions.get(symbol) ?? emptyPosition(symbol));
  batch.transfers.push(...folding.moved.values());
  for (const trade of folding.touched.values()) {
    batch.trades.push(trade);
    held.trades.set(trade.orderId, trade);
  }
  return batch;
}

/** Opens the books of a chain, of a newly configured token, or of an operator's gas. */
function foldOpening(
  folding: Folding,
  { cursor, balances, native, legacyGasOperator, fresh }: OpeningBalances,
): void {
  const { deps, held, pass, batch } = folding;
  const { journal } = held;
  const { chainId, block } = cursor;
  const nowMs = (): number => deps.clock.nowMs();
  for (const money of balances) {
    batch.entries.push(...journal.opening(money, block, nowMs()));
    held.opened.add(idOf.opening(chainId, money.token));
    ownerMoves(folding, money);
  }
  if (fresh) held.began.set(chainId, block);
  for (const money of native) {
    batch.entries.push(...journal.opening(money, block, nowMs()));
    reachGas(folding, { chainId, operator: money.operator, nonce: 0, block });
  }
  if (legacyGasOperator !== undefined) {
    batch.entries.push(...journal.gasAssigned(chainId, legacyGasOperator, block, nowMs()));
    if (!held.gas.has(gasKey({ chainId, operator: legacyGasOperator })))
      reachGas(folding, {
        chainId,
        operator: legacyGasOperator,
        nonce: 0,
        block: held.began.get(chainId) ?? 0n,
      });
  }
  if (!fresh) return;
  held.cursors.set(chainId, cursor);
  batch.cursors.push(cursor);
  for (const exchange of pass.inFlight.filter(({ pays }) => pays.chainId === chainId)) {
    batch.entries.push(...journal.owed(exchange, block, nowMs()));
    ownerMoves(folding, exchange.earns);
  }
}

/** Values the positions that changed, or all of them when the pass asks for it. */
function valuePositions({ deps, held: { positions }, pass: { revalue }, shifted }: Folding): void {
  for (const [asset, row] of positions) {
    const price = deps.usd(asset);
    const now = valueUnpriced(row, row.unpriced === 0n ? undefined : price);
    const due = revalue || now !== row || shifted.has(asset) || row.unrealisedMicros === null;
    if (due && price !== undefined) {
      const unrealisedMicros = valueOf(now.quantity, price) - now.costMicros;
      if (now === row && unrealisedMicros === row.unrealisedMicros) continue;
      positions.set(asset, { ...now, unrealisedMicros });
      shifted.add(asset);
    }
  }
}
