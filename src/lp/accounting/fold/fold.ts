/**
 * Folds facts and notes into entries, trades and positions. Synchronous, so a batch applies fully or not at
 * all.
 */

import { assetId } from '../../../domain/asset.ts';
import { corridorOf } from '../../../domain/corridor.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
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
  TradeStage,
} from '../../../ports/stores/accounting-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { Rational } from '../../../pricing/rational.ts';
import { explainQuote } from '../../quote-log/explain.ts';
import { type Exchange, idOf, type AccountingLedger, type FactPlace, type NativeMoney } from '../ledger.ts';
import { gasKey, type OpeningBalances, type ChainReader, type Reading } from '../chain-reader.ts';
import type { QuoteRecord, ChainSighting } from '../../quote-log/quote-events.ts';
import {
  attoOf,
  emptyPosition,
  usdMicrosOf,
  applyTrade,
  applyOwnerMove,
  valueOf,
  valueUnpriced,
} from '../pnl.ts';
import type { Routes } from '../../routes/route.ts';
import {
  begunTransfer,
  departedTransfer,
  endedTransfer,
  inUnitsOf,
  withTransferGas,
} from '../transfers/booked.ts';
import { MARKOUT_HORIZONS, type Horizon } from '../taker-costs.ts';

export type Note =
  | { kind: 'accepted'; trade: TradeRecord; record: QuoteRecord | undefined }
  | { kind: 'filled'; exchange: Exchange; place: FactPlace }
  | { kind: 'unfilled'; orderId: Bytes32; was: Pick<ChainSighting, 'blockHash' | 'txHash'>; atMs: number }
  | { kind: 'failed'; orderId: Bytes32 }
  | { kind: 'adjusted'; money: Money | NativeMoney; block: bigint; atMs: number }
  | { kind: 'mark'; orderId: Bytes32; horizon: Horizon; mark: Mark };

/** Millionths of USD, over trades whose fill is final, and over transfers. */
export interface ProfitSums {
  /** Input at mid less fees less output at mid, at acceptance. */
  spread: bigint;
  fees: bigint;
  gas: bigint;
  lost: bigint;
  markout_1s: bigint;
  markout_10s: bigint;
  markout_60s: bigint;
  /** What bridges kept, and gas of transfers between chains. */
  bridgeFees: bigint;
  transferGas: bigint;
}

type TradeSums = Omit<ProfitSums, 'bridgeFees' | 'transferGas'>;

export const NO_PROFIT: Readonly<ProfitSums> = {
  ...{ spread: 0n, fees: 0n, gas: 0n, lost: 0n, markout_1s: 0n, markout_10s: 0n, markout_60s: 0n },
  ...{ bridgeFees: 0n, transferGas: 0n },
};

const SUMS = [
  'spread',
  'fees',
  'gas',
  'lost',
  'markout_1s',
  'markout_10s',
  'markout_60s',
] as const satisfies readonly (keyof TradeSums)[];

export interface Books {
  journal: AccountingLedger;
  cursors: Map<number, JournalCursor>;
  /** By `gasKey`. */
  gas: Map<string, GasCursor>;
  /** The block at which the books of a chain were opened. */
  began: Map<number, bigint>;
  positions: Map<string, PositionRow>;
  trades: Map<Bytes32, TradeRecord>;
  opened: Set<string>;
  sums: ProfitSums;
}

interface FoldDeps {
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
  known: ReadonlySet<string>;
  older: ReadonlyMap<Bytes32, TradeRecord>;
  /** As stored, of the transfers that the facts are of. */
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

type EndOfTransfer = Extract<Reading['facts'][number], { kind: 'arrived' | 'returned' }>;

const DEAD: ReadonlySet<TradeStage> = new Set<TradeStage>(['finalised', 'failed', 'lost']);
const MOST_TRADES = 50_000;

export function createFolder(deps: FoldDeps) {
  const { clock } = deps;
  const { infoOf, described } = deps.reader;

  function tradeOf(
    exchange: Exchange,
    order: StandardOrder,
    atMs: number,
    quoteId: Bytes32 | null,
    late: boolean,
  ): TradeRecord {
    const { orderId, pair, pays, earns, portion, platformFee, relayFee } = exchange;
    const route = deps.routes().find(assetId(earns), assetId(pays));
    const [paid, got] = [infoOf(pays), infoOf(earns)];
    const [paidUsd, gotUsd] = [paid && deps.usd(paid.symbol), got && deps.usd(got.symbol)];
    const mid = route === undefined ? undefined : deps.mid(route.pairName);
    const known =
      paid !== undefined &&
      got !== undefined &&
      paidUsd !== undefined &&
      gotUsd !== undefined &&
      mid !== undefined;
    const [origin, dest] = [described.get(earns.chainId), described.get(pays.chainId)];
    return {
      orderId,
      quoteId,
      acceptedAtMs: atMs,
      taker: order.user,
      pair,
      corridor: origin && dest ? corridorOf(origin, dest) : `${earns.chainId}-${pays.chainId}`,
      side: route?.lp ?? 'buy',
      stage: 'accepted',
      counted: false,
      mid: known ? mid : null,
      late: late || !known,
      paidMicros: known ? usdMicrosOf(pays.amount, paid.decimals, paidUsd) : 0n,
      inputMicros: known ? usdMicrosOf(portion, got.decimals, gotUsd) : 0n,
      feesMicros: known
        ? usdMicrosOf(portion, got.decimals, gotUsd) -
          usdMicrosOf(portion - platformFee - relayFee, got.decimals, gotUsd)
        : 0n,
      earnedMicros: known ? usdMicrosOf(earns.amount, got.decimals, gotUsd) : 0n,
      paid: pays.amount,
      earned: earns.amount,
      gasMicros: 0n,
      realisedMicros: 0n,
      marks: {},
    };
  }

  function fold(held: Books, pass: Pass): Batch {
    const { openings, readings, notes, known, older, inFlight, revalue } = pass;
    const { journal, positions, cursors, gas, began, opened, sums } = held;
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
    const touched = new Map<Bytes32, TradeRecord>();
    const shifted = new Set<string>();
    const moved = new Map<string, BookedTransfer>();

    const tradeOfId = (orderId: Bytes32): TradeRecord | undefined =>
      touched.get(orderId) ?? held.trades.get(orderId) ?? older.get(orderId);
    function put(trade: TradeRecord): void {
      const [now, was] = [shareOf(trade), shareOf(tradeOfId(trade.orderId))];
      for (const key of SUMS) sums[key] += now[key] - was[key];
      touched.set(trade.orderId, trade);
    }
    /** A trade of which the origin shows the end before the destination shows the fill. */
    function learned(exchange: Exchange, order: StandardOrder | undefined): TradeRecord | undefined {
      if (order === undefined) return undefined;
      const trade = tradeOf(exchange, order, clock.nowMs(), null, true);
      deps.found(trade);
      return trade;
    }
    /** Returns the realised profit, in millionths of USD. */
    function shift(money: Money, change: (position: PositionRow, quantity: bigint) => PositionRow): bigint {
      const info = infoOf(money);
      if (info === undefined) return 0n;
      const before = positions.get(info.symbol) ?? emptyPosition(info.symbol);
      const after = change(
        before,
        money.amount < 0n ? -attoOf(-money.amount, info.decimals) : attoOf(money.amount, info.decimals),
      );
      positions.set(info.symbol, after);
      shifted.add(info.symbol);
      return after.realisedMicros - before.realisedMicros;
    }
    const ownerMoves = (money: Money) =>
      shift(money, (position, quantity) => applyOwnerMove(position, quantity, deps.usd(position.asset)));

    function reachGas(cursor: GasCursor): void {
      gas.set(gasKey(cursor), cursor);
      batch.gas.push(cursor);
    }

    function putTransfer(of: StoredTransfer, change: (booked: BookedTransfer) => BookedTransfer): void {
      const asset = infoOf(of.move.from)?.symbol ?? of.move.from.token;
      const was = moved.get(of.id) ?? pass.transfers.get(of.id) ?? begunTransfer(of, asset, described);
      const now = change(was);
      sums.bridgeFees += now.feeMicros - was.feeMicros;
      sums.transferGas += now.gasMicros - was.gasMicros;
      moved.set(of.id, now);
    }
    const tokensOf = (money: Money) => {
      const info = infoOf(money);
      return { amount: money.amount, decimals: info?.decimals ?? 0, price: info && deps.usd(info.symbol) };
    };
    /** Whether the departure is in the books, or will be when its chain is read. */
    function hasLeft({ id }: StoredTransfer, left: Money & { block: bigint }): boolean {
      const cursor = cursors.get(left.chainId);
      const unread =
        opened.has(idOf.opening(left.chainId, left.token)) && (cursor?.block ?? left.block) < left.block;
      return unread || known.has(idOf.departed(id)) || moved.get(id)?.departedAtMs != null;
    }
    function ends({ kind, transfer, left, money, place, logIndex }: EndOfTransfer): void {
      // It left before the books were opened: for them it comes from the owner.
      if (!hasLeft(transfer, left)) {
        batch.entries.push(...journal.owner(money, place, logIndex));
        return void ownerMoves(money);
      }
      const [from, to] = [tokensOf(left), tokensOf(money)];
      const expected = inUnitsOf(left.amount, from.decimals, to.decimals);
      const posted =
        kind === 'arrived'
          ? journal.arrived(
              {
                transferId: transfer.id,
                asset: infoOf(left)?.symbol ?? left.token,
                left,
                got: money,
                expected,
              },
              place,
            )
          : journal.returned(transfer.id, left, money.amount, place);
      batch.entries.push(...posted);
      if (posted.length === 0) return;
      // In 1e-18, because the two chains may count in different units.
      const fee = attoOf(left.amount, from.decimals) - attoOf(money.amount, to.decimals);
      const [size, price] = [fee < 0n ? -fee : fee, deps.usd(infoOf(money)?.symbol ?? '')];
      const micros = price === undefined ? 0n : valueOf(size, price);
      shift(money, (position) => applyTrade(position, -fee, micros));
      const feeMicros = fee < 0n ? -micros : micros;
      putTransfer(transfer, (booked) =>
        endedTransfer(booked, { stage: kind, ended: money.amount, feeMicros, atMs: place.atMs }),
      );
    }

    for (const { cursor, balances, native, heir, fresh } of openings) {
      const { chainId, block } = cursor;
      for (const money of balances) {
        batch.entries.push(...journal.opening(money, block, clock.nowMs()));
        opened.add(idOf.opening(chainId, money.token));
        ownerMoves(money);
      }
      if (fresh) began.set(chainId, block);
      for (const money of native) {
        batch.entries.push(...journal.opening(money, block, clock.nowMs()));
        reachGas({ chainId, operator: money.operator, nonce: 0, block });
      }
      if (heir !== undefined) {
        batch.entries.push(...journal.gasAssigned(chainId, heir, block, clock.nowMs()));
        if (!gas.has(gasKey({ chainId, operator: heir })))
          reachGas({ chainId, operator: heir, nonce: 0, block: began.get(chainId) ?? 0n });
      }
      if (!fresh) continue;
      cursors.set(chainId, cursor);
      batch.cursors.push(cursor);
      for (const exchange of inFlight.filter(({ pays }) => pays.chainId === chainId)) {
        batch.entries.push(...journal.owed(exchange, block, clock.nowMs()));
        ownerMoves(exchange.earns);
      }
    }

    for (const made of notes) {
      switch (made.kind) {
        case 'accepted': {
          if (tradeOfId(made.trade.orderId) !== undefined) break;
          put(made.trade);
          if (made.record !== undefined) batch.explanations.push(explanationOf(made.record));
          break;
        }
        case 'filled':
          if (
            !known.has(idOf.fill(made.exchange.orderId, made.place)) &&
            !known.has(idOf.sent(made.exchange.orderId, made.place))
          )
            batch.entries.push(...journal.filled(made.exchange, made.place));
          break;
        case 'unfilled':
          batch.entries.push(...journal.unfilled(made.orderId, made.was, made.atMs));
          break;
        case 'failed': {
          const trade = tradeOfId(made.orderId);
          // A filled trade ends by chain facts only.
          if (trade !== undefined && trade.stage === 'accepted' && !trade.counted)
            put({ ...trade, stage: 'failed' });
          break;
        }
        case 'adjusted': {
          const { money } = made;
          const posted = journal.adjusted(money, made.block, made.atMs);
          batch.entries.push(...posted);
          // A surplus or loss that no trade explains counts like the owner's money.
          if (money.token !== 'native' && posted.length > 0) ownerMoves({ ...money, token: money.token });
          break;
        }
        case 'mark': {
          const trade = tradeOfId(made.orderId);
          if (trade !== undefined) put({ ...trade, marks: { ...trade.marks, [made.horizon]: made.mark } });
          break;
        }
      }
    }

    for (const { cursor, gas: reached, facts } of readings) {
      for (const fact of facts) {
        if (known.has(fact.id)) {
          if (fact.kind === 'gas' && fact.before && fact.operator !== fact.payer)
            batch.entries.push(...journal.gasReturned(fact.wei, fact.place, fact.share, fact.payer));
          continue;
        }
        switch (fact.kind) {
          case 'sent': {
            const { exchange, place, order } = fact;
            const posted = journal.sent(exchange, place);
            batch.entries.push(...posted);
            if (posted.length === 0 || order === undefined) break;
            const noted = tradeOfId(exchange.orderId);
            // The acceptance was not seen or had no price: the current mid is the best estimate.
            const trade =
              noted !== undefined && noted.mid !== null
                ? noted
                : {
                    ...tradeOf(
                      exchange,
                      order,
                      noted?.acceptedAtMs ?? place.atMs,
                      noted?.quoteId ?? null,
                      true,
                    ),
                    gasMicros: noted?.gasMicros ?? 0n,
                    stage: noted?.stage ?? 'accepted',
                    marks: noted?.marks ?? {},
                  };
            const into = shift(exchange.earns, (position, quantity) =>
              applyTrade(position, quantity, trade.earnedMicros),
            );
            const out = shift({ ...exchange.pays, amount: -exchange.pays.amount }, (position, quantity) =>
              applyTrade(position, quantity, trade.paidMicros),
            );
            const stage: TradeStage =
              trade.stage === 'accepted' ? 'filled' : trade.stage === 'failed' ? 'lost' : trade.stage;
            put({ ...trade, stage, counted: true, realisedMicros: into + out });
            if (stage === 'lost') lose(exchange, trade, journal.lost(exchange, place));
            if (noted === undefined) deps.found({ ...trade, late: true });
            break;
          }
          case 'credited': {
            batch.entries.push(...journal.credited(fact.exchange, fact.place));
            const trade = tradeOfId(fact.exchange.orderId) ?? learned(fact.exchange, fact.order);
            if (trade !== undefined) put({ ...trade, stage: 'finalised' });
            break;
          }
          case 'refunded': {
            const trade = tradeOfId(fact.exchange.orderId);
            const filled = trade?.counted === true && trade.stage !== 'lost';
            const posted = journal.refunded(fact.exchange, fact.place, filled);
            batch.entries.push(...(filled ? [] : posted));
            if (trade !== undefined && trade.stage !== 'lost')
              put({ ...trade, stage: filled ? 'lost' : 'failed' });
            if (filled) lose(fact.exchange, trade, posted);
            break;
          }
          case 'owner':
            batch.entries.push(...journal.owner(fact.money, fact.place, fact.logIndex));
            ownerMoves(fact.money);
            break;
          case 'departed': {
            const { transfer, money, place } = fact;
            const posted = journal.departed(transfer.id, money, place);
            batch.entries.push(...posted);
            if (posted.length > 0)
              putTransfer(transfer, (booked) => departedTransfer(booked, tokensOf(money), place.atMs));
            break;
          }
          case 'arrived':
          case 'returned':
            ends(fact);
            break;
          case 'gas': {
            const posted = journal.spent(fact);
            batch.entries.push(...posted);
            const price = deps.native(fact.place.chainId);
            if (fact.transfer !== undefined && posted.length > 0)
              putTransfer(fact.transfer, (booked) => withTransferGas(booked, fact.wei, price));
            const trade = fact.orderId === null ? undefined : tradeOfId(fact.orderId);
            if (trade !== undefined && posted.length > 0 && price !== undefined)
              put({ ...trade, gasMicros: trade.gasMicros + usdMicrosOf(fact.wei, 18, price) });
            break;
          }
        }
      }
      batch.entries.push(...journal.passed(cursor.chainId, cursor.block, clock.nowMs()));
      cursors.set(cursor.chainId, cursor);
      batch.cursors.push(cursor);
      reached.forEach(reachGas);
    }

    function lose({ earns }: Exchange, trade: TradeRecord, posted: readonly JournalEntry[]): void {
      batch.entries.push(...posted);
      if (posted.length > 0)
        shift({ ...earns, amount: -earns.amount }, (position, quantity) =>
          applyTrade(position, quantity, trade.earnedMicros),
        );
    }

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
    for (const symbol of shifted) batch.positions.push(positions.get(symbol) ?? emptyPosition(symbol));
    batch.transfers.push(...moved.values());
    for (const trade of touched.values()) {
      batch.trades.push(trade);
      held.trades.set(trade.orderId, trade);
    }
    return batch;
  }

  return { fold, tradeOf };
}

export function forget({ trades }: Books): void {
  for (const [orderId, trade] of trades) {
    const over =
      DEAD.has(trade.stage) &&
      (trade.counted || trade.stage === 'failed') &&
      MARKOUT_HORIZONS.every((horizon) => trade.marks[horizon] !== undefined);
    if (over || trades.size > MOST_TRADES) trades.delete(orderId);
  }
}

function shareOf(trade: TradeRecord | undefined): TradeSums {
  if (trade === undefined) return NO_PROFIT;
  const { counted, earnedMicros, paidMicros, feesMicros, gasMicros, stage, marks } = trade;
  const mark = (horizon: Horizon): bigint => (counted ? markMicros(paidMicros, marks[horizon]) : 0n);
  return {
    spread: counted ? earnedMicros - paidMicros : 0n,
    fees: counted ? feesMicros : 0n,
    gas: gasMicros,
    lost: counted && stage === 'lost' ? earnedMicros : 0n,
    markout_1s: mark(1),
    markout_10s: mark(10),
    markout_60s: mark(60),
  };
}

/** Millionths of USD; positive is in favour of the LP. */
function markMicros(paidMicros: bigint, mark: Mark | undefined): bigint {
  return mark === undefined || mark.bps === null
    ? 0n
    : (-paidMicros * BigInt(Math.round(mark.bps * 1e6))) / 10_000_000_000n;
}

export const explanationOf = (record: QuoteRecord): StoredExplanation => ({
  orderId: record.orderId,
  quoteId: record.quoteId,
  rfqId: record.rfqId,
  atMs: record.atMs,
  explanation: explainQuote(record),
});
