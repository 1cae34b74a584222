/**
 * Makes the entry of each fact: postings that sum to zero per token. A debit is positive.
 *
 *  assets:inventory balance in the escrow at the last final block, equal to the contract's own number
 *  assets:outbound fills that are mined and may still be reorganised away (0 or negative)
 *  assets:receivable inputs that the escrow owes for fills
 *  assets:in-transit what left the escrow for another chain and has neither arrived there nor come back
 *  assets:gas:<operator> of every operator ever used: its native opening balance less gas burnt
 *  equity:owner deposits (credit) and withdrawals, opening balances included
 *  equity:adjustment differences that an operator booked because no event explains them
 *  transfer:<asset> what left one chain (debit) and what it is there on the other (credit)
 *  trading:<pair> inputs received (credit) and outputs given (debit)
 *  expense:platform-fee part of the input that the escrow kept for the platform
 *  expense:relay-fee part of the input that the escrow kept for the relayer
 *  expense:gas fills, proofs and claims by their receipts, reverted ones included
 *  expense:bridge-fee what bridges kept of transfers
 *  expense:transfer-gas transactions of transfers, with what bridges took in native currency
 *  expense:lost inputs of orders that were filled and refunded all the same
 */

import type { Address, Hex } from '../../../domain/hex.ts';
import type { Money } from '../../../inventory/event.ts';
import type { JournalEntry, Posting } from '../../../ports/stores/accounting-store.ts';
import { type Arrival, type Exchange, type FactPlace, type Gas, idOf, type NativeMoney } from './facts.ts';

export const INVENTORY = 'assets:inventory';
const OUTBOUND = 'assets:outbound';
const RECEIVABLE = 'assets:receivable';
const IN_TRANSIT = 'assets:in-transit';
const BRIDGE_FEE = 'expense:bridge-fee';
const OWNER = 'equity:owner';
/** One account for all operators of a chain. Programs without `GasCursor` write it, also beside this one. */
export const GAS_OF_ALL = 'assets:gas';
export const gasOf = (operator: Address): string => `${GAS_OF_ALL}:${operator}`;

const assetOf = (money: Money | NativeMoney): string =>
  'operator' in money ? gasOf(money.operator) : INVENTORY;

const on = (
  account: string,
  { chainId, token }: Pick<Posting, 'chainId' | 'token'>,
  amount: bigint,
): Posting => ({ account, chainId, token, amount });

const moved = (debit: string, credit: string, money: Omit<Posting, 'account'>): Posting[] => [
  on(debit, money, money.amount),
  on(credit, money, -money.amount),
];

const at = ({
  chainId,
  block,
  txHash,
  atMs,
}: Omit<FactPlace, 'blockHash' | 'txHash'> & { txHash?: Hex }) => ({
  chainId,
  block,
  txHash: txHash ?? null,
  atMs,
});

export const openingEntry = (money: Money | NativeMoney, block: bigint, atMs: number): JournalEntry => ({
  ...at({ chainId: money.chainId, block, atMs }),
  id:
    'operator' in money
      ? idOf.openingGas(money.chainId, money.operator)
      : idOf.opening(money.chainId, money.token),
  kind: 'opening',
  orderId: null,
  postings: moved(assetOf(money), OWNER, money),
});

export const owedEntry = ({ orderId, earns }: Exchange, block: bigint, atMs: number): JournalEntry => ({
  ...at({ chainId: earns.chainId, block, atMs }),
  id: idOf.owed(orderId),
  kind: 'opening',
  orderId,
  postings: moved(RECEIVABLE, OWNER, earns),
});

export const fillEntry = (exchange: Exchange, place: FactPlace): JournalEntry => ({
  ...at(place),
  id: idOf.fill(exchange.orderId, place),
  kind: 'fill',
  orderId: exchange.orderId,
  postings: [on(OUTBOUND, exchange.pays, -exchange.pays.amount), ...exchanged(exchange)],
});

/** `seen`: the fill entry of the same transaction is booked, so only the output becomes final. */
export const sentEntry = (exchange: Exchange, place: FactPlace, seen: boolean): JournalEntry => ({
  ...at(place),
  id: idOf.sent(exchange.orderId, place),
  kind: 'sent',
  orderId: exchange.orderId,
  postings: [
    on(INVENTORY, exchange.pays, -exchange.pays.amount),
    ...(seen ? [on(OUTBOUND, exchange.pays, exchange.pays.amount)] : exchanged(exchange)),
  ],
});

function exchanged({ pair, pays, earns, portion, platformFee, relayFee }: Exchange): Posting[] {
  const trading = `trading:${pair}`;
  return [
    on(trading, pays, pays.amount),
    on(RECEIVABLE, earns, earns.amount),
    on('expense:platform-fee', earns, platformFee),
    on('expense:relay-fee', earns, relayFee),
    on(trading, earns, -portion),
  ];
}

export const creditEntry = ({ orderId, earns }: Exchange, place: FactPlace): JournalEntry => ({
  ...at(place),
  id: idOf.credit(orderId, place),
  kind: 'credit',
  orderId,
  postings: moved(INVENTORY, RECEIVABLE, earns),
});

/** The LP moved nothing, and the fact is still recorded. */
export const refundEntry = ({ orderId }: Exchange, place: FactPlace): JournalEntry => ({
  ...at(place),
  id: idOf.refund(orderId, place),
  kind: 'refund',
  orderId,
  postings: [],
});

export const lossEntry = ({ orderId, earns }: Exchange, place: FactPlace, id: string): JournalEntry => ({
  ...at(place),
  id,
  kind: 'loss',
  orderId,
  postings: [on(RECEIVABLE, earns, -earns.amount), on('expense:lost', earns, earns.amount)],
});

export const ownerEntry = (money: Money, place: FactPlace, logIndex: number): JournalEntry => ({
  ...at(place),
  id: idOf.owner(place, logIndex),
  kind: 'owner',
  orderId: null,
  postings: moved(INVENTORY, OWNER, money),
});

export const departedEntry = (transferId: string, money: Money, place: FactPlace): JournalEntry => ({
  ...at(place),
  id: idOf.departed(transferId),
  kind: 'departed',
  orderId: null,
  postings: [on(INVENTORY, money, -money.amount), on(IN_TRANSIT, money, money.amount)],
});

export const arrivedEntry = (
  { transferId, asset, left, got, expected }: Arrival,
  place: FactPlace,
): JournalEntry => ({
  ...at(place),
  id: idOf.arrived(transferId),
  kind: 'arrived',
  orderId: null,
  postings: [
    on(IN_TRANSIT, left, -left.amount),
    on(`transfer:${asset}`, left, left.amount),
    on(`transfer:${asset}`, got, -expected),
    on(BRIDGE_FEE, got, expected - got.amount),
    on(INVENTORY, got, got.amount),
  ],
});

export const returnedEntry = (
  transferId: string,
  left: Money,
  got: bigint,
  place: FactPlace,
): JournalEntry => ({
  ...at(place),
  id: idOf.returned(transferId),
  kind: 'returned',
  orderId: null,
  postings: [
    on(IN_TRANSIT, left, -left.amount),
    on(BRIDGE_FEE, left, left.amount - got),
    on(INVENTORY, left, got),
  ],
});

export const adjustmentEntry = (money: Money | NativeMoney, block: bigint, atMs: number): JournalEntry => ({
  ...at({ chainId: money.chainId, block, atMs }),
  id: `adjustment:${money.chainId}:${money.token}:${atMs}`,
  kind: 'adjustment',
  orderId: null,
  postings: moved(assetOf(money), 'equity:adjustment', money),
});

export const gasEntry = ({
  wei,
  place,
  share,
  orderId,
  transferId,
  operator,
  before,
}: Gas): JournalEntry => ({
  ...at(place),
  id: idOf.gas(place.chainId, place, share),
  kind: 'gas',
  orderId,
  postings: moved(
    transferId === undefined ? 'expense:gas' : 'expense:transfer-gas',
    before ? OWNER : gasOf(operator),
    { chainId: place.chainId, token: 'native', amount: wei },
  ),
});

export const gasAssignedEntry = (
  { chainId, operator, amount, token }: NativeMoney,
  block: bigint,
  atMs: number,
): JournalEntry => ({
  ...at({ chainId, block, atMs }),
  id: `transfer:gas:${chainId}:${operator}:${atMs}`,
  kind: 'transfer',
  orderId: null,
  postings: moved(gasOf(operator), GAS_OF_ALL, { chainId, token, amount }),
});

export const gasReturnedEntry = (
  wei: bigint,
  place: FactPlace,
  share: number,
  operator: Address,
): JournalEntry => ({
  ...at(place),
  id: `transfer:${idOf.gas(place.chainId, place, share)}`,
  kind: 'transfer',
  orderId: null,
  postings: moved(gasOf(operator), OWNER, { chainId: place.chainId, token: 'native', amount: wei }),
});

export const reversalEntry = (entry: JournalEntry, atMs: number): JournalEntry => ({
  ...entry,
  id: `reversal:${entry.id}`,
  kind: 'reversal',
  atMs,
  postings: entry.postings.map((posting) => ({ ...posting, amount: -posting.amount })),
});
