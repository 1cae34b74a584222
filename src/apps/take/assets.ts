/** Tokens and amounts as a taker types them. */

import { erc20Abi, type PublicClient } from 'viem';
import { isAmount, parseUnits } from '../../domain/amount.ts';
import { assetId, parseAssetId } from '../../domain/asset.ts';
import { type Address, isAddress } from '../../domain/hex.ts';
import { badConfig, badRequest } from '../wiring/bad-request.ts';
import type { TakerChain } from './config.ts';

export interface TakerToken {
  asset: string;
  chain: TakerChain;
  address: Address;
  symbol: string;
  /** Decimals by the taker's own node. */
  decimals: number;
}

/** Reads `USDC@base`, `0x…@base` or CAIP-19; without a chain where the configuration has one only. */
export async function readToken(
  text: string,
  chains: readonly TakerChain[],
  rpcOf: (chain: TakerChain) => PublicClient,
): Promise<TakerToken> {
  const { chain, name } = locate(text, chains);
  const listed = chain.tokens.find(
    ({ symbol, address }) => symbol.toLowerCase() === name.toLowerCase() || address === name.toLowerCase(),
  );
  if (!listed && !isAddress(name))
    throw badRequest(
      `The configuration has no token "${name}" on ${chain.slug}. It has ${chain.tokens.map(({ symbol }) => symbol).join(', ')}; any other token by its address: 0x…@${chain.slug}.`,
    );
  const address = listed?.address ?? (name.toLowerCase() as Address);
  const decimals = await rpcOf(chain)
    .readContract({ address, abi: erc20Abi, functionName: 'decimals' })
    .catch((cause: unknown) => {
      throw badRequest(
        `Your node of ${chain.slug} does not tell the decimals of ${address}. Check the address and rpcUrls of the chain; nothing was asked or signed.`,
        cause,
      );
    });
  if (listed && listed.decimals !== decimals)
    throw badConfig(
      `${listed.symbol} on ${chain.slug} has ${decimals} decimals; the configuration says ${listed.decimals}. Correct it: amounts would be wrong by powers of ten.`,
    );
  const asset = assetId({ chainId: chain.id, token: address });
  return { asset, chain, address, symbol: listed?.symbol ?? address, decimals };
}

function locate(text: string, chains: readonly TakerChain[]): { chain: TakerChain; name: string } {
  const slugs = chains.map(({ slug }) => slug).join(', ');
  const asset = parseAssetId(text.toLowerCase());
  const [name = '', where] = asset ? [asset.token, String(asset.chainId)] : text.split('@');
  if (where === undefined) {
    const [only, ...others] = chains;
    if (!only || others.length > 0)
      throw badRequest(`"${text}" names no chain: write ${text}@CHAIN, with one of ${slugs}.`);
    return { chain: only, name };
  }
  const chain = chains.find(({ slug, id }) => slug === where || String(id) === where);
  if (!chain) throw badRequest(`The configuration has no chain "${where}". It has: ${slugs}.`);
  return { chain, name };
}

/** Parses an amount to base units. */
export function readAmount(
  text: string,
  { decimals, symbol }: TakerToken,
  { option, baseUnits }: { option: string; baseUnits: boolean },
): bigint {
  if (baseUnits && !isAmount(text))
    throw badRequest(`${option} ${text}: with --base-units an amount has digits only, such as 1000000.`);
  const amount = baseUnits ? BigInt(text) : parseUnits(text, decimals);
  if (amount === 0n) throw badRequest(`${option} ${text}: the amount must be more than zero ${symbol}.`);
  return amount;
}
