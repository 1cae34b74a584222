/** Reads escrow, oracle, Permit2, tokens and wallets at any block. */

import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  encodeFunctionData,
  erc20Abi,
} from 'viem';
import type { Chain } from '../../../domain/chain.ts';
import { type Address, type Hex, ZERO_BYTES32 } from '../../../domain/hex.ts';
import type { ChainViews, EscrowStatus } from '../../../ports/chain.ts';
import { attestationOracleAbi } from '../../../settlement/abi/attestation-oracle.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { permit2Abi } from '../../../settlement/abi/permit2.ts';
import { quoteBondAbi } from '../../../settlement/abi/quote-bond.ts';
import { isRevert, type ViewCaller } from './multicall.ts';
import { eip3009Abi, erc1271Abi, readContract } from './read-contract.ts';
import { createRollupFees, type FeeModel } from './rollup-fees.ts';
import { type ChainRpc, RpcRefusal } from '../rpc/rpc.ts';

const STATUSES: readonly EscrowStatus[] = ['none', 'deposited', 'claimed', 'refunded'];
/** Gas that the escrow grants an ERC-1271 check, with a margin for the call itself. */
const ERC1271_GAS = 600_000;
const ERC1271_MAGIC = '0x1626ba7e';

export function createViews(
  chain: Chain,
  rpc: Pick<ChainRpc, 'request'>,
  call: ViewCaller,
  feeModel: FeeModel = 'auto',
): ChainViews {
  const escrow = viewsOf(call, escrowAbi, chain.escrow);
  const permit2 = viewsOf(call, permit2Abi, chain.permit2);
  const quoteBond = chain.quoteBond ? viewsOf(call, quoteBondAbi, chain.quoteBond) : undefined;
  const token = (address: Address) => viewsOf(call, erc20Abi, address);
  const hasCode = async (address: Address, at?: bigint): Promise<boolean> =>
    (await rpc.request<Hex>('eth_getCode', [address, tag(at)])) !== '0x';
  const tag = (at: bigint | undefined): string => (at === undefined ? 'latest' : `0x${at.toString(16)}`);

  return {
    async orderStatus(orderId, at) {
      return STATUSES[await escrow('orderStatus', [orderId], at)] ?? 'none';
    },
    async fillRecord(orderId, outputHash, at) {
      const record = await escrow('fillRecord', [orderId, outputHash], at);
      return record === ZERO_BYTES32 ? undefined : record;
    },
    isNonceUsed: (user, nonce, at) => escrow('isNonceUsed', [user, nonce], at),
    ledgerBalance: (account, of, at) => escrow('balanceOf', [account, of], at),
    ledgerFees: (account, of, at) => escrow('feesOf', [account, of], at),
    async pendingWithdrawal(account, of, at) {
      const [amount, availableAt, lapsesAt] = await escrow('pendingWithdrawal', [account, of], at);
      return { amount, availableAt: Number(availableAt), lapsesAt: Number(lapsesAt) };
    },
    ledgerDeferred: (account, of, at) => escrow('deferredOf', [account, of], at),
    async deferredUntil(orderId, outputHash, at) {
      return Number(await escrow('deferredUntil', [orderId, outputHash], at));
    },
    async withdrawalDelay(at) {
      return Number(await escrow('WITHDRAWAL_DELAY', [], at));
    },
    async maxFeeBps(at) {
      return Number(await escrow('MAX_FEE_BPS', [], at));
    },
    isOperator: (account, operator, at) => escrow('isOperator', [account, operator], at),
    async operatorLimit(account, operator, of, at) {
      const [limited, most, window, since, spent] = await escrow(
        'operatorLimit',
        [account, operator, of],
        at,
      );
      return limited ? { most, windowSeconds: Number(window), since: Number(since), spent } : undefined;
    },
    async bond(lp, of, at) {
      if (quoteBond === undefined) return undefined;
      const [amount, leaving, availableAt] = await quoteBond('bondOf', [lp, of], at);
      return { amount, leaving, availableAt: Number(availableAt) };
    },
    async bondTerms(lp, at) {
      if (quoteBond === undefined) return undefined;
      const [fillWindowSeconds, wallets] = await quoteBond('termsOf', [lp], at);
      return { fillWindowSeconds, wallets };
    },
    async bondTakeBackDelay(at) {
      return quoteBond && Number(await quoteBond('TAKE_BACK_DELAY', [], at));
    },
    bondShareBps: async (at) => quoteBond?.('SHARE_BPS', [], at),
    isProven: (oracle, remoteChainId, remoteOracle, application, payloadHash, at) =>
      viewsOf(call, attestationOracleAbi, oracle)(
        'isProven',
        [remoteChainId, remoteOracle, application, payloadHash],
        at,
      ),
    async committee(address, at) {
      const oracle = viewsOf(call, attestationOracleAbi, address);
      const [threshold, signers] = await Promise.all([
        oracle('threshold', [], at),
        oracle('signers', [], at),
      ]);
      return {
        threshold: Number(threshold),
        signers: signers.map((signer) => signer.toLowerCase() as Address),
      };
    },
    tokenBalance: (owner, of, at) => token(of)('balanceOf', [owner], at),
    allowance: (owner, of, spender, at) => token(of)('allowance', [owner, spender], at),
    async permit2Allowance(owner, of, spender, at) {
      const [amount, expiration, nonce] = await permit2('allowance', [owner, of, spender], at);
      return { amount, expiration, nonce };
    },
    async permit2NonceUsed(owner, nonce, at) {
      const bitmap = await permit2('nonceBitmap', [owner, nonce >> 8n], at);
      return ((bitmap >> (nonce & 0xffn)) & 1n) === 1n;
    },
    authorizationUsed: (of, authorizer, nonce, at) =>
      viewsOf(call, eip3009Abi, of)('authorizationState', [authorizer, nonce], at),
    hasCode,
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
    rollupFees: createRollupFees(call, (address) => hasCode(address), feeModel),
  };
}

function viewsOf<const TAbi extends Abi>(call: ViewCaller, abi: TAbi, address: Address) {
  return <
    TName extends ContractFunctionName<TAbi, 'pure' | 'view'>,
    const TArgs extends ContractFunctionArgs<TAbi, 'pure' | 'view', TName>,
  >(
    functionName: TName,
    args: TArgs,
    at: bigint | undefined,
  ) => readContract(call, { abi, address, functionName, args }, at);
}
