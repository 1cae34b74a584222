/** Folds final facts of the chains into entries, trades and positions. */

import type { StandardOrder } from '../../../domain/order.ts';
import type { JournalEntry, TradeRecord, TradeStage } from '../../../ports/stores/accounting-store.ts';
import type { ReadFact, Reading } from '../reader/reading.ts';
import type { Exchange } from '../ledger/facts.ts';
import { applyTrade, usdMicrosOf } from '../pnl.ts';
import { withTransferGas } from '../transfers/booked.ts';
import { foldDeparture, foldEndOfTransfer, putTransfer } from './fold-transfers.ts';
import { type Folding, ownerMoves, putTrade, reachGas, shiftPosition, tradeOfId } from './folding.ts';
import { tradeRecordOf } from './trade-record.ts';

/** A fact about the exchange of one order. */
type ExchangeFact = Extract<ReadFact, { kind: 'sent' | 'credited' | 'refunded' }>;

/** Folds what was read of one chain, then moves its cursors. */
export function foldReading(folding: Folding, { cursor, gas, facts }: Reading): void {
  const { deps, held, pass, batch } = folding;
  const { journal } = held;
  for (const fact of facts) {
    if (pass.known.has(fact.id)) {
      if (fact.kind === 'gas' && fact.before && fact.operator !== fact.payer)
        batch.entries.push(...journal.gasReturned(fact.wei, fact.place, fact.share, fact.payer));
      continue;
    }
    foldFact(folding, fact);
  }
  batch.entries.push(...journal.passed(cursor.chainId, cursor.block, deps.clock.nowMs()));
  held.cursors.set(cursor.chainId, cursor);
  batch.cursors.push(cursor);
  for (const reached of gas) reachGas(folding, reached);
}

function foldFact(folding: Folding, fact: ReadFact): void {
  switch (fact.kind) {
    case 'sent':
      return foldSent(folding, fact);
    case 'credited':
      return foldCredited(folding, fact);
    case 'refunded':
      return foldRefunded(folding, fact);
    case 'owner':
      folding.batch.entries.push(...folding.held.journal.owner(fact.money, fact.place, fact.logIndex));
      ownerMoves(folding, fact.money);
      return;
    case 'departed':
      return foldDeparture(folding, fact);
    case 'arrived':
    case 'returned':
      return foldEndOfTransfer(folding, fact);
    case 'gas':
      return foldGas(folding, fact);
  }
}

function foldSent(folding: Folding, { exchange, place, order }: ExchangeFact): void {
  const { deps, held, batch } = folding;
  const posted = held.journal.sent(exchange, place);
  batch.entries.push(...posted);
  if (posted.length === 0 || order === undefined) return;
  const noted = tradeOfId(folding, exchange.orderId);
  // The acceptance was not seen or had no price: the current mid is the best estimate.
  const trade =
    noted !== undefined && noted.mid !== null
      ? noted
      : {
          ...tradeRecordOf(
            deps,
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
  const into = shiftPosition(folding, exchange.earns, (position, quantity) =>
    applyTrade(position, quantity, trade.earnedMicros),
  );
  const out = shiftPosition(
    folding,
    { ...exchange.pays, amount: -exchange.pays.amount },
    (position, quantity) => applyTrade(position, quantity, trade.paidMicros),
  );
  const stage: TradeStage =
    trade.stage === 'accepted' ? 'filled' : trade.stage === 'failed' ? 'lost' : trade.stage;
  putTrade(folding, { ...trade, stage, counted: true, realisedMicros: into + out });
  if (stage === 'lost') lose(folding, exchange, trade, held.journal.lost(exchange, place));
  if (noted === undefined) deps.found({ ...trade, late: true });
}

function foldCredited(folding: Folding, { exchange, place, order }: ExchangeFact): void {
  folding.batch.entries.push(...folding.held.journal.credited(exchange, place));
  const trade = tradeOfId(folding, exchange.orderId) ?? learned(folding, exchange, order);
  if (trade !== undefined) putTrade(folding, { ...trade, stage: 'finalised' });
}

/** Makes the record of a trade whose origin shows the end before the destination shows the fill. */
function learned(
  { deps }: Folding,
  exchange: Exchange,
  order: StandardOrder | undefined,
): TradeRecord | undefined {
  if (order === undefined) return undefined;
  const trade = tradeRecordOf(deps, exchange, order, deps.clock.nowMs(), null, true);
  deps.found(trade);
  return trade;
}

function foldRefunded(folding: Folding, { exchange, place }: ExchangeFact): void {
  const trade = tradeOfId(folding, exchange.orderId);
  const filled = trade?.counted === true && trade.stage !== 'lost';
  const posted = folding.held.journal.refunded(exchange, place, filled);
  folding.batch.entries.push(...(filled ? [] : posted));
  if (trade !== undefined && trade.stage !== 'lost')
    putTrade(folding, { ...trade, stage: filled ? 'lost' : 'failed' });
  if (filled) lose(folding, exchange, trade, posted);
}

/** Books the input of a filled trade as lost, and takes it out of the position. */
function lose(
  folding: Folding,
  { earns }: Exchange,
  trade: TradeRecord,
  posted: readonly JournalEntry[],
): void {
  folding.batch.entries.push(...posted);
  if (posted.length > 0)
    shiftPosition(folding, { ...earns, amount: -earns.amount }, (position, quantity) =>
      applyTrade(position, quantity, trade.earnedMicros),
    );
}

function foldGas(folding: Folding, fact: Extract<ReadFact, { kind: 'gas' }>): void {
  const { deps, held, batch } = folding;
  const posted = held.journal.spent(fact);
  batch.entries.push(...posted);
  const price = deps.native(fact.place.chainId);
  if (fact.transfer !== undefined && posted.length > 0)
    putTransfer(folding, fact.transfer, (booked) => withTransferGas(booked, fact.wei, price));
  const trade = fact.orderId === null ? undefined : tradeOfId(folding, fact.orderId);
  if (trade !== undefined && posted.length > 0 && price !== undefined)
    putTrade(folding, { ...trade, gasMicros: trade.gasMicros + usdMicrosOf(fact.wei, 18, price) });
}
