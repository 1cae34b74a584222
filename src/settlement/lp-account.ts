/** The contract `LpAccount`: calldata of its mover and its owner. */

import { decodeFunctionData, encodeFunctionData } from 'viem';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import { keccakHex } from '../domain/keccak.ts';
import { lpAccountAbi } from './abi/lp-account.ts';

/** As the amount of `moverCall.deposit` it stands for everything that lies on the account. */
export const EVERYTHING = 2n ** 256n - 1n;

/** Encodes calls of the mover to the account. Amounts are in base units. */
export const moverCall = {
  requestWithdrawal: (token: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'requestWithdrawal', args: [token, amount] }),
  /** Withdraws to the account itself. */
  withdraw: (token: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'withdraw', args: [token] }),
  /** Into the ledger; `EVERYTHING`: all that lies on the account. */
  deposit: (token: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'deposit', args: [token, amount] }),
  postBond: (token: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'postBond', args: [token, amount] }),
  /** Takes bond that the owner requested back to the account. */
  takeBack: (token: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'takeBack', args: [token] }),
  /** `minFinality`: 1000 when confirmed, 2000 when final. */
  sendByCctp: (send: {
    token: Address;
    domain: number;
    amount: bigint;
    maxFee: bigint;
    minFinality: number;
  }): Hex =>
    encodeFunctionData({
      abi: lpAccountAbi,
      functionName: 'sendByCctp',
      args: [send.token, send.domain, send.amount, send.maxFee, send.minFinality],
    }),
  /** The transaction carries the native fee of the messages as its value. */
  sendByOft: (send: { oft: Address; eid: number; amount: bigint; leastReceived: bigint }): Hex =>
    encodeFunctionData({
      abi: lpAccountAbi,
      functionName: 'sendByOft',
      args: [send.oft, send.eid, send.amount, send.leastReceived],
    }),
} as const;

/**
 * Encodes calls of the owner to the account. A call that widens rights is sent as `schedule` first, and again
 * when its delay is over.
 */
export const accountCall = {
  initialize: (escrow: Address, bond: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'initialize', args: [escrow, bond] }),
  finishSetup: (): Hex => encodeFunctionData({ abi: lpAccountAbi, functionName: 'finishSetup' }),
  schedule: (change: Hex): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'schedule', args: [change] }),
  cancel: (change: Hex): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'cancel', args: [keccakHex(change)] }),
  /** `id`: the hash of a scheduled change. */
  cancelById: (id: Bytes32): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'cancel', args: [id] }),
  transferOwnership: (to: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'transferOwnership', args: [to] }),
  acceptOwnership: (): Hex => encodeFunctionData({ abi: lpAccountAbi, functionName: 'acceptOwnership' }),
  setTreasury: (to: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'setTreasury', args: [to] }),
  setMover: (to: Address): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'setMover', args: [to] }),
  /** `most`: base units of each day. */
  setMoverLimit: (token: Address, most: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'setMoverLimit', args: [token, most] }),
  setCctpRoute: (token: Address, domain: number, messenger: Address, feeBps: number): Hex =>
    encodeFunctionData({
      abi: lpAccountAbi,
      functionName: 'setCctpRoute',
      args: [token, domain, messenger, feeBps],
    }),
  setOftRoute: (oft: Address, eid: number, token: Address, feeBps: number): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'setOftRoute', args: [oft, eid, token, feeBps] }),
  setBondTerms: (fillWindowSeconds: number, wallets: boolean): Hex =>
    encodeFunctionData({
      abi: lpAccountAbi,
      functionName: 'setBondTerms',
      args: [fillWindowSeconds, wallets],
    }),
  takeToTreasury: (token: Address, amount: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'takeToTreasury', args: [token, amount] }),
  takeNativeToTreasury: (amount: bigint): Hex =>
    encodeFunctionData({ abi: lpAccountAbi, functionName: 'takeNativeToTreasury', args: [amount] }),
  close: (): Hex => encodeFunctionData({ abi: lpAccountAbi, functionName: 'close' }),
} as const;

/** A call of the owner in words, such as "setMover(0x…)"; undefined: the account has no such call. */
export function describeAccountCall(data: Hex): string | undefined {
  try {
    const { functionName, args = [] } = decodeFunctionData({ abi: lpAccountAbi, data });
    return `${functionName}(${args.map((arg) => String(arg).toLowerCase()).join(', ')})`;
  } catch {
    return undefined;
  }
}
