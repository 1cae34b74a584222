/** One EVM chain as the shells see it: a followed head, views pinned to a block, events, and raw sending. */

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

/** The escrow's own words for the state of an order. */
export type EscrowStatus = 'none' | 'deposited' | 'claimed' | 'refunded';

/**
 * Views are read at the latest block unless a block number is given. All throw `UpstreamError` when no
 * endpoint answers.
 */
export interface ChainViews {
  orderStatus(orderId: Bytes32, at?: bigint): Promise<EscrowStatus>;
  /** undefined while the output is not filled. */
  fillRecord(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<Bytes32 | undefined>;
  isNonceUsed(user: Address, nonce: bigint, at?: bigint): Promise<boolean>;
  ledgerBalance(account: Address, token: Address, at?: bigint): Promise<bigint>;
  pendingWithdrawal(
    account: Address,
    token: Address,
    at?: bigint,
  ): Promise<{ amount: bigint; availableAt: UnixSeconds; lapsesAt: UnixSeconds }>;
  /**
   * What of a ledger balance was delivered to be paid out by itself and has not been: nobody's promise may
   * count on it.
   */
  ledgerDeferred(account: Address, token: Address, at?: bigint): Promise<bigint>;
  /** From when on a deferred delivery may be paid out; 0 when none waits under these names. */
  deferredUntil(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<UnixSeconds>;
  /** Seconds between asking for one's money and getting it: longer than any quote lives. */
  withdrawalDelay(at?: bigint): Promise<number>;
  /** What the escrow takes as a platform fee at most, basis points; settled when it was deployed. */
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
  /** Whose signatures the oracle counts now, ascending, and how many it wants. */
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
  /** ERC-1271 by eth_call with a gas cap; false for a revert, a wrong answer or no code. */
  isValidSignature(wallet: Address, digest: Bytes32, signature: Hex, at?: bigint): Promise<boolean>;
  nativeBalance(address: Address, at?: bigint): Promise<bigint>;
  /** What a contract that is none of ours answers, as it encodes it; undefined when it reverts. */
  read(to: Address, data: Hex, at?: bigint): Promise<Hex | undefined>;
  /**
   * Wei, beside its gas, for a transaction of this many unsigned bytes, signature included; at most. OP-stack
   * chains only.
   */
  l1DataFee(unsignedBytes: number, at?: bigint): Promise<bigint>;
}

/** What decides over money, read at one block. */
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
  /** Hash of a block of the canonical chain, as seen from `at`. */
  blockHash(number: bigint, at: bigint): Promise<Hex | undefined>;
}

/**
 * `reorg`: what was final is gone, so nothing may be acted on. `clock`: our clock and the chain's differ, so
 * nothing may be promised.
 */
export interface ChainDoubt {
  kind: 'reorg' | 'clock';
  note: string;
}

export interface Fees {
  /** Wei per gas of the latest block. */
  baseFee: bigint;
  /** A tip that gets mined soon, wei per gas. */
  priorityFee: bigint;
}

export interface Call {
  from: Address;
  to: Address;
  data: Hex;
  gas?: bigint;
}

export type Simulation = { ok: true; gasUsed: bigint } | { ok: false; reason: string; data: Hex };

/** What a node said to raw bytes. `indeterminate` (timeout, reset) counts as sent: it may be mined. */
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
  /** What a rollup charges on top for its data; 0n on chains that say nothing of it. Wei. */
  l1Fee: bigint;
  /** Of the contract that was asked about. */
  logs?: readonly { topics: readonly Hex[]; data: Hex }[];
}

export interface ChainPort extends ChainViews {
  readonly chain: Chain;
  /** The latest block seen, never an older one than before; undefined until the first arrives. */
  head(): Block | undefined;
  /** Wall milliseconds at which `head()` last changed. */
  headSeenAtMs(): number;
  /** Called for each new head, in order. Returns how to stop. */
  onHead(listener: (head: Block) => void): () => void;
  /**
   * Why nothing should be promised on this chain now; undefined when all is well. Cheap: a hot path may ask.
   */
  doubt(): ChainDoubt | undefined;
  /**
   * The views for a decision over this much money, whole USD; undefined when nobody knows its worth. From the
   * configured value on an answer counts only when several endpoints give it about the same block: throws
   * `UpstreamError` `no_quorum` while they do not.
   */
  deciding(valueUsd: number | undefined): DecidingViews;
  /** A block by number, or undefined when the chain has none. */
  block(number: bigint): Promise<Block | undefined>;
  /**
   * Our escrow's events, and the proofs of our oracle, in a closed range of blocks, in chain order.
   * `thorough`: what any endpoint in service has, for ranges in which one may have left some out.
   */
  events(fromBlock: bigint, toBlock: bigint, thorough?: boolean): Promise<EscrowEvent[]>;
  /**
   * All events of one order in blocks not older than `since`. Slower than `events`: for what a follower
   * missed.
   */
  orderEvents(orderId: Bytes32, since: UnixSeconds): Promise<EscrowEvent[]>;
  /**
   * What a filler of ours paid to the receiver of an order beyond its amount, in this block; base units, 0n
   * when nothing.
   */
  surplus(filler: Address, orderId: Bytes32, block: bigint): Promise<bigint>;
  simulate(call: Call, at?: bigint): Promise<Simulation>;
  /**
   * What a call that changes things would answer at the newest block; `data` is what it reverted with when it
   * would not.
   */
  dryRun(call: Call): Promise<{ ok: boolean; data: Hex }>;
  fees(): Promise<Fees>;
  transactionCount(address: Address, tag: 'latest' | 'pending'): Promise<number>;
  sendRaw(raw: Hex): Promise<SendOutcome>;
  /** With the logs of `emitter` when one is named. */
  receipt(hash: Hex, emitter?: Address): Promise<Receipt | undefined>;
  /** Ends subscriptions and sockets. */
  close(): Promise<void>;
}
