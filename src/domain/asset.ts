/** An asset is a token contract on a chain, written in CAIP-19: `eip155:<chainId>/erc20:<address>`. */

import { ZERO_ADDRESS, type Address } from './hex.ts';

export interface Asset {
  chainId: number;
  /** Lower case. */
  token: Address;
}

/** CAIP-19 text of an ERC-20, lower case. */
export type AssetId = `eip155:${number}/erc20:${Address}`;

const CAIP19 = /^eip155:([1-9][0-9]{0,15})\/erc20:(0x[0-9a-fA-F]{40})$/;
/** Addresses up to 0xffff are precompiles or reserved for them on every EVM chain: no token lives there. */
const RESERVED = /^0x0{36}/;

/**
 * Reads an asset id; undefined for malformed text, a chain id that no number holds exactly, and addresses
 * where no token can be.
 */
export function parseAssetId(text: string): Asset | undefined {
  const match = CAIP19.exec(text);
  if (!match?.[1] || !match[2]) return undefined;
  const chainId = Number(match[1]);
  const token = match[2].toLowerCase() as Address;
  if (!Number.isSafeInteger(chainId) || RESERVED.test(token) || token === ZERO_ADDRESS) return undefined;
  return { chainId, token };
}

export function assetId({ chainId, token }: Asset): AssetId {
  return `eip155:${chainId}/erc20:${token.toLowerCase() as Address}`;
}
