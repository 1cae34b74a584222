/**
 * Stores the evidence of how firm a solver is: answer times, ended orders, its accounts, and claims on its
 * bonds.
 */

import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { BondClaim } from '../../domain/bond.ts';
import type { KeyMode } from './store.ts';

export interface BondClaimRecord extends Omit<BondClaim, 'user'> {
  chainId: number;
  txHash: Bytes32;
  logIndex: number;
  block: bigint;
  /** The time of the block, in Unix ms. */
  atMs: number;
  /** The LP's. */
  account: Address;
  token: Address;
}

/**
 * The number of answers in one bucket of response times; `venue/solvers/answer-times` defines the buckets.
 */
export interface AnswerCount {
  bucket: number;
  n: number;
}

export interface SolverAccount {
  chainId: number;
  account: Address;
}

/** Orders that a solver had the largest slice of, by when they were submitted. */
interface OrderCounts {
  awarded: number;
  settled: number;
  faded: number;
}

export interface FadedOrder {
  orderId: Bytes32;
  quoteId: Bytes32;
  failureCode: string;
  createdAtMs: number;
}

export interface FirmnessStore {
  /** Known ones are not written again. */
  addBondClaim(claim: BondClaimRecord): Promise<void>;
  /** Returns claims, newest first. */
  bondClaims(accounts: readonly SolverAccount[], sinceMs: number, limit: number): Promise<BondClaimRecord[]>;
  /** `hour`: hours since 1970. */
  addAnswers(rows: readonly (AnswerCount & { solverId: string; hour: number })[]): Promise<void>;
  answerCounts(solverId: string, sinceHour: number): Promise<AnswerCount[]>;
  putSolverAccounts(solverId: string, accounts: readonly SolverAccount[]): Promise<void>;
  solverAccounts(solverId: string): Promise<SolverAccount[]>;
  /** `fades`: failure codes that are the solver's fault. */
  orderCounts(
    solverId: string,
    mode: KeyMode,
    sinceMs: number,
    fades: readonly string[],
  ): Promise<OrderCounts>;
  /** Returns orders, newest first. */
  fadedOrders(
    solverId: string,
    mode: KeyMode,
    sinceMs: number,
    fades: readonly string[],
    limit: number,
  ): Promise<FadedOrder[]>;
}
