/**
 * Is a field spelled exactly as our own programs write it? The questions that the quick readers of the link
 * ask.
 */

import { isAmount } from '../../domain/amount.ts';

/** Fields of an object that JSON made: all of them are its own. */
export function fieldsOf(json: object): number {
  let count = 0;
  for (const _ in json) count += 1;
  return count;
}

const HEX = /^0x(?:[0-9a-f]{2})*$/;
export const isPlainHex = (value: unknown): boolean => typeof value === 'string' && HEX.test(value);
const ADDRESS = /^0x[0-9a-f]{40}$/;
const WORD = /^0x[0-9a-f]{64}$/;
export const isPlainAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value);
export const isPlainWord = (value: unknown): boolean => typeof value === 'string' && WORD.test(value);
export const isText = (value: unknown, most: number): boolean =>
  typeof value === 'string' && value.length > 0 && value.length <= most;
export const isUnits = (value: unknown): boolean => typeof value === 'string' && isAmount(value);
export const isWhole = (
  value: unknown,
  least = Number.MIN_SAFE_INTEGER,
  most = Number.MAX_SAFE_INTEGER,
): boolean => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
/** Any number of fifteen digits is exact, and no token lives at the reserved addresses. */
const ASSET = /^eip155:[1-9][0-9]{0,14}\/erc20:0x(?!0{36})[0-9a-f]{40}$/;
export const isAsset = (value: unknown): boolean => typeof value === 'string' && ASSET.test(value);
