/**
 * Avellaneda and Stoikov, "High-frequency trading in a limit order book" (Quantitative Finance 8, 2008,
 * section 3.3).
 */

import type { SimRandom } from '../random.ts';
import { addToSums, deviationOf, meanOf, noSums } from '../sums.ts';

export interface AvellanedaSetup {
  gamma: number;
  sigma: number;
  k: number;
  A: number;
  T: number;
  dt: number;
  paths: number;
  strategy: 'inventory' | 'symmetric';
  /** `literal`: lambda * dt, as the tables; `exact`: 1 - e^(-lambda * dt). */
  fills?: 'literal' | 'exact';
  /**
   * `journal`: gamma sigma^2 (T - t) + (2 / gamma) ln(1 + gamma / k); `preprint` (2006): the logarithm alone.
   */
  spread?: 'journal' | 'preprint';
}

export interface AvellanedaResult {
  averageSpread: number;
  profit: number;
  profitStd: number;
  finalQ: number;
  finalQStd: number;
}

export const AS2008: Omit<AvellanedaSetup, 'gamma' | 'strategy'> = {
  sigma: 2,
  k: 1.5,
  A: 140,
  T: 1,
  dt: 0.005,
  paths: 1000,
};

const START = 100;

export function averageSpread({
  gamma,
  sigma,
  k,
  T,
  spread = 'journal',
}: Pick<AvellanedaSetup, 'gamma' | 'sigma' | 'k' | 'T' | 'spread'>): number {
  return (spread === 'journal' ? (gamma * sigma * sigma * T) / 2 : 0) + (2 / gamma) * Math.log1p(gamma / k);
}

export function gridSpread(setup: Pick<AvellanedaSetup, 'gamma' | 'sigma' | 'k' | 'T' | 'dt'>): number {
  const { gamma, sigma, dt } = setup;
  return averageSpread(setup) + (gamma * sigma * sigma * dt) / 2;
}

export function simulateAvellaneda(setup: AvellanedaSetup, random: SimRandom): AvellanedaResult {
  const { gamma, sigma, k, A, T, dt, paths, strategy, fills = 'literal', spread = 'journal' } = setup;
  const steps = Math.round(T / dt);
  const tick = sigma * Math.sqrt(dt);
  const logarithm = (2 / gamma) * Math.log1p(gamma / k);
  const average = averageSpread(setup);
  const chance = (distance: number) => {
    const rate = A * Math.exp(-k * distance) * dt;
    return fills === 'literal' ? rate : -Math.expm1(-rate);
  };
  const [profits, positions] = [noSums(), noSums()];
  for (let path = 0; path < paths; path++) {
    let [mid, cash, q] = [START, 0, 0];
    for (let step = 0; step < steps; step++) {
      const risk = gamma * sigma * sigma * (T - step * dt);
      const [shift, total] =
        strategy === 'inventory' ? [-q * risk, (spread === 'journal' ? risk : 0) + logarithm] : [0, average];
      const bid = total / 2 - shift;
      const ask = total / 2 + shift;
      const [sold, bought] = [random.uniform() < chance(ask), random.uniform() < chance(bid)];
      if (sold) {
        cash += mid + ask;
        q -= 1;
      }
      if (bought) {
        cash -= mid - bid;
        q += 1;
      }
      mid += random.uniform() < 0.5 ? tick : -tick;
    }
    addToSums(profits, cash + q * mid);
    addToSums(positions, q);
  }
  return {
    averageSpread: average,
    profit: meanOf(profits),
    profitStd: deviationOf(profits),
    finalQ: meanOf(positions),
    finalQStd: deviationOf(positions),
  };
}
