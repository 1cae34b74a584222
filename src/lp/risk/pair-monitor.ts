/**
 * Each pair's nerves: how wild its market is and how fast it is being filled, and what both forbid for the
 * moment.
 */

import type { Decline } from '../../domain/decline.ts';
import { deviationOver } from '../../pricing/volatility.ts';
import { type Burst, recordFill, NO_FILLS } from '../../risk/burst.ts';
import { CALM_MARKET, look, type Regime } from '../../risk/regime.ts';
import type { PairPrice } from '../market/market.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { Route } from '../quoting/route.ts';

export interface Watch {
  /** Looks at a price that is about to be used. */
  mood(route: Pick<Route, 'pair' | 'pairName'>, priced: PairPrice, nowMs: number): 'calm' | 'wild' | Decline;
  /** What the last look said, without looking. */
  known(pairName: string, nowMs: number): 'calm' | 'wild' | Decline;
  /** Is the pair stopped? Cheap. */
  stopped(pairName: string, nowMs: number): Decline | undefined;
  /** Somebody took a promise of ours. */
  recordFill(pairName: string, fill: { side: 'buy' | 'sell'; usd: number }, nowMs: number): void;
  /** What holds now, for people: by pair. */
  wild(nowMs: number): Map<string, string>;
  frozen(nowMs: number): Map<string, string>;
}

interface Nerves {
  regime: Regime;
  burst: Burst;
}

export function createWatch(rule: () => Pick<LpRisk, 'volSpike' | 'burst'>): Watch {
  const pairs = new Map<string, Nerves>();

  function nervesOf(pairName: string): Nerves {
    const known = pairs.get(pairName);
    if (known !== undefined) return known;
    const nerves: Nerves = { regime: CALM_MARKET, burst: NO_FILLS };
    pairs.set(pairName, nerves);
    return nerves;
  }

  function stopped(pairName: string, nowMs: number): Decline | undefined {
    const nerves = pairs.get(pairName);
    if (nerves === undefined) return undefined;
    const { regime, burst } = nerves;
    if (nowMs < burst.frozenUntilMs)
      return { declined: 'standby', control: 'burst', detail: `${pairName}: frozen after a burst of fills` };
    if (regime.mood === 'halted' && nowMs < regime.untilMs)
      return {
        declined: 'standby',
        control: 'vol_spike',
        detail: `${pairName}: two spikes in a row, stopped for a while`,
      };
    return undefined;
  }

  const seconds = (untilMs: number, nowMs: number) => `${Math.max(0, Math.ceil((untilMs - nowMs) / 1000))} s`;

  return {
    stopped,
    mood({ pair, pairName }, priced, nowMs) {
      // The same asset on two chains has no price to go wild.
      if (pair.base === pair.quote) return stopped(pairName, nowMs) ?? 'calm';
      const nerves = nervesOf(pairName);
      // A minute that is quieter than the least we price with is no spike, however quiet the day was.
      const wildness =
        priced.sigma > Math.max(priced.base.sigmaFloor, priced.quote.sigmaFloor) ? priced.wildness : 0;
      nerves.regime = look(
        nerves.regime,
        { mid: priced.mid.value, wildness, secondBps: deviationOver(priced.sigma, 1) },
        nowMs,
        rule().volSpike,
      );
      return stopped(pairName, nowMs) ?? (nerves.regime.mood === 'calm' ? 'calm' : 'wild');
    },
    known: (pairName, nowMs) =>
      stopped(pairName, nowMs) ?? ((pairs.get(pairName)?.regime.mood ?? 'calm') === 'calm' ? 'calm' : 'wild'),
    recordFill(pairName, fill, nowMs) {
      const nerves = nervesOf(pairName);
      nerves.burst = recordFill(nerves.burst, { ...fill, atMs: nowMs }, rule().burst);
    },
    wild: (nowMs) =>
      new Map(
        [...pairs].flatMap(([name, { regime }]): [string, string][] => {
          if (regime.mood === 'calm' || nowMs >= regime.untilMs) return [];
          return [
            [
              name,
              regime.mood === 'halted'
                ? `stopped for ${seconds(regime.untilMs, nowMs)}`
                : 'a wild market: short, small and wide',
            ],
          ];
        }),
      ),
    frozen: (nowMs) =>
      new Map(
        [...pairs].flatMap(([name, { burst }]): [string, string][] =>
          nowMs < burst.frozenUntilMs ? [[name, `frozen for ${seconds(burst.frozenUntilMs, nowMs)}`]] : [],
        ),
      ),
  };
}
