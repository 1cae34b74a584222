/** Whether, and how carefully, to price a request at this moment: asked before every price, on the hot path. */

import type { Decline } from '../domain/decline.ts';
import { isDecline } from '../domain/decline.ts';
import type { Rfq } from '../protocol/link.ts';
import type { Market } from './market.ts';
import type { Route } from './route.ts';

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
}

export const CALM: Caution = { sigmaFactor: 1, sizeFactor: 1, omegaFactor: 1, mostSeconds: undefined };

export interface Guard {
  admit(rfq: Pick<Rfq, 'taker'>, route: Route, nowMs: number): Caution | Decline;
}

/** While the market runs wild: wider, and a quarter of the size. */
const WILD: Caution = { ...CALM, sigmaFactor: 1.5, sizeFactor: 0.25 };

export function createGuard({ market }: { market: Market }): Guard {
  return {
    admit(_, { pair }) {
      const priced = market.pair(pair.base, pair.quote);
      if (isDecline(priced)) return priced;
      return priced.spiked ? WILD : CALM;
    },
  };
}
