/** Computes the all-in spread D with its terms, in floats; `spreadInteger` is where they end. */

import { firmness, winProbability } from './firmness-premium.ts';
import { walkedImpact } from './hedge-book.ts';
import { jumpCost, optionCost, perRootSecond, type MidMotion } from './option.ts';
import { consult, DEFAULT_ADVERSE_BPS, viewOf } from './plugin.ts';
import type { PriceInputs, SpreadTerms } from './price-inputs.ts';
import { capitalTerm, confidenceTerm, impactTerm, inventoryTerm, skewSlope } from './terms.ts';

/** `size` in the reference currency; `gas` (own and relayed) in bps of it. Throws `PluginFault`. */
export function spreadTerms(inputs: PriceInputs, size: number, gas: number): SpreadTerms {
  const { plugin, params, signal, exploreBps: explore = 0 } = inputs;
  const sigma = perRootSecond(inputs.sigma);
  const motion: MidMotion = {
    deviation: sigma * Math.sqrt(inputs.firmSeconds),
    jumps: params.jumpsPerSecond * inputs.firmSeconds,
    jumpBps: params.jumpBps,
  };
  const extra = plugin && consult(plugin, viewOf(inputs, size, gas));
  const terms =
    plugin?.pricer === undefined
      ? modelled(inputs, size, gas, sigma, motion, extra)
      : replaced(inputs, gas, motion, extra);
  if (extra !== undefined) terms.extra = extra;
  if (explore !== 0) terms.explore = explore;
  if (signal !== undefined) {
    terms.signalSkew = leanTerm(inputs, signal.skewBps);
    terms.signalWidth = signal.widthBps;
    terms.signalShift = leanTerm(inputs, signal.fairValueShiftBps);
  }
  return terms;
}

function modelled(
  inputs: PriceInputs,
  size: number,
  gas: number,
  sigma: number,
  motion: MidMotion,
  extra: Record<string, number> | undefined,
): SpreadTerms {
  const { params, exploreBps: explore = 0 } = inputs;
  const side = inputs.lp === 'buy' ? 1 : -1;
  const slopeAtBand =
    (params.halfBand / params.unit) *
    skewSlope({ gamma: params.gamma, sigma, arrival: params.arrival, decay: params.decay });

  const conf = confidenceTerm(inputs.confidenceBps, params.rivals);
  const adv = inputs.adverseBps ?? DEFAULT_ADVERSE_BPS;
  const least = inputs.noRebates === true ? 0 : Number.NEGATIVE_INFINITY;
  const inv = Math.max(
    inventoryTerm({ slopeAtBand, side, q: inputs.q, sizeInBands: size / params.halfBand }),
    least,
  );
  const impact = Math.max(
    impactTerm({ factor: params.impactFactor, sigma: inputs.sigma, size, dailyVolume: params.dailyVolume }),
    inputs.walkedImpactBps ?? 0,
    walked(inputs, side, size),
  );
  const capital = capitalTerm(
    params.capitalRate,
    inputs.lockSeconds + params.coFailureRate * (inputs.splitHoldSeconds ?? 0),
  );
  const rebal = Math.max(inputs.rebalanceBps ?? 0, least);
  const c0 = conf + adv + inv + impact + capital + rebal + gas + sum(extra);
  const fee = inputs.platformFeeBps;

  const through = params.invPassThrough ? inv : 0;
  const after = through + explore + aroundFairValue(inputs);
  // Strike and fair value move together under a shift, so it does not change the premium.
  const solved = firmness(c0 - through + fee, after, params.omega, params, motion);
  const D = Math.max(solved.D + shiftOf(inputs), params.minSpreadBps);
  return {
    conf,
    adv,
    inv,
    impact,
    capital,
    rebal,
    gas,
    c0,
    fee,
    x: solved.x,
    optionCost: optionCost(solved.D, motion),
    jumpCost: jumpCost(solved.D, motion),
    deviation: motion.deviation,
    m: solved.m,
    D,
    winProbability: winProbability(D, params),
  };
}

/** Returns the parts of a plug-in pricer. The option cost at its spread is still reported. */
function replaced(
  inputs: PriceInputs,
  gas: number,
  motion: MidMotion,
  parts: Record<string, number> | undefined,
): SpreadTerms {
  const { platformFeeBps: fee, params, exploreBps: explore = 0 } = inputs;
  const c0 = gas + sum(parts);
  const asked = c0 + fee + explore + aroundFairValue(inputs);
  const D = Math.max(asked + shiftOf(inputs), params.minSpreadBps);
  return {
    conf: 0,
    adv: 0,
    inv: 0,
    impact: 0,
    capital: 0,
    rebal: 0,
    gas,
    c0,
    fee,
    x: 0,
    optionCost: optionCost(asked, motion),
    jumpCost: jumpCost(asked, motion),
    deviation: motion.deviation,
    m: 0,
    D,
    winProbability: winProbability(D, params),
  };
}

/** A move of both sides, up when positive, as a term: the LP that buys pays more. No rebate off a peg. */
function leanTerm({ lp, noRebates }: PriceInputs, bps: number): number {
  const term = lp === 'buy' ? 0 - bps : bps;
  return noRebates === true ? Math.max(term, 0) : term;
}

/** Returns what the signal adds to the distance from the fair value, in basis points. */
function aroundFairValue(inputs: PriceInputs): number {
  const { signal } = inputs;
  return signal === undefined ? 0 : leanTerm(inputs, signal.skewBps) + signal.widthBps;
}

function shiftOf(inputs: PriceInputs): number {
  return inputs.signal === undefined ? 0 : leanTerm(inputs, inputs.signal.fairValueShiftBps);
}

function sum(extra: Record<string, number> | undefined): number {
  let total = 0;
  for (const name in extra) total += extra[name] ?? 0;
  return total;
}

function walked({ hedgeBook, mid, quoteValue }: PriceInputs, side: 1 | -1, size: number): number {
  if (hedgeBook === undefined) return 0;
  const value = Number(mid.num) / Number(mid.den);
  return walkedImpact(hedgeBook, side, size / (value * quoteValue), value);
}

/** Returns D - fee - gas in 1e-4 bps, rounded up: the spread of the LP. */
export function spreadInteger({ D, fee, gas }: Pick<SpreadTerms, 'D' | 'fee' | 'gas'>): bigint {
  return BigInt(Math.ceil((D - fee - gas) * 1e4));
}
