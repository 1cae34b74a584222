/**
 * Everything that can happen to inventory, as events. The ledger is a fold over them, so the same log always
 * gives the same ledger.
 *
 * Events about one quote may arrive in any order and more than once: what a chain says is a set of facts, and
 * the set decides. Therefore every chain fact carries an `id` that names it once and for all: block hash and
 * transaction (and log index where one transaction says two things). A transaction that a reorg drops and
 * another block mines again has a new id; `reorged` withdraws the old one, and may even arrive first.
 */

import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';

/** Base units of one token on one chain. */
export interface Money {
  chainId: number;
  /** Lower case. */
  token: Address;
  amount: bigint;
}

/** What the LP does with the base asset of the pair. */
export type Side = 'buy' | 'sell';

/** A promise about to be signed: what it may cost us, until when, and whom it counts against. */
export interface HoldRequest {
  orderId: string;
  /** Where the output is paid from, which token, and the full output, never less than what is signed. */
  chainId: number;
  token: Address;
  amount: bigint;
  /** What comes back for it: input less platform fee and relay fee, rounded down. */
  input: Money;
  /**
   * Quotes of one group share an on-chain nonce, so at most one of them can ever execute and the group holds
   * its largest member. Must name that nonce: origin chain, user and nonce.
   */
  group: string;
  /** Last second of chain time at which the signature can still be executed: the commitment's deadline. */
  lapsesAt: UnixSeconds;
  /**
   * The chain whose clock kills the promise. Default: the input's chain, where the order would be opened or
   * settled.
   */
  clockChainId?: number;
  taker: string;
  pair: string;
  side: Side;
  /** Millionths of the reference currency, rounded up. */
  notional: bigint;
  /**
   * What a jump of the mid beyond our spread would cost us on it, same unit, rounded up. Default 0n: it costs
   * nothing.
   */
  gapLoss?: bigint;
  /**
   * How likely the taker is to accept, in bps; weighs the quote in the exposure. Default 10,000: as good as
   * done.
   */
  fillProbabilityBps?: number;
}

export type LedgerEvent =
  /**
   * The clock of one chain: the time of the latest block whose events have all been applied here. Never runs
   * backwards. Our own clock will not do, however late it is: while the node is unreachable a promise may
   * have been executed in time without our knowing, and its hold would be given away. The grace is the most
   * by which this clock may run ahead.
   */
  | {
      type: 'time';
      chainId: number;
      now: UnixSeconds;
      /** Ends no more than this at once. Default 50. */ most?: number;
    }

  /* Promises */
  /** Written by `ledger.hold` once it has said yes. */
  | { type: 'held'; request: HoldRequest }
  /** The taker took it and the venue awarded it. */
  | { type: 'accepted'; orderId: string }
  /**
   * A promise that must be honoured although this ledger has never held it: found on venue or chain after a
   * crash.
   */
  | { type: 'restored'; request: HoldRequest }
  /**
   * The chain proves that it can never execute (nonce used elsewhere or invalidated): ends the hold before
   * its time.
   */
  | { type: 'released'; orderId: string }
  /** The accepted order is dead: refunded, expired or refused by the chain. */
  | { type: 'failed'; orderId: string }

  /* What chains say about an order */
  /** Our output left, in a block that may still be reorganised. */
  | { type: 'filled'; orderId: string; id: string }
  /** The block of fill `id` has its depth. */
  | { type: 'fill_final'; orderId: string; id: string }
  /**
   * The input was credited to us, at depth. Same-chain `settle` says `filled`, `fill_final` and `finalised`
   * with one id.
   */
  | { type: 'finalised'; orderId: string; id: string; received: bigint }
  /** The block of `id` is no longer canonical: everything said under that id is unsaid. */
  | { type: 'reorged'; orderId: string; id: string }

  /**
   * The input is owed to us for far longer than its corridor takes: it counts for nothing until it arrives.
   */
  | { type: 'overdue'; orderId: string }

  /* Owner and outside world */
  | ({ type: 'deposited'; id: string } & Money)
  /** From here on the money counts as gone, though what was signed before may still use it. */
  | ({ type: 'withdrawal_requested'; id: string } & Money)
  /** The request `id` is over: `amount` left the escrow (0n: it lapsed or was cancelled). */
  | ({ type: 'withdrawal_ended'; id: string } & Money)
  /**
   * Ledger and chain compared at one block. A difference beyond dust freezes the bucket; it is never
   * credited.
   */
  | ({ type: 'reconciled' } & Money);
