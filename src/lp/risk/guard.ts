/** Decides for each request, before its price, whether to quote this taker and pair, and how carefully. */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Suspicion } from '../../risk/taker-activity.ts';
import type { Capital } from './capital.ts';
import type { TakerStatistics } from './taker-statistics.ts';
import type { Market } from '../market/market.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { PairMonitor } from './pair-monitor.ts';
import { takerOf, type VenueRfq } from './venue-budgets.ts';
import { adjustmentFor, NO_ADJUSTMENT, type RiskAdjustment } from '../../risk/adjustment.ts';

export interface Guard {
  admit(
    rfq: Pick<VenueRfq, 'taker' | 'venue' | 'minValidUntil'>,
    route: QuoteRoute,
    nowMs: number,
  ): RiskAdjustment | Decline;
  /** The same for indicative prices, which have no taker. */
  adjustIndicative(route: QuoteRoute, nowMs: number): RiskAdjustment | Decline;
}

export interface ConfigurableGuard extends Guard {
  configure(next: LpRisk): void;
}

interface GuardDeps {
  market(): Pick<Market, 'pair'>;
  monitor: Pick<PairMonitor, 'observe' | 'lastObserved'>;
  takers: Pick<TakerStatistics, 'countRequest'>;
  capital: Pick<Capital, 'sizesReduced'>;
}

const TOO_OFTEN: Decline = { declined: 'limit', control: 'rate_limit', detail: 'asked too often' };
const FREE_OPTION: Decline = {
  declined: 'limit',
  control: 'free_option',
  detail: 'holds options and does not trade',
};

export function createGuard(
  { market, monitor, takers, capital }: GuardDeps,
  risk: LpRisk,
): ConfigurableGuard {
  let adjustments = adjustmentsOf(risk);

  return {
    admit(rfq, route, nowMs) {
      const { minValidUntil } = rfq;
      const suspicion = takers.countRequest(takerOf(rfq), nowMs);
      if (suspicion === 'too_often') return TOO_OFTEN;
      if (suspicion === 3) return FREE_OPTION;
      const pairPrice = market().pair(route.pair.base, route.pair.quote);
      if (isDecline(pairPrice)) return pairPrice;
      const regime = monitor.observe(route, pairPrice, nowMs);
      if (typeof regime !== 'string') return regime;
      const volatile = regime === 'elevated';
      const adjustment = adjustments[indexOf(volatile, suspicion, capital.sizesReduced)] as RiskAdjustment;
      const { maxSeconds } = adjustment;
      if (
        maxSeconds !== undefined &&
        minValidUntil !== null &&
        minValidUntil * 1000 > nowMs + (maxSeconds + 1) * 1000
      )
        return {
          declined: 'validity',
          control: volatile ? 'vol_spike' : 'free_option',
          detail: `${maxSeconds} seconds at most for now`,
        };
      return adjustment;
    },
    adjustIndicative(route, nowMs) {
      const regime = monitor.lastObserved(route.pairName, nowMs);
      return typeof regime === 'string'
        ? (adjustments[indexOf(regime === 'elevated', 0, capital.sizesReduced)] as RiskAdjustment)
        : regime;
    },
    configure(next) {
      adjustments = adjustmentsOf(next);
    },
  };
}

const indexOf = (volatile: boolean, suspicion: 0 | 1 | 2, reduced: boolean): number =>
  (volatile ? 6 : 0) + suspicion * 2 + (reduced ? 1 : 0);

/** Every combination, made once: quotes refer to them. */
function adjustmentsOf(risk: LpRisk): RiskAdjustment[] {
  const all: RiskAdjustment[] = [];
  for (const volatile of [false, true]) {
    for (const suspicion of [0, 1, 2] as const satisfies readonly Suspicion[]) {
      for (const reduced of [false, true]) {
        all[indexOf(volatile, suspicion, reduced)] = adjustmentFor(risk, { volatile, suspicion, reduced });
      }
    }
  }
  all[0] = NO_ADJUSTMENT;
  return all;
}
