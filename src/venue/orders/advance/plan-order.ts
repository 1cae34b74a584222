/** Plans an order's next step, for the worker that runs it and for administrators who look at the order. */

import type { Chain } from '../../../domain/chain.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Progress } from '../../../settlement/lifecycle.ts';
import { type ChainTime, plan, type SettlementPlan } from '../../../settlement/plan.ts';

export function planOrder(
  { order, executionMode, validUntil }: Pick<OrderRecord, 'order' | 'executionMode' | 'validUntil'>,
  {
    progress,
    origin,
    timeOf,
  }: { progress: Progress; origin: Chain | undefined; timeOf: (chainId: number) => ChainTime | undefined },
): SettlementPlan {
  // Half of the margin that is there for depth, and all that the quote was given for its value.
  const openReserveSeconds =
    origin === undefined
      ? 0
      : Math.max(0, order.fillDeadline - validUntil - Math.ceil(origin.landingMarginSeconds / 2));
  return plan({ order, progress, executionMode, openReserveSeconds, timeOf });
}
