/** Addresses as people write them: in any case, or in mixed case with the checksum of EIP-55. */

import { type Address, HexError, isAddress } from './hex.ts';
import { keccakBytes } from './keccak.ts';

const ascii = new TextEncoder();

/**
 * Writes the address in the mixed case of EIP-55: a letter is upper case where the hash of the lower-case
 * digits says so.
 */
export function checksummed(address: Address): Address {
  const digits = address.slice(2).toLowerCase();
  const hash = keccakBytes(ascii.encode(digits));
  const letters = [...digits].map((digit, at) => {
    const byte = hash[at >> 1] ?? 0;
    return (at % 2 === 0 ? byte >> 4 : byte & 15) >= 8 ? digit.toUpperCase() : digit;
  });
  return `0x${letters.join('')}`;
}

/** Returns whether a digit or the case of a letter was changed. Text in one case carries no checksum. */
export function isMistyped(address: string): boolean {
  // Most are in lower case, and messages are full of them.
  if (!/[A-F]/.test(address)) return false;
  return isAddress(address) && /[a-f]/.test(address) && checksummed(address) !== address;
}

/** Lower-cases an address. Throws `HexError` when the text is not 20 bytes of hex, or mistyped. */
export function toAddress(text: string): Address {
  if (!isAddress(text)) throw new HexError({ text, want: 'an address (0x and 40 hex digits)' });
  if (isMistyped(text))
    throw new HexError({ text, want: `an address: its EIP-55 checksum is wrong. ${CHECKSUM_ADVICE}` });
  return text.toLowerCase() as Address;
}

export const CHECKSUM_ADVICE =
  'A digit or the case of a letter was changed: copy the address again, or write it in lower case to leave the checksum out';
