/** Lists the measures by which a sweep can be sorted. */

import type { Distribution } from '../../../sim/study/distribution.ts';

/** Greater is better; a ratio that does not exist is the worst. */
export const MEASURES: Readonly<Record<string, (of: Distribution) => number>> = {
  pnl: ({ mean }) => mean,
  deviation: ({ deviation }) => -(deviation ?? Number.POSITIVE_INFINITY),
  sharpe: ({ sharpe }) => sharpe ?? Number.NEGATIVE_INFINITY,
  drawdown: ({ worstDrawdown }) => -worstDrawdown,
  tail5: ({ tail5 }) => tail5.value,
  es5: ({ tail5 }) => tail5.shortfall,
  tail1: ({ tail1 }) => tail1.value,
  es1: ({ tail1 }) => tail1.shortfall,
  losing: ({ losing }) => -losing,
};
