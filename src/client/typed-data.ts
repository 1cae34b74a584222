/** Typed data of a lock, built from the checked order, never from the venue's text. */

import { type Address, type Bytes32 } from '../domain/hex.ts';
import { ORDER_TYPES } from '../domain/order.ts';
import type { Terms } from './terms.ts';

export interface TypedData {
  domain: { name?: string; version?: string; chainId: number; verifyingContract: Address };
  types: Record<string, readonly { name: string; type: string }[]>;
  primaryType: string;
  message: Record<string, unknown>;
}

const field = (name: string, type: string) => ({ name, type });

/** Permit2's batch permit with the order as witness, to the escrow. */
export function permit2Lock(
  { domain, order, inputToken, inputAmount }: Terms,
  permit2: Address,
  deadline: bigint,
): TypedData {
  return {
    domain: { name: 'Permit2', chainId: domain.chainId, verifyingContract: permit2 },
    types: {
      EIP712Domain: [
        field('name', 'string'),
        field('chainId', 'uint256'),
        field('verifyingContract', 'address'),
      ],
      PermitBatchWitnessTransferFrom: [
        field('permitted', 'TokenPermissions[]'),
        field('spender', 'address'),
        field('nonce', 'uint256'),
        field('deadline', 'uint256'),
        field('witness', 'Permit2Witness'),
      ],
      TokenPermissions: [field('token', 'address'), field('amount', 'uint256')],
      Permit2Witness: [
        field('user', 'address'),
        field('expires', 'uint32'),
        field('inputOracle', 'address'),
        field('outputs', 'MandateOutput[]'),
      ],
      MandateOutput: ORDER_TYPES.MandateOutput,
    },
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

/** EIP-3009's ReceiveWithAuthorization to the escrow. A wrong `token` makes it worthless, never dangerous. */
export function receiveAuthorization(
  { domain, order, inputToken, inputAmount }: Terms,
  token: { name: string; version: string },
  { validAfter, validBefore, nonce }: AuthorizationWindow,
): TypedData {
  return {
    domain: { ...token, chainId: domain.chainId, verifyingContract: inputToken },
    types: {
      EIP712Domain: ORDER_TYPES.EIP712Domain,
      ReceiveWithAuthorization: [
        field('from', 'address'),
        field('to', 'address'),
        field('value', 'uint256'),
        field('validAfter', 'uint256'),
        field('validBefore', 'uint256'),
        field('nonce', 'bytes32'),
      ],
    },
    primaryType: 'ReceiveWithAuthorization',
    message: { from: order.user, to: domain.escrow, value: inputAmount, validAfter, validBefore, nonce },
  };
}
