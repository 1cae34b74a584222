/**
 * The independent check before a signature. It proves every claim of `price` by other arithmetic and shares
 * no code with it: integers by cross-multiplied inequalities, the spread by substitution into its equations,
 * the normal distribution by its series. Of a plug-in it checks only the sum.
 */

import type { Priced } from './price.ts';
import type { PriceInputs } from './price-inputs.ts';

const E8 = 100_000_000n;
const E4 = 10_000n;
/** Tolerance in bps between two computations of one float. */
const AGREE = 1e-6;

/** Claims that fail; empty when the quote may be signed. */
export function check(inputs: PriceInputs, priced: Priced): string[] {
  const wrong: string[] = [];
  const rate = fraction(inputs);
  integers(inputs, priced, rate, wrong);
  value(inputs, priced, rate, wrong);
  sums(inputs, priced, rate, wrong);
  if (inputs.plugin?.pricer === undefined) {
    costs(inputs, priced, wrong);
    solution(inputs, priced, wrong);
  }
  return wrong;
}

function must(wrong: string[], holds: boolean, claim: string): void {
  if (!holds) wrong.push(claim);
}

interface Fraction {
  p: bigint;
  q: bigint;
}

function fraction({ lp, mid, baseDecimals, quoteDecimals }: PriceInputs): Fraction {
  const shift = quoteDecimals - baseDecimals;
  let p = mid.num;
  let q = mid.den;
  if (shift >= 0) p *= 10n ** BigInt(shift);
  else q *= 10n ** BigInt(-shift);
  return lp === 'buy' ? { p, q } : { p: q, q: p };
}

/** n = floor(a / b) */
const isFloor = (n: bigint, a: bigint, b: bigint) => n * b <= a && a < (n + 1n) * b;
const isCeil = (n: bigint, a: bigint, b: bigint) => (n - 1n) * b < a && a <= n * b;

/** n <= g * kept - ceil(g * fee) - gas, for g or g - 1. */
const affords = (g: bigint, n: bigint, kept: bigint, fee: bigint, gas: bigint): boolean =>
  buys(g, n, kept, fee, gas) || (g > 0n && buys(g - 1n, n, kept, fee, gas));
const buys = (g: bigint, n: bigint, kept: bigint, fee: bigint, gas: bigint): boolean =>
  g >= 0n && (n + gas + (g * fee + E4 - 1n) / E4) * E8 <= g * kept;

function integers(
  inputs: PriceInputs,
  { input, output, gross, feeAmount, gasAmount, relayAmount, spread: s, received }: Priced,
  { p, q }: Fraction,
  wrong: string[],
): void {
  const fee = BigInt(inputs.platformFeeBps);
  must(wrong, input > 0n && output > 0n, 'amounts are positive');
  must(wrong, isFloor(gross, input * p, q), 'gross is the value at mid, rounded down');
  must(wrong, isCeil(feeAmount, gross * fee, E4), 'fee is rounded up');
  must(
    wrong,
    isCeil(gasAmount, inputs.ownGas * BigInt(inputs.params.gasBufferBps), E4),
    'gas carries its buffer, rounded up',
  );
  must(wrong, isCeil(relayAmount, inputs.relayFee * p, q), 'relay fee is exact, rounded up');
  must(
    wrong,
    isFloor(input - inputs.relayFee - received, input * fee, E4),
    'received is the payout of the escrow',
  );

  const gas = gasAmount + relayAmount;
  const kept = E8 - s;
  must(wrong, affords(gross, output, kept, fee, gas), 'output is not more than the input buys');
  if (inputs.side === 'exactInput') {
    must(wrong, input === inputs.amount, 'input is the requested amount');
    must(wrong, !affords(gross, output + 1n, kept, fee, gas), 'output is not less than the input buys');
  } else {
    must(wrong, output === inputs.amount, 'output is the requested amount');
    must(
      wrong,
      !affords(((input - 1n) * p) / q, output, kept, fee, gas),
      'input is the smallest that buys the output',
    );
  }
}

function value(
  inputs: PriceInputs,
  { input, output, received, gasAmount, terms, spread: s }: Priced,
  { p, q }: Fraction,
  wrong: string[],
): void {
  must(wrong, output * q <= input * p || terms.D < 0, 'output is not above the mid');
  // A negative spread is a rebate: only the check above applies.
  if (s >= 0n) must(wrong, (output + gasAmount) * q <= received * p, 'received covers output and gas at mid');
  must(
    wrong,
    terms.D >= inputs.params.minSpreadBps && terms.D <= inputs.params.maxSpreadBps,
    'spread is within its bounds',
  );
}

const near = (a: number, b: number) => Math.abs(a - b) <= AGREE * Math.max(1, Math.abs(a), Math.abs(b));

function sums(
  inputs: PriceInputs,
  { terms, spread: s, gross }: Priced,
  rate: Fraction,
  wrong: string[],
): void {
  const exact = Number(s) / 1e4;
  must(
    wrong,
    near(terms.gas, (Number(gross - netOfGas(inputs, gross, rate)) / Number(gross)) * 1e4),
    'gas term is the gas',
  );
  must(
    wrong,
    exact >= terms.D - terms.fee - terms.gas - 1e-9 && exact < terms.D - terms.fee - terms.gas + 1e-4 + 1e-9,
    'spread is D less fee and gas, rounded up',
  );
  let c0 = terms.conf + terms.adv + terms.inv + terms.impact + terms.capital + terms.rebal + terms.gas;
  for (const name in terms.extra) c0 += terms.extra[name] as number;
  must(wrong, near(terms.c0, c0), 'c0 is its sum');
  must(
    wrong,
    terms.fee === inputs.platformFeeBps && (terms.explore ?? 0) === (inputs.exploreBps ?? 0),
    'fee and noise equal their inputs',
  );
  must(
    wrong,
    (terms.extra === undefined) === (inputs.plugin === undefined),
    'extra terms come from a plug-in',
  );
  must(
    wrong,
    near(terms.D, Math.max(solvedOf(terms) + (terms.signalShift ?? 0), inputs.params.minSpreadBps)),
    'D is cost, fee, premium and markup',
  );
  signals(inputs, terms, wrong);
}

/** Returns the distance from the fair value. */
const solvedOf = ({ c0, fee, x, m, explore = 0, signalSkew = 0, signalWidth = 0 }: Priced['terms']) =>
  c0 + fee + x + m + explore + signalSkew + signalWidth;

function signals(inputs: PriceInputs, terms: Priced['terms'], wrong: string[]): void {
  const { skewBps = 0, fairValueShiftBps = 0, widthBps = 0 } = inputs.signal ?? {};
  const { signalSkew = 0, signalShift = 0, signalWidth = 0 } = terms;
  const lean = inputs.lp === 'sell' ? 1 : -1;
  must(
    wrong,
    signalSkew === unrewarded(inputs, lean * skewBps) &&
      signalShift === unrewarded(inputs, lean * fairValueShiftBps),
    'skew and shift are those of the signal',
  );
  must(wrong, signalWidth === widthBps && widthBps >= 0, 'width is that of the signal, and widens');
}

const unrewarded = ({ noRebates }: PriceInputs, bps: number): number =>
  noRebates === true && bps < 0 ? 0 : bps;

function costs(inputs: PriceInputs, { terms, gross }: Priced, wrong: string[]): void {
  const { params, lp, mid, quoteValue } = inputs;
  must(
    wrong,
    terms.conf >= 0 && terms.conf <= inputs.confidenceBps * Math.sqrt(2 * Math.log(params.rivals)) + AGREE,
    'confidence is within the largest of several noise terms',
  );
  must(
    wrong,
    terms.adv === (inputs.adverseBps ?? 1.5) && terms.rebal === unrewarded(inputs, inputs.rebalanceBps ?? 0),
    'adverse selection and rebalancing equal their inputs',
  );
  const size =
    (Number(gross) / 10 ** (lp === 'buy' ? inputs.quoteDecimals : inputs.baseDecimals)) *
    quoteValue *
    (lp === 'buy' ? 1 : Number(mid.num) / Number(mid.den));
  const variance = (inputs.sigma * inputs.sigma * 1e8) / 31_536_000;
  const slope =
    Math.sqrt((params.gamma * variance * Math.E) / (2 * params.arrival * params.decay)) / params.unit;
  const held = (inputs.q < -1 ? -1 : inputs.q > 1 ? 1 : inputs.q) * params.halfBand;
  must(
    wrong,
    near(terms.inv, unrewarded(inputs, slope * (lp === 'buy' ? held + size / 2 : size / 2 - held))),
    'skew is its slope at the mean position',
  );
  const rooted = inputs.sigma * params.impactFactor * 1e4 * Math.sqrt(size / (365 * params.dailyVolume));
  must(
    wrong,
    terms.impact >= Math.max(rooted, inputs.walkedImpactBps ?? 0) * (1 - AGREE) &&
      (inputs.hedgeBook !== undefined || near(terms.impact, Math.max(rooted, inputs.walkedImpactBps ?? 0))),
    'impact is not below the square-root law',
  );
  must(
    wrong,
    near(
      terms.capital,
      (params.capitalRate *
        1e4 *
        (inputs.lockSeconds + params.coFailureRate * (inputs.splitHoldSeconds ?? 0))) /
        31_536_000,
    ),
    'capital is interest on the locked amount',
  );
}

function solution(inputs: PriceInputs, { terms }: Priced, wrong: string[]): void {
  const { params } = inputs;
  const S = inputs.sigma * 1e4 * Math.sqrt(inputs.firmSeconds / 31_536_000);
  const solved = solvedOf(terms);
  const d = S > 0 ? solved / S : 0;
  const diffusion =
    S > 0
      ? S * (Math.exp((-d * d) / 2) / Math.sqrt(2 * Math.PI)) - solved * upperTail(d)
      : Math.max(-solved, 0);
  const jumps =
    (params.jumpsPerSecond *
      inputs.firmSeconds *
      params.jumpBps *
      Math.exp(-Math.max(solved, 0) / params.jumpBps)) /
    2;
  must(wrong, near(terms.x, params.omega * (diffusion + jumps)), 'premium is its share of the option');

  // m = (1 + w) / beta with w * e^w = e^(-1 - alpha - beta * cost), or the least edge.
  const cost = terms.c0 + terms.fee + terms.x - (params.invPassThrough ? terms.inv : 0);
  const w = terms.m * params.beta - 1;
  const y = -1 - params.alpha - params.beta * cost;
  // For small w the logarithm would magnify the error in m.
  const excess = w > 1e-3 ? w + Math.log(w) - y : w * Math.exp(w) - Math.exp(y);
  const solves = Math.abs(excess) <= AGREE * Math.max(1, Math.abs(y));
  const floored = near(terms.m, params.minEdgeBps) && excess >= -AGREE;
  must(
    wrong,
    terms.m >= params.minEdgeBps - AGREE && (solves || floored),
    'markup is the best on the win-rate curve',
  );
}

function netOfGas(inputs: PriceInputs, gross: bigint, { p, q }: Fraction): bigint {
  const own = (inputs.ownGas * BigInt(inputs.params.gasBufferBps) + E4 - 1n) / E4;
  return gross - own - (inputs.relayFee * p + q - 1n) / q;
}

/** Returns 1 - Phi(d): its series near zero, its continued fraction (evaluated forwards) in the tail. */
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
  // Scaled so that the newest denominator is 1.
  let topBefore = 0;
  let bottomBefore = 1 / d;
  let top = 1 / d;
  for (let n = 1; n < 80; n++) {
    const scale = 1 / (d + n * bottomBefore);
    const next = (d * top + n * topBefore) * scale;
    topBefore = top * scale;
    bottomBefore = scale;
    if (Math.abs(next - top) <= 1e-16 * next) return density * next;
    top = next;
  }
  return density * top;
}
