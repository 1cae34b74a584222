/**
 * StandardOrder of escrow-v0: what the taker signs, its identity (orderId) and its EIP-712 digest, by our own
 * encoder.
 */

import { type Address, type Bytes32, type Hex, hexToBytes } from './hex.ts';
import { keccak, keccakBytes, keccakText, typedDataDigest } from './keccak.ts';
import {
  domainSeparator,
  ESCROW_DOMAIN_NAME,
  ESCROW_DOMAIN_VERSION,
  type EscrowDomain,
} from './escrow-domain.ts';
import type { UnixSeconds } from './time.ts';
import { unsetBytes, write32, writeHex, writeHexWord, writeNumber, writeUint, zero } from './word.ts';

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
  /** Rows of (token as a number, amount). */
  inputs: readonly (readonly [bigint, bigint])[];
  outputs: readonly MandateOutput[];
}

export const MANDATE_OUTPUT_TYPE =
  'MandateOutput(bytes32 oracle,bytes32 settler,uint256 chainId,bytes32 token,uint256 amount,bytes32 recipient,bytes callbackData,bytes context)';
export const STANDARD_ORDER_TYPE = `StandardOrder(address user,uint256 nonce,uint256 originChainId,uint32 expires,uint32 fillDeadline,address inputOracle,uint256[2][] inputs,MandateOutput[] outputs)${MANDATE_OUTPUT_TYPE}`;

export const MANDATE_OUTPUT_TYPEHASH = keccakText(MANDATE_OUTPUT_TYPE);
export const STANDARD_ORDER_TYPEHASH = keccakText(STANDARD_ORDER_TYPE);

/**
 * keccak256(abi.encodePacked(chainId, escrow, user, nonce, expires, fillDeadline, inputOracle,
 * keccak256(abi.encodePacked(inputs)), abi.encode(outputs))), the identity of an order on its origin escrow.
 */
export function orderId(domain: EscrowDomain, order: StandardOrder): Bytes32 {
  const [output] = order.outputs;
  if (output === undefined || order.outputs.length !== 1) return keccak(writeIdentity(domain, order));
  const at = placeOf(domain, output);
  const last = templates[at];
  // Whatever is no address would be written over its neighbours.
  if (last === undefined || !isLike(last, domain, order, output) || order.user.length !== ADDRESS_LENGTH) {
    const bytes = writeIdentity(domain, order);
    templates[at] = templateOf(bytes, domain, order, output);
    return keccak(bytes);
  }
  const { bytes, contextAt } = last;
  writeChanging(bytes, order);
  writeUint(bytes, OUTPUT + 128, output.amount);
  writeHexWord(bytes, OUTPUT + 160, output.recipient);
  writeHex(bytes, contextAt, output.context);
  return keccak(bytes);
}

/**
 * What the orderId of an order with one output hashes. A market maker's orders on a route differ in a third
 * of their bytes, so the others are left as they stand: written, hashed and done with before anything else
 * happens.
 */
interface Template
  extends
    EscrowDomain,
    Pick<StandardOrder, 'inputOracle'>,
    Pick<MandateOutput, 'oracle' | 'settler' | 'token' | 'callbackData'> {
  bytes: Uint8Array;
  destChainId: bigint;
  contextLength: number;
  /** Where the context's bytes begin. */
  contextAt: number;
}

/** The last one of each place; routes that meet in one take turns. */
const templates: (Template | undefined)[] = Array.from({ length: 512 }, () => undefined);

/** By what most tells routes apart: where from, and which token where. */
function placeOf({ chainId }: EscrowDomain, { token, chainId: destChainId }: MandateOutput): number {
  const end = token.length;
  // Of a token that is too short to have such digits there is NaN, which the operators make 0.
  const text =
    (token.charCodeAt(end - 1) & 15) + 16 * (token.charCodeAt(end - 2) & 31) + 5 * token.charCodeAt(end - 20);
  return ((text + 37 * chainId + 101 * Number(destChainId & 0xffffn)) % templates.length) | 0;
}

function isLike(
  last: Template,
  { chainId, escrow }: EscrowDomain,
  { inputOracle }: StandardOrder,
  output: MandateOutput,
): boolean {
  return (
    last.chainId === chainId &&
    last.escrow === escrow &&
    last.inputOracle === inputOracle &&
    last.oracle === output.oracle &&
    last.settler === output.settler &&
    last.token === output.token &&
    last.destChainId === output.chainId &&
    last.callbackData === output.callbackData &&
    last.contextLength === output.context.length
  );
}

function templateOf(
  bytes: Uint8Array,
  { chainId, escrow }: EscrowDomain,
  { inputOracle }: StandardOrder,
  { oracle, settler, token, callbackData, chainId: destChainId, context }: MandateOutput,
): Template {
  return {
    bytes,
    chainId,
    escrow,
    inputOracle,
    oracle,
    settler,
    token,
    callbackData,
    destChainId,
    contextLength: context.length,
    contextAt: OUTPUT + 288 + padded(bytesIn(callbackData)) + 32,
  };
}

/** All of it. */
function writeIdentity({ chainId, escrow }: EscrowDomain, order: StandardOrder): Uint8Array {
  const bytes = new Uint8Array(HEAD + outputsLength(order.outputs));
  writeNumber(bytes, 0, chainId);
  writeHex(bytes, 32, escrow);
  writeHex(bytes, 112, order.inputOracle);
  writeChanging(bytes, order);
  writeOutputs(bytes, HEAD, order.outputs);
  return bytes;
}

/** What no two orders share. */
function writeChanging(target: Uint8Array, order: StandardOrder): void {
  writeHex(target, 52, order.user);
  writeUint(target, 72, order.nonce);
  write32(target, 104, order.expires);
  write32(target, 108, order.fillDeadline);
  target.set(keccakBytes(packInputs(order.inputs)), 132);
}

/** EIP-712 struct hash of the order. */
export function orderStructHash(order: StandardOrder): Uint8Array {
  const words = unsetBytes(9 * 32);
  writeHexWord(words, 0, STANDARD_ORDER_TYPEHASH);
  writeHexWord(words, 32, order.user);
  writeUint(words, 64, order.nonce);
  writeUint(words, 96, order.originChainId);
  writeNumber(words, 128, order.expires);
  writeNumber(words, 160, order.fillDeadline);
  writeHexWord(words, 192, order.inputOracle);
  words.set(inputsHash(order.inputs), 224);
  words.set(outputsHash(order.outputs), 256);
  return keccakBytes(words);
}

/** What the taker signs: the EIP-712 digest on the escrow's own domain. */
export function orderDigest(domain: EscrowDomain, order: StandardOrder): Bytes32 {
  return typedDataDigest(domainSeparator(domain), orderStructHash(order));
}

/** keccak256 of the concatenated struct hashes of the outputs, as EIP-712 hashes an array. */
export function outputsHash(outputs: readonly MandateOutput[]): Uint8Array {
  const hashes = unsetBytes(outputs.length * 32);
  outputs.forEach((output, index) => hashes.set(outputStructHash(output), index * 32));
  return keccakBytes(hashes);
}

/**
 * keccak256(abi.encode(output)): what the escrow keeps fill records under and what a `FillApproval` names.
 */
export function outputHash(output: MandateOutput): Bytes32 {
  const encoded = unsetBytes(32 + outputLength(output));
  writeNumber(encoded, 0, 32);
  writeOutput(encoded, 32, output);
  return keccak(encoded);
}

/**
 * The EIP-712 envelope as JSON, integers as decimal strings: `order.payload` of a candidate, and what a
 * wallet signs.
 */
export function orderEnvelope({ chainId, escrow }: EscrowDomain, order: StandardOrder): OrderEnvelope {
  return {
    domain: { name: ESCROW_DOMAIN_NAME, version: ESCROW_DOMAIN_VERSION, chainId, verifyingContract: escrow },
    types: ORDER_TYPES,
    primaryType: 'StandardOrder',
    message: {
      user: order.user,
      nonce: order.nonce.toString(),
      originChainId: order.originChainId.toString(),
      expires: order.expires,
      fillDeadline: order.fillDeadline,
      inputOracle: order.inputOracle,
      inputs: order.inputs.map(([token, amount]) => [token.toString(), amount.toString()] as const),
      outputs: order.outputs.map((output) => ({
        ...output,
        chainId: output.chainId.toString(),
        amount: output.amount.toString(),
      })),
    },
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

/** Frozen throughout, so that its text can be written once: it is a quarter of every candidate. */
export const ORDER_TYPES = {
  EIP712Domain: [
    field('name', 'string'),
    field('version', 'string'),
    field('chainId', 'uint256'),
    field('verifyingContract', 'address'),
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
};
for (const fields of Object.values(ORDER_TYPES)) Object.freeze(fields);
Object.freeze(ORDER_TYPES);

function inputsHash(inputs: StandardOrder['inputs']): Uint8Array {
  const hashes = unsetBytes(inputs.length * 32);
  const packed = packInputs(inputs);
  inputs.forEach((_, index) =>
    hashes.set(keccakBytes(packed.subarray(index * 64, index * 64 + 64)), index * 32),
  );
  return keccakBytes(hashes);
}

function packInputs(inputs: StandardOrder['inputs']): Uint8Array {
  // Hashed before anybody asks again.
  const packed = inputs.length === 1 ? ONE_INPUT : unsetBytes(inputs.length * 64);
  inputs.forEach(([token, amount], index) => {
    writeUint(packed, index * 64, token);
    writeUint(packed, index * 64 + 32, amount);
  });
  return packed;
}

function outputStructHash(output: MandateOutput): Uint8Array {
  const words = unsetBytes(9 * 32);
  writeHexWord(words, 0, MANDATE_OUTPUT_TYPEHASH);
  writeOutputHead(words, 32, output);
  words.set(bytesHash(output.callbackData), 224);
  words.set(bytesHash(output.context), 256);
  return keccakBytes(words);
}

/** The six fixed words that every encoding of an output begins with. */
function writeOutputHead(target: Uint8Array, offset: number, output: MandateOutput): void {
  writeHexWord(target, offset, output.oracle);
  writeHexWord(target, offset + 32, output.settler);
  writeUint(target, offset + 64, output.chainId);
  writeHexWord(target, offset + 96, output.token);
  writeUint(target, offset + 128, output.amount);
  writeHexWord(target, offset + 160, output.recipient);
}

const EMPTY_HASH = keccakBytes(new Uint8Array());

function bytesHash(hex: Hex): Uint8Array {
  return hex === '0x' ? EMPTY_HASH : keccakBytes(hexToBytes(hex));
}

/** Length of `abi.encode(MandateOutput[])`. */
function outputsLength(outputs: readonly MandateOutput[]): number {
  let length = (2 + outputs.length) * 32;
  for (const output of outputs) length += outputLength(output);
  return length;
}

/** `abi.encode(MandateOutput[])`. */
function writeOutputs(target: Uint8Array, offset: number, outputs: readonly MandateOutput[]): void {
  writeNumber(target, offset, 32);
  writeNumber(target, offset + 32, outputs.length);
  const tails = offset + 64;
  let at = tails + outputs.length * 32;
  for (let index = 0; index < outputs.length; index++) {
    const output = outputs[index] as MandateOutput;
    writeNumber(target, tails + index * 32, at - tails);
    writeOutput(target, at, output);
    at += outputLength(output);
  }
}

const outputLength = ({ callbackData, context }: MandateOutput): number =>
  10 * 32 + padded(bytesIn(callbackData)) + padded(bytesIn(context));

function writeOutput(target: Uint8Array, offset: number, output: MandateOutput): void {
  writeOutputHead(target, offset, output);
  writeNumber(target, offset + 192, 8 * 32);
  writeNumber(target, offset + 224, 9 * 32 + padded(bytesIn(output.callbackData)));
  const contextAt = writeBytes(target, offset + 256, output.callbackData);
  writeBytes(target, contextAt, output.context);
}

/** Length, bytes, and zeros up to a whole word; returns where the next thing goes. */
function writeBytes(target: Uint8Array, offset: number, hex: Hex): number {
  writeNumber(target, offset, bytesIn(hex));
  const end = offset + 32 + writeHex(target, offset + 32, hex);
  const next = offset + 32 + padded(bytesIn(hex));
  zero(target, end, next);
  return next;
}

/** Everything before the outputs in what an orderId hashes. */
const HEAD = 32 + 20 + 20 + 32 + 4 + 4 + 20 + 32;
/** Where the only output begins: behind the array's offset, its length, and the output's offset. */
const OUTPUT = HEAD + 3 * 32;
const ONE_INPUT = new Uint8Array(64);
const ADDRESS_LENGTH = 42;
const bytesIn = (hex: Hex): number => (hex.length - 2) >> 1;
const padded = (length: number): number => Math.ceil(length / 32) * 32;
