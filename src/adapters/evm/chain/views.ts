/** Reads the escrow, the attestation oracle, Permit2, tokens and wallets of one chain, at any block. */

import { encodeFunctionData, erc20Abi } from 'viem';
import type { Chain } from '../../../domain/chain.ts';
import { type Address, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import type { ChainViews, EscrowStatus } from '../../../ports/chain.ts';
import { attestationOracleAbi } from '../../../settlement/abi/attestation-oracle.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { permit2Abi } from '../../../settlement/abi/permit2.ts';
import { isRevert, type ViewCaller } from './multicall.ts';
import { eip3009Abi, erc1271Abi, gasPriceOracleAbi, readContract, tryReadContract } from './read-contract.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';

const STATUSES: readonly EscrowStatus[] = ['none', 'deposited', 'claimed', 'refunded'];
/** Gas that the escrow grants an ERC-1271 check, with a margin for the call itself. */
const ERC1271_GAS = 600_000;
const ERC1271_MAGIC = '0x1626ba7e';

export const GAS_PRICE_ORACLE: Address = '0x420000000000000000000000000000000000000f';

export function createViews(chain: Chain, rpc: Pick<ChainRpc, 'request'>, call: ViewCaller): ChainViews {
  const escrow = { abi: escrowAbi, address: chain.escrow } as const;
  const permit2 = { abi: permit2Abi, address: chain.permit2 } as const;
  const tag = (at: bigint | undefined): string => (at === undefined ? 'latest' : `0x${at.toString(16)}`);

  return {
    async orderStatus(orderId, at) {
      const status = await readContract(
        call,
        { ...escrow, functionName: 'orderStatus', args: [orderId] },
        at,
      );
      return STATUSES[status] ?? 'none';
    },
    async fillRecord(orderId, outputHash, at) {
      const args = [orderId, outputHash] as const;
      const record = await readContract(call, { ...escrow, functionName: 'fillRecord', args }, at);
      return record === ZERO_BYTES32 ? undefined : record;
    },
    isNonceUsed: (user, nonce, at) =>
      readContract(call, { ...escrow, functionName: 'isNonceUsed', args: [user, nonce] }, at),
    ledgerBalance: (account, token, at) =>
      readContract(call, { ...escrow, functionName: 'balanceOf', args: [account, token] }, at),
    async pendingWithdrawal(account, token, at) {
      const args = [account, token] as const;
      const [amount, availableAt, lapsesAt] = await readContract(
        call,
        { ...escrow, functionName: 'pendingWithdrawal', args },
        at,
      );
      return { amount, availableAt: Number(availableAt), lapsesAt: Number(lapsesAt) };
    },
    ledgerDeferred: (account, token, at) =>
      readContract(call, { ...escrow, functionName: 'deferredOf', args: [account, token] }, at),
    async deferredUntil(orderId, outputHash, at) {
      const args = [orderId, outputHash] as const;
      return Number(await readContract(call, { ...escrow, functionName: 'deferredUntil', args }, at));
    },
    async withdrawalDelay(at) {
      return Number(await readContract(call, { ...escrow, functionName: 'WITHDRAWAL_DELAY' }, at));
    },
    async maxFeeBps(at) {
      return Number(await readContract(call, { ...escrow, functionName: 'MAX_FEE_BPS' }, at));
    },
    isOperator: (account, operator, at) =>
      readContract(call, { ...escrow, functionName: 'isOperator', args: [account, operator] }, at),
    isProven: (oracle, remoteChainId, remoteOracle, application, payloadHash, at) =>
      readContract(
        call,
        {
          abi: attestationOracleAbi,
          address: oracle,
          functionName: 'isProven',
          args: [remoteChainId, remoteOracle, application, payloadHash],
        },
        at,
      ),
    async committee(oracle, at) {
      const contract = { abi: attestationOracleAbi, address: oracle } as const;
      const [threshold, signers] = await Promise.all([
        readContract(call, { ...contract, functionName: 'threshold' }, at),
        readContract(call, { ...contract, functionName: 'signers' }, at),
      ]);
      return {
        threshold: Number(threshold),
        signers: signers.map((signer) => signer.toLowerCase() as Address),
      };
    },
    tokenBalance: (owner, token, at) =>
      readContract(call, { abi: erc20Abi, address: token, functionName: 'balanceOf', args: [owner] }, at),
    allowance: (owner, token, spender, at) =>
      readContract(
        call,
        { abi: erc20Abi, address: token, functionName: 'allowance', args: [owner, spender] },
        at,
      ),
    async permit2Allowance(owner, token, spender, at) {
      const args = [owner, token, spender] as const;
      const [amount, expiration, nonce] = await readContract(
        call,
        { ...permit2, functionName: 'allowance', args },
        at,
      );
      return { amount, expiration, nonce };
    },
    async permit2NonceUsed(owner, nonce, at) {
      const args = [owner, nonce >> 8n] as const;
      const bitmap = await readContract(call, { ...permit2, functionName: 'nonceBitmap', args }, at);
      return ((bitmap >> (nonce & 0xffn)) & 1n) === 1n;
    },
    authorizationUsed: (token, authorizer, nonce, at) =>
      readContract(
        call,
        { abi: eip3009Abi, address: token, functionName: 'authorizationState', args: [authorizer, nonce] },
        at,
      ),
    async hasCode(address, at) {
      return (await rpc.request<Hex>('eth_getCode', [address, tag(at)])) !== '0x';
    },
    async isValidSignature(wallet, digest, signature, at) {
      const data = encodeFunctionData({ abi: erc1271Abi, args: [digest, signature] });
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
      const oracle = { abi: gasPriceOracleAbi, address: GAS_PRICE_ORACLE } as const;
      const bound = await tryReadContract(
        call,
        { ...oracle, functionName: 'getL1FeeUpperBound', args: [BigInt(unsignedBytes)] },
        at,
      );
      if (bound !== undefined) return bound;
      // Before the Fjord upgrade only getL1Fee exists. Bytes that do not compress cost the most.
      const args = [`0x${'ff'.repeat(unsignedBytes)}`] as const;
      return readContract(call, { ...oracle, functionName: 'getL1Fee', args }, at);
    },
  };
}
