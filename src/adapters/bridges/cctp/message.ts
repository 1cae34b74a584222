/**
 * The bytes of a CCTP V2 burn message. The source chain emits it with nonce, finality, fee and expiration
 * left zero; the attester fills those in and signs the whole.
 */

import { ZERO_BYTES32, type Bytes32, type Hex } from '../../../domain/hex.ts';

export interface BurnMessage {
  version: bigint;
  sourceDomain: bigint;
  destinationDomain: bigint;
  /** The attester fills it in. */
  nonce: Bytes32;
  /** The source's token messenger; `recipient` is the destination's. */
  sender: Bytes32;
  recipient: Bytes32;
  /** The only address that may deliver the message; zero: anyone. */
  destinationCaller: Bytes32;
  minFinality: bigint;
  /** The attester fills it in. */
  finality: bigint;
  bodyVersion: bigint;
  burnToken: Bytes32;
  mintRecipient: Bytes32;
  /** Base units, as are the fees. */
  amount: bigint;
  /** The account whose token was burned. */
  messageSender: Bytes32;
  maxFee: bigint;
  /** The attester fills it in; the mint is smaller by this fee. */
  fee: bigint;
  /**
   * The first block of the destination that refuses the message; the attester fills it in. 0: it never
   * expires.
   */
  expirationBlock: bigint;
  hookData: Hex;
}

type Field = keyof BurnMessage;

const NUMBERS = {
  version: 4,
  sourceDomain: 4,
  destinationDomain: 4,
  minFinality: 4,
  finality: 4,
  bodyVersion: 4,
  amount: 32,
  maxFee: 32,
  fee: 32,
  expirationBlock: 32,
} as const satisfies Partial<Record<Field, number>>;

/** The fields in the order of their bytes; `hookData` takes the rest. */
const FIELDS = [
  'version',
  'sourceDomain',
  'destinationDomain',
  'nonce',
  'sender',
  'recipient',
  'destinationCaller',
  'minFinality',
  'finality',
  'bodyVersion',
  'burnToken',
  'mintRecipient',
  'amount',
  'messageSender',
  'maxFee',
  'fee',
  'expirationBlock',
] as const satisfies readonly Field[];

const isNumber = (field: Field): field is keyof typeof NUMBERS => field in NUMBERS;
const digitsOf = (field: Field): number => 2 * (isNumber(field) ? NUMBERS[field] : 32);

/** How many hex digits precede the body. */
const HEADER_DIGITS = 2 * 148;
const LEAST_DIGITS = FIELDS.reduce((sum, field) => sum + digitsOf(field), 0);

/** undefined for bytes that are too short, or no hex. */
export function decodeBurnMessage(message: Hex): BurnMessage | undefined {
  const digits = message.slice(2).toLowerCase();
  if (!/^(?:[0-9a-f]{2})*$/.test(digits) || digits.length < LEAST_DIGITS) return undefined;
  const found: Partial<Record<Field, Hex | bigint>> = {};
  let start = 0;
  for (const field of FIELDS) {
    const text: Hex = `0x${digits.slice(start, start + digitsOf(field))}`;
    found[field] = isNumber(field) ? BigInt(text) : text;
    start += digitsOf(field);
  }
  return { ...found, hookData: `0x${digits.slice(start)}` } as BurnMessage;
}

export function encodeBurnMessage(message: BurnMessage): Hex {
  const digits = FIELDS.map((field) => {
    const value = message[field];
    return typeof value === 'bigint' ? value.toString(16).padStart(digitsOf(field), '0') : value.slice(2);
  });
  return `0x${digits.join('')}${message.hookData.slice(2)}`;
}

/** The message whose body `MessageReceived` shows, under the header of the one that was sent. */
export const spliceBody = (sent: BurnMessage, body: Hex): BurnMessage | undefined =>
  decodeBurnMessage(`${encodeBurnMessage(sent).slice(0, 2 + HEADER_DIGITS)}${body.slice(2)}` as Hex);

/**
 * Names the fields by which an attested message is not the one that was sent. Equal but for what the attester
 * fills in: a nonce, at least the finality that was asked for, at most the fee that was allowed.
 */
export function differences(sent: BurnMessage, attested: BurnMessage): Field[] {
  const filledIn: Partial<Record<Field, boolean>> = {
    nonce: attested.nonce !== ZERO_BYTES32,
    finality: attested.finality >= sent.minFinality,
    fee: attested.fee <= sent.maxFee,
    expirationBlock: true,
  };
  return [...FIELDS, 'hookData' as const].filter(
    (field) => !(filledIn[field] ?? attested[field] === sent[field]),
  );
}
