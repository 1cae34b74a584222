/** Compares the configured tokens of a chain with their contracts. */

import { readTokenFacts } from '../../adapters/evm/chain/token-facts.ts';
import type { ViewCaller } from '../../adapters/evm/chain/multicall.ts';
import { separatorOf } from '../../domain/escrow-domain.ts';
import type { ChainSection } from '../config/parts.ts';
import { attempt, failure, ok, type Finding, warning } from './finding.ts';

const CHECK = 'token';

export async function checkTokens({ id, slug, tokens }: ChainSection, call: ViewCaller): Promise<Finding[]> {
  const rows = await Promise.all(
    tokens.map((token) =>
      attempt(
        CHECK,
        `${slug} ${token.symbol}`,
        async () => {
          const { symbol, address, decimals, eip3009 } = token;
          const subject = `${slug} ${symbol}`;
          const told = await readTokenFacts(call, address);
          if (told.decimals === undefined)
            return failure(CHECK, subject, `${address} does not tell its decimals`, 'Correct its address');
          if (told.decimals !== BigInt(decimals))
            return failure(
              CHECK,
              subject,
              `has ${told.decimals} decimals, and the configuration says ${decimals}`,
              'Correct its decimals or its address: every amount would be wrong',
            );
          if (
            eip3009 !== null &&
            told.separator !== separatorOf({ ...eip3009, chainId: id, verifyingContract: address })
          )
            return warning(
              CHECK,
              subject,
              `its EIP-712 domain is not "${eip3009.name}", version "${eip3009.version}"`,
              'Takers are not offered EIP-3009 for it. Correct eip3009, or set it to null',
            );
          if (told.symbol !== undefined && told.symbol !== symbol)
            return warning(
              CHECK,
              subject,
              `calls itself ${JSON.stringify(told.symbol.slice(0, 40))}`,
              'Check that the address is that of the token which is meant',
            );
          return ok(CHECK, subject, `${decimals} decimals${eip3009 === null ? '' : ', EIP-3009'}`);
        },
        'Check the address and the endpoints of the chain',
      ),
    ),
  );
  return rows.flat();
}
