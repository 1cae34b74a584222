/** What LPs sign: the commitment that makes a quote firm. */

import type { EscrowDomain } from './escrow-domain.ts';
import { domainSeparator } from './escrow-domain.ts';
import type { Address, Bytes32, Hex } from './hex.ts';
import { keccak, keccakText, typedDataMessage } from './keccak.ts';
import type { UnixSeconds } from './time.ts';
import { encodeWords } from './abi.ts';

export const QUOTE_COMMITMENT_TYPEHASH = keccakText(
  'QuoteCommitment(bytes32 orderId,bytes32 quoteId,address lp,uint32 deadline)',
);

export interface QuoteCommitment {
  orderId: Bytes32;
  /** The candidate's quoteId as the API shows it. */
  quoteId: Bytes32;
  /** The LP account whose ledger balance pays. */
  lp: Address;
  /** Equals the order's fillDeadline. */
  deadline: UnixSeconds;
}

/** A commitment in a message; the message around it names the order and the quote. */
export interface SignedCommitment {
  lp: Address;
  deadline: UnixSeconds;
  signature: Hex;
}

/** A `QuoteCommitment` to sign, in the domain of the origin's escrow, where the order is opened. */
export function commitmentMessage(
  domain: EscrowDomain,
  { orderId, quoteId, lp, deadline }: QuoteCommitment,
): Uint8Array {
  const struct = encodeWords([QUOTE_COMMITMENT_TYPEHASH, orderId, quoteId, lp, deadline]);
  return typedDataMessage(domainSeparator(domain), keccak(struct));
}

export const commitmentDigest = (domain: EscrowDomain, commitment: QuoteCommitment): Bytes32 =>
  keccak(commitmentMessage(domain, commitment));
