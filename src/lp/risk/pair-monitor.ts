/** Follows the volatility regime and bursts of acceptances of each pair, and stops quoting it on either. */

import type { Decline } from '../../domain/decline.ts';
import { regimeSample } from '../../pricing/volatility.ts';
import { recordAcceptance } from '../../risk/burst.ts';
import { NEW_PAIR_RISK, type PairRisk, pairStop } from '../../risk/pair-risk.ts';
import { CALM_MARKET, updateRegime, type Regime } from '../../risk/regime.ts';
import type { PairPrice } from '../market/pair-view.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { QuoteRoute } from '../routes/route.ts';

/** The third regime, stressed, stops the pair: it is a `Decline`. */
type QuotableRegime = 'calm' | 'elevated';

const STOP_NOTES = {
  burst: 'frozen after a burst of fills',
  vol_spike: 'two spikes in a row, stopped for a while',
} as const;

type PairRules = Pick<LpRisk, 'volSpike' | 'burst'>;

export interface PairMonitor {
  /** Returns why the pair is not quoted now. Cheap: called for every quote. */
  stopped(pairName: string, nowMs: number): Decline | undefined;
  /** Takes in the price of a pair, and returns its regime or why it is not quoted. */
  observe(
    route: Pick<QuoteRoute, 'pair' | 'pairName'>,
    pairPrice: PairPrice,
    nowMs: number,
  ): QuotableRegime | Decline;
  /** The same as of the last observation. */
  lastObserved(pairName: string, nowMs: number): QuotableRegime | Decline;
  recordAcceptance(pairName: string, accepted: { side: 'buy' | 'sell'; usd: number }, nowMs: number): void;
  /** Notes by pair. */
  volatilePairs(nowMs: number): Map<string, string>;
  /** Notes by pair. */
  frozenPairs(nowMs: number): Map<string, string>;
  /** The next move of these pairs is measured from their next mid. */
  forgetMids(pairNames: readonly string[]): void;
  configure(next: PairRules): void;
}

export function createPairMonitor(initial: PairRules): PairMonitor {
  let rule = initial;
  const pairs = new Map<string, PairRisk>();

  function stateOf(pairName: string): PairRisk {
    let state = pairs.get(pairName);
    if (state === undefined) pairs.set(pairName, (state = { ...NEW_PAIR_RISK }));
    return state;
  }

  function stopped(pairName: string, nowMs: number): Decline | undefined {
    const state = pairs.get(pairName);
    if (state === undefined) return undefined;
    const control = pairStop(state, nowMs);
    return control && { declined: 'standby', control, detail: `${pairName}: ${STOP_NOTES[control]}` };
  }

  const seconds = (untilMs: number, nowMs: number) => `${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;
  const regimeOf = (regime: Regime): QuotableRegime => (regime.level === 'calm' ? 'calm' : 'elevated');

  return {
    stopped,
    observe({ pair, pairName }, pairPrice, nowMs) {
      // The same asset on two chains has no price that could move.
      if (pair.base === pair.quote) return stopped(pairName, nowMs) ?? 'calm';
      const state = stateOf(pairName);
      const sigmaFloor = Math.max(pairPrice.base.sigmaFloor, pairPrice.quote.sigmaFloor);
      state.regime = updateRegime(
        state.regime,
        regimeSample(pairPrice.mid.value, pairPrice.sigma, pairPrice.volatilityRatio, sigmaFloor),
        nowMs,
        rule.volSpike,
      );
      // `refusal` of standby has asked before, but this observation may have stopped the pair.
      return stopped(pairName, nowMs) ?? regimeOf(state.regime);
    },
    lastObserved: (pairName, nowMs) =>
      stopped(pairName, nowMs) ?? regimeOf(pairs.get(pairName)?.regime ?? CALM_MARKET),
    recordAcceptance(pairName, accepted, nowMs) {
      const state = stateOf(pairName);
      state.burst = recordAcceptance(state.burst, { ...accepted, atMs: nowMs }, rule.burst);
    },
    volatilePairs(nowMs) {
      const notes = new Map<string, string>();
      for (const [name, { regime }] of pairs) {
        if (regime.level === 'calm' || nowMs >= regime.untilMs) continue;
        const stressed = regime.level === 'stressed';
        notes.set(
          name,
          stressed
            ? `stopped for ${seconds(regime.untilMs, nowMs)}`
            : 'volatile market: quotes are short, small and wide',
        );
      }
      return notes;
    },
    frozenPairs(nowMs) {
      const notes = new Map<string, string>();
      for (const [name, { burst }] of pairs)
        if (nowMs < burst.frozenUntilMs) notes.set(name, `frozen for ${seconds(burst.frozenUntilMs, nowMs)}`);
      return notes;
    },
    forgetMids(pairNames) {
      for (const name of pairNames) {
        const state = pairs.get(name);
        if (state !== undefined) state.regime = { ...state.regime, from: undefined };
      }
    },
    configure(next) {
      rule = next;
    },
  };
}
