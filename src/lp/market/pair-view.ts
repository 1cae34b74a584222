/** The price and volatility of one pair, made of its two legs and kept until one of them changes. */

import { cross, type Mid, sourceTexts } from '../../pricing/mid.ts';
import { observeMid, sigmaOf, UNSEEN, type Volatility, volatilityRatio } from '../../pricing/volatility.ts';
import {
  ALWAYS,
  type CheckedReference,
  type Condition,
  type PriceState,
  type SymbolPrice,
} from './symbol-price.ts';

export interface PairPrice {
  mid: Mid;
  /** Reference currency for one whole quote token. */
  quoteValue: number;
  sigma: number;
  /** Volatility of the last minute divided by that of the day; 0 while unknown. */
  volatilityRatio: number;
  depegged: boolean;
  references: readonly CheckedReference[];
  base: PriceState;
  quote: PriceState;
}

/** A pair as configured: its view, and the prices of its two assets. */
export interface Legs {
  view: PairView;
  base: SymbolPrice;
  quote: SymbolPrice;
}

/** Recomputed only when a leg or the volatility changed. */
interface PairView {
  volatility(): Volatility;
  resume(known: Volatility): void;
  price(base: PriceState, quote: PriceState): PairPrice;
  disagreement(
    confidenceBps: number,
    now: { base: PriceState; quote: PriceState; nowMs: number },
  ): Condition | undefined;
  tick(nowMs: number): void;
}

/** A pair with two fixed legs has at least this volatility, because a peg can break. */
const LEAST_SIGMA = 0.002;

/** `same`: one asset on two chains. `mostBps`: the most that sources of the mid may disagree. */
export function createPairView(same: boolean, mostBps: number): PairView {
  let volatility: Volatility = UNSEEN;
  let last: PairPrice | undefined;
  let disagreedSinceMs: number | undefined;

  return {
    volatility: () => volatility,
    resume(known) {
      volatility = known;
      last = undefined;
    },
    price(base, quote) {
      if (last?.base === base && last.quote === quote) return last;
      const [baseMid, quoteMid] = [base.mid as Mid, quote.mid as Mid];
      last = {
        mid: same
          ? ONE
          : quoteMid.atMs === ALWAYS && quoteMid.value === 1
            ? baseMid
            : cross(baseMid, quoteMid),
        quoteValue: quoteMid.value,
        sigma: same
          ? LEAST_SIGMA
          : sigmaOf(volatility, Math.max(base.sigmaFloor, quote.sigmaFloor, LEAST_SIGMA)),
        volatilityRatio: volatilityRatio(volatility),
        depegged: base.depegged || quote.depegged,
        references:
          base.references.length + quote.references.length === 0
            ? NONE
            : [...base.references, ...quote.references],
        base,
        quote,
      };
      return last;
    },
    disagreement(confidenceBps, { base, quote, nowMs }) {
      if (confidenceBps <= mostBps) {
        disagreedSinceMs = undefined;
        return undefined;
      }
      disagreedSinceMs ??= nowMs;
      return {
        code: 'confidence',
        blocks: true,
        brief: 'its price is uncertain',
        detail: [
          `sources disagree by ${confidenceBps.toFixed(1)} bps, and ${mostBps} are allowed`,
          ...[base.mid, quote.mid].flatMap((mid) => (mid === undefined ? [] : sourceTexts(mid))),
        ].join('; '),
        sinceMs: disagreedSinceMs,
      };
    },
    tick(nowMs) {
      if (same || last === undefined) return;
      volatility = observeMid(volatility, last.mid.value, nowMs);
      last = undefined;
    },
  };
}

const NONE: readonly never[] = [];
const ONE: Mid = {
  price: { num: 1n, den: 1n },
  value: 1,
  confidenceBps: 0,
  atMs: ALWAYS,
  used: [],
  dropped: [],
  seen: [],
};
