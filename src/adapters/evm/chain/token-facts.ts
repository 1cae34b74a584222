/** Compares the configured tokens of a chain with what their contracts say: both decide over money. */

import { parseAbi } from 'viem';
import type { Chain, TokenInfo } from '../../../domain/chain.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address } from '../../../domain/hex.ts';
import { separatorOf } from '../../../domain/escrow-domain.ts';
import type { Log } from '../../../ports/log.ts';
import type { ViewCaller } from './multicall.ts';
import { tryReadContract } from './read-contract.ts';

/** `decimals` is a uint8, read as a uint256 so that an absurd value is recognised. */
const tokenAbi = parseAbi([
  'function decimals() view returns (uint256)',
  'function symbol() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
]);

/** Reads what a token says about itself; undefined: it does not tell. */
export async function readTokenFacts(call: ViewCaller, address: Address) {
  const read = <N extends 'decimals' | 'symbol' | 'DOMAIN_SEPARATOR'>(functionName: N) =>
    tryReadContract(call, { abi: tokenAbi, address, functionName });
  const [decimals, symbol, separator] = await Promise.all([
    read('decimals'),
    read('symbol'),
    read('DOMAIN_SEPARATOR'),
  ]);
  return { decimals, symbol, separator };
}

/**
 * The tokens as they may be used: EIP-3009 is left out where the token's domain is not the configured one.
 * Throws `UpstreamError` `wrong_token` when decimals differ: every amount would be wrong.
 */
export async function checkedTokens(
  { id: chainId, slug, tokens }: Chain,
  { call, log }: { call: ViewCaller; log: Log },
): Promise<readonly TokenInfo[]> {
  return Promise.all(tokens.map(check));

  async function check(token: TokenInfo): Promise<TokenInfo> {
    const { symbol, address, decimals, eip3009 } = token;
    const { decimals: told, separator } = await readTokenFacts(call, address);
    if (told === undefined)
      log.warn(
        { token: symbol, address },
        'the token does not tell its decimals: the configured ones are used',
      );
    else if (told !== BigInt(decimals))
      throw new UpstreamError(
        `${symbol} (${address}) on ${slug} has ${told} decimals, and the configuration says ${decimals}. ` +
          'Correct its decimals or its address.',
        { code: 'wrong_token', retry: 'never' },
      );
    if (eip3009 === null || separator === separatorOf({ ...eip3009, chainId, verifyingContract: address }))
      return token;
    log.warn(
      { token: symbol, address, configured: eip3009 },
      'the EIP-712 domain of the token is not the configured one: takers are not offered EIP-3009 for it. ' +
        'Correct eip3009.name and eip3009.version',
    );
    return { ...token, eip3009: null };
  }
}
