/** Holds what the steps of a transfer share: its facts, its transactions, and what it waits for. */

import { SettlementError } from '../domain/errors.ts';
import type { Address, Hex } from '../domain/hex.ts';
import type { Bridge, BridgeCall, SentTransfer } from '../ports/bridge.ts';
import type { ChainPort, Receipt } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { StoredTransfer, TransferStore } from '../ports/stores/transfers.ts';
import type { Transactor } from '../ports/transactor.ts';
import { foldTransfer, type TransferFact, transferKey, type TransferStep } from '../settlement/transfer.ts';

interface Place {
  chainId: number;
  token: Address;
}

/**
 * Reserves what must not be promised to others out of the sender's ledger. All calls are idempotent per id.
 */
interface Reservations {
  /** False when that much is not free; changes nothing then. */
  take(id: string, place: Place, amount: bigint): boolean;
  /** Reserves like `take`, for a process that finds the transfer in the database: cannot be refused. */
  restore(id: string, place: Place, amount: bigint): void;
  /** The money left the ledger in block `leftIn`, or with undefined stays there and is free again. */
  release(id: string, place: Place, leftIn: bigint | undefined): void;
}

export interface TransfersDeps {
  store: TransferStore;
  bridges: readonly Bridge[];
  chains: ReadonlyMap<number, ChainPort>;
  /** The transactors with the mover's key, by chain id. */
  transactors: ReadonlyMap<number, Transactor>;
  reservations: Reservations;
  clock: Clock;
  log: Log;
  /** Values an amount in USD; undefined: unknown, and the chain's strictest finality holds. */
  worthUsd(place: Place, amount: bigint): number | undefined;
}

export interface TransfersOptions {
  /** A bridge may refuse what was withdrawn for it this long before the money goes back. */
  patienceMs: number;
}

/** Holds all that a step works with. */
export interface Executor extends TransfersDeps, TransfersOptions {}

export interface Wait {
  /** Describes the wait for the operator. */
  detail: string;
  sinceMs: number;
}

export interface TransfersMemory {
  /** The current wait of each open transfer, by its id. */
  waits: Map<string, Wait>;
  /** Transfers whose amount is reserved while the store did not say whether it has them. */
  doubtful: Map<string, Place>;
}

export function waitFor(
  executor: Executor,
  memory: TransfersMemory,
  { id }: StoredTransfer,
  detail: string,
): void {
  const { log, clock } = executor;
  const before = memory.waits.get(id);
  if (before?.detail !== detail) log.info({ transfer: id, detail }, 'transfer: waits');
  memory.waits.set(id, { detail, sinceMs: before?.sinceMs ?? clock.nowMs() });
}

export async function noteFact(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  fact: TransferFact,
  sent?: SentTransfer,
): Promise<void> {
  const { store, reservations, log } = executor;
  const { id, move, facts } = transfer;
  const before = foldTransfer(move.amount, facts);
  const after = foldTransfer(move.amount, [...facts, fact]);
  const also = { final: after.isFinal, ...(sent && { sent }) };
  // Another process was faster: the next turn reads what it wrote.
  if (!(await store.append(id, facts.length, fact, also))) return;
  if (fact.kind !== 'reverted') memory.waits.delete(id);
  if (before.isReserved && !after.isReserved)
    reservations.release(id, move.from, fact.kind === 'withdrawn' ? fact.blockNumber : undefined);
  const tell =
    fact.kind === 'reverted' || fact.kind === 'refused' || fact.kind === 'lapsed' ? 'warn' : 'info';
  log[tell]({ transfer: id, fact: fact.kind, stage: after.stage }, 'transfer: new fact');
}

/** Reads the state of an attempt; undefined: no transaction of it exists or can be mined. */
export async function stateOf(
  executor: Executor,
  { id, facts }: StoredTransfer,
  named: TransferStep,
  { chainId }: Place,
): Promise<'pending' | 'mined' | undefined> {
  const status = await transactorOf(executor, chainId).status(transferKey(id, named, facts));
  return status === undefined || status.state === 'void' ? undefined : status.state;
}

/** Returns a transaction's receipt once it is final and did what it should; undefined while it is not. */
export async function finalReceipt(
  executor: Executor,
  memory: TransfersMemory,
  transfer: StoredTransfer,
  named: TransferStep,
  place: Place,
  call: BridgeCall,
  notAfter?: number,
): Promise<Receipt | undefined> {
  const { id, facts, move } = transfer;
  const chain = chainWith(executor, place.chainId);
  const key = transferKey(id, named, facts);
  const status = await transactorOf(executor, place.chainId).submit({
    key,
    to: call.to,
    data: call.data,
    ...(call.value > 0n && { value: call.value }),
    ...(notAfter !== undefined && { notAfter }),
  });
  if (status.state !== 'mined') {
    waitFor(executor, memory, transfer, `The transaction ${key} is sent and not mined.`);
    return undefined;
  }
  const receipt = await chain.receipt(status.receipt.txHash);
  if (!receipt || receipt.blockNumber > (finalFor(executor, chain, place, move.amount) ?? -1n)) {
    waitFor(executor, memory, transfer, `The transaction ${key} is mined and not final.`);
    return undefined;
  }
  if (receipt.status === 'success') return receipt;
  const { txHash, blockNumber } = receipt;
  await noteFact(executor, memory, transfer, { kind: 'reverted', step: named, txHash, blockNumber });
  return undefined;
}

/** Computes what a mined transaction put into the ledger (positive) or took out of it. */
export async function movedIn(
  chain: ChainPort,
  { txHash, blockNumber }: Receipt,
  { id, move: { account } }: StoredTransfer,
  token: Address,
): Promise<bigint> {
  for (const event of await chain.events(blockNumber, blockNumber))
    if (
      event.kind === 'ledger' &&
      event.txHash === txHash &&
      event.account === account &&
      event.token === token &&
      event.amount !== 0n
    )
      return event.amount;
  throw new MissingEvent(id, txHash);
}

export const finalFor = (
  executor: Executor,
  chain: ChainPort,
  place: Place,
  amount: bigint,
): bigint | undefined => chain.finalNumber(executor.worthUsd(place, amount));

export function chainWith(executor: Executor, chainId: number): ChainPort {
  const { chains } = executor;
  const chain = chains.get(chainId);
  if (!chain) throw new NotConfigured(`chain ${chainId}`);
  return chain;
}

function transactorOf(executor: Executor, chainId: number): Transactor {
  const { transactors } = executor;
  const transactor = transactors.get(chainId);
  if (!transactor) throw new NotConfigured(`mover on chain ${chainId}`);
  return transactor;
}

export function bridgeOf(executor: Executor, { bridge: id }: StoredTransfer): Bridge {
  const { bridges } = executor;
  const bridge = bridges.find((each) => each.id === id);
  if (!bridge) throw new NotConfigured(`bridge ${id}`);
  return bridge;
}

class NotConfigured extends SettlementError {
  constructor(what: string) {
    super(
      `An open transfer needs the ${what}, which is not configured now. Configure it again until the transfer is over.`,
      { code: 'not_configured', retry: 'later' },
    );
  }
}

export class MissingEvent extends SettlementError {
  constructor(id: string, of: Hex | string) {
    super(
      `A final transaction of transfer ${id} shows no event of the expected kind (${of}). It is read again. If it stays so, compare the transaction with the account by hand.`,
      { code: 'missing_event', retry: 'later' },
    );
  }
}
