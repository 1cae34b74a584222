/** Reads what a vault, a peg-stability module or a native wrapper gives at one block, from its own views. */

import { parseAbi } from 'viem';
import { max, min } from '../../domain/amount.ts';
import type { Closed } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { VenueFee } from '../../ports/route-venue.ts';
import { tryReadContract } from '../evm/chain/read-contract.ts';

export type IssuerKind = 'vault' | 'peg' | 'wrap';

/** Two tokens that a contract converts into each other. */
export interface Product {
  /** `vault`: the asset, then the share, which is the vault. `peg`: gem, then dai. `wrap`: any order. */
  tokens: readonly [Address, Address];
  /** The peg-stability module; null for other kinds. */
  psm: Address | null;
}

interface Query {
  chain: ChainPort;
  filler: Address;
  product: Product;
  tokenIn: Address;
  taker: Address;
  block: bigint;
}

/** Converts in one direction at one block, before the order's fees; base units. */
export interface Conversion {
  /** Rounded down, as the contract does. undefined: the contract refuses this amount. */
  give(amountIn: bigint): Promise<bigint | undefined>;
  /** The smallest known input that gives at least this much. undefined: the contract refuses. */
  take(amountOut: bigint): Promise<bigint | undefined>;
  /** Computes what `amountIn` pays to the issuer. null: not told apart from the rate. */
  fee(amountIn: bigint): Promise<VenueFee | null>;
  /** The most that the contract takes; `mostOut` is the most that it gives. Absent: no limit is known. */
  mostIn?: bigint;
  mostOut?: bigint;
}

/** Reads a conversion by kind; undefined: there is no such contract at this block. */
export const CONVERSIONS: Readonly<
  Record<IssuerKind, (query: Query) => Promise<Conversion | Closed | undefined>>
> = { vault: readVault, peg: readPeg, wrap: readWrap };

const vaultAbi = parseAbi([
  'function convertToAssets(uint256) view returns (uint256)',
  'function convertToShares(uint256) view returns (uint256)',
  'function maxDeposit(address) view returns (uint256)',
  'function maxRedeem(address) view returns (uint256)',
  'function previewDeposit(uint256) view returns (uint256)',
  'function previewMint(uint256) view returns (uint256)',
  'function previewRedeem(uint256) view returns (uint256)',
  'function previewWithdraw(uint256) view returns (uint256)',
]);
const psmAbi = parseAbi([
  'function pocket() view returns (address)',
  'function to18ConversionFactor() view returns (uint256)',
  'function tin() view returns (uint256)',
  'function tout() view returns (uint256)',
]);
const wrapperAbi = parseAbi(['function totalSupply() view returns (uint256)']);

async function readVault({ chain, filler, product, tokenIn, taker, block }: Query) {
  const [asset, address] = product.tokens;
  const view = (
    functionName:
      | 'convertToAssets'
      | 'convertToShares'
      | 'previewDeposit'
      | 'previewMint'
      | 'previewRedeem'
      | 'previewWithdraw',
    amount: bigint,
  ) => tryReadContract(chain.read, { abi: vaultAbi, address, functionName, args: [amount] }, block);
  /** A preview has the fees of the vault taken off, a conversion at the share price has not. */
  const feeBetween = async (
    convert: 'convertToAssets' | 'convertToShares',
    preview: 'previewDeposit' | 'previewRedeem',
    amountIn: bigint,
  ): Promise<VenueFee | null> => {
    const [all, given] = await Promise.all([view(convert, amountIn), view(preview, amountIn)]);
    return all === undefined || given === undefined ? null : { in: 'output', amount: max(all - given, 0n) };
  };
  if (tokenIn === asset) {
    const most = await tryReadContract(
      chain.read,
      { abi: vaultAbi, address, functionName: 'maxDeposit', args: [filler] },
      block,
    );
    return most === undefined
      ? undefined
      : {
          give: (assets: bigint) => view('previewDeposit', assets),
          take: (shares: bigint) => view('previewMint', shares),
          fee: (assets: bigint) => feeBetween('convertToShares', 'previewDeposit', assets),
          mostIn: most,
        };
  }
  const [most, held] = await Promise.all([
    tryReadContract(chain.read, { abi: vaultAbi, address, functionName: 'maxRedeem', args: [taker] }, block),
    chain.tokenBalance(taker, address, block),
  ]);
  return most === undefined
    ? undefined
    : {
        give: (shares: bigint) => view('previewRedeem', shares),
        take: (assets: bigint) => view('previewWithdraw', assets),
        fee: (shares: bigint) => feeBetween('convertToAssets', 'previewRedeem', shares),
        // The filler holds no shares yet, so the vault is asked for the taker. A limit at the taker's balance
        // says nothing about the vault.
        ...(most < held && { mostIn: most }),
      };
}

const WAD = 10n ** 18n;

async function readPeg({ chain, product, tokenIn, block }: Query) {
  const [gem, dai] = product.tokens;
  const address = product.psm as Address;
  const view = (functionName: 'to18ConversionFactor' | 'tin' | 'tout') =>
    tryReadContract(chain.read, { abi: psmAbi, address, functionName }, block);
  const isSale = tokenIn === gem;
  const [scale, fee, pocket] = await Promise.all([
    view('to18ConversionFactor'),
    view(isSale ? 'tin' : 'tout'),
    tryReadContract(chain.read, { abi: psmAbi, address, functionName: 'pocket' }, block),
  ]);
  if (scale === undefined || fee === undefined || pocket === undefined) return undefined;
  if (fee > WAD)
    return { declined: 'closed', opensAt: null, detail: 'the module has halted this direction' } as const;
  const mostOut = await (isSale
    ? chain.tokenBalance(address, dai, block)
    : chain.tokenBalance(pocket.toLowerCase() as Address, gem, block));
  // The module rounds its fee down.
  const feeOf = (gems: bigint) => (gems * scale * fee) / WAD;
  const lessFee = (gems: bigint) => gems * scale - feeOf(gems);
  const price = (gems: bigint) => gems * scale + feeOf(gems);
  /** The most whole units of gem whose price is at most the input. */
  const gemsFor = (dais: bigint) => ((dais + 1n) * WAD - 1n) / (scale * (WAD + fee));
  return isSale
    ? {
        give: async (gems: bigint) => lessFee(gems),
        take: async (dais: bigint) => (fee === WAD ? undefined : saleFor(dais, scale, fee)),
        fee: async (gems: bigint): Promise<VenueFee> => ({ in: 'output', amount: feeOf(gems) }),
        mostOut,
      }
    : {
        give: async (dais: bigint) => gemsFor(dais),
        take: async (gems: bigint) => price(gems),
        fee: async (dais: bigint): Promise<VenueFee> => ({ in: 'input', amount: feeOf(gemsFor(dais)) }),
        mostOut,
      };
}

/** The smallest sale that pays at least `dais`: the module rounds its fee down. */
function saleFor(dais: bigint, scale: bigint, fee: bigint): bigint {
  const perGem = scale * (WAD - fee);
  // par - floor(par * fee / WAD) = ceil(gems * perGem / WAD), which is at least dais from here on.
  return ((dais - 1n) * WAD) / perGem + 1n;
}

async function readWrap({ chain, tokenIn, block }: Query) {
  // WETH9 answers with its native balance, others with what they issued against theirs.
  const supply = await tryReadContract(
    chain.read,
    { abi: wrapperAbi, address: tokenIn, functionName: 'totalSupply' },
    block,
  );
  if (supply === undefined) return undefined;
  const same = async (amount: bigint) => amount;
  const fee = async (): Promise<VenueFee> => ({ in: 'output', amount: 0n });
  return { give: same, take: same, fee, mostIn: min(supply, await chain.nativeBalance(tokenIn, block)) };
}
