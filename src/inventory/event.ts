/**
 * The events of the inventory ledger, which is a fold over them: the same log always gives the same ledger.
 *
 * Events about one order may arrive in any order and more than once. So every chain fact carries an `id`:
 * block hash and transaction, and log index where one transaction states two facts. A transaction that is
 * reorganised away and mined again has a new id; `reorged` withdraws the old one, and may arrive first.
 */

import type { Address } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';

/** Base units of one token on one chain. */
export interface Money {
  chainId: number;
  token: Address;
  amount: bigint;
}

export type Side = 'buy' | 'sell';

export interface HoldRequest {
  orderId: string;
  /** The full output, never less than what is signed, and the chain and token it is paid in. */
  chainId: number;
  token: Address;
  amount: bigint;
  /** The input less platform fee and relay fee, rounded down. */
  input: Money;
  /** The nonce group: origin chain, user and nonce. At most one order of it can execute. */
  group: string;
  /** Last second of chain time at which the signature can execute: the commitment's deadline. */
  lapsesAt: UnixSeconds;
  /** The chain whose clock ends the hold. Default: the input's chain, where the order is opened. */
  clockChainId?: number;
  taker: string;
  pair: string;
  side: Side;
  /** Millionths of the reference currency, rounded up. */
  notional: bigint;
  /** Loss if the mid jumps beyond our spread, same unit, rounded up. Default 0n. */
  gapLoss?: bigint;
  /** Chance that the taker accepts, in bps; weighs the quote in the exposure. Default 10,000. */
  fillProbabilityBps?: number;
}

export type LedgerEvent =
  /**
   * The clock of one chain: the time of the latest block whose events have all been applied here. It never
   * runs backwards. Our own clock must not be used: while the node is unreachable an order may execute
   * in time without our knowing, and its hold would end too early. The clock may run ahead by the grace.
   * `most`: how many holds one step takes from the queue. Default 50.
   */
  | { type: 'time'; chainId: number; now: UnixSeconds; most?: number }
  | { type: 'held'; request: HoldRequest }
  | { type: 'accepted'; orderId: string }
  /** An order found on venue or chain after a crash: it binds us, although its hold was lost. */
  | { type: 'restored'; request: HoldRequest }
  /**
   * The order can never execute: the chain proves it (its nonce was used), or the quote was never signed.
   */
  | { type: 'released'; orderId: string }
  | { type: 'failed'; orderId: string }
  | { type: 'filled'; orderId: string; id: string }
  | { type: 'fill_final'; orderId: string; id: string }
  /** The input was credited to us, at depth. A same-chain `settle` gives all three facts one id. */
  | { type: 'finalised'; orderId: string; id: string; received: bigint }
  /** The block of `id` is no longer canonical: every fact with that id is withdrawn. */
  | { type: 'reorged'; orderId: string; id: string }
  | { type: 'overdue'; orderId: string }
  | ({ type: 'deposited'; id: string } & Money)
  /** New quotes can no longer use the amount; quotes signed before still can. */
  | ({ type: 'withdrawal_requested'; id: string } & Money)
  /** Request `id` ended and `amount` left the escrow; 0n when it lapsed or was cancelled. */
  | ({ type: 'withdrawal_ended'; id: string } & Money)
  /** The chain's balance at one block. A difference beyond dust freezes the bucket and is never credited. */
  | ({ type: 'reconciled' } & Money);
