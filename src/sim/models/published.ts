/** Recomputes every printed figure behind the model and compares it with the print. */

import { isDecline } from '../../domain/decline.ts';
import { InvariantError } from '../../domain/errors.ts';
import { bachelierCall, jumpCost, optionCost, perRootSecond } from '../../pricing/option.ts';
import { DEFAULT_PARAMS } from '../../pricing/params.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { lambertWExp, normalCdf, normalPdf } from '../../pricing/special.ts';
import { confidenceTerm } from '../../pricing/terms.ts';
import { type CapitalFee, capitalFee, lpRate, type RateModel } from './across.ts';
import { blackScholes, overBachelier } from './black-scholes.ts';
import {
  arbitrageChance,
  bernstein,
  breakEven,
  exceedance,
  largestOf,
  payoutsToHold,
  poolLoss,
} from './chances.ts';
import { avellanedaRows, glftRows } from './published-makers.ts';
import {
  allAsPrinted,
  asPrinted,
  informs,
  near,
  reportOf,
  type SimReport,
  type ReportRow,
  within,
} from '../row.ts';

export function published({ seed = 1, paths = 1000 }: { seed?: number; paths?: number } = {}): SimReport {
  return reportOf([
    ...avellanedaRows(seed, paths),
    ...glftRows(),
    ...optionRows(),
    ...premiumRows(),
    ...acrossRows(),
    ...chanceRows(),
    ...exampleRows(),
  ]);
}

function optionRows(): ReportRow[] {
  const hull = blackScholes({ S: 42, K: 40, r: 0.1, sigma: 0.2, T: 0.5 });
  const round = blackScholes({ S: 100, K: 100, r: 0.05, sigma: 0.2, T: 1 });
  const haug = blackScholes({ S: 60, K: 65, r: 0.08, sigma: 0.3, T: 0.25 });
  const minute = perRootSecond(0.9) * Math.sqrt(60) * 1e-4;
  const cross: readonly (readonly [number, number, number])[] = [
    [0, -6.4e-8, 5e-10],
    [0.5, 5.52e-4, 5e-7],
    [1, 1.803e-3, 5e-7],
    [2, 7.91e-3, 5e-6],
    [3, 2.176e-2, 5e-6],
  ];
  return [
    ...allAsPrinted('Black-Scholes, Hull 42/40/.1/.2/.5', [
      ['call', hull.call, '4.7594223929'],
      ['put', hull.put, '0.8085993729'],
    ]),
    ...allAsPrinted('Black-Scholes, 100/100/.05/.2/1', [
      ['call', round.call, '10.4505835722'],
      ['put', round.put, '5.5735260223'],
    ]),
    asPrinted('Black-Scholes, Haug 60/65/.08/.3/.25: call', haug.call, '2.1333684449'),
    asPrinted('Bachelier at the money, S=1: 1/√(2π)', bachelierCall(0, 1), '0.3989422804'),
    ...cross.map(([d, printed, digit]) =>
      near(
        `Black-Scholes over Bachelier less 1, σ=90 %, 60 s, d=${d}`,
        overBachelier(d, minute),
        printed,
        digit * 1.2,
        'every printed digit',
      ),
    ),
    asPrinted('Lambert W(1)', lambertWExp(0), '0.5671432904'),
    asPrinted('Lambert W(1/e)', lambertWExp(-1), '0.2784645428'),
  ];
}

function premiumRows(): ReportRow[] {
  const rows: ReportRow[] = [];
  const atZero: readonly (readonly [number, number, string])[] = [
    [0.6, 5, '0.953'],
    [0.6, 10, '1.348'],
    [0.6, 30, '2.335'],
    [0.6, 60, '3.302'],
    [1, 5, '1.589'],
    [1, 30, '3.891'],
    [1, 60, '5.503'],
  ];
  for (const [sigma, seconds, printed] of atZero)
    rows.push(
      asPrinted(
        `Firm quote at zero spread, σ=${sigma}, ${seconds} s: option cost in bps`,
        bachelierCall(0, perRootSecond(sigma) * Math.sqrt(seconds)),
        printed,
      ),
    );
  rows.push(
    near(
      'Firm quote at zero spread, σ=1, 10 s: option cost in bps',
      bachelierCall(0, perRootSecond(1) * Math.sqrt(10)),
      2.246,
      1e-3,
      'printed digits, cut off',
    ),
  );
  for (const [d, printed] of [
    [0, '0.39894'],
    [0.5, '0.19780'],
    [1, '0.083315'],
    [1.5, '0.029307'],
    [2, '0.0084907'],
    [3, '0.00038215'],
  ] as const)
    rows.push(asPrinted(`φ(d) − d·Φ(−d) at d=${d}`, normalPdf(d) - d * normalCdf(-d), printed));
  for (const [omega, printed] of [
    [0.1, '0.038022'],
    [0.25, '0.089005'],
    [0.5, '0.161658'],
    [1, '0.276030'],
    [2, '0.436327'],
    [5, '0.706530'],
  ] as const)
    rows.push(asPrinted(`Break-even spread d* at ω=${omega}`, breakEven(omega), printed));
  const motion = { deviation: perRootSecond(0.9) * Math.sqrt(60), jumps: 60 / 3600, jumpBps: 30 };
  // The print truncates: 1.946(70) + .191(49).
  rows.push(
    near(
      'Firm quote at 8 bps, σ=90 %, 60 s: diffusion part',
      bachelierCall(8, motion.deviation),
      1.946,
      1e-3,
      'printed digits, cut off',
    ),
    near('Firm quote at 8 bps, σ=90 %, 60 s: jump part', jumpCost(8, motion), 0.192, 1e-3, 'printed digits'),
    near(
      'Firm quote at 8 bps, σ=90 %, 60 s: option cost C(D)',
      optionCost(8, motion),
      2.137,
      2e-3,
      'printed digits, cut off',
    ),
  );
  return rows;
}

const WBTC: CapitalFee = { lower: 0.0003, upper: 0.002, cutoff: 15 };
const DAI: CapitalFee = { lower: 0.0003, upper: 0.0015, cutoff: 500_000 };
const LP_MODEL: RateModel = { uBar: 0.65, r0: 0, r1: 0.08, r2: 1 };

function acrossRows(): ReportRow[] {
  const fees: readonly (readonly [string, CapitalFee, number, number])[] = [
    ['WBTC', WBTC, 0.001, 0.000300056666666],
    ['WBTC', WBTC, 14.999, 0.00114994333333333],
    ['WBTC', WBTC, 600, 0.001978749999999999],
    ['DAI', DAI, 1, 0.0003000012],
    ['DAI', DAI, 499_999, 0.0008999988],
    ['DAI', DAI, 20_000_000, 0.001485],
  ];
  const rates: readonly (readonly [number, number, number, number])[] = [
    [0, 0.5, 0.03076923076923077, 0.000582965040710805],
    [0.5, 0.51, 0.0621538461538462, 0.001160264449662626],
    [0.95, 1, 1.008571428571429, 0.013502339199904125],
  ];
  const digits = 'every digit but its integer rounding';
  return [
    ...fees.map(([token, model, size, printed]) =>
      near(`Across capital fee, ${size} ${token}`, capitalFee(model, size), printed, 1e-15, digits),
    ),
    ...rates.flatMap(([from, to, apy, weekly]) => {
      const ours = lpRate(LP_MODEL, from, to);
      // Their 1e18 integers carry about 1e-16 of rounding per 1e-2 of utilisation.
      return [
        near(
          `Across LP rate, utilisation ${from} to ${to}: yearly`,
          ours.apy,
          apy,
          1e-15 + 2e-15 * apy,
          digits,
        ),
        near(`Across LP rate, utilisation ${from} to ${to}: weekly`, ours.weekly, weekly, 1e-15, digits),
      ];
    }),
  ];
}

function chanceRows(): ReportRow[] {
  const chances = Array.from({ length: 20 }, () => 0.3);
  const above = exceedance(chances);
  const day = 0.05 / Math.sqrt(86_400);
  return [
    asPrinted('Poisson-binomial, 20 quotes at .3: P(N > 12)', above[12] as number, '0.0012788796'),
    asPrinted('Poisson-binomial, 20 quotes at .3: P(N > 13)', above[13] as number, '0.0002610470'),
    asPrinted('Poisson-binomial: payouts to hold at ε = 1e-3', payoutsToHold(chances, 1e-3), '13'),
    asPrinted('Bernstein bound on P(N ≥ 14)', bernstein(20, 0.3, 8), '0.0094646'),
    ...['0.5642', '0.8463', '1.0294', '1.1630'].flatMap((printed, at) => {
      const n = at + 2;
      return [
        asPrinted(`Best of ${n} mids, e_${n}, by integration`, largestOf(n), printed),
        asPrinted(`Best of ${n} mids, e_${n}, as the engine charges it`, confidenceTerm(1, n), printed),
      ];
    }),
    ...(
      [
        [30, '0.12195'],
        [5, '0.45455'],
      ] as const
    ).map(([feeBps, printed]) =>
      asPrinted(
        `Arbitrage chance of a stale pool, σ=5 %/day, 12 s, ${feeBps} bp`,
        arbitrageChance({ sigma: day, fee: feeBps / 1e4, blockSeconds: 12 }),
        printed,
      ),
    ),
    within('Loss versus rebalancing of x·y=k in a day at σ=5 %: σ²/8', poolLoss(0.05), 0.05 ** 2 / 8, 0.001),
    informs(
      'Arbitrage per block at fixed block time, 5 bp, in bps² of a block’s variance (Nezlobin and Tassy)',
      1 / (2 + (1.7164 * 0.0005) / (day * Math.sqrt(12))),
    ),
  ];
}

const WORKED_EXAMPLE: PriceInputs = {
  side: 'exactInput',
  amount: 10n ** 19n,
  platformFeeBps: 2,
  relayFee: 0n,
  lp: 'buy',
  baseDecimals: 18,
  quoteDecimals: 6,
  mid: { num: 2500n, den: 1n },
  quoteValue: 1,
  confidenceBps: (1.4826 * 0.2 * 1e4) / 2500,
  sigma: 0.9,
  firmSeconds: 61,
  q: -0.25,
  ownGas: 300_000n,
  lockSeconds: 900,
  adverseBps: 1.5,
  params: DEFAULT_PARAMS,
};

function exampleRows(): ReportRow[] {
  const priced = (changed: Partial<PriceInputs>) => {
    const answer = price({ ...WORKED_EXAMPLE, ...changed });
    if (isDecline(answer))
      throw new InvariantError('The worked example is declined.', { facts: { detail: answer.detail } });
    return answer;
  };
  const { output, terms } = priced({});
  const sweeps: readonly (readonly [string, Partial<PriceInputs>, string])[] = [
    ['T=6', { firmSeconds: 6 }, '10.189906'],
    ['T=121', { firmSeconds: 121 }, '10.719161'],
    ['q=−1', { q: -1 }, '5.730094'],
    ['q=0', { q: 0 }, '12.702749'],
    ['q=.5', { q: 0.5 }, '18.225358'],
    ['ω=0', { params: { ...DEFAULT_PARAMS, omega: 0 } }, '10.186165'],
    ['ω=1', { params: { ...DEFAULT_PARAMS, omega: 1 } }, '11.146390'],
  ];
  return [
    ...allAsPrinted('Worked example', [
      ['S', terms.deviation, '12.517111575'],
      ['c0', terms.c0, '1.870369899'],
      ['C(D)', terms.optionCost, '1.595523918'],
      ['x', terms.x, '0.398880980'],
      ['m', terms.m, '6.172469116'],
      ['D', terms.D, '10.441719995'],
      ['output in USDC base units', Number(output), '24973895500'],
    ]),
    ...sweeps.map(([name, changed, printed]) =>
      asPrinted(`Worked example with ${name}: D`, priced(changed).terms.D, printed),
    ),
  ];
}
