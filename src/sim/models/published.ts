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
import {
  AS2008,
  type AvellanedaResult,
  type AvellanedaSetup,
  averageSpread,
  gridSpread,
  simulateAvellaneda,
} from './avellaneda.ts';
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
import { createRandom } from '../random.ts';
import { glft } from './glft.ts';
import {
  allAsPrinted,
  asPrinted,
  atMost,
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

/** Journal tables: gamma, strategy, mean spread, profit, its std, final q, its std. */
export const JOURNAL = [
  [0.1, 'inventory', 1.49, 65.0, 6.6, 0.08, 2.9],
  [0.1, 'symmetric', 1.49, 68.4, 12.7, 0.26, 8.4],
  [0.01, 'inventory', 1.35, 68.6, 8.7, 0.12, 5.1],
  [0.01, 'symmetric', 1.35, 68.8, 12.8, 0.09, 8.7],
] as const;

/** Results of common misreadings of the model, from our notes. */
const TRAPS: readonly (readonly [
  string,
  Partial<AvellanedaSetup> & { gamma: number; strategy: 'inventory' | 'symmetric' },
  profit: number,
  std: number | null,
])[] = [
  [
    'trap: exact Poisson fills, γ=0.1 inventory (the paper prints 65.0)',
    { gamma: 0.1, strategy: 'inventory', fills: 'exact' },
    57.2,
    null,
  ],
  [
    'trap: exact Poisson fills, γ=0.1 symmetric (the paper prints 68.4)',
    { gamma: 0.1, strategy: 'symmetric', fills: 'exact' },
    61.0,
    null,
  ],
  [
    'trap: preprint spread, γ=0.1 inventory (the preprint prints 62.94)',
    { gamma: 0.1, strategy: 'inventory', spread: 'preprint' },
    64.2,
    6.0,
  ],
  [
    'trap: preprint spread, γ=0.5 inventory (the preprint prints 33.92)',
    { gamma: 0.5, strategy: 'inventory', spread: 'preprint' },
    23.9,
    5.07,
  ],
  ['not printed by the journal: γ=0.5 inventory', { gamma: 0.5, strategy: 'inventory' }, 48.56, 5.88],
  ['not printed by the journal: γ=0.5 symmetric', { gamma: 0.5, strategy: 'symmetric' }, 59.91, 12.25],
];

/** The journal prints two digits. */
export function journalRows(
  name: string,
  ours: AvellanedaResult,
  [, , spread, profit, profitStd, finalQ, finalQStd]: (typeof JOURNAL)[number],
  paths: number,
): ReportRow[] {
  const distance = (3 * Math.SQRT2 * ours.finalQStd) / Math.sqrt(paths);
  return [
    near(`${name}average spread`, ours.averageSpread, spread, 0.005, 'every printed digit'),
    within(`${name}profit`, ours.profit, profit, 0.02),
    within(`${name}std of profit`, ours.profitStd, profitStd, 0.1),
    near(`${name}final q`, ours.finalQ, finalQ, distance, '3 joint standard errors'),
    within(`${name}std of final q`, ours.finalQStd, finalQStd, 0.1),
  ];
}

function avellanedaRows(seed: number, paths: number): ReportRow[] {
  const rows: ReportRow[] = [];
  for (const [at, print] of JOURNAL.entries()) {
    const [gamma, strategy] = print;
    const setup: AvellanedaSetup = { ...AS2008, paths, gamma, strategy };
    const name = `Avellaneda-Stoikov 2008, γ=${gamma} ${strategy}`;
    rows.push(...journalRows(`${name}: `, simulateAvellaneda(setup, createRandom(seed, at)), print, paths));
  }
  for (const [gamma, analytic, grid] of [
    [0.1, '1.490770', '1.491770'],
    [0.01, '1.348909', '1.349009'],
    [1, '3.021651', '3.031651'],
  ] as const) {
    const setup = { ...AS2008, gamma };
    rows.push(
      ...allAsPrinted(`Avellaneda-Stoikov 2008, γ=${gamma}`, [
        ['average spread, analytic', averageSpread(setup), analytic],
        ['average spread, over the grid', gridSpread(setup), grid],
      ]),
    );
  }
  for (const [at, [name, setup, profit, std]] of TRAPS.entries()) {
    const ours = simulateAvellaneda({ ...AS2008, paths, ...setup }, createRandom(seed, 100 + at));
    rows.push(within(`Avellaneda-Stoikov, ${name}: profit`, ours.profit, profit, 0.02));
    if (std !== null)
      rows.push(within(`Avellaneda-Stoikov, ${name}: std of profit`, ours.profitStd, std, 0.1));
  }
  return rows;
}

const GLFT = [
  {
    setup: { gamma: 0.01, sigma: 0.3, A: 0.9, k: 0.3, Q: 30 },
    c1: '3.2789822823',
    c2: '0.0678658325',
    spread: '6.6258303971',
    bids: [
      [0, '3.312915', '3.313045'],
      [10, '3.991574', '3.992933'],
      [-10, '2.634257', '2.632802'],
      [20, '4.670232', '4.665542'],
    ],
  },
  {
    setup: { gamma: 0.01, sigma: 1, A: 0.2, k: 0.3, Q: 30 },
    c1: '3.2789822823',
    c2: '0.4798839039',
    spread: '7.0378484685',
    bids: [
      [0, '3.518924', '3.525651'],
      [10, '8.317763', '8.022747'],
      [-10, '-1.279915', '-1.072185'],
      [20, '13.116602', '11.2454440526'],
    ],
  },
] as const;

function glftRows(): ReportRow[] {
  const rows: ReportRow[] = [];
  for (const { setup, c1, c2, spread, bids } of GLFT) {
    const ours = glft(setup);
    const name = `GLFT 2013, σ=${setup.sigma} A=${setup.A}`;
    rows.push(
      ...allAsPrinted(name, [
        ['c1', ours.c1, c1],
        ['c2', ours.c2, c2],
        ['spread', ours.spread, spread],
        ...bids.flatMap(([q, approximate, exact]): [string, number, string][] => [
          [`bid at q=${q}, closed form`, ours.bid(q), approximate],
          [`bid at q=${q}, exact`, ours.exactBid(q), exact],
        ]),
      ]),
    );
    rows.push(atMost(`${name}: residual of the eigenvector`, ours.residual, 1e-14));
  }
  const [calm, wild] = GLFT;
  const [near0, far] = [glft(calm.setup), glft(wild.setup)];
  rows.push(asPrinted('GLFT 2013, σ=0.3 A=0.9: η', near0.eta, '0.3256783558'));
  const share = (of: ReturnType<typeof glft>) => Math.abs(of.bid(20) / of.exactBid(20) - 1);
  rows.push(atMost('GLFT 2013: closed form against exact at q=20, small slope', share(near0), 0.002), {
    name: 'GLFT 2013: where the closed form breaks, q=20 at a large slope',
    ours: share(far),
    reference: 0.1,
    tolerance: 'at least: clip q to the band',
    ok: share(far) >= 0.1,
  });
  // The print carries a solver's error; sixty digits give 11.2454440526.
  rows.push(
    near(
      'GLFT 2013, σ=1 A=0.2: bid at q=20, exact, as printed',
      far.exactBid(20),
      11.245212,
      5e-4,
      '5e-4: the print carries rounding of its solver',
    ),
  );
  const as = glft({ gamma: 0.1, sigma: 2, A: 140, k: 1.5, Q: 30 });
  rows.push(
    ...allAsPrinted("GLFT 2013 with Avellaneda-Stoikov's parameters", [
      ['c1', as.c1, '.6453852114'],
      ['c2', as.c2, '.0517172161'],
    ]),
  );
  // No print exists for the corrections; compared with the eigenvector of the corrected matrix.
  const drift = glft({ ...calm.setup, mu: 0.002 });
  const adverse = glft({ ...calm.setup, xi: 1 });
  rows.push(
    within(
      'GLFT 2013 §5, drift μ=0.002: shift of the bid at q=0, closed form',
      drift.bid(0) - near0.bid(0),
      drift.exactBid(0) - near0.exactBid(0),
      0.01,
    ),
    within(
      'GLFT 2013 §5, drift μ=0.002: shift of the ask at q=0, closed form',
      drift.ask(0) - near0.ask(0),
      drift.exactAsk(0) - near0.exactAsk(0),
      0.01,
    ),
    ...(
      [
        [0, 0.001],
        [10, 0.005],
      ] as const
    ).map(([q, distance]) =>
      near(
        `GLFT 2013 §5, adverse move ξ=1: bid at q=${q}, closed form`,
        adverse.bid(q),
        adverse.exactBid(q),
        distance,
        `${distance} of the exact value`,
      ),
    ),
  );
  return rows;
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
