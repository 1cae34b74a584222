/**
 * The 57-byte output context 0xe2: the exclusive filler, its deadline, its share of the input, and the two
 * fees.
 */

import type { Address, Hex } from './hex.ts';
import { RequestError } from './errors.ts';
import { MAX_UINT32, type UnixSeconds } from './time.ts';

export interface OutputContext {
  /** The LP account that alone may fill, for the order's whole life. */
  exclusiveFor: Address;
  /** fillDeadline + 1: exclusivity never ends while a fill is possible. */
  startTime: UnixSeconds;
  /** This output's share of every input; all outputs of an order sum to 10,000. */
  portionBps: number;
  /** Platform fee, taken from the inputs when they are released. */
  feeBps: number;
  /** Base units of the first input token, this output's share of the relayer's pay. Below 2^128. */
  relayFee: bigint;
}

export const FULL_PORTION_BPS = 10_000;
const LENGTH = 2 + 57 * 2;

export function encodeContext({ exclusiveFor, startTime, portionBps, feeBps, relayFee }: OutputContext): Hex {
  const fits =
    startTime <= MAX_UINT32 &&
    portionBps <= 0xffff &&
    feeBps <= 0xffff &&
    relayFee >= 0n &&
    relayFee >> 128n === 0n;
  if (!fits || startTime < 0 || portionBps < 0 || feeBps < 0) throw new ContextError();
  return `${PREFIX}${exclusiveFor.slice(2)}${hexOf(startTime, 8)}${hexOf(portionBps, 4)}${hexOf(feeBps, 4)}${hexOf(relayFee, 32)}`;
}

const PREFIX = `0xe2${'0'.repeat(24)}` as const;
const hexOf = (value: number | bigint, digits: number): string => value.toString(16).padStart(digits, '0');

/** Reads a context; undefined for any that is not a clean 0xe2. */
export function decodeContext(context: Hex): OutputContext | undefined {
  if (context.length !== LENGTH || !context.startsWith('0xe2000000000000000000000000')) return undefined;
  const number = (from: number, bytes: number) => context.slice(2 + from * 2, 2 + (from + bytes) * 2);
  return {
    exclusiveFor: `0x${number(13, 20)}`,
    startTime: Number.parseInt(number(33, 4), 16),
    portionBps: Number.parseInt(number(37, 2), 16),
    feeBps: Number.parseInt(number(39, 2), 16),
    relayFee: BigInt(`0x${number(41, 16)}`),
  };
}

class ContextError extends RequestError {
  constructor() {
    super(
      'An output context holds a uint32 time, two uint16 shares and a uint128 fee; one of these does not fit.',
      { code: 'bad_request' },
    );
  }
}
