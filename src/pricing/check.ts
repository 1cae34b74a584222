/**
 * The second opinion before a signature: everything that `price` claims, proven by other arithmetic. Integers are checked
 * by cross-multiplied inequalities instead of divisions; the spread is checked by putting it into the equations it must
 * solve instead of solving them; the normal distribution is summed from its series. Shares no code with what it checks.
 * Of a plug-in it only knows that its numbers are in the sum: what they should have been is the market maker's affair.
 */

import type { PriceInputs, Priced } from './price.ts';

const E8 = 100_000_000n;
const E4 = 10_000n;
/** Two ways to compute the same float agree to this many bps. */
const AGREE = 1e-6;

/** What does not hold of this price; empty when it may be signed. */
export function check(inputs: PriceInputs, priced: Priced): string[] {
  const wrong: string[] = [];
  const must = (holds: boolean, claim: string) => {
    if (!holds) wrong.push(claim);
  };
  integers(inputs, priced, must);
  value(inputs, priced, must);
  sums(inputs, priced, must);
  if (inputs.plugin?.pricer === undefined) {
    costs(inputs, priced, must);
    solution(inputs, priced, must);
  }
  return wrong;
}

type Must = (holds: boolean, claim: string) => void;

/** Output units for one input unit, as a fraction p / q. */
function fraction({ lp, mid, baseDecimals, quoteDecimals }: PriceInputs): [bigint, bigint] {
  const shift = quoteDecimals - baseDecimals;
  let p = mid.num;
  let q = mid.den;
  if (shift >= 0) p *= 10n ** BigInt(shift);
  else q *= 10n ** BigInt(-shift);
  return lp === 'buy' ? [p, q] : [q, p];
}

/** Is `n` the floor of a / b? */
const isFloor = (n: bigint, a: bigint, b: bigint) => n * b <= a && a < (n + 1n) * b;
const isCeil = (n: bigint, a: bigint, b: bigint) => (n - 1n) * b < a && a <= n * b;

function integers(inputs: PriceInputs, { input, output, gross, feeAmount, gasAmount, relayAmount, spread: s, received }: Priced, must: Must): void {
  const [p, q] = fraction(inputs);
  const fee = BigInt(inputs.platformFeeBps);
  must(input > 0n && output > 0n, 'amounts are positive');
  must(isFloor(gross, input * p, q), 'gross is the value at mid, rounded down');
  must(isCeil(feeAmount, gross * fee, E4), 'fee is rounded up');
  must(isCeil(gasAmount, inputs.ownGas * BigInt(inputs.params.gasBufferBps), E4), 'gas carries its buffer, rounded up');
  must(isCeil(relayAmount, inputs.relayFee * p, q), 'relay fee is exact, rounded up');
  must(isFloor((input - inputs.relayFee - received), input * fee, E4), 'received is what the escrow pays out');

  // Largest n with n <= g * (1 - s) - ceil(g * fee) - gas for this gross or the one before.
  const buys = (g: bigint, n: bigint) => g >= 0n && (n + gasAmount + relayAmount + ((g * fee + E4 - 1n) / E4)) * E8 <= g * (E8 - s);
  const affords = (g: bigint, n: bigint) => buys(g, n) || (g > 0n && buys(g - 1n, n));
  must(affords(gross, output), 'output is not more than the input buys');
  if (inputs.side === 'exactInput') {
    must(input === inputs.amount, 'input is what the taker fixed');
    must(!affords(gross, output + 1n), 'output is not less than the input buys');
  } else {
    must(output === inputs.amount, 'output is what the taker fixed');
    must(!affords(((input - 1n) * p) / q, output), 'input is the smallest that buys the output');
  }
}

function value(inputs: PriceInputs, { input, output, received, gasAmount, terms, spread: s }: Priced, must: Must): void {
  const [p, q] = fraction(inputs);
  must(output * q <= input * p || terms.D < 0, 'output is not above the mid');
  // A negative spread is what we pay to be rid of a position; then only the line above holds.
  if (s >= 0n) must((output + gasAmount) * q <= received * p, 'what arrives is worth what leaves and the gas');
  must(terms.D >= inputs.params.minSpreadBps && terms.D <= inputs.params.maxSpreadBps, 'spread is within its bounds');
}

const near = (a: number, b: number) => Math.abs(a - b) <= AGREE * Math.max(1, Math.abs(a), Math.abs(b));

/** What D is made of, and the integer that is made of D. */
function sums(inputs: PriceInputs, { terms, spread: s, gross }: Priced, must: Must): void {
  const exact = Number(s) / 1e4;
  must(near(terms.gas, (Number(gross - netOfGas(inputs, gross)) / Number(gross)) * 1e4), 'gas term is the gas');
  must(exact >= terms.D - terms.fee - terms.gas - 1e-9 && exact < terms.D - terms.fee - terms.gas + 1e-4 + 1e-9, 'spread is D less fee and gas, rounded up');
  let c0 = terms.conf + terms.adv + terms.inv + terms.impact + terms.capital + terms.rebal + terms.gas;
  for (const name in terms.extra) c0 += terms.extra[name] as number;
  must(near(terms.c0, c0), 'c0 is its sum');
  must(terms.fee === inputs.platformFeeBps && (terms.explore ?? 0) === (inputs.exploreBps ?? 0), 'fee and noise are what was given');
  must((terms.extra === undefined) === (inputs.plugin === undefined), 'extra terms come from a plug-in');
  must(near(terms.D, Math.max(solvedOf(terms), inputs.params.minSpreadBps)), 'D is cost, fee, premium and markup');
}

const solvedOf = ({ c0, fee, x, m, explore }: Priced['terms']) => c0 + fee + x + m + (explore ?? 0);

/** The cost terms from their formulas, written down again. */
function costs(inputs: PriceInputs, { terms, gross }: Priced, must: Must): void {
  const { params, lp, mid, quoteValue } = inputs;
  const unrewarded = (bps: number) => (inputs.noRebates && bps < 0 ? 0 : bps);
  must(terms.conf >= 0 && terms.conf <= inputs.confidenceBps * Math.sqrt(2 * Math.log(params.rivals)) + AGREE, 'confidence is within what the best of many noises can be');
  must(terms.adv === (inputs.adverseBps ?? 1.5) && terms.rebal === unrewarded(inputs.rebalanceBps ?? 0), 'adverse selection and rebalancing are what was given');
  const size = (Number(gross) / 10 ** (lp === 'buy' ? inputs.quoteDecimals : inputs.baseDecimals)) * quoteValue * (lp === 'buy' ? 1 : Number(mid.num) / Number(mid.den));
  const variance = (inputs.sigma * inputs.sigma * 1e8) / 31_536_000;
  const slope = Math.sqrt((params.gamma * variance * Math.E) / (2 * params.arrival * params.decay)) / params.unit;
  const held = (inputs.q < -1 ? -1 : inputs.q > 1 ? 1 : inputs.q) * params.halfBand;
  must(near(terms.inv, unrewarded(slope * (lp === 'buy' ? held + size / 2 : size / 2 - held))), 'skew is its slope at the mean position');
  const rooted = inputs.sigma * params.impactFactor * 1e4 * Math.sqrt(size / (365 * params.dailyVolume));
  must(terms.impact >= Math.max(rooted, inputs.walkedImpactBps ?? 0) * (1 - AGREE) && (inputs.hedgeBook !== undefined || near(terms.impact, Math.max(rooted, inputs.walkedImpactBps ?? 0))), 'impact is not below the square-root law');
  must(near(terms.capital, (params.capitalRate * 1e4 * (inputs.lockSeconds + params.coFailureRate * (inputs.splitHoldSeconds ?? 0))) / 31_536_000), 'capital is interest on what is locked');
}

/** Premium and markup, put back into the equations of the model. */
function solution(inputs: PriceInputs, { terms }: Priced, must: Must): void {
  const { params } = inputs;
  const S = inputs.sigma * 1e4 * Math.sqrt(inputs.firmSeconds / 31_536_000);
  const solved = solvedOf(terms);
  const d = S > 0 ? solved / S : 0;
  const diffusion = S > 0 ? S * (Math.exp((-d * d) / 2) / Math.sqrt(2 * Math.PI)) - solved * upperTail(d) : Math.max(-solved, 0);
  const jumps = (params.jumpsPerSecond * inputs.firmSeconds * params.jumpBps * Math.exp(-Math.max(solved, 0) / params.jumpBps)) / 2;
  must(near(terms.x, params.omega * (diffusion + jumps)), 'premium is its share of the option');

  // m = (1 + w) / beta with w * e^w = e^(-1 - alpha - beta * cost), or the least edge.
  const cost = terms.c0 + terms.fee + terms.x - (params.invPassThrough ? terms.inv : 0);
  const w = terms.m * params.beta - 1;
  const y = -1 - params.alpha - params.beta * cost;
  // For small w the logarithm would only magnify how little of it is left of m.
  const excess = w > 1e-3 ? w + Math.log(w) - y : w * Math.exp(w) - Math.exp(y);
  const solves = Math.abs(excess) <= AGREE * Math.max(1, Math.abs(y));
  const floored = near(terms.m, params.minEdgeBps) && excess >= -AGREE;
  must(terms.m >= params.minEdgeBps - AGREE && (solves || floored), 'markup is the best on the win-rate curve');
}

/** gross less own gas and relay fee, from the inputs alone. */
function netOfGas(inputs: PriceInputs, gross: bigint): bigint {
  const [p, q] = fraction(inputs);
  const own = (inputs.ownGas * BigInt(inputs.params.gasBufferBps) + E4 - 1n) / E4;
  return gross - own - (inputs.relayFee * p + q - 1n) / q;
}

/** 1 - Phi(d): the series of the distribution near zero, its continued fraction (evaluated forwards) in the tail. */
function upperTail(d: number): number {
  const density = Math.exp((-d * d) / 2) / Math.sqrt(2 * Math.PI);
  if (d < -2.5) return 1 - upperTail(-d);
  if (d <= 2.5) {
    let term = d;
    let sum = d;
    for (let n = 3; Math.abs(term) > 1e-17; n += 2) {
      term *= (d * d) / n;
      sum += term;
    }
    return 0.5 - density * sum;
  }
  let [topBefore, bottomBefore, top, bottom] = [0, 1, 1, d];
  for (let n = 1; n < 80; n++) {
    const scale = 1 / (d * bottom + n * bottomBefore);
    [topBefore, top] = [top * scale, (d * top + n * topBefore) * scale];
    [bottomBefore, bottom] = [bottom * scale, 1];
  }
  return (density * top) / bottom;
}
