/** Calldata of the claims of takers on a bond (`QuoteBond`), as a wallet encodes them. */

import { encodeFunctionData } from 'viem';
import type { SignedCommitment } from '../../src/domain/commitment.ts';
import type { Bytes32, Hex } from '../../src/domain/hex.ts';
import type { StandardOrder } from '../../src/domain/order.ts';
import { quoteBondAbi } from '../../src/settlement/abi/quote-bond.ts';
import { toTuple } from '../../src/settlement/call.ts';

/**
 * Encodes a claim on an order of one chain. `signature`: the taker's over the order; '0x' when the taker
 * itself sends this.
 */
export const claimCall = (
  order: StandardOrder,
  signature: Hex,
  quoteId: Bytes32,
  commitment: SignedCommitment,
): Hex =>
  encodeFunctionData({
    abi: quoteBondAbi,
    functionName: 'claim',
    args: [toTuple(order), signature, { quoteId, ...commitment }],
  });

/** Across chains, on the origin. */
export const claimUnfilledCall = (
  order: StandardOrder,
  quoteId: Bytes32,
  commitment: SignedCommitment,
): Hex =>
  encodeFunctionData({
    abi: quoteBondAbi,
    functionName: 'claimUnfilled',
    args: [toTuple(order), { quoteId, ...commitment }],
  });
