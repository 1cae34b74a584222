/**
 * Defines the facts of an order: an append-only list, each named by a past participle, from which every view
 * is folded.
 */

import type { Address, Bytes32, Hex } from './hex.ts';
import type { UnixSeconds } from './time.ts';

/** The place on a chain that proves a fact. */
export interface Evidence {
  chainId: number;
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  /** Block time. */
  at: UnixSeconds;
}

export interface Failure {
  code: FailureCode;
  message: string;
}

export const FAILURE_CODES = [
  'not_opened',
  'not_broadcast',
  'expired_unfilled',
  'solver_released',
  'funding_failed',
  'settlement_reverted',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** A solver did not keep its promise: a fade. */
export const FADE_CODES: readonly FailureCode[] = [
  'expired_unfilled',
  'solver_released',
  'settlement_reverted',
];

/**
 * Facts with `evidence` come from what the chain says at the configured depth, never from having sent
 * something. `sent` and `payout_sent` record that bytes left for a chain, and decide nothing. `failed` is the
 * venue's verdict: from the chain's clock, a refused step, or a refund.
 */
export type Fact =
  | { kind: 'accepted' }
  | { kind: 'sent'; step: 'settle' | 'open' | 'refund'; chainId: number; txHash: Hex }
  | { kind: 'opened'; evidence: Evidence }
  /**
   * `surplus`: what a filler earned beyond the order's amount and paid to the receiver in the same
   * transaction.
   */
  | {
      kind: 'filled';
      outputIndex: number;
      solver: Address;
      timestamp: UnixSeconds;
      amount: bigint;
      surplus?: bigint;
      evidence: Evidence;
    }
  /**
   * The output is in the receiver's ledger balance; what follows of it may come after the order's end.
   * `windowSeconds`: the escrow's withdrawal delay.
   */
  | {
      kind: 'credited';
      outputIndex: number;
      account: Address;
      token: Address;
      amount: bigint;
      autoWithdraw: boolean;
      windowSeconds: number;
      evidence: Evidence;
    }
  /** A transaction was sent that pays a credited output out; like `sent`, it decides nothing. */
  | { kind: 'payout_sent'; outputIndex: number; chainId: number; txHash: Hex }
  /** The receiver has asked for this much of it; 0: for none of it any more. */
  | {
      kind: 'withdrawal_requested';
      outputIndex: number;
      amount: bigint;
      availableAt: UnixSeconds;
      lapsesAt: UnixSeconds;
      evidence: Evidence;
    }
  /** This much of it has left the ledger. `ended`: the escrow will not pay it out by itself (any more). */
  | { kind: 'withdrawn'; outputIndex: number; amount: bigint; ended: boolean; evidence: Evidence }
  | { kind: 'attested'; outputIndex: number; payloadHash: Bytes32; evidence: Evidence }
  | { kind: 'finalised'; evidence: Evidence }
  | { kind: 'refunded'; evidence: Evidence }
  | { kind: 'failed'; failure: Failure };

export type FactKind = Fact['kind'];
export type FactOf<K extends FactKind> = Extract<Fact, { kind: K }>;

/** A fact as it is stored: numbered per order, with the wall time at which it was appended. */
export interface RecordedFact {
  /** 1, 2, 3 … per order, without gaps. */
  seq: number;
  recordedAtMs: number;
  fact: Fact;
}
