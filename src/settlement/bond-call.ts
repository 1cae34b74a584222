/** Calldata of `QuoteBond`: an LP's bond, and claims of takers. */

import { encodeFunctionData } from 'viem';
import type { BondTerms } from '../domain/bond.ts';
import type { SignedCommitment } from '../domain/commitment.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';
import { quoteBondAbi } from './abi/quote-bond.ts';
import { toTuple } from './call.ts';

export const postBondCall = (lp: Address, token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'post', args: [lp, token, amount] });

/** 0n withdraws the request. */
export const requestTakeBackCall = (token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'requestTakeBack', args: [token, amount] });

export const takeBackCall = (token: Address, to: Address): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'takeBack', args: [token, to] });

export const setBondTermsCall = ({ fillWindowSeconds, wallets }: BondTerms): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'setTerms', args: [fillWindowSeconds, wallets] });

/**
 * Encodes a claim on an order of one chain. `signature`: the taker's over the order; '0x' when the taker
 * itself sends this.
 */
export const claimCall = (
  order: StandardOrder,
  signature: Hex,
  quoteId: Bytes32,
  commitment: SignedCommitment,
  output: number,
): Hex =>
  encodeFunctionData({
    abi: quoteBondAbi,
    functionName: 'claim',
    args: [toTuple(order), signature, { quoteId, ...commitment }, BigInt(output)],
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
