/** Calldata of `QuoteBond`: what an LP does with its bond. */

import { encodeFunctionData } from 'viem';
import type { BondTerms } from '../domain/bond.ts';
import type { Address, Hex } from '../domain/hex.ts';
import { quoteBondAbi } from './abi/quote-bond.ts';

export const postBondCall = (lp: Address, token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'post', args: [lp, token, amount] });

/** 0n withdraws the request. */
export const requestTakeBackCall = (token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'requestTakeBack', args: [token, amount] });

export const takeBackCall = (token: Address, to: Address): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'takeBack', args: [token, to] });

export const setBondTermsCall = ({ fillWindowSeconds, wallets }: BondTerms): Hex =>
  encodeFunctionData({ abi: quoteBondAbi, functionName: 'setTerms', args: [fillWindowSeconds, wallets] });
