/**
 * A bridge that carries a token between the addresses of one owner: the LP account on one chain and the same
 * address on another. Inventory is moved with it. The money is burned or locked on the source chain, and a
 * message, once attested, makes it appear on the destination. No method waits for the bridge: each says how
 * far a transfer is, so that a caller that crashed asks again.
 */

import type { Address, Bytes32, Hex } from '../domain/hex.ts';

export interface BridgeRoute {
  from: { chainId: number; token: Address };
  to: { chainId: number; token: Address };
}

export interface BridgeMove extends BridgeRoute {
  /** An `LpAccount`, at the same address on both chains: sends and receives. */
  account: Address;
  /** The amount that leaves the account, in base units of the source token. */
  amount: bigint;
}

export interface BridgeEstimate {
  /** The least amount that arrives, in base units of the destination token; enforced on chain. */
  leastReceived: bigint;
  /** The usual time from the mined send to the arrival, in seconds. */
  seconds: number;
  /** The fee in wei of the source chain, paid with the send. */
  nativeFee: bigint;
  /**
   * The bridge's own name for how it would carry the transfer; kept with the estimate. Absent: its slowest
   * mode.
   */
  mode?: string;
}

/**
 * `maxAmount` and `minAmount`: what the bridge would carry, base units. `unavailable`: it does not answer, or
 * has no capacity now; ask later.
 */
export type BridgeRefusal =
  | { refused: 'too_much'; maxAmount: bigint; detail: string }
  | { refused: 'too_little'; minAmount: bigint; detail: string }
  | { refused: 'unavailable'; detail: string };

export interface BridgeCall {
  to: Address;
  data: Hex;
  /** Wei. */
  value: bigint;
}

/** Everything that following a transfer needs; kept in the database. */
export interface SentTransfer {
  bridge: string;
  move: BridgeMove;
  leastReceived: bigint;
  txHash: Hex;
  /** The bridge's own name of the transfer: the one that its explorer and its support know. */
  reference: Bytes32;
  /** Bytes of the message as sent; empty where the bridge needs none. */
  message: Hex;
}

export type TransferProgress =
  /** The bridge works on it. `detail`: what it waits for, in the operator's words. */
  | { state: 'waiting'; detail: string }
  /** Anyone may send this call on the destination. It reverts when the transfer has arrived. */
  | { state: 'deliverable'; call: BridgeCall }
  /**
   * The arrival is in a block that may still be reorganised away; it is final from the chain's `finalNumber`
   * on.
   */
  | { state: 'arrived'; received: bigint; txHash: Hex; blockNumber: bigint }
  /**
   * Does not go on by itself, as far as can be seen now: ask again later. The money is in the bridge unless
   * `detail` says where it is; `detail` also says what the operator does next.
   */
  | { state: 'stuck'; detail: string };

export interface Bridge {
  /** Stored with each transfer: never reused. */
  readonly id: string;
  readonly name: string;
  /** Reads memory only. */
  serves(route: BridgeRoute): boolean;
  estimate(move: BridgeMove): Promise<BridgeEstimate | BridgeRefusal>;
  /** The call by the mover of `move.account` that sends. Pure. */
  send(move: BridgeMove, estimate: BridgeEstimate): BridgeCall;
  /**
   * Returns what a mined transaction has sent; undefined when it sent nothing. Throws `UpstreamError` also
   * when no node knows the transaction.
   */
  sent(move: BridgeMove, estimate: BridgeEstimate, txHash: Hex): Promise<SentTransfer | undefined>;
  /**
   * Called again and again, perhaps by a new process. Asks the attester to attest again what expired.
   * Throws `UpstreamError` when chain or attester do not answer.
   */
  follow(transfer: SentTransfer): Promise<TransferProgress>;
}
