/** Per pair: the volatility regime, bursts of acceptances, and whether either stops quoting. */

import type { Decline } from '../../domain/decline.ts';
import { deviationOver } from '../../pricing/volatility.ts';
import { type Burst, recordAcceptance, NO_ACCEPTANCES } from '../../risk/burst.ts';
import { CALM_MARKET, updateRegime, type Regime } from '../../risk/regime.ts';
import type { PairPrice } from '../market/market.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { Route } from '../routes/route.ts';

/** The third regime, stressed, stops the pair: it is a `Decline`. */
type QuotableRegime = 'calm' | 'elevated';

export type PairMonitor = ReturnType<typeof createPairMonitor>;

interface PairState {
  regime: Regime;
  burst: Burst;
}

export function createPairMonitor(initial: Pick<LpRisk, 'volSpike' | 'burst'>) {
  let rule = initial;
  const pairs = new Map<string, PairState>();

  function stateOf(pairName: string): PairState {
    let state = pairs.get(pairName);
    if (state === undefined) pairs.set(pairName, (state = { regime: CALM_MARKET, burst: NO_ACCEPTANCES }));
    return state;
  }

  function stopped(pairName: string, nowMs: number): Decline | undefined {
    const state = pairs.get(pairName);
    if (state === undefined) return undefined;
    const { regime, burst } = state;
    if (nowMs < burst.frozenUntilMs)
      return { declined: 'standby', control: 'burst', detail: `${pairName}: frozen after a burst of fills` };
    if (regime.level === 'stressed' && nowMs < regime.untilMs)
      return {
        declined: 'standby',
        control: 'vol_spike',
        detail: `${pairName}: two spikes in a row, stopped for a while`,
      };
    return undefined;
  }

  const seconds = (untilMs: number, nowMs: number) => `${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;
  const regimeOf = (regime: Regime): QuotableRegime => (regime.level === 'calm' ? 'calm' : 'elevated');

  return {
    stopped,
    observe({ pair, pairName }: Pick<Route, 'pair' | 'pairName'>, pairPrice: PairPrice, nowMs: number) {
      // The same asset on two chains has no price that could move.
      if (pair.base === pair.quote) return stopped(pairName, nowMs) ?? 'calm';
      const state = stateOf(pairName);
      // A minute below the volatility floor is no spike, however quiet the day was.
      const sigmaFloor = Math.max(pairPrice.base.sigmaFloor, pairPrice.quote.sigmaFloor);
      state.regime = updateRegime(
        state.regime,
        {
          mid: pairPrice.mid.value,
          volatilityRatio: pairPrice.sigma > sigmaFloor ? pairPrice.volatilityRatio : 0,
          secondBps: deviationOver(pairPrice.sigma, 1),
        },
        nowMs,
        rule.volSpike,
      );
      // `refusal` of standby has asked before, but this observation may have stopped the pair.
      return stopped(pairName, nowMs) ?? regimeOf(state.regime);
    },
    lastObserved: (pairName: string, nowMs: number) =>
      stopped(pairName, nowMs) ?? regimeOf(pairs.get(pairName)?.regime ?? CALM_MARKET),
    recordAcceptance(pairName: string, accepted: { side: 'buy' | 'sell'; usd: number }, nowMs: number) {
      const state = stateOf(pairName);
      state.burst = recordAcceptance(state.burst, { ...accepted, atMs: nowMs }, rule.burst);
    },
    volatilePairs(nowMs: number) {
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
    frozenPairs(nowMs: number) {
      const notes = new Map<string, string>();
      for (const [name, { burst }] of pairs)
        if (nowMs < burst.frozenUntilMs) notes.set(name, `frozen for ${seconds(burst.frozenUntilMs, nowMs)}`);
      return notes;
    },
    /** The next move of these pairs is measured from their next mid. */
    forgetMids(pairNames: readonly string[]) {
      for (const name of pairNames) {
        const state = pairs.get(name);
        if (state !== undefined) state.regime = { ...state.regime, from: undefined };
      }
    },
    configure(next: Pick<LpRisk, 'volSpike' | 'burst'>) {
      rule = next;
    },
  };
}
