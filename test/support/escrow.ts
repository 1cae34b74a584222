/**
 * Builds calls that the escrow takes and neither the venue nor the LP sends: tests send them as other parties
 * would.
 */

import { encodeFunctionData } from 'viem';
import { encodeWords } from '../../src/domain/abi.ts';
import { domainSeparator, type EscrowDomain } from '../../src/domain/escrow-domain.ts';
import type { Address, Bytes32, Hex } from '../../src/domain/hex.ts';
import { keccak, keccakText, typedDataDigest } from '../../src/domain/keccak.ts';
import type { MandateOutput } from '../../src/domain/order.ts';
import type { UnixSeconds } from '../../src/domain/time.ts';
import { escrowAbi } from '../../src/settlement/abi/escrow.ts';

/** Fills several slices, each with its LP's approval: all or none. */
export function fillWithApprovalsCall(
  orderId: Bytes32,
  outputs: readonly MandateOutput[],
  fillDeadline: UnixSeconds,
  approvals: readonly { deadline: UnixSeconds; signature: Hex }[],
): Hex {
  return encodeFunctionData({
    abi: escrowAbi,
    functionName: 'fillWithApprovals',
    args: [orderId, outputs, fillDeadline, approvals],
  });
}

export const depositForCall = (account: Address, token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: escrowAbi, functionName: 'depositFor', args: [account, token, amount] });
export const invalidateNonceCall = (nonce: bigint): Hex =>
  encodeFunctionData({ abi: escrowAbi, functionName: 'invalidateNonce', args: [nonce] });

export const FILL_APPROVAL_TYPEHASH = keccakText(
  'FillApproval(bytes32 orderId,bytes32 outputHash,uint32 deadline)',
);
export const RELEASE_TYPEHASH = keccakText('Release(bytes32 orderId)');

/**
 * Computes the digest of a `FillApproval`: one LP's consent, on the destination escrow, to have its slice
 * filled from its balance.
 */
export function fillApprovalDigest(
  domain: EscrowDomain,
  { orderId, outputHash, deadline }: { orderId: Bytes32; outputHash: Bytes32; deadline: UnixSeconds },
): Bytes32 {
  const struct = encodeWords([FILL_APPROVAL_TYPEHASH, orderId, outputHash, deadline]);
  return typedDataDigest(domainSeparator(domain), keccak(struct));
}

/**
 * Computes the digest of a `Release`: an exclusive LP's statement, on the origin escrow, that it will not
 * fill, so the taker may be refunded early.
 */
export function releaseDigest(domain: EscrowDomain, orderId: Bytes32): Bytes32 {
  const struct = encodeWords([RELEASE_TYPEHASH, orderId]);
  return typedDataDigest(domainSeparator(domain), keccak(struct));
}
