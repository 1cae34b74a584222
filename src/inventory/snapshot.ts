/**
 * The ledger as JSON, written by a clean stop. It has only what cannot be derived: money that moved, facts,
 * clocks. Sums are rebuilt, so a snapshot cannot contradict itself. The names of its fields are stored and
 * must stay readable: `quoteId` is the order id, `lapsed` the fact `expired`, `undone` the fact `reorged`.
 */

import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import type { Side } from './event.ts';
import type { Hold } from './hold.ts';
import { NO_FACTS } from './hold-state.ts';

interface Withdrawal {
  chainId: number;
  token: Address;
  /** null while only its end is known. */
  requested: bigint | null;
  ended: bigint | null;
}

export interface SavedBooks {
  clocks: [chainId: number, now: number][];
  buckets: { chainId: number; token: Address; base: bigint; drift: bigint | null }[];
  deposits: string[];
  withdrawals: [id: string, withdrawal: Withdrawal][];
}

export interface StoredHold {
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

export interface StoredBooks {
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

export interface LedgerSnapshot extends StoredBooks {
  promises: StoredHold[];
}

export interface SnapshotChunks {
  books: StoredBooks;
  /** Each can be called again. Throws `InvariantError` if the ledger changed since the snapshot was taken. */
  chunks: readonly (() => readonly StoredHold[])[];
}

const FLAGS = [
  ['accepted', 'accepted'],
  ['restored', 'restored'],
  ['expired', 'lapsed'],
  ['released', 'released'],
  ['failed', 'failed'],
  ['overdue', 'overdue'],
] as const;
/** Holds; about a millisecond to write or to load. */
const CHUNK = 200;
const order =
  <T>(key: (item: T) => string | number) =>
  (a: T, b: T) =>
    key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
const text = (amount: bigint | null): string | null => (amount === null ? null : amount.toString());
const amount = (value: string | null): bigint | null => (value === null ? null : BigInt(value));

export function writeBooks({ clocks, buckets, deposits, withdrawals }: SavedBooks): StoredBooks {
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

export function writeHold({ request, facts, forgetAt }: Hold): StoredHold {
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
    is: FLAGS.filter(([fact]) => facts[fact]).map(([, stored]) => stored),
    fills: [...facts.fills].sort(),
    finals: [...facts.finals].sort(),
    undone: [...facts.reorged].sort(),
    finalised: facts.finalised
      .map(({ id, received }) => ({ id, received: received.toString() }))
      .sort(order(({ id }) => id)),
    forgetAt,
  };
}

export function chunksOf<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < items.length; from += CHUNK) chunks.push(items.slice(from, from + CHUNK));
  return chunks;
}

/** Throws `InvariantError` on another version. */
export function readBooks(books: StoredBooks): SavedBooks {
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

export function readHold({ is, ...saved }: StoredHold): Pick<Hold, 'request' | 'facts' | 'forgetAt'> {
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
          expired: is.includes('lapsed'),
          released: is.includes('released'),
          failed: is.includes('failed'),
          overdue: is.includes('overdue'),
          fills,
          finals,
          reorged: undone,
          finalised: finalised.map(({ id, received }) => ({ id, received: BigInt(received) })),
        },
    forgetAt: saved.forgetAt,
  };
}
