/** Builds the typed data of a lock from the checked order, never from the venue's text. */

import { type Address, type Bytes32 } from '../domain/hex.ts';
import { ORDER_TYPES } from '../domain/order.ts';
import { PERMIT2_TYPES, RECEIVE_FIELDS } from '../domain/lock-types.ts';
import type { Terms } from './terms.ts';

export interface TypedData {
  domain: { name?: string; version?: string; chainId: number; verifyingContract: Address };
  types: Record<string, readonly { name: string; type: string }[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

/** Builds Permit2's batch permit with the order as witness, to the escrow. */
export function permit2Lock(
  { domain, order, inputToken, inputAmount }: Terms,
  permit2: Address,
  deadline: bigint,
): TypedData {
  return {
    domain: { name: 'Permit2', chainId: domain.chainId, verifyingContract: permit2 },
    types: PERMIT2_TYPES,
    primaryType: 'PermitBatchWitnessTransferFrom',
    message: {
      permitted: [{ token: inputToken, amount: inputAmount }],
      spender: domain.escrow,
      nonce: order.nonce,
      deadline,
      witness: {
        user: order.user,
        expires: order.expires,
        inputOracle: order.inputOracle,
        outputs: order.outputs,
      },
    },
  };
}

export interface AuthorizationWindow {
  validAfter: bigint;
  validBefore: bigint;
  nonce: Bytes32;
}

/**
 * Builds EIP-3009's ReceiveWithAuthorization to the escrow. A wrong `token` makes it worthless, never
 * dangerous.
 */
export function receiveAuthorization(
  { domain, order, inputToken, inputAmount }: Terms,
  token: { name: string; version: string },
  { validAfter, validBefore, nonce }: AuthorizationWindow,
): TypedData {
  return {
    domain: { ...token, chainId: domain.chainId, verifyingContract: inputToken },
    types: { EIP712Domain: ORDER_TYPES.EIP712Domain, ReceiveWithAuthorization: RECEIVE_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: { from: order.user, to: domain.escrow, value: inputAmount, validAfter, validBefore, nonce },
  };
}
