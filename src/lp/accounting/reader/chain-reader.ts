/** Reads the chains for the books: final blocks as facts, gas by receipts, and opening balances. */

import { LRUCache } from 'lru-cache';
import { max, min } from '../../../domain/amount.ts';
import type { Chain, TokenInfo } from '../../../domain/chain.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { Money } from '../../../inventory/event.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { JournalCursor } from '../../../ports/stores/accounting-store.ts';
import type { OwnSlice } from '../../routes/order.ts';
import type { Exchange } from '../ledger/facts.ts';
import { createTransferSteps } from '../transfers/recognise.ts';
import { readEvents } from './event-facts.ts';
import { exchangeOf } from './exchanges.ts';
import { readGas } from './gas-facts.ts';
import { readOpening } from './opening.ts';
import {
  type BooksProgress,
  infoOf,
  type OpeningBalances,
  type ReaderDeps,
  type ReaderOptions,
  type ReaderState,
  type Reading,
} from './reading.ts';

/** Promises reject when a node or a store does not answer. */
export interface ChainReader {
  /** Reads the next final blocks of a chain; undefined while there are none. `patient`: wait for prices. */
  next(books: BooksProgress, chainId: number, patient: boolean): Promise<Reading | undefined>;
  /** Reads the balances that the books do not have yet; undefined when there are none to be read now. */
  opening(books: BooksProgress, chainId: number, patient: boolean): Promise<OpeningBalances | undefined>;
  exchangeOf(orderId: Bytes32, slice: OwnSlice, order: StandardOrder): Exchange;
  infoOf(money: Pick<Money, 'chainId' | 'token'>): TokenInfo | undefined;
  /** The chains by id. */
  described: ReadonlyMap<number, Chain>;
}

const EVENTS_AT_ONCE = 300;
const MOST_EXCHANGES = 5_000;

export function createChainReader(deps: ReaderDeps, options: ReaderOptions): ChainReader {
  const state: ReaderState = {
    deps,
    options,
    described: new Map([...deps.chains].map(([chainId, { chain }]) => [chainId, chain])),
    steps: createTransferSteps(deps),
    exchanges: new LRUCache({ max: MOST_EXCHANGES }),
    trusted: new Set(),
    operators: new Map(),
  };
  return {
    next: (books, chainId, patient) => readNext(state, books, chainId, patient),
    opening: (books, chainId, patient) => readOpening(state, books, chainId, patient),
    exchangeOf: (orderId, slice, order) => exchangeOf(state, orderId, slice, order),
    infoOf: (money) => infoOf(state, money),
    described: state.described,
  };
}

async function readNext(
  state: ReaderState,
  books: BooksProgress,
  chainId: number,
  patient: boolean,
): Promise<Reading | undefined> {
  const { deps, options } = state;
  const port = deps.chains.get(chainId);
  const cursor = books.cursors.get(chainId);
  const final = deps.final(chainId);
  if (port === undefined || cursor === undefined || final === undefined || final.block <= cursor.block)
    return undefined;
  await checkCursor(state, port, cursor);
  const read = min(final.block, cursor.block + BigInt(options.maxBlocks));
  const all = await port.events(cursor.block + 1n, read);
  // Whole blocks, a few hundred events at a time, so that folding does not delay quotes.
  const beyond = all[EVENTS_AT_ONCE]?.blockNumber;
  const to = beyond === undefined ? read : max(beyond - 1n, cursor.block + 1n);
  const bottom = to === final.block ? { number: final.block, hash: final.hash } : await port.block(to);
  if (bottom === undefined) return undefined;
  const events = all.filter(({ blockNumber }) => blockNumber <= to);
  const reading: Reading = {
    cursor: { chainId, block: to, hash: bottom.hash, nonce: cursor.nonce },
    gas: [],
    facts: await readEvents(state, chainId, events, books.opened),
  };
  // Gas that is booked without a price would be missing from the profit for ever.
  if (!patient || deps.native(chainId) !== undefined) await readGas(state, books, port, reading);
  return reading;
}

/** Once for each chain: its blocks may have changed while this process did not run. */
async function checkCursor(
  { deps, trusted }: ReaderState,
  port: ChainPort,
  { chainId, block, hash }: JournalCursor,
): Promise<void> {
  if (trusted.has(chainId)) return;
  const there = await port.block(block);
  if (there !== undefined && there.hash !== hash)
    deps.log.error(
      { chain: port.chain.slug, block },
      'the last block in the books no longer exists: the chain was reorganised beyond its depth, and books and chain will differ by the undone transactions (docs/lp/reconcile.md)',
    );
  trusted.add(chainId);
}
