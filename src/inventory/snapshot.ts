/**
 * The ledger at rest: plain JSON for a clean stop. Holds only what cannot be derived: money that moved,
 * facts, clocks. Sums are rebuilt, so a file can never contradict itself. Whole it is sorted, so that equal
 * ledgers are equal bytes; a hundred thousand promises would hold up everybody else, so a stop writes them,
 * and a start reads them, some at a time.
 */

import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import type { HoldRequest, Side } from './event.ts';
import { type Facts, NO_FACTS } from './promise.ts';

export interface Withdrawal {
  chainId: number;
  token: Address;
  /** null: only its end is known so far. */
  requested: bigint | null;
  ended: bigint | null;
}

export interface SavedPromise {
  request: HoldRequest;
  facts: Facts;
  /** 0: not scheduled. */
  forgetAt: number;
}

export interface SavedBooks {
  clocks: [chainId: number, now: number][];
  buckets: { chainId: number; token: Address; base: bigint; drift: bigint | null }[];
  deposits: string[];
  withdrawals: [id: string, withdrawal: Withdrawal][];
}

export interface PromiseAtRest {
  quoteId: string;
  chainId: number;
  token: string;
  amount: string;
  inputChainId: number;
  inputToken: string;
  inputAmount: string;
  group: string;
  lapsesAt: number;
  clockChainId: number;
  taker: string;
  pair: string;
  side: Side;
  notional: string;
  gapLoss: string;
  fillProbabilityBps: number;
  is: string[];
  fills: string[];
  finals: string[];
  finalised: { id: string; received: string }[];
  undone: string[];
  forgetAt: number;
}

/** All but the promises. */
export interface BooksAtRest {
  version: 1;
  clocks: { chainId: number; now: number }[];
  buckets: { chainId: number; token: string; base: string; drift: string | null }[];
  deposits: string[];
  withdrawals: {
    id: string;
    chainId: number;
    token: string;
    requested: string | null;
    ended: string | null;
  }[];
}

export interface LedgerSnapshot extends BooksAtRest {
  promises: PromiseAtRest[];
}

/** The same in pieces of about a millisecond each, in any order. */
export interface SnapshotPieces {
  books: BooksAtRest;
  /** All of them each time it is walked through: a transaction may have to begin again. */
  promises: Iterable<readonly PromiseAtRest[]>;
}

const FLAGS = ['accepted', 'restored', 'lapsed', 'released', 'failed', 'overdue'] as const;
/** About a millisecond to write, and to restore. */
const PIECE = 200;
const order =
  <T>(key: (item: T) => string | number) =>
  (a: T, b: T) =>
    key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
const text = (amount: bigint | null): string | null => (amount === null ? null : amount.toString());
const amount = (value: string | null): bigint | null => (value === null ? null : BigInt(value));

export function writeBooks({ clocks, buckets, deposits, withdrawals }: SavedBooks): BooksAtRest {
  return {
    version: 1,
    clocks: clocks.map(([chainId, now]) => ({ chainId, now })).sort(order(({ chainId }) => chainId)),
    buckets: buckets
      .map(({ chainId, token, base, drift }) => ({
        chainId,
        token: token as string,
        base: base.toString(),
        drift: text(drift),
      }))
      .sort((a, b) => a.chainId - b.chainId || (a.token < b.token ? -1 : 1)),
    deposits: [...deposits].sort(),
    withdrawals: withdrawals
      .map(([id, { chainId, token, requested, ended }]) => ({
        id,
        chainId,
        token: token as string,
        requested: text(requested),
        ended: text(ended),
      }))
      .sort(order(({ id }) => id)),
  };
}

export function writePromise({ request, facts, forgetAt }: SavedPromise): PromiseAtRest {
  return {
    quoteId: request.orderId,
    chainId: request.chainId,
    token: request.token as string,
    amount: request.amount.toString(),
    inputChainId: request.input.chainId,
    inputToken: request.input.token as string,
    inputAmount: request.input.amount.toString(),
    group: request.group,
    lapsesAt: request.lapsesAt,
    clockChainId: request.clockChainId ?? request.input.chainId,
    taker: request.taker,
    pair: request.pair,
    side: request.side,
    notional: request.notional.toString(),
    gapLoss: (request.gapLoss ?? 0n).toString(),
    fillProbabilityBps: request.fillProbabilityBps ?? 10_000,
    is: FLAGS.filter((flag) => facts[flag]),
    fills: [...facts.fills].sort(),
    finals: [...facts.finals].sort(),
    undone: [...facts.undone].sort(),
    finalised: facts.finalised
      .map(({ id, received }) => ({ id, received: received.toString() }))
      .sort(order(({ id }) => id)),
    forgetAt,
  };
}

/** Throws `InvariantError` between two pieces when they are not `unchanged` any more. */
export function* writePieces(
  promises: Iterable<SavedPromise>,
  unchanged: () => boolean,
): Generator<PromiseAtRest[]> {
  let piece: PromiseAtRest[] = [];
  for (const promise of promises) {
    if (!unchanged())
      throw new InvariantError(
        'The ledger changed while it was written: what is written is of no one moment.',
      );
    if (piece.push(writePromise(promise)) < PIECE) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

export const whole = ({ books, promises }: SnapshotPieces): LedgerSnapshot => ({
  ...books,
  promises: [...promises].flat().sort(order(({ quoteId }) => quoteId)),
});

export const inPieces = ({ promises, ...books }: LedgerSnapshot): SnapshotPieces => ({
  books,
  promises: [promises],
});

/** Throws `InvariantError` on another version; whoever reads the file decides what a broken file means. */
export function readBooks(books: BooksAtRest): SavedBooks {
  if (books.version !== 1)
    throw new InvariantError('This ledger snapshot was written by another version.', {
      facts: { version: books.version },
    });
  return {
    clocks: books.clocks.map(({ chainId, now }) => [chainId, now]),
    buckets: books.buckets.map(({ chainId, token, base, drift }) => ({
      chainId,
      token: token as Address,
      base: BigInt(base),
      drift: amount(drift),
    })),
    deposits: books.deposits,
    withdrawals: books.withdrawals.map(({ id, chainId, token, requested, ended }) => [
      id,
      { chainId, token: token as Address, requested: amount(requested), ended: amount(ended) },
    ]),
  };
}

export function readPromise({ is, ...saved }: PromiseAtRest): SavedPromise {
  const { fills, finals, undone, finalised } = saved;
  const plain = is.length + fills.length + finals.length + undone.length + finalised.length === 0;
  return {
    request: {
      orderId: saved.quoteId,
      chainId: saved.chainId,
      token: saved.token as Address,
      amount: BigInt(saved.amount),
      input: {
        chainId: saved.inputChainId,
        token: saved.inputToken as Address,
        amount: BigInt(saved.inputAmount),
      },
      group: saved.group,
      lapsesAt: saved.lapsesAt,
      clockChainId: saved.clockChainId,
      taker: saved.taker,
      pair: saved.pair,
      side: saved.side,
      notional: BigInt(saved.notional),
      gapLoss: BigInt(saved.gapLoss),
      fillProbabilityBps: saved.fillProbabilityBps,
    },
    facts: plain
      ? NO_FACTS
      : {
          accepted: is.includes('accepted'),
          restored: is.includes('restored'),
          lapsed: is.includes('lapsed'),
          released: is.includes('released'),
          failed: is.includes('failed'),
          overdue: is.includes('overdue'),
          fills,
          finals,
          undone,
          finalised: finalised.map(({ id, received }) => ({ id, received: BigInt(received) })),
        },
    forgetAt: saved.forgetAt,
  };
}
