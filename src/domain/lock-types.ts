/** EIP-712 types of a taker's funding: Permit2's permit with the order as witness, and EIP-3009. */

import { ORDER_TYPES } from './order.ts';

const field = (name: string, type: string) => ({ name, type });

export const PERMIT2_TYPES = {
  EIP712Domain: [field('name', 'string'), field('chainId', 'uint256'), field('verifyingContract', 'address')],
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
};

export const RECEIVE_FIELDS = [
  field('from', 'address'),
  field('to', 'address'),
  field('value', 'uint256'),
  field('validAfter', 'uint256'),
  field('validBefore', 'uint256'),
  field('nonce', 'bytes32'),
];
