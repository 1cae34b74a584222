/**
 * The views of the contracts we talk to. Their arguments are all single words, so they are put together here
 * without an ABI coder.
 */

import { encodeFunctionData } from 'viem';
import type { Chain } from '../../../domain/chain.ts';
import { addressToBytes32, type Address, type Bytes32, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import { keccakText } from '../../../domain/keccak.ts';
import type { ChainViews, EscrowStatus } from '../../../ports/chain.ts';
import { isRevert, type ViewCaller, ViewError } from './multicall.ts';
import { type Rpc, RpcRefusal } from '../rpc/rpc.ts';

const STATUSES: readonly EscrowStatus[] = ['none', 'deposited', 'claimed', 'refunded'];
/** What the escrow grants an ERC-1271 check, and a little for the call itself. */
const ERC1271_GAS = 600_000;
const ERC1271_MAGIC = '0x1626ba7e';
const ERC1271_ABI = [
  {
    type: 'function',
    name: 'isValidSignature',
    stateMutability: 'view',
    inputs: [
      { name: 'hash', type: 'bytes32' },
      { name: 'signature', type: 'bytes' },
    ],
    outputs: [{ type: 'bytes4' }],
  },
] as const;

/** A predeploy of every OP-stack chain. */
export const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f';
const L1_FEE_ABI = [
  {
    type: 'function',
    name: 'getL1Fee',
    stateMutability: 'view',
    inputs: [{ name: 'unsignedTx', type: 'bytes' }],
    outputs: [{ type: 'uint256' }],
  },
] as const;

export function createViews(chain: Chain, rpc: Pick<Rpc, 'request'>, call: ViewCaller): ChainViews {
  async function words(
    view: string,
    to: Address,
    data: Hex,
    at: bigint | undefined,
    count = 1,
  ): Promise<bigint[]> {
    const result = await call(to, data, at);
    if (!result || result.length < 2 + count * 64) throw new ViewError(view);
    return Array.from({ length: count }, (_, i) => BigInt(`0x${result.slice(2 + i * 64, 66 + i * 64)}`));
  }
  const one = async (view: string, to: Address, data: Hex, at?: bigint): Promise<bigint> =>
    (await words(view, to, data, at))[0] as bigint;
  const tag = (at: bigint | undefined): string => (at === undefined ? 'latest' : `0x${at.toString(16)}`);

  return {
    async orderStatus(orderId, at) {
      return (
        STATUSES[
          Number(await one('orderStatus', chain.escrow, encode('orderStatus(bytes32)', orderId), at))
        ] ?? 'none'
      );
    },
    async fillRecord(orderId, outputHash, at) {
      const result = await call(chain.escrow, encode('fillRecord(bytes32,bytes32)', orderId, outputHash), at);
      if (!result || result.length < 66) throw new ViewError('fillRecord');
      return result === ZERO_BYTES32 ? undefined : (result as Bytes32);
    },
    async isNonceUsed(user, nonce, at) {
      return (
        (await one('isNonceUsed', chain.escrow, encode('isNonceUsed(address,uint256)', user, nonce), at)) !==
        0n
      );
    },
    ledgerBalance: (account, token, at) =>
      one('balanceOf', chain.escrow, encode('balanceOf(address,address)', account, token), at),
    async pendingWithdrawal(account, token, at) {
      const [amount = 0n, availableAt = 0n, lapsesAt = 0n] = await words(
        'pendingWithdrawal',
        chain.escrow,
        encode('pendingWithdrawal(address,address)', account, token),
        at,
        3,
      );
      return { amount, availableAt: Number(availableAt), lapsesAt: Number(lapsesAt) };
    },
    ledgerDeferred: (account, token, at) =>
      one('deferredOf', chain.escrow, encode('deferredOf(address,address)', account, token), at),
    async deferredUntil(orderId, outputHash, at) {
      return Number(
        await one(
          'deferredUntil',
          chain.escrow,
          encode('deferredUntil(bytes32,bytes32)', orderId, outputHash),
          at,
        ),
      );
    },
    async withdrawalDelay(at) {
      return Number(await one('WITHDRAWAL_DELAY', chain.escrow, encode('WITHDRAWAL_DELAY()'), at));
    },
    async maxFeeBps(at) {
      return Number(await one('MAX_FEE_BPS', chain.escrow, encode('MAX_FEE_BPS()'), at));
    },
    async isOperator(account, operator, at) {
      return (
        (await one(
          'isOperator',
          chain.escrow,
          encode('isOperator(address,address)', account, operator),
          at,
        )) !== 0n
      );
    },
    async isProven(oracle, remoteChainId, remoteOracle, application, payloadHash, at) {
      return (
        (await one(
          'isProven',
          oracle,
          encode(
            'isProven(uint256,bytes32,bytes32,bytes32)',
            remoteChainId,
            remoteOracle,
            application,
            payloadHash,
          ),
          at,
        )) !== 0n
      );
    },
    async committee(oracle, at) {
      const [threshold, list] = await Promise.all([
        one('threshold', oracle, encode('threshold()'), at),
        call(oracle, encode('signers()'), at),
      ]);
      // abi.encode(address[]): an offset, the length, one word each.
      if (!list || list.length < 130) throw new ViewError('signers');
      const signers = Array.from(
        { length: Number(BigInt(`0x${list.slice(66, 130)}`)) },
        (_, i): Address => `0x${list.slice(154 + i * 64, 194 + i * 64)}`,
      );
      return { threshold: Number(threshold), signers };
    },
    tokenBalance: (owner, token, at) => one('balanceOf', token, encode('balanceOf(address)', owner), at),
    allowance: (owner, token, spender, at) =>
      one('allowance', token, encode('allowance(address,address)', owner, spender), at),
    async permit2Allowance(owner, token, spender, at) {
      const [amount = 0n, expiration = 0n, nonce = 0n] = await words(
        'allowance',
        chain.permit2,
        encode('allowance(address,address,address)', owner, token, spender),
        at,
        3,
      );
      return { amount, expiration: Number(expiration), nonce: Number(nonce) };
    },
    async permit2NonceUsed(owner, nonce, at) {
      const bitmap = await one(
        'nonceBitmap',
        chain.permit2,
        encode('nonceBitmap(address,uint256)', owner, nonce >> 8n),
        at,
      );
      return ((bitmap >> (nonce & 0xffn)) & 1n) === 1n;
    },
    async authorizationUsed(token, authorizer, nonce, at) {
      return (
        (await one(
          'authorizationState',
          token,
          encode('authorizationState(address,bytes32)', authorizer, nonce),
          at,
        )) !== 0n
      );
    },
    async hasCode(address, at) {
      return (await rpc.request<Hex>('eth_getCode', [address, tag(at)])) !== '0x';
    },
    async isValidSignature(wallet, digest, signature, at) {
      const data = encodeFunctionData({
        abi: ERC1271_ABI,
        functionName: 'isValidSignature',
        args: [digest, signature],
      });
      try {
        const answer = await rpc.request<Hex>('eth_call', [
          { to: wallet, data, gas: `0x${ERC1271_GAS.toString(16)}` },
          tag(at),
        ]);
        return answer.length >= 66 && answer.slice(0, 66) === `${ERC1271_MAGIC}${'0'.repeat(56)}`;
      } catch (error) {
        if (error instanceof RpcRefusal && isRevert(error)) return false;
        throw error;
      }
    },
    async nativeBalance(address, at) {
      return BigInt(await rpc.request<Hex>('eth_getBalance', [address, tag(at)]));
    },
    read: (to, data, at) => call(to, data, at),
    async l1DataFee(unsignedBytes, at) {
      const bound = await call(
        GAS_PRICE_ORACLE,
        encode('getL1FeeUpperBound(uint256)', BigInt(unsignedBytes)),
        at,
      );
      if (bound !== undefined && bound.length >= 66) return BigInt(bound.slice(0, 66));
      // Before Fjord it wants the bytes themselves; such as cannot be compressed cost the most.
      const data = encodeFunctionData({
        abi: L1_FEE_ABI,
        functionName: 'getL1Fee',
        args: [`0x${'ff'.repeat(unsignedBytes)}`],
      });
      return one('getL1Fee', GAS_PRICE_ORACLE, data, at);
    },
  };
}

const selectors = new Map<string, string>();

/** Calldata of a function whose arguments are addresses, 32-byte words or unsigned numbers. */
export function encode(signature: string, ...args: readonly (Hex | bigint)[]): Hex {
  let selector = selectors.get(signature);
  if (selector === undefined) {
    selector = keccakText(signature).slice(0, 10);
    selectors.set(signature, selector);
  }
  return `${selector}${args.map(toWord).join('')}` as Hex;
}

function toWord(value: Hex | bigint): string {
  if (typeof value === 'bigint') return value.toString(16).padStart(64, '0');
  return (value.length === 42 ? addressToBytes32(value) : value).slice(2);
}
