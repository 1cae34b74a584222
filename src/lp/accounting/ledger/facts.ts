/** The facts that the accounting ledger books, and the ids of their entries. */

import type { Address, Bytes32, Hex } from '../../../domain/hex.ts';
import type { Money } from '../../../inventory/event.ts';

/** The amounts that one slice of an order moves when it is filled, in base units. */
export interface Exchange {
  orderId: Bytes32;
  pair: string;
  pays: Money;
  /** The amount that the escrow credits: `portion` less the two fees. */
  earns: Money;
  portion: bigint;
  platformFee: bigint;
  relayFee: bigint;
}

/** The cost of an operator's transaction, its value included, or one order's share of that cost. */
export interface Gas {
  wei: bigint;
  place: FactPlace;
  share: number;
  orderId: Bytes32 | null;
  /** The transfer between chains that the transaction was a step of. */
  transferId?: string;
  operator: Address;
  /** Mined before the operator's opening balance, so the owner had put in that much more. */
  before: boolean;
}

/** A transfer whose money has arrived: positive amounts, of the source and of the destination. */
export interface Arrival {
  transferId: string;
  asset: string;
  left: Money;
  got: Money;
  /** `left` in base units of the destination. */
  expected: bigint;
}

/** Native currency that an operator has, in wei. */
export interface NativeMoney {
  chainId: number;
  token: 'native';
  operator: Address;
  amount: bigint;
}

export interface FactPlace {
  chainId: number;
  block: bigint;
  blockHash: Hex;
  txHash: Hex;
  atMs: number;
}

export type Mined = Pick<FactPlace, 'blockHash' | 'txHash'>;
const factOf = ({ blockHash, txHash }: Mined): string => `${blockHash}:${txHash}`;
/**
 * Ids of facts, shared by writers and readers of the books. The store keeps them, so a changed format books
 * facts twice.
 */
export const idOf = {
  opening: (chainId: number, token: string) => `opening:${chainId}:${token}`,
  openingGas: (chainId: number, operator: Address) => `opening:${chainId}:native:${operator}`,
  owed: (orderId: Bytes32) => `opening:owed:${orderId}`,
  fill: (orderId: Bytes32, at: Mined) => `fill:${orderId}:${factOf(at)}`,
  sent: (orderId: Bytes32, at: Mined) => `sent:${orderId}:${factOf(at)}`,
  credit: (orderId: Bytes32, at: Mined) => `credit:${orderId}:${factOf(at)}`,
  refund: (orderId: Bytes32, at: Mined) => `refund:${orderId}:${factOf(at)}`,
  owner: (at: Mined, logIndex: number) => `owner:${factOf(at)}:${logIndex}`,
  /** Each transfer departs once: the store of transfers knows no second one of a step. */
  departed: (transferId: string) => `departed:${transferId}`,
  arrived: (transferId: string) => `arrived:${transferId}`,
  returned: (transferId: string) => `returned:${transferId}`,
  /** `share`: which of the orders that one transaction proved together. */
  gas: (chainId: number, at: Mined, share = 0) =>
    `gas:${chainId}:${factOf(at)}${share === 0 ? '' : `:${share}`}`,
} as const;
