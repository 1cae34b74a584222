/** The caller's own endpoints and trusted contracts, by chain. */

import { toAddress } from '../domain/address.ts';
import {
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  keccak256,
  parseAbi,
  type PublicClient,
} from 'viem';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION } from '../domain/escrow-domain.ts';
import { type Address, type Hex } from '../domain/hex.ts';
import { DistrustError, UnreachableError } from './errors.ts';

interface Rpc {
  getChainId(): Promise<number>;
  getBlock(): Promise<{ number: bigint | null; timestamp: bigint }>;
  getCode(of: { address: Address; blockNumber?: bigint }): Promise<Hex | undefined>;
  readContract: PublicClient['readContract'];
  estimateGas(of: { account: Address; to: Address; data: Hex; value: bigint }): Promise<bigint>;
  waitForTransactionReceipt(of: { hash: Hex; timeout: number }): Promise<{ status: 'success' | 'reverted' }>;
}

export interface TrustedChain {
  rpc: Rpc;
  /** Trusted escrows: addresses, or the keccak-256 of the deployed code. */
  escrow: string | readonly string[] | { codeHash: string };
  /** Trusted oracles; without one, cross-chain candidates are refused. */
  oracles?: readonly string[];
  /** Default: its address on every chain. */
  permit2?: string;
  /** The bond contract of the escrow, needed to demand bonds and to claim. */
  quoteBond?: string;
}

export type TrustedChains = Readonly<Record<number, TrustedChain>>;

export const PERMIT2: Address = '0x000000000022d473030f116ddee9f6b43ac78ba3';

export const ESCROW_ABI = parseAbi([
  'struct MandateOutput { bytes32 oracle; bytes32 settler; uint256 chainId; bytes32 token; uint256 amount; bytes32 recipient; bytes callbackData; bytes context; }',
  'struct StandardOrder { address user; uint256 nonce; uint256 originChainId; uint32 expires; uint32 fillDeadline; address inputOracle; uint256[2][] inputs; MandateOutput[] outputs; }',
  'struct Commitment { bytes32 quoteId; address lp; uint32 deadline; bytes signature; }',
  'function settle(StandardOrder order, bytes funding, Commitment[] commitments)',
  'function settleThrough(StandardOrder order, bytes funding, address filler, bytes data)',
  'function open(StandardOrder order)',
  'function deposit(address token, uint256 amount) returns (uint256)',
  'function balanceOf(address account, address token) view returns (uint256)',
  'function pendingWithdrawal(address account, address token) view returns (uint256 amount, uint256 availableAt, uint256 lapsesAt)',
  'function deferredOf(address account, address token) view returns (uint256)',
  'function isOperator(address account, address operator) view returns (bool)',
  'function operatorLimit(address account, address operator, address token) view returns (bool limited, uint256 most, uint256 window, uint256 since, uint256 spent)',
  'function isNonceUsed(address user, uint256 nonce) view returns (bool)',
  'function orderStatus(bytes32 orderId) view returns (uint8)',
  'function fillRecord(bytes32 orderId, bytes32 outputHash) view returns (bytes32)',
  'function WITHDRAWAL_DELAY() view returns (uint256)',
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
]);

/** What the caller trusts. Each throws `DistrustError` "chain" for a chain that it has not named. */
export interface Trust {
  chain(chainId: number): TrustedChain;
  /** Requires a trusted escrow without reading the chain. Throws "escrow". */
  requireEscrow(chainId: number, escrow: Address): void;
  /** Verifies an escrow once; the result is cached. Throws "chain", "escrow_code", "escrow_domain". */
  verifyEscrow(chainId: number, escrow: Address): Promise<void>;
  /** Throws "oracle". */
  requireOracle(chainId: number, oracle: Address): void;
  /** Throws "bond". */
  quoteBond(chainId: number): Address;
  permit2(chainId: number): Address;
}

export function createTrust(chains: TrustedChains): Trust {
  const verified = new Map<string, Promise<void>>();

  function chain(chainId: number): TrustedChain {
    const known = Object.hasOwn(chains, chainId) ? chains[chainId] : undefined;
    if (!known)
      throw new DistrustError(
        'chain',
        `Chain ${chainId} is not in \`chains\` of this client. Add it to trade there.`,
        { chainId },
      );
    return known;
  }

  async function verify(chainId: number, escrow: Address): Promise<void> {
    const { rpc, escrow: trusted } = chain(chainId);
    const actual = await asked(rpc.getChainId());
    if (actual !== chainId)
      throw new DistrustError('chain', `The endpoint given for chain ${chainId} is of chain ${actual}.`, {
        chainId,
        actual,
      });
    if (typeof trusted === 'object' && 'codeHash' in trusted) {
      const code = await asked(rpc.getCode({ address: escrow }));
      if (!code || keccak256(code) !== trusted.codeHash.toLowerCase())
        throw new DistrustError(
          'escrow_code',
          `The code at ${escrow} on chain ${chainId} is not the pinned one.`,
          { chainId, escrow },
        );
    }
    const [, name, version, domainChain, contract] = await readEscrow(rpc, escrow, 'eip712Domain', []);
    const itself =
      name === ESCROW_DOMAIN_NAME &&
      version === ESCROW_DOMAIN_VERSION &&
      domainChain === BigInt(chainId) &&
      contract.toLowerCase() === escrow;
    if (!itself)
      throw new DistrustError(
        'escrow_domain',
        `The contract at ${escrow} on chain ${chainId} has another EIP-712 domain.`,
        { chainId, escrow },
      );
  }

  return {
    chain,
    requireEscrow(chainId, escrow) {
      const { escrow: trusted } = chain(chainId);
      if (typeof trusted === 'object' && 'codeHash' in trusted) return;
      const pinned = [trusted].flat().map(toAddress);
      if (!pinned.includes(escrow))
        throw new DistrustError(
          'escrow',
          `The order's escrow on chain ${chainId} is ${escrow}, not ${pinned.join(' or ')}.`,
          { chainId, escrow },
        );
    },
    async verifyEscrow(chainId, escrow) {
      const id = `${chainId}:${escrow}`;
      const known = verified.get(id) ?? verify(chainId, escrow);
      verified.set(id, known);
      // Failures are not cached.
      await known.catch((error: unknown) => {
        verified.delete(id);
        throw error;
      });
    },
    requireOracle(chainId, oracle) {
      const pinned = (chain(chainId).oracles ?? []).map(toAddress);
      if (!pinned.includes(oracle))
        throw new DistrustError(
          'oracle',
          `The order lets ${oracle} on chain ${chainId} prove its delivery; ${pinned.length === 0 ? 'no oracle is pinned there' : `the pinned one is ${pinned.join(' or ')}`}. Whoever controls an oracle can take the input without delivering.`,
          { chainId, oracle },
        );
    },
    quoteBond(chainId) {
      const { quoteBond } = chain(chainId);
      if (quoteBond === undefined)
        throw new DistrustError(
          'bond',
          `No bond contract is pinned for chain ${chainId}: add \`quoteBond\` to the chain in \`chains\` of this client.`,
          { chainId },
        );
      return toAddress(quoteBond);
    },
    permit2: (chainId) => toAddress(chain(chainId).permit2 ?? PERMIT2),
  };
}

export async function asked<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    throw new UnreachableError('The RPC endpoint of the caller', cause);
  }
}

type EscrowAbi = typeof ESCROW_ABI;

export function readEscrow<N extends ContractFunctionName<EscrowAbi, 'view'>>(
  rpc: Rpc,
  address: Address,
  functionName: N,
  args: ContractFunctionArgs<EscrowAbi, 'view', N>,
  at?: { blockNumber: bigint },
): Promise<ContractFunctionReturnType<EscrowAbi, 'view', N>> {
  const read = rpc.readContract({ address, abi: ESCROW_ABI, functionName, args, ...at } as never);
  return asked(read as Promise<ContractFunctionReturnType<EscrowAbi, 'view', N>>);
}
