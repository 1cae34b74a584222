/**
 * Converts the least bond that this venue demands of an LP to base units of each token in which a claim would
 * be paid.
 */

import { parseUnits } from '../../domain/amount.ts';
import type { BondDemand } from '../../domain/bond.ts';
import type { Chain } from '../../domain/chain.ts';
import type { MinBond } from '../options.ts';

export const bondDemandsOf = (minBond: MinBond, chains: Iterable<Chain>): BondDemand[] =>
  [...chains].flatMap(({ id, quoteBond, tokens }) =>
    quoteBond
      ? tokens.flatMap(({ symbol, address, decimals }) => {
          const whole = minBond[symbol];
          return whole === undefined
            ? []
            : [{ chainId: id, token: address, amount: parseUnits(whole, decimals) }];
        })
      : [],
  );
