/**
 * One pass of the accounting: reads final blocks of each chain, folds them with the notes, and writes the
 * result. Memory mirrors the store and is loaded again after any failure.
 */

import type { Bytes32 } from '../../../domain/hex.ts';
import type { StoredProfit, TradeRecord } from '../../../ports/stores/accounting-store.ts';
import { gasKey, type OpeningBalances, type ReadFact, type Reading } from '../reader/reading.ts';
import { type Books, forget, type ProfitSums } from '../fold/books.ts';
import type { Note } from '../fold/folding.ts';
import { type Exchange, idOf } from '../ledger/facts.ts';
import { createAccountingLedger } from '../ledger/ledger.ts';
import { type Bookkeeper, chainSlug } from './bookkeeper.ts';

const NOTES_AT_ONCE = 200;
const PRICE_PATIENCE_MS = 30_000;
const TAKERS_EVERY_MS = 5_000;
/**
 * Positions are valued again after this time, so that changes of value between two facts are known by time.
 */
const REVALUE_EVERY_MS = 60_000;

/** Stores the next explanations. They wait again when the store does not answer. */
export async function explainAccepted({ deps: { store }, unexplained }: Bookkeeper): Promise<void> {
  const rows = unexplained.splice(0, NOTES_AT_ONCE);
  if (rows.length === 0) return;
  await store.explain(rows).catch((error: unknown) => {
    unexplained.unshift(...rows);
    throw error;
  });
}

/** The books in memory, loaded from the store when there are none. */
export async function heldBooks(keeper: Bookkeeper, owner: number): Promise<Books> {
  if (keeper.books !== undefined) return keeper.books;
  keeper.books = await load(keeper, owner);
  watchAgain(keeper, keeper.books);
  return keeper.books;
}

async function load(keeper: Bookkeeper, owner: number): Promise<Books> {
  const { store, takers } = keeper.deps;
  const [opening, all, ids] = await Promise.all([
    store.open(owner),
    store.profit('pair', { sinceMs: 0, untilMs: null }, 1),
    store.known(keeper.options.tokens.map(({ chainId, token }) => idOf.opening(chainId, token))),
  ]);
  if (keeper.stale) takers.load(opening.takers);
  keeper.stale = false;
  return {
    journal: createAccountingLedger(opening),
    cursors: new Map(opening.cursors.map((cursor) => [cursor.chainId, cursor])),
    gas: new Map(opening.gas.map((cursor) => [gasKey(cursor), cursor])),
    began: new Map(opening.began.map(({ chainId, block }) => [chainId, block])),
    positions: new Map(opening.positions.map((row) => [row.asset, row])),
    trades: new Map(opening.trades.map((trade) => [trade.orderId, trade])),
    opened: new Set(ids),
    sums: storedSums(all),
  };
}

function watchAgain(keeper: Bookkeeper, { trades }: Books): void {
  if (keeper.watched) return;
  keeper.watched = true;
  for (const trade of trades.values()) keeper.markouts.watch(trade, trade.marks);
}

/** Rejects when the store does not answer; the next pass repeats everything that was not written. */
export async function runBooksPass(keeper: Bookkeeper): Promise<void> {
  const { store, takers, clock, log } = keeper.deps;
  if (keeper.epoch === undefined || keeper.lost) return;
  const held = await heldBooks(keeper, keeper.epoch);
  const taken = keeper.notes.slice(0, NOTES_AT_ONCE);
  const { openings, readings } = await readChains(keeper, held);
  const inFlight = openings.flatMap((opening) => (opening.fresh ? filledBefore(keeper, opening) : []));
  const facts = readings.flatMap((reading) => reading.facts);
  const transferIds = facts.flatMap((fact) =>
    'transfer' in fact && fact.transfer !== undefined ? [fact.transfer.id] : [],
  );
  const [known, stored] = await Promise.all([
    store.known([
      ...facts.map(({ id }) => id),
      ...taken.flatMap(fillIdsOf),
      ...transferIds.map(idOf.departed),
    ]),
    store.transfers(transferIds),
  ]);
  const transfers = new Map(stored.map((transfer) => [transfer.id, transfer]));
  const older = await olderTrades(keeper, held, taken, facts);
  const rows =
    clock.monotonicMs() - keeper.takersWrittenMs >= TAKERS_EVERY_MS || keeper.stopped ? takers.changed() : [];
  const revalue = clock.monotonicMs() - keeper.revaluedMs >= REVALUE_EVERY_MS || keeper.stopped;
  if (![taken, readings, openings, rows].some(({ length }) => length > 0) && !revalue) return;
  try {
    const pass = { openings, readings, notes: taken, known, older, transfers, inFlight, revalue };
    const batch = { ...keeper.folder.fold(held, pass), takers: rows };
    if (!(await store.write(batch))) {
      keeper.lost = true;
      return log.warn({}, 'another process keeps the books now; this one writes nothing more');
    }
  } catch (error) {
    // Memory may be ahead of the store, so the next pass loads it again.
    keeper.books = undefined;
    takers.again(rows);
    throw error;
  }
  keeper.notes.splice(0, taken.length);
  if (rows.length > 0) keeper.takersWrittenMs = clock.monotonicMs();
  if (revalue) keeper.revaluedMs = clock.monotonicMs();
  forget(held);
  // Continue immediately only if a chain that answered has more blocks.
  const behind = readings.some(
    ({ cursor: { chainId, block } }) => (keeper.deps.final(chainId)?.block ?? 0n) > block,
  );
  if (keeper.notes.length > 0 || behind) void keeper.passes.run();
}

/** Reads one chain after the other. A chain that fails does not keep the others out of the books. */
async function readChains(
  keeper: Bookkeeper,
  held: Books,
): Promise<{ openings: OpeningBalances[]; readings: Reading[] }> {
  const { deps, reader } = keeper;
  const readings: Reading[] = [];
  const openings: OpeningBalances[] = [];
  const patient = deps.clock.monotonicMs() - keeper.startedMs < PRICE_PATIENCE_MS;
  // During a stop only notes are written: chain facts can be read again.
  for (const chainId of keeper.stopped ? [] : deps.chains.keys()) {
    try {
      const opening = await reader.opening(held, chainId, patient);
      if (opening !== undefined) openings.push(opening);
      const reading = await reader.next(held, chainId, patient);
      if (reading !== undefined) readings.push(reading);
    } catch (error) {
      deps.log.warn(
        { chain: chainSlug(keeper, chainId), error },
        'a chain could not be read for the books; the next pass tries again',
      );
    }
  }
  return { openings, readings };
}

const fillIdsOf = (made: Note): string[] =>
  made.kind === 'filled'
    ? [idOf.fill(made.exchange.orderId, made.place), idOf.sent(made.exchange.orderId, made.place)]
    : [];

/** Unclaimed fills from before the books opened: their input is an asset from the start. */
function filledBefore(
  { deps, reader }: Bookkeeper,
  { cursor: { chainId, block } }: OpeningBalances,
): Exchange[] {
  return deps.open().flatMap(({ orderId, slice, order, fill, stage }) => {
    const owed =
      stage === 'filled' &&
      fill !== null &&
      slice.destChainId === chainId &&
      slice.originChainId !== chainId &&
      fill.blockNumber <= block;
    return owed ? [reader.exchangeOf(orderId, slice, order)] : [];
  });
}

/** Trades of this pass that memory has forgotten, from the store. */
async function olderTrades(
  { deps: { store } }: Bookkeeper,
  { trades }: Books,
  taken: readonly Note[],
  facts: readonly ReadFact[],
): Promise<Map<Bytes32, TradeRecord>> {
  const ids = new Set<Bytes32>();
  for (const made of taken)
    if (made.kind !== 'adjusted')
      ids.add(
        made.kind === 'accepted'
          ? made.trade.orderId
          : made.kind === 'filled'
            ? made.exchange.orderId
            : made.orderId,
      );
  for (const fact of facts) {
    if ('exchange' in fact) ids.add(fact.exchange.orderId);
    else if (fact.kind === 'gas' && fact.orderId !== null) ids.add(fact.orderId);
  }
  const found = await Promise.all([...ids].filter((id) => !trades.has(id)).map((id) => store.trade(id)));
  return new Map(found.flatMap((trade) => (trade === undefined ? [] : [[trade.orderId, trade]])));
}

export const storedSums = ({
  all: { grossMicros, feesMicros, gasMicros, lostMicros, markMicros },
  transfers,
}: Pick<StoredProfit, 'all' | 'transfers'>): ProfitSums => ({
  spread: grossMicros - feesMicros,
  fees: feesMicros,
  gas: gasMicros,
  lost: lostMicros,
  markout_1s: markMicros[1] ?? 0n,
  markout_10s: markMicros[10] ?? 0n,
  markout_60s: markMicros[60] ?? 0n,
  bridgeFees: transfers.feesMicros,
  transferGas: transfers.gasMicros,
});
