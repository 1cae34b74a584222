/** One EVM chain: the latest head, views at a block, events, and sending raw transactions. */

import type { Chain } from '../domain/chain.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { EscrowEvent } from '../settlement/log.ts';

export type { EscrowEvent };

export interface Block {
  number: bigint;
  hash: Hex;
  timestamp: UnixSeconds;
}

/** The escrow contract's own states of an order. */
export type EscrowStatus = 'none' | 'deposited' | 'claimed' | 'refunded';

/**
 * Views read the latest block unless a block number is given. All throw `UpstreamError` when no endpoint
 * answers.
 */
export interface ChainViews {
  orderStatus(orderId: Bytes32, at?: bigint): Promise<EscrowStatus>;
  /** undefined until the output is filled. */
  fillRecord(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<Bytes32 | undefined>;
  isNonceUsed(user: Address, nonce: bigint, at?: bigint): Promise<boolean>;
  ledgerBalance(account: Address, token: Address, at?: bigint): Promise<bigint>;
  pendingWithdrawal(
    account: Address,
    token: Address,
    at?: bigint,
  ): Promise<{ amount: bigint; availableAt: UnixSeconds; lapsesAt: UnixSeconds }>;
  /** Part of the ledger balance that is waiting to be paid out automatically. It must not back a quote. */
  ledgerDeferred(account: Address, token: Address, at?: bigint): Promise<bigint>;
  /** Chain time from which a deferred delivery may be paid out; 0 when there is none. */
  deferredUntil(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<UnixSeconds>;
  /** Seconds between requesting and receiving a withdrawal; longer than any quote lives. */
  withdrawalDelay(at?: bigint): Promise<number>;
  /** The escrow's maximum platform fee, basis points; fixed at deployment. */
  maxFeeBps(at?: bigint): Promise<number>;
  isOperator(account: Address, operator: Address, at?: bigint): Promise<boolean>;
  isProven(
    oracle: Address,
    remoteChainId: bigint,
    remoteOracle: Bytes32,
    application: Bytes32,
    payloadHash: Bytes32,
    at?: bigint,
  ): Promise<boolean>;
  /** Signers that the oracle accepts, ascending, and how many of them must sign. */
  committee(oracle: Address, at?: bigint): Promise<{ threshold: number; signers: readonly Address[] }>;
  tokenBalance(owner: Address, token: Address, at?: bigint): Promise<bigint>;
  allowance(owner: Address, token: Address, spender: Address, at?: bigint): Promise<bigint>;
  permit2Allowance(
    owner: Address,
    token: Address,
    spender: Address,
    at?: bigint,
  ): Promise<{ amount: bigint; expiration: number; nonce: number }>;
  permit2NonceUsed(owner: Address, nonce: bigint, at?: bigint): Promise<boolean>;
  authorizationUsed(token: Address, authorizer: Address, nonce: Bytes32, at?: bigint): Promise<boolean>;
  hasCode(address: Address, at?: bigint): Promise<boolean>;
  /** ERC-1271 check by eth_call with a gas cap; false for a revert, a wrong answer or no code. */
  isValidSignature(wallet: Address, digest: Bytes32, signature: Hex, at?: bigint): Promise<boolean>;
  nativeBalance(address: Address, at?: bigint): Promise<bigint>;
  /** Calls any contract and returns the raw answer; undefined when the call reverts. */
  read(to: Address, data: Hex, at?: bigint): Promise<Hex | undefined>;
  /**
   * Upper bound in wei of the L1 data fee for a transaction of this many unsigned bytes, signature included.
   * OP-stack chains only.
   */
  l1DataFee(unsignedBytes: number, at?: bigint): Promise<bigint>;
}

/** Reads that decide over money, all at one block. */
export interface DecidingViews {
  orderStatus(orderId: Bytes32, at: bigint): Promise<EscrowStatus>;
  fillRecord(orderId: Bytes32, outputHash: Bytes32, at: bigint): Promise<Bytes32 | undefined>;
  isProven(
    oracle: Address,
    remoteChainId: bigint,
    remoteOracle: Bytes32,
    application: Bytes32,
    payloadHash: Bytes32,
    at: bigint,
  ): Promise<boolean>;
  /** Hash of a block of the canonical chain, as of block `at`. */
  blockHash(number: bigint, at: bigint): Promise<Hex | undefined>;
}

/**
 * `reorg`: a final block was reorganised away, so take no action. `clock`: our clock differs from the
 * chain's, so sign no quotes.
 */
export interface ChainDoubt {
  kind: 'reorg' | 'clock';
  note: string;
}

export interface Fees {
  /** Wei per gas of the latest block. */
  baseFee: bigint;
  /** Wei per gas, enough for a transaction to be mined soon. */
  priorityFee: bigint;
}

export interface ContractCall {
  from: Address;
  to: Address;
  data: Hex;
  gas?: bigint;
}

export type Simulation = { ok: true; gasUsed: bigint } | { ok: false; reason: string; data: Hex };

/**
 * A node's answer to a raw transaction. `indeterminate` (timeout, connection reset) counts as sent, because
 * it may be mined.
 */
export type SendOutcome =
  | { kind: 'sent'; hash: Hex }
  | {
      kind: 'indeterminate' | 'nonce_too_low' | 'underpriced' | 'out_of_funds' | 'rejected';
      message: string;
    };

export interface Receipt {
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  status: 'success' | 'reverted';
  gasUsed: bigint;
  effectiveGasPrice: bigint;
  /** Wei charged by a rollup for data; 0n on other chains. */
  l1Fee: bigint;
  /** Logs of the emitter given to `receipt`. */
  logs?: readonly { topics: readonly Hex[]; data: Hex }[];
}

export interface ChainPort extends ChainViews {
  readonly chain: Chain;
  /** The latest block seen, never older than the last one returned; undefined until the first arrives. */
  head(): Block | undefined;
  /** Unix ms at which `head()` last changed. */
  headSeenAtMs(): number;
  /** Called for each new head, in order. Returns an unsubscribe function. */
  onHead(listener: (head: Block) => void): () => void;
  /** Why no quote should be signed on this chain now; undefined when all is well. Reads memory only. */
  doubt(): ChainDoubt | undefined;
  /**
   * Views for a decision over this many whole USD; undefined means the value is not known. From the
   * configured value on, several endpoints must agree about the same block: throws `UpstreamError`
   * `no_quorum` until they do.
   */
  deciding(valueUsd: number | undefined): DecidingViews;
  /** undefined when the chain has no such block. */
  block(number: bigint): Promise<Block | undefined>;
  /**
   * Events of our escrow and proofs of our oracle from both blocks and all between, in chain order.
   * `thorough` merges the answers of all endpoints in service, because a single one may omit logs.
   */
  events(fromBlock: bigint, toBlock: bigint, thorough?: boolean): Promise<EscrowEvent[]>;
  /** All events of one order in blocks not older than `since`. Slower than `events`. */
  orderEvents(orderId: Bytes32, since: UnixSeconds): Promise<EscrowEvent[]>;
  /** What the filler contract paid the receiver on top of the order's amount in this block; base units. */
  surplus(filler: Address, orderId: Bytes32, block: bigint): Promise<bigint>;
  simulate(call: ContractCall, at?: bigint): Promise<Simulation>;
  /** Runs a call against the latest block without sending it. `data` is the answer, or the revert data. */
  dryRun(call: ContractCall): Promise<{ ok: boolean; data: Hex }>;
  fees(): Promise<Fees>;
  transactionCount(address: Address, tag: 'latest' | 'pending'): Promise<number>;
  sendRaw(raw: Hex): Promise<SendOutcome>;
  /** undefined until mined. Includes the logs of `emitter` when it is given. */
  receipt(hash: Hex, emitter?: Address): Promise<Receipt | undefined>;
  /** Closes subscriptions and sockets. */
  close(): Promise<void>;
}
