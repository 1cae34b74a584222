/**
 * An operator's proof that it signs for an LP account: EIP-712 on that chain's escrow, over the venue's
 * nonce.
 */

import type { EscrowDomain } from '../../domain/escrow-domain.ts';
import { separatorOf } from '../../domain/escrow-domain.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { keccak, keccakText, typedDataMessage } from '../../domain/keccak.ts';
import { encodeWords } from '../../domain/abi.ts';
import { LINK_DOMAIN_NAME, LINK_DOMAIN_VERSION, LINK_PROOF_TYPE } from './link.ts';

export interface LinkProof {
  /** The nonce of the challenge, so that a proof answers one connection only. */
  nonce: Bytes32;
  venueId: string;
  solverId: string;
  account: Address;
}

const TYPEHASH = keccakText(LINK_PROOF_TYPE);

/** One is signed for each chain of `hello`. */
export function linkProofMessage(
  { chainId, escrow }: EscrowDomain,
  { nonce, venueId, solverId, account }: LinkProof,
): Uint8Array {
  const separator = separatorOf({
    name: LINK_DOMAIN_NAME,
    version: LINK_DOMAIN_VERSION,
    chainId,
    verifyingContract: escrow,
  });
  const struct = encodeWords([TYPEHASH, nonce, keccakText(venueId), keccakText(solverId), account]);
  return typedDataMessage(separator, keccak(struct));
}

export const linkProofDigest = (domain: EscrowDomain, proof: LinkProof): Bytes32 =>
  keccak(linkProofMessage(domain, proof));
