/** Defines what LPs sign: the commitment that makes a quote firm, by itself or in a tree of many. */

import type { EscrowDomain } from './escrow-domain.ts';
import { domainSeparator } from './escrow-domain.ts';
import type { Address, Bytes32, Hex } from './hex.ts';
import { keccak, keccakBytes, keccakText, typedDataMessage } from './keccak.ts';
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
  return typedDataMessage(domainSeparator(domain), keccakBytes(struct));
}

export const commitmentDigest = (domain: EscrowDomain, commitment: QuoteCommitment): Bytes32 =>
  keccak(commitmentMessage(domain, commitment));

/**
 * A Merkle tree over the digests of commitments, whose root an LP signs once for all of them. Its signature
 * of one commitment is 65 bytes over the root, then the siblings from the leaf up, 32 bytes each. Pairs are
 * hashed in ascending order, as OpenZeppelin's MerkleProof does; the last of an odd row goes up as it is.
 */
export const QUOTE_TREE_TYPEHASH = keccakText('QuoteTree(bytes32 root)');

/** Returns the tree's root, and the siblings of each leaf. */
export function quoteTree(digests: readonly Bytes32[]): { root: Bytes32; proofs: Bytes32[][] } {
  const proofs: Bytes32[][] = digests.map(() => []);
  let row = digests.map((hash, index) => ({ hash, leaves: [index] }));
  while (row.length > 1) {
    const above: typeof row = [];
    for (let at = 0; at < row.length; at += 2) {
      const [left, right] = [row[at], row[at + 1]] as [(typeof row)[0], (typeof row)[0] | undefined];
      if (right === undefined) {
        above.push(left);
        continue;
      }
      for (const leaf of left.leaves) proofs[leaf]?.push(right.hash);
      for (const leaf of right.leaves) proofs[leaf]?.push(left.hash);
      above.push({ hash: pairHash(left.hash, right.hash), leaves: [...left.leaves, ...right.leaves] });
    }
    row = above;
  }
  const [root] = row;
  if (root === undefined) throw new Error('a tree has at least one leaf');
  return { root: root.hash, proofs };
}

/** The root to sign, in the domain of the escrow that every commitment of the tree is for. */
export const treeMessage = (domain: EscrowDomain, root: Bytes32): Uint8Array =>
  typedDataMessage(domainSeparator(domain), keccakBytes(encodeWords([QUOTE_TREE_TYPEHASH, root])));

/**
 * Returns the digest that a key signed and its 64 or 65 bytes: of the commitment itself, or of the root of
 * its tree. An account of code is asked about the commitment's own digest and all bytes.
 */
export function signedPart(
  domain: EscrowDomain,
  commitment: QuoteCommitment,
  signature: Hex,
): { digest: Bytes32; signature: Hex } {
  const digest = commitmentDigest(domain, commitment);
  const steps = (signature.length - OWN_END) / 64;
  if (steps < 1 || steps > MOST_TREE_STEPS || !Number.isInteger(steps)) return { digest, signature };
  let node = digest;
  for (let from = OWN_END; from < signature.length; from += 64)
    node = pairHash(node, `0x${signature.slice(from, from + 64).toLowerCase()}`);
  return { digest: keccak(treeMessage(domain, node)), signature: signature.slice(0, OWN_END) as Hex };
}

/** Each step costs the sender of the settlement some 900 gas, so venue and clients accept no more. */
export const MOST_TREE_STEPS = 10;
/** The end of the hexadecimal digits of 65 bytes. */
const OWN_END = 2 + 2 * 65;

const pairHash = (a: Bytes32, b: Bytes32): Bytes32 => keccak(encodeWords(a < b ? [a, b] : [b, a]));
