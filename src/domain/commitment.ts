/**
 * What LPs sign: the commitment that makes a quote firm, the approval of a cross-chain slice, the early
 * release.
 */

import type { EscrowDomain } from './escrow-domain.ts';
import { domainSeparator } from './escrow-domain.ts';
import type { Address, Bytes32, Hex } from './hex.ts';
import { keccakBytes, keccakText, typedDataDigest } from './keccak.ts';
import type { UnixSeconds } from './time.ts';
import { unsetBytes, writeHexWord, writeNumber } from './word.ts';

export const QUOTE_COMMITMENT_TYPEHASH = keccakText(
  'QuoteCommitment(bytes32 orderId,bytes32 quoteId,address lp,uint32 deadline)',
);
export const FILL_APPROVAL_TYPEHASH = keccakText(
  'FillApproval(bytes32 orderId,bytes32 outputHash,uint32 deadline)',
);
export const RELEASE_TYPEHASH = keccakText('Release(bytes32 orderId)');

export interface QuoteCommitment {
  orderId: Bytes32;
  /** The candidate's quoteId as the API shows it. */
  quoteId: Bytes32;
  /** The LP account whose ledger balance pays. */
  lp: Address;
  /** Equals the order's fillDeadline. */
  deadline: UnixSeconds;
}

/** A commitment as it travels: the order and quote it belongs to are known from where it stands. */
export interface SignedCommitment {
  lp: Address;
  deadline: UnixSeconds;
  signature: Hex;
}

/** Digest of a `QuoteCommitment` on the escrow that will pay. */
export function commitmentDigest(
  domain: EscrowDomain,
  { orderId, quoteId, lp, deadline }: QuoteCommitment,
): Bytes32 {
  writeHexWord(COMMITMENT, 32, orderId);
  writeHexWord(COMMITMENT, 64, quoteId);
  writeHexWord(COMMITMENT, 96, lp);
  writeNumber(COMMITMENT, 128, deadline);
  return typedDataDigest(domainSeparator(domain), keccakBytes(COMMITMENT));
}

/** Written anew for every quote: nothing here waits, so one is enough. */
const COMMITMENT = new Uint8Array(5 * 32);
writeHexWord(COMMITMENT, 0, QUOTE_COMMITMENT_TYPEHASH);

/**
 * Digest of a `FillApproval`: one LP's consent, on the destination escrow, to have its slice filled from its
 * balance.
 */
export function fillApprovalDigest(
  domain: EscrowDomain,
  approval: { orderId: Bytes32; outputHash: Bytes32; deadline: UnixSeconds },
): Bytes32 {
  const words = unsetBytes(4 * 32);
  writeHexWord(words, 0, FILL_APPROVAL_TYPEHASH);
  writeHexWord(words, 32, approval.orderId);
  writeHexWord(words, 64, approval.outputHash);
  writeNumber(words, 96, approval.deadline);
  return typedDataDigest(domainSeparator(domain), keccakBytes(words));
}

/**
 * Digest of a `Release`: an exclusive LP's word, on the origin escrow, that it will not fill, so the taker
 * may be refunded early.
 */
export function releaseDigest(domain: EscrowDomain, orderId: Bytes32): Bytes32 {
  const words = unsetBytes(2 * 32);
  writeHexWord(words, 0, RELEASE_TYPEHASH);
  writeHexWord(words, 32, orderId);
  return typedDataDigest(domainSeparator(domain), keccakBytes(words));
}
