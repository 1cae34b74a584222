/** The EIP-712 domain of an escrow: what ties a signature to one contract on one chain. */

import type { Address, Bytes32 } from './hex.ts';
import { keccak, keccakText } from './keccak.ts';
import { encodeWords } from './abi.ts';

export interface EscrowDomain {
  chainId: number;
  escrow: Address;
}

export const ESCROW_DOMAIN_NAME = 'EscrowV0';
export const ESCROW_DOMAIN_VERSION = '1';

const TYPE_HASH = keccakText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
);
/**
 * The separators by `chainId:escrow`. There is one per chain; the bound is for tests that make up domains.
 */
const separators = new Map<string, Bytes32>();
const MAX_SEPARATORS = 1_000;

/** Separator of `{name: "EscrowV0", version: "1", chainId, verifyingContract: escrow}`. Cached. */
export function domainSeparator({ chainId, escrow }: EscrowDomain): Bytes32 {
  const key = `${chainId}:${escrow}`;
  const cached = separators.get(key);
  if (cached) return cached;
  const separator = separatorOf({
    name: ESCROW_DOMAIN_NAME,
    version: ESCROW_DOMAIN_VERSION,
    chainId,
    verifyingContract: escrow,
  });
  if (separators.size < MAX_SEPARATORS) separators.set(key, separator);
  return separator;
}

/**
 * Returns the separator of any EIP-712 domain with these four fields, such as the oracle's or an EIP-3009
 * token's.
 */
export function separatorOf({
  name,
  version,
  chainId,
  verifyingContract,
}: {
  name: string;
  version: string;
  chainId: number;
  verifyingContract: Address;
}): Bytes32 {
  return keccak(encodeWords([TYPE_HASH, keccakText(name), keccakText(version), chainId, verifyingContract]));
}
