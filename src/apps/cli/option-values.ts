/** Reads values that several commands take in their options. */

import { type Address, type Bytes32, isBytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import { badRequest } from '../wiring/bad-request.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds of `90s`, `10m`, `1h` or `2d`; undefined for anything else. */
export function secondsOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(digits) * (UNITS[unit] ?? 0);
  return seconds > 0 ? seconds : undefined;
}

/** Collects the values of an option that may be repeated. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text];

export function readAddress(text: string | undefined): Address | undefined {
  if (text !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(text))
    throw badRequest(`"${text}" is not an address: 0x and 40 hex digits.`);
  return text?.toLowerCase() as Address | undefined;
}

/** Reads the salt of an `LpAccount`; zero without one. */
export function readSalt(text: string | undefined): Bytes32 {
  if (text === undefined) return ZERO_BYTES32;
  if (!isBytes32(text)) throw badRequest(`"${text}" is not a salt: 0x and 64 hex digits.`);
  return text.toLowerCase() as Bytes32;
}
