/** From inputs and size to the all-in spread D with all its terms: the part of pricing where floats are allowed, and it ends here. */

import { firmness, winProbability } from './firmness.ts';
import { jumpCost, optionCost, perRootSecond, type MidMotion } from './option.ts';
import type { PriceInputs, Terms } from './price.ts';
import { capitalTerm, confidenceTerm, impactTerm, inventoryTerm, skewSlope } from './terms.ts';

/** `size` in the reference currency; `gas` in bps of it, own and relayed. */
export function spreadTerms(inputs: PriceInputs, size: number, gas: number): Terms {
  const { params } = inputs;
  const sigma = perRootSecond(inputs.sigma);
  const side = inputs.lp === 'buy' ? 1 : -1;
  const slopeAtBand = (params.halfBand / params.unit) * skewSlope({ gamma: params.gamma, sigma, arrival: params.arrival, decay: params.decay });

  const conf = confidenceTerm(inputs.confidenceBps, params.rivals);
  const adv = inputs.adverseBps ?? 1.5;
  const inv = inventoryTerm({ slopeAtBand, side, q: inputs.q, sizeInBands: size / params.halfBand });
  const impact = Math.max(impactTerm({ factor: params.impactFactor, sigma: inputs.sigma, size, dailyVolume: params.dailyVolume }), inputs.walkedImpactBps ?? 0);
  const capital = capitalTerm(params.capitalRate, inputs.lockSeconds);
  const rebal = inputs.rebalanceBps ?? 0;
  const c0 = conf + adv + inv + impact + capital + rebal + gas;
  const fee = inputs.platformFeeBps;

  const motion: MidMotion = { deviation: sigma * Math.sqrt(inputs.firmSeconds), jumps: params.jumpsPerSecond * inputs.firmSeconds, jumpBps: params.jumpBps };
  const after = params.invPassThrough ? inv : 0;
  const solved = firmness(c0 - after + fee, after, params.omega, params, motion);
  const D = Math.max(solved.D, params.minSpreadBps);
  return {
    conf, adv, inv, impact, capital, rebal, gas, c0, fee,
    x: solved.x, optionCost: optionCost(solved.D, motion), jumpCost: jumpCost(solved.D, motion), deviation: motion.deviation,
    m: solved.m, D, winProbability: winProbability(D, params),
  };
}

/** What is left for the LP, D - fee - gas, as the integer of 1e-4 bps that prices; rounded up. */
export function spreadInteger({ D, fee, gas }: Pick<Terms, 'D' | 'fee' | 'gas'>): bigint {
  return BigInt(Math.ceil((D - fee - gas) * 1e4));
}
