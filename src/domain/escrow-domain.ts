/** The EIP-712 domain of an escrow: what ties a signature to one contract on one chain. */

import type { Address } from './hex.ts';
import { keccakBytes, keccakText } from './keccak.ts';
import { unsetBytes, writeHexWord, writeNumber } from './word.ts';

export interface EscrowDomain {
  chainId: number;
  escrow: Address;
}

export const ESCROW_DOMAIN_NAME = 'EscrowV0';
export const ESCROW_DOMAIN_VERSION = '1';

const TYPE_HASH = keccakText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
const cache = new Map<string, Uint8Array>();

/**
 * Separator of `{name: "EscrowV0", version: "1", chainId, verifyingContract: escrow}`. Cached: there is one
 * per chain.
 */
export function domainSeparator(domain: EscrowDomain): Uint8Array {
  // Most ask for the same one again.
  if (last?.escrow === domain.escrow && last.chainId === domain.chainId) return last.separator;
  const separator = cached(domain);
  last = { chainId: domain.chainId, escrow: domain.escrow, separator };
  return separator;
}

let last: (EscrowDomain & { separator: Uint8Array }) | undefined;

function cached(domain: EscrowDomain): Uint8Array {
  const key = `${domain.chainId}:${domain.escrow}`;
  const known = cache.get(key);
  if (known) return known;
  const separator = separatorOf({
    name: ESCROW_DOMAIN_NAME,
    version: ESCROW_DOMAIN_VERSION,
    chainId: domain.chainId,
    verifyingContract: domain.escrow,
  });
  if (cache.size < 1_000) cache.set(key, separator);
  return separator;
}

/** Any EIP-712 domain with these four fields (the oracle's and EIP-3009 tokens' too). */
export function separatorOf(domain: {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Address;
}): Uint8Array {
  const words = unsetBytes(5 * 32);
  writeHexWord(words, 0, TYPE_HASH);
  writeHexWord(words, 32, keccakText(domain.name));
  writeHexWord(words, 64, keccakText(domain.version));
  writeNumber(words, 96, domain.chainId);
  writeHexWord(words, 128, domain.verifyingContract);
  return keccakBytes(words);
}
