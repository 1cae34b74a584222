/** StandardOrder of escrow-v0: what the taker signs, its identity (orderId) and its EIP-712 digest. */

import { InvariantError } from './errors.ts';
import {
  domainSeparator,
  ESCROW_DOMAIN_NAME,
  ESCROW_DOMAIN_VERSION,
  type EscrowDomain,
} from './escrow-domain.ts';
import { type Address, type Bytes32, bytesToHex, type Hex, hexToBytes } from './hex.ts';
import { keccak, keccakBytes, keccakText, typedDataDigest } from './keccak.ts';
import type { UnixSeconds } from './time.ts';
import { AbiWriter, dynamicLength, encodeWords } from './abi.ts';

export interface MandateOutput {
  oracle: Bytes32;
  settler: Bytes32;
  chainId: bigint;
  token: Bytes32;
  amount: bigint;
  recipient: Bytes32;
  callbackData: Hex;
  context: Hex;
}

export interface StandardOrder {
  user: Address;
  nonce: bigint;
  originChainId: bigint;
  expires: UnixSeconds;
  fillDeadline: UnixSeconds;
  inputOracle: Address;
  /** Rows of (token address as a number, amount). */
  inputs: readonly (readonly [bigint, bigint])[];
  outputs: readonly MandateOutput[];
}

export const MANDATE_OUTPUT_TYPE =
  'MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)';
const STANDARD_ORDER_TYPE = `StandardOrder(address user,uint256 nonce,uint256 originChainId,uint32 expires,uint32 fillDeadline,address inputOracle,uint256[2][] inputs,MandateOutput[] outputs)${MANDATE_OUTPUT_TYPE}`;

export const MANDATE_OUTPUT_TYPEHASH = keccakText(MANDATE_OUTPUT_TYPE);
export const STANDARD_ORDER_TYPEHASH = keccakText(STANDARD_ORDER_TYPE);

/**
 * keccak256(abi.encodePacked(chainId, escrow, user, nonce, expires, fillDeadline, inputOracle,
 * keccak256(abi.encodePacked(inputs)), abi.encode(outputs))), the identity of an order on its origin escrow.
 */
export function orderId({ chainId, escrow }: EscrowDomain, order: StandardOrder): Bytes32 {
  const { outputs } = order;
  const writer = new AbiWriter(PACKED_LENGTH + outputsLength(outputs))
    .word(chainId)
    .raw(checkedAddress(escrow))
    .raw(checkedAddress(order.user))
    .word(order.nonce)
    .uint(order.expires, 4)
    .uint(order.fillDeadline, 4)
    .raw(checkedAddress(order.inputOracle))
    .word(keccakBytes(encodeWords(order.inputs.flat())));
  writeOutputs(writer, outputs);
  return keccak(writer.bytes);
}

/** The length of the fields before the outputs, in bytes. */
const PACKED_LENGTH = 32 + 20 + 20 + 32 + 4 + 4 + 20 + 32;

/** Computes the EIP-712 struct hash of the order. */
export const orderStructHash = (order: StandardOrder): Bytes32 => bytesToHex(structHash(order));

function structHash(order: StandardOrder): Uint8Array {
  const inputs = order.inputs.map((row) => keccakBytes(encodeWords(row)));
  return keccakBytes(
    encodeWords([
      STANDARD_ORDER_TYPEHASH,
      order.user,
      order.nonce,
      order.originChainId,
      order.expires,
      order.fillDeadline,
      order.inputOracle,
      keccakBytes(encodeWords(inputs)),
      outputsHash(order.outputs),
    ]),
  );
}

/** Returns the digest that the taker signs: the EIP-712 digest on the escrow's own domain. */
export function orderDigest(domain: EscrowDomain, order: StandardOrder): Bytes32 {
  return typedDataDigest(domainSeparator(domain), structHash(order));
}

/** Computes keccak256 of the concatenated struct hashes of the outputs, as EIP-712 hashes an array. */
export function outputsHash(outputs: readonly MandateOutput[]): Bytes32 {
  return keccak(encodeWords(outputs.map(outputStructHash)));
}

/**
 * Computes keccak256(abi.encode(output)): the key of the escrow's fill records, and what a `FillApproval`
 * names.
 */
export function outputHash(output: MandateOutput): Bytes32 {
  const writer = new AbiWriter(32 + outputLength(output)).word(32);
  writeOutput(writer, output);
  return keccak(writer.bytes);
}

/**
 * Returns the EIP-712 envelope as JSON, integers as decimal strings: `order.payload` of a candidate, and what
 * a wallet signs. Keys stand in canonical order here and below, so that sealing does not sort them.
 */
export function orderEnvelope({ chainId, escrow }: EscrowDomain, order: StandardOrder): OrderEnvelope {
  return {
    domain: { chainId, name: ESCROW_DOMAIN_NAME, verifyingContract: escrow, version: ESCROW_DOMAIN_VERSION },
    message: orderToMessage(order),
    primaryType: 'StandardOrder',
    types: ORDER_TYPES,
  };
}

export function orderToMessage(order: StandardOrder): OrderMessage {
  return {
    expires: order.expires,
    fillDeadline: order.fillDeadline,
    inputOracle: order.inputOracle,
    inputs: order.inputs.map(([token, amount]) => [token.toString(), amount.toString()] as const),
    nonce: order.nonce.toString(),
    originChainId: order.originChainId.toString(),
    outputs: order.outputs.map((output) => ({
      amount: output.amount.toString(),
      callbackData: output.callbackData,
      chainId: output.chainId.toString(),
      context: output.context,
      oracle: output.oracle,
      recipient: output.recipient,
      settler: output.settler,
      token: output.token,
    })),
    user: order.user,
  };
}

export interface OrderMessage {
  user: Address;
  nonce: string;
  originChainId: string;
  expires: UnixSeconds;
  fillDeadline: UnixSeconds;
  inputOracle: Address;
  inputs: readonly (readonly [string, string])[];
  outputs: readonly (Omit<MandateOutput, 'chainId' | 'amount'> & { chainId: string; amount: string })[];
}

export interface OrderEnvelope {
  domain: { name: string; version: string; chainId: number; verifyingContract: Address };
  types: typeof ORDER_TYPES;
  primaryType: 'StandardOrder';
  message: OrderMessage;
}

const field = (name: string, type: string) => Object.freeze({ name, type });

/** The `types` of every order envelope. Frozen, because all envelopes share this one object. */
export const ORDER_TYPES = {
  EIP712Domain: [
    field('name', 'string'),
    field('version', 'string'),
    field('chainId', 'uint256'),
    field('verifyingContract', 'address'),
  ],
  MandateOutput: [
    field('oracle', 'bytes32'),
    field('settler', 'bytes32'),
    field('chainId', 'uint256'),
    field('token', 'bytes32'),
    field('amount', 'uint256'),
    field('recipient', 'bytes32'),
    field('callbackData', 'bytes'),
    field('context', 'bytes'),
  ],
  StandardOrder: [
    field('user', 'address'),
    field('nonce', 'uint256'),
    field('originChainId', 'uint256'),
    field('expires', 'uint32'),
    field('fillDeadline', 'uint32'),
    field('inputOracle', 'address'),
    field('inputs', 'uint256[2][]'),
    field('outputs', 'MandateOutput[]'),
  ],
};
for (const fields of Object.values(ORDER_TYPES)) Object.freeze(fields);
Object.freeze(ORDER_TYPES);

function outputStructHash(output: MandateOutput): Uint8Array {
  return keccakBytes(
    encodeWords([
      MANDATE_OUTPUT_TYPEHASH,
      ...fixedFields(output),
      keccakBytes(hexToBytes(output.callbackData)),
      keccakBytes(hexToBytes(output.context)),
    ]),
  );
}

/** Returns the six fields of an output that take one word each. */
function fixedFields(output: MandateOutput): readonly (bigint | Hex)[] {
  return [output.oracle, output.settler, output.chainId, output.token, output.amount, output.recipient];
}

/** Writes abi.encode(MandateOutput[]): offset and count, an offset per output, then the outputs. */
function writeOutputs(writer: AbiWriter, outputs: readonly MandateOutput[]): void {
  writer.word(32).word(outputs.length);
  let offset = outputs.length * 32;
  for (const output of outputs) {
    writer.word(offset);
    offset += outputLength(output);
  }
  for (const output of outputs) writeOutput(writer, output);
}

const outputsLength = (outputs: readonly MandateOutput[]): number =>
  outputs.reduce((length, output) => length + 32 + outputLength(output), 64);

/** Writes the tuple itself: eight words, the last two being offsets, then callbackData and context. */
function writeOutput(writer: AbiWriter, output: MandateOutput): void {
  const { callbackData, context } = output;
  writer.word(output.oracle).word(output.settler).word(output.chainId);
  writer.word(output.token).word(output.amount).word(output.recipient);
  writer.word(TUPLE_LENGTH).word(TUPLE_LENGTH + dynamicLength(callbackData));
  writer.dynamic(callbackData).dynamic(context);
}

const TUPLE_LENGTH = 8 * 32;
const outputLength = ({ callbackData, context }: MandateOutput): number =>
  TUPLE_LENGTH + dynamicLength(callbackData) + dynamicLength(context);

function checkedAddress(address: Address): Address {
  if (address.length !== 42) throw new InvariantError('An address has 20 bytes.');
  return address;
}

/** Names the quotes and holds of one nonce of one user: the origin's escrow executes at most one of them. */
export const nonceGroupOf = (originChainId: number | bigint, user: Address, nonce: bigint | string): string =>
  `${originChainId}:${user}:${nonce}`;
