/**
 * Says how an output reaches its receiver: as tokens in its wallet, or as a credit in the destination
 * escrow's ledger that the receiver uses or withdraws from there.
 */

import { type Address, addressToBytes32, bytes32ToAddress, type Hex } from './hex.ts';
import type { MandateOutput } from './order.ts';

/**
 * `ledger_auto_withdraw`: credited like `ledger`, and paid out to the receiver's wallet by itself once the
 * withdrawal delay is over.
 */
export const SETTLEMENTS = ['wallet', 'ledger', 'ledger_auto_withdraw'] as const;
export type Settlement = (typeof SETTLEMENTS)[number];

export interface Delivery {
  settlement: Settlement;
  /** Account whose wallet or ledger balance grows. */
  account: Address;
}

/** Returns the two fields of an output that say how and to whom. `escrow` is the one that delivers. */
export function recipientOf(
  { settlement, account }: Delivery,
  escrow: Address,
): Pick<MandateOutput, 'recipient' | 'callbackData'> {
  if (settlement === 'wallet') return { recipient: addressToBytes32(account), callbackData: '0x' };
  return {
    recipient: addressToBytes32(escrow),
    callbackData: `${settlement === 'ledger' ? KEPT : DEFERRED}${account.slice(2)}`,
  };
}

/**
 * Reads the delivery; undefined for an output that calls its recipient back, or whose recipient is its own
 * escrow without naming an account: firmquote makes neither.
 */
export function readDelivery({
  settler,
  recipient,
  callbackData,
}: Pick<MandateOutput, 'settler' | 'recipient' | 'callbackData'>): Delivery | undefined {
  if (recipient !== settler)
    return callbackData === '0x' ? { settlement: 'wallet', account: bytes32ToAddress(recipient) } : undefined;
  const settlement = callbackData.startsWith(KEPT)
    ? 'ledger'
    : callbackData.startsWith(DEFERRED)
      ? 'ledger_auto_withdraw'
      : undefined;
  return settlement !== undefined && callbackData.length === LENGTH
    ? { settlement, account: `0x${callbackData.slice(KEPT.length)}` }
    : undefined;
}

/** callbackData of a ledger delivery: version 0x01, kind, account. */
const KEPT: Hex = '0x0100';
const DEFERRED: Hex = '0x0101';
const LENGTH = 2 + 22 * 2;
