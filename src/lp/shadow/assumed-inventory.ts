/**
 * Inventory that a shadow LP is assumed to have beside what the chains show, so that somebody who has
 * deposited nothing sees what a deposit would have earned.
 */

import { type Amount, parseUnits } from '../../domain/amount.ts';
import { RequestError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';

/** Whole tokens by symbol, by slug of the chain. */
export type AssumedInventory = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Throws `RequestError` for a token that the chain does not have. */
export function assumeInventory<C extends ChainPort>(port: C, assumed: AssumedInventory): C {
  const { chain } = port;
  const amounts = new Map<Address, Amount>();
  for (const [symbol, amount] of Object.entries(assumed[chain.slug] ?? {})) {
    const token = chain.tokens.find((each) => each.symbol === symbol);
    if (token === undefined)
      throw new RequestError(
        `shadow.inventory names ${symbol} on ${chain.slug}, which has no such token: name one of ${chain.tokens.map((each) => each.symbol).join(', ')}.`,
        { code: 'bad_config' },
      );
    amounts.set(token.address, parseUnits(amount, token.decimals));
  }
  return {
    ...port,
    ledgerBalance: async (account, token, at) =>
      (await port.ledgerBalance(account, token, at)) + (amounts.get(token) ?? 0n),
  };
}
