/** Reads what the operators' transactions cost, by their receipts. */

import type { Address } from '../../../domain/hex.ts';
import type { ChainPort, Receipt } from '../../../ports/chain.ts';
import type { GasCursor, JournalCursor } from '../../../ports/stores/accounting-store.ts';
import type { TxSlot } from '../../../ports/stores/tx-store.ts';
import { ordersOfKey } from '../../settlement/step-key.ts';
import { type FactPlace, idOf } from '../ledger/facts.ts';
import { type BooksProgress, gasKey, type ReaderState, type ReadFact, type Reading } from './reading.ts';

const RECEIPTS_AT_ONCE = 50;

/** Returns the operators of a chain, oldest first; none when the LP has no store of transactions. */
export async function operatorsOf(state: ReaderState, chainId: number): Promise<readonly Address[]> {
  const { operators, deps, options } = state;
  const known = operators.get(chainId);
  if (known !== undefined || deps.transactions === undefined) return known ?? [];
  const found = [...new Set([...(await deps.transactions.signers(chainId)), options.operator])];
  operators.set(chainId, found);
  return found;
}

/** Adds the gas of every operator whose balance the books have, up to the reading's block. */
export async function readGas(
  state: ReaderState,
  { gas, began }: BooksProgress,
  port: ChainPort,
  reading: Reading,
): Promise<void> {
  const { chainId } = reading.cursor;
  for (const operator of await operatorsOf(state, chainId)) {
    const from = gas.get(gasKey({ chainId, operator }));
    if (from !== undefined) await readGasOf(state, port, from, began.get(chainId) ?? 0n, reading);
  }
}

/** Nonces are mined in order, so all transactions below the first unfinal one are booked once. */
async function readGasOf(
  state: ReaderState,
  port: ChainPort,
  from: GasCursor,
  began: bigint,
  { cursor, facts, gas }: Reading,
): Promise<void> {
  const { deps, options } = state;
  const block = began + 1n;
  const slots =
    (await deps.transactions?.slotsFrom(
      cursor.chainId,
      from.operator,
      { nonce: from.nonce, block },
      RECEIPTS_AT_ONCE,
    )) ?? [];
  let { nonce } = from;
  for (const slot of slots) {
    const receipt = await receiptOf(port, slot, options.operator);
    if (receipt === 'none') {
      nonce = slot.nonce + 1;
      continue;
    }
    if (receipt === undefined || receipt.blockNumber > cursor.block) break;
    nonce = slot.nonce + 1;
    if (receipt.blockNumber >= block) facts.push(...(await costsOf(state, cursor, from, slot, receipt)));
  }
  if (from.operator === options.operator) cursor.nonce = nonce;
  if (nonce !== from.nonce) gas.push({ ...from, nonce });
}

/**
 * Returns the receipt; undefined when the transaction is not mined yet, 'none' when the slot ended without
 * one. `running`: the operator whose transactions are still followed.
 */
async function receiptOf(
  port: ChainPort,
  { state, mined, signer, attempts }: TxSlot,
  running: Address,
): Promise<Receipt | 'none' | undefined> {
  if (mined !== null) return port.receipt(mined.txHash);
  if (state !== 'open') return 'none';
  // Nobody follows the transactions of a key that was rotated out.
  if (signer !== running)
    for (const { hash } of attempts) {
      const receipt = await port.receipt(hash);
      if (receipt !== undefined) return receipt;
    }
  return undefined;
}

/** Divides the cost of a transaction among the orders that it proved. */
async function costsOf(
  { deps, options, steps, operators }: ReaderState,
  { chainId }: JournalCursor,
  from: GasCursor,
  slot: TxSlot,
  receipt: Receipt,
): Promise<ReadFact[]> {
  const place: FactPlace = {
    chainId,
    block: receipt.blockNumber,
    blockHash: receipt.blockHash,
    txHash: receipt.txHash,
    atMs: deps.clock.nowMs(),
  };
  const wei = receipt.gasUsed * receipt.effectiveGasPrice + receipt.rollupFee + valuePaid(slot, receipt);
  const transfer = (await steps.ofKey(slot.key))?.transfer;
  const orderIds = ordersOfKey(slot.key);
  const bearers = orderIds.length === 0 ? [null] : orderIds;
  const each = wei / BigInt(bearers.length);
  return bearers.map((orderId, share): ReadFact => ({
    id: idOf.gas(chainId, place, share),
    kind: 'gas',
    // The first one bears what the division leaves.
    wei: share === 0 ? wei - each * BigInt(bearers.length - 1) : each,
    place,
    share,
    orderId,
    ...(transfer && { transfer, transferId: transfer.id }),
    operator: from.operator,
    before: receipt.blockNumber <= from.block,
    payer: operators.get(chainId)?.[0] ?? options.operator,
  }));
}

/**
 * Returns the wei that the call took with it, such as the fee of a bridge: a cost of the network like gas.
 */
const valuePaid = ({ value, attempts }: TxSlot, { txHash, status }: Receipt): bigint =>
  status === 'success' && !attempts.find(({ hash }) => hash === txHash)?.noop ? value : 0n;
