/** The longest configured tenor. The lease, the risk limits and the quote handler all count on it. */

import type { LpConfig } from './config.ts';

/** A taker can ask for more with a minimum validity, up to `maxValiditySeconds`. */
export const longestTenorSeconds = ({
  validitySeconds,
  pointsSeconds,
}: Pick<LpConfig['quoting'], 'validitySeconds' | 'pointsSeconds'>): number =>
  Math.max(validitySeconds, ...pointsSeconds);
