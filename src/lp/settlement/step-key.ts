/** Names of the LP's transactions: which orders one advances. The books read who bears its gas from it. */

import type { Bytes32 } from '../../domain/hex.ts';

const ORDERS = /^0x[0-9a-f]{64}(?:\+0x[0-9a-f]{64})*/;

/** `<orderId>-<step>`; orders of one transaction are joined with `+`. */
export const stepKey = (orderIds: readonly Bytes32[], step: string): string =>
  `${orderIds.join('+')}-${step}`;

/** Empty: the transaction belongs to no order. */
export const ordersOfKey = (key: string): Bytes32[] => (ORDERS.exec(key)?.[0].split('+') ?? []) as Bytes32[];
