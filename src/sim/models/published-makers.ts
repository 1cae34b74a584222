/** Compares the market-making models with what their papers print. */

import {
  AS2008,
  type AvellanedaResult,
  type AvellanedaSetup,
  averageSpread,
  gridSpread,
  simulateAvellaneda,
} from './avellaneda.ts';
import { createRandom } from '../random.ts';
import { glft } from './glft.ts';
import { allAsPrinted, asPrinted, atMost, near, type ReportRow, within } from '../row.ts';

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

export function avellanedaRows(seed: number, paths: number): ReportRow[] {
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

export function glftRows(): ReportRow[] {
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
