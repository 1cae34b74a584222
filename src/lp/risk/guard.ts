/**
 * Whether, and how carefully, to price a request at this moment: asked before every price, on the hot path.
 */

import type { Control } from '../../domain/control.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { Suspicion } from '../../risk/conduct.ts';
import type { ConductBook } from './taker-statistics.ts';
import type { Market } from '../market/market.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { Route } from '../quoting/route.ts';
import type { Watch } from './pair-monitor.ts';

/** How a price is made more careful than the model alone would make it. */
export interface Caution {
  /** The volatility that prices, times this. */
  sigmaFactor: number;
  /** The largest size, times this. */
  sizeFactor: number;
  /** The share of the option's value that is charged, times this. */
  omegaFactor: number;
  /** Validity beyond what the request demands is cut to this; undefined: as configured. */
  mostSeconds: number | undefined;
  /** Why sizes are smaller than usual. */
  control?: Control;
}

export const CALM: Caution = { sigmaFactor: 1, sizeFactor: 1, omegaFactor: 1, mostSeconds: undefined };

export interface Guard {
  admit(rfq: Pick<Rfq, 'taker' | 'minValidUntil'>, route: Route, nowMs: number): Caution | Decline;
  /** The same for nobody in particular: what would be shown, not promised. */
  shown(route: Route, nowMs: number): Caution | Decline;
}

export interface GuardDeps {
  market: Pick<Market, 'pair'>;
  watch: Pick<Watch, 'mood' | 'known'>;
  conduct: Pick<ConductBook, 'asked'>;
  /** Losses ask for smaller sizes. */
  cut(): boolean;
}

const OFTEN: Decline = { declined: 'limit', control: 'rate_limit', detail: 'asked too often' };
const ABUSE: Decline = {
  declined: 'limit',
  control: 'free_option',
  detail: 'holds options and does not trade',
};

export function createGuard(
  { market, watch, conduct, cut }: GuardDeps,
  risk: LpRisk,
): Guard & { configure(next: LpRisk): void } {
  let made = cautions(risk);

  return {
    admit({ taker, minValidUntil }, route, nowMs) {
      const suspicion = conduct.asked(taker, nowMs);
      if (suspicion === 'too_often') return OFTEN;
      if (suspicion === 3) return ABUSE;
      const priced = market.pair(route.pair.base, route.pair.quote);
      if (isDecline(priced)) return priced;
      const mood = watch.mood(route, priced, nowMs);
      if (typeof mood !== 'string') return mood;
      const caution = made[at(mood === 'wild', suspicion, cut())] as Caution;
      const { mostSeconds } = caution;
      if (
        mostSeconds !== undefined &&
        minValidUntil !== null &&
        minValidUntil * 1000 > nowMs + (mostSeconds + 1) * 1000
      ) {
        return {
          declined: 'validity',
          control: mood === 'wild' ? 'vol_spike' : 'free_option',
          detail: `${mostSeconds} seconds at most for now`,
        };
      }
      return caution;
    },
    shown(route, nowMs) {
      const mood = watch.known(route.pairName, nowMs);
      return typeof mood === 'string' ? (made[at(mood === 'wild', 0, cut())] as Caution) : mood;
    },
    configure(next) {
      made = cautions(next);
    },
  };
}

const at = (wild: boolean, suspicion: 0 | 1 | 2, cut: boolean): number =>
  (wild ? 6 : 0) + suspicion * 2 + (cut ? 1 : 0);

/** Every combination once, so that asking makes nothing. */
function cautions({ volSpike, freeOption, drawdown, leastValiditySeconds }: LpRisk): Caution[] {
  const all: Caution[] = [];
  for (const wild of [false, true]) {
    for (const suspicion of [0, 1, 2] as const satisfies readonly Suspicion[]) {
      for (const cut of [false, true]) {
        all[at(wild, suspicion, cut)] = {
          sigmaFactor: wild ? volSpike.sigmaFactor : 1,
          sizeFactor: (wild ? volSpike.sizeFactor : 1) * (cut ? drawdown.sizeFactor : 1),
          omegaFactor: suspicion > 0 ? freeOption.omegaFactor : 1,
          mostSeconds: wild || suspicion > 1 ? leastValiditySeconds : undefined,
          ...((wild || cut) && { control: wild ? 'vol_spike' : 'drawdown' }),
        };
      }
    }
  }
  all[0] = CALM;
  return all;
}
