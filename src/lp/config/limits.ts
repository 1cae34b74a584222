/** Reads the limits on live quotes of a configuration as the inventory ledger takes them. */

import type { Cap, Limits } from '../../inventory/limits.ts';
import type { LpConfig } from './config.ts';

export const limitsOf = ({ limits }: Pick<LpConfig, 'limits'>): Limits =>
  Object.fromEntries(Object.entries(limits).map(([scope, given]) => [scope, capOf(given)]));

/** Dollars become millionths. */
const capOf = ({ count, notionalUsd }: NonNullable<LpConfig['limits']['total']> = {}): Cap => ({
  ...(count !== undefined && { count }),
  ...(notionalUsd !== undefined && { notional: BigInt(notionalUsd) * 1_000_000n }),
});
