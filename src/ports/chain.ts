/** One EVM chain: head, views, events, and sending raw transactions. */

import type { Bond, BondTerms } from '../domain/bond.ts';
import type { Chain } from '../domain/chain.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { EscrowEvent } from '../settlement/log.ts';
import type { SpendingLimit } from '../settlement/spending-limit.ts';

export type { EscrowEvent };

export interface Block {
  number: bigint;
  hash: Hex;
  timestamp: UnixSeconds;
}

export type EscrowStatus = 'none' | 'deposited' | 'claimed' | 'refunded';

/** Reads at the latest block by default, and throws `UpstreamError` when no endpoint answers. */
export interface ChainViews {
  orderStatus(orderId: Bytes32, at?: bigint): Promise<EscrowStatus>;
  fillRecord(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<Bytes32 | undefined>;
  isNonceUsed(user: Address, nonce: bigint, at?: bigint): Promise<boolean>;
  ledgerBalance(account: Address, token: Address, at?: bigint): Promise<bigint>;
  /** Fees of the account's trades that nobody has collected: the fee recipient's, beside the balance. */
  ledgerFees(account: Address, token: Address, at?: bigint): Promise<bigint>;
  pendingWithdrawal(
    account: Address,
    token: Address,
    at?: bigint,
  ): Promise<{ amount: bigint; availableAt: UnixSeconds; lapsesAt: UnixSeconds }>;
  /** Will be paid out automatically, so it must not back a quote. */
  ledgerDeferred(account: Address, token: Address, at?: bigint): Promise<bigint>;
  /** Returns the chain time from which the output may be paid out; 0 when there is no deferred delivery. */
  deferredUntil(orderId: Bytes32, outputHash: Bytes32, at?: bigint): Promise<UnixSeconds>;
  /** Returns the delay in seconds; it is longer than any quote lives. */
  withdrawalDelay(at?: bigint): Promise<number>;
  maxFeeBps(at?: bigint): Promise<number>;
  isOperator(account: Address, operator: Address, at?: bigint): Promise<boolean>;
  /**
   * Returns what the account lets its operator spend of a token; undefined when the operator has no limits.
   */
  operatorLimit(
    account: Address,
    operator: Address,
    token: Address,
    at?: bigint,
  ): Promise<SpendingLimit | undefined>;
  /** Returns the LP's bond; undefined where no bond contract is configured. */
  bond(lp: Address, token: Address, at?: bigint): Promise<Bond | undefined>;
  bondTerms(lp: Address, at?: bigint): Promise<BondTerms | undefined>;
  /** Returns the seconds from the request until a bond can leave. */
  bondTakeBackDelay(at?: bigint): Promise<number | undefined>;
  /** Returns the share of a failed promise that its taker is paid, in ten-thousandths. */
  bondShareBps(at?: bigint): Promise<bigint | undefined>;
  isProven(
    oracle: Address,
    remoteChainId: bigint,
    remoteOracle: Bytes32,
    application: Bytes32,
    payloadHash: Bytes32,
    at?: bigint,
  ): Promise<boolean>;
  /** Returns the signers, ascending, and how many must sign. */
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
  /** Asks the wallet by ERC-1271, with a gas cap; false for a revert, a wrong answer or no code. */
  isValidSignature(wallet: Address, digest: Bytes32, signature: Hex, at?: bigint): Promise<boolean>;
  nativeBalance(address: Address, at?: bigint): Promise<bigint>;
  /** Returns the answer of a call; undefined when the call reverts. */
  read(to: Address, data: Hex, at?: bigint): Promise<Hex | undefined>;
  /** Returns the fees that the chain charges now. */
  rollupFees(at?: bigint): Promise<RollupFees>;
}

/**
 * Wei that a rollup charges for a transaction beyond its gas, rounded up, signature included; 0n on other
 * chains.
 */
export type RollupFees = (transaction: { unsignedBytes: number; gas: bigint }) => bigint;

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
  /** Returns the hash of a block on the canonical chain, as of block `at`. */
  blockHash(number: bigint, at: bigint): Promise<Hex | undefined>;
}

/** `reorg`: a final block was reorganised away. `clock`: our clock differs from the chain's. */
export interface ChainHealthIssue {
  kind: 'reorg' | 'clock';
  note: string;
}

export interface Fees {
  /** Wei per gas. */
  baseFee: bigint;
  /** Wei per gas, enough to be mined soon. */
  priorityFee: bigint;
}

export interface ContractCall {
  from: Address;
  to: Address;
  data: Hex;
  /** Wei. */
  value?: bigint;
  gas?: bigint;
}

export type Simulation = { ok: true; gasUsed: bigint } | { ok: false; reason: string; data: Hex };

/** A log of any contract. */
export interface ChainLog {
  txHash: Hex;
  blockNumber: bigint;
  topics: readonly Hex[];
  data: Hex;
}

/**
 * `indeterminate` (timeout, connection reset) counts as sent, because it may be mined. `not_now`: no node has
 * the bytes, and one will take the same bytes later. `rejected`: no node will ever take them.
 */
export type SendOutcome =
  | { kind: 'sent'; hash: Hex }
  | {
      kind: 'indeterminate' | 'nonce_too_low' | 'underpriced' | 'out_of_funds' | 'not_now' | 'rejected';
      message: string;
    };

export interface Receipt {
  txHash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  status: 'success' | 'reverted';
  gasUsed: bigint;
  effectiveGasPrice: bigint;
  /** Wei that a rollup charged beyond the gas: for its data and its operator; 0n on other chains. */
  rollupFee: bigint;
  /** The logs of the emitter given to `receipt`. */
  logs?: readonly { topics: readonly Hex[]; data: Hex }[];
}

export interface ChainPort extends ChainViews {
  readonly chain: Chain;
  /**
   * Returns the latest block seen. It goes back only when the only node takes back what time does not allow.
   */
  head(): Block | undefined;
  headSeenAtMs(): number;
  onHead(listener: (head: Block) => void): () => void;
  /**
   * Returns the newest block whose facts are final for an order of this value (USD; undefined: unknown).
   * undefined while nothing is. Reads memory only.
   */
  finalNumber(valueUsd: number | undefined): bigint | undefined;
  /** Returns why no quotes should be signed on this chain now. Reads memory only. */
  healthIssue(): ChainHealthIssue | undefined;
  /**
   * Several endpoints must agree from the configured value on, and for an unknown value: throws
   * `UpstreamError` `no_quorum` until they do.
   */
  deciding(valueUsd: number | undefined): DecidingViews;
  block(number: bigint): Promise<Block | undefined>;
  /**
   * Returns the events of our escrow, oracle and bond contract in chain order, both blocks included.
   * `thorough` merges the answers of all endpoints, because one may omit logs.
   */
  events(fromBlock: bigint, toBlock: bigint, thorough?: boolean): Promise<EscrowEvent[]>;
  /** Returns the events of one order in blocks not older than `since`. Slower than `events`. */
  orderEvents(orderId: Bytes32, since: UnixSeconds): Promise<EscrowEvent[]>;
  /**
   * Returns the newest log of any contract with these topics (null: any), in blocks not older than `since`;
   * undefined when there is none. Searches from the newest block back.
   */
  newestLog(
    emitter: Address,
    topics: readonly (Hex | null)[],
    since: UnixSeconds,
  ): Promise<ChainLog | undefined>;
  /** Returns all such logs, oldest first. */
  logsSince(
    emitter: Address,
    topics: readonly (Hex | null)[],
    since: UnixSeconds,
  ): Promise<readonly ChainLog[]>;
  /** Returns what the filler paid the receiver beyond the order's amount in this block, in base units. */
  surplus(filler: Address, orderId: Bytes32, block: bigint): Promise<bigint>;
  simulate(call: ContractCall, at?: bigint): Promise<Simulation>;
  /** Runs the call against the latest block. `data` is the answer, or the revert data. */
  dryRun(call: ContractCall): Promise<{ ok: boolean; data: Hex }>;
  fees(): Promise<Fees>;
  transactionCount(address: Address, tag: 'latest' | 'pending'): Promise<number>;
  sendRaw(raw: Hex): Promise<SendOutcome>;
  /** Returns the receipt with the logs of `emitter`; undefined until mined. */
  receipt(hash: Hex, emitter?: Address): Promise<Receipt | undefined>;
  close(): Promise<void>;
}
