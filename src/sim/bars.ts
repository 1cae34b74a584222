/** The firm-quote backtest: the criteria ("bars") the engine must meet. */

import { type AdversaryResult, runAdversary } from './adversary.ts';
import { type FirmResult, noResult, runFirm } from './firm.ts';
import { FIRM, type FirmSetup, STRATEGIES, type Strategy } from './firm-setup.ts';
import { deviationOf, errorOf, meanOf, type SumStats } from './sums.ts';
import {
  allInform,
  atLeast,
  atMost,
  exactly,
  informs,
  near,
  reportOf,
  type SimReport,
  type ReportRow,
} from './row.ts';
import { drawWorld, replayWorld, type SimWorld } from './world.ts';

interface BarsOptions {
  paths?: number;
  seed?: number;
  events?: number;
  /** Recorded prices, one per second, for bar 6. */
  prices?: readonly number[] | undefined;
  progress?: (done: string) => void;
}

interface Cell {
  setup: FirmSetup;
  result: FirmResult;
}

const HOURS_4 = { seconds: 14_400, rfqSeconds: 20 };

const PRINTED = [
  [0.2, 5, 'fixed', 2106, 55, 2117, 9.86, 284, -6.8],
  [0.2, 5, 'symmetric', 2108, 54, 2092, 9.74, 275, -6.0],
  [0.2, 5, 'skew', 2118, 18, 714, 3.21, 271, -6.4],
  [0.2, 5, 'full', 2119, 18, 712, 3.22, 271, -6.3],
  [0.2, 60, 'fixed', 1798, 56, 2178, 10.05, 284, -302],
  [0.2, 60, 'symmetric', 1816, 55, 2117, 9.84, 257, -275],
  [0.2, 60, 'skew', 1817, 19, 736, 3.37, 271, -291],
  [0.2, 60, 'full', 1825, 19, 722, 3.28, 253, -273],
  [0.5, 60, 'fixed', 537, 55, 2136, 10.02, 177, -756],
  [0.5, 60, 'symmetric', 655, 52, 1998, 9.45, 132, -581],
  [0.5, 60, 'skew', 559, 21, 827, 3.76, 169, -729],
  [0.5, 60, 'full', 652, 20, 772, 3.55, 130, -579],
] as const;
const PRINTED_PATHS = 1500;
const MARKETS = [
  [0.2, 5],
  [0.2, 60],
  [0.5, 60],
] as const;

/** The robustness rows need fewer worlds: their differences are large. */
const FEWER = 5;

export function bars({
  paths = PRINTED_PATHS,
  seed = 1,
  events = 1_000_000,
  prices,
  progress = () => {},
}: BarsOptions = {}): SimReport {
  const table = MARKETS.flatMap(([theta, validitySeconds]) =>
    STRATEGIES.map((strategy) => cell({ theta, validitySeconds, strategy })),
  );
  inWorlds(table, paths, seed, (path) => drawWorld({ ...FIRM, ...HOURS_4 }, seed, path), progress);

  const few = Math.max(Math.ceil(paths / FEWER), Math.min(paths, 20));
  const wrong = wrongBeliefs();
  const crowd = crowds();
  inWorlds(
    [...wrong, ...crowd].map(([, cell]) => cell),
    few,
    seed,
    (path) => drawWorld({ ...FIRM, ...HOURS_4 }, seed, path),
    (done) => progress(`wrong beliefs and competition: ${done}`),
  );

  progress('adversary');
  return reportOf([
    ...tableRows(table, paths),
    ...barRows(table, paths),
    ...adversaryRows(runAdversary(events, seed)),
    ...wrongRows(wrong),
    ...crowdRows(crowd),
    ...recordedRows(prices, few, seed, progress),
  ]);
}

const cell = (changed: Partial<FirmSetup>): Cell => ({ setup: { ...FIRM, ...changed }, result: noResult() });

function inWorlds(
  cells: readonly Cell[],
  paths: number,
  seed: number,
  worldOf: (path: number) => SimWorld,
  progress: (done: string) => void = () => {},
): void {
  for (let path = 0; path < paths; path++) {
    const world = worldOf(path);
    for (const { setup, result } of cells) runFirm(setup, world, seed + path, result);
    if ((path + 1) % 100 === 0) progress(`${path + 1} of ${paths} worlds`);
  }
}

const nameOf = (setup: Pick<FirmSetup, 'theta' | 'validitySeconds' | 'strategy'>): string =>
  `θ=${setup.theta} T=${setup.validitySeconds} s ${setup.strategy}`;
const ratioOf = (
  statistic: (sums: SumStats) => number,
  figure: 'profit' | 'edge' | 'pickOff',
  a: FirmResult,
  b: FirmResult,
): number => statistic(a[figure]) / statistic(b[figure]);
const positionOf = ({ position }: FirmResult): number => Math.sqrt(position.squares / position.seconds);

export function firmRows(
  changed: Partial<FirmSetup>,
  { paths, seed }: { paths: number; seed: number },
): ReportRow[] {
  const one = cell(changed);
  inWorlds([one], paths, seed, (path) => drawWorld({ ...one.setup, ...HOURS_4 }, seed, path));
  return cellRows(one);
}

function cellRows({ setup, result }: Cell): ReportRow[] {
  const { profit, fills, pickOff, edge, optionPaid, optionCost } = result;
  return allInform(
    {
      PnL: meanOf(profit),
      'standard error of PnL': errorOf(profit),
      'std of PnL': deviationOf(profit),
      'PnL / std': meanOf(profit) / deviationOf(profit),
      'q rms': positionOf(result),
      'uninformed fills': meanOf(fills),
      'pick-off': meanOf(pickOff),
      'PnL without position changes': meanOf(edge),
      'paid per option, bps': meanOf(optionPaid),
      'C(D) per option, bps': meanOf(optionCost),
    },
    `${nameOf(setup)}: `,
  );
}

function tableRows(table: readonly Cell[], paths: number): ReportRow[] {
  const because = '3 joint standard errors';
  // The distance that two independent samples may have. 1.25: the error of a std is wider for fat tails.
  const joint = Math.sqrt(1 + paths / PRINTED_PATHS);
  const ofStd = (3 * 1.25 * joint) / Math.sqrt(2 * paths);
  return PRINTED.flatMap(([theta, validitySeconds, strategy, pnl, error, std, q, fills, pickOff]) => {
    const { result } = find(table, theta, validitySeconds, strategy);
    const name = nameOf({ theta, validitySeconds, strategy });
    const [ours, deviation] = [meanOf(result.profit), deviationOf(result.profit)];
    return [
      near(
        `${name}: PnL`,
        ours,
        pnl,
        3 * Math.hypot(error, errorOf(result.profit)),
        `${because} (ours ±${errorOf(result.profit).toFixed(0)})`,
      ),
      near(`${name}: std of PnL`, deviation, std, ofStd * std, because),
      near(
        `${name}: PnL / std`,
        ours / deviation,
        pnl / std,
        3 * joint * Math.sqrt(1 / paths + (pnl / std) ** 2 / (2 * paths)) * 1.25,
        because,
      ),
      near(`${name}: q rms`, positionOf(result), q, ofStd * q + 0.005, because),
      near(
        `${name}: uninformed fills`,
        meanOf(result.fills),
        fills,
        3 * joint * errorOf(result.fills) + 0.5,
        because,
      ),
      near(
        `${name}: pick-off`,
        meanOf(result.pickOff),
        pickOff,
        3 * joint * errorOf(result.pickOff) + 0.5,
        because,
      ),
    ];
  });
}

function find(table: readonly Cell[], theta: number, validitySeconds: number, strategy: Strategy): Cell {
  return table.find(
    ({ setup }) =>
      setup.theta === theta && setup.validitySeconds === validitySeconds && setup.strategy === strategy,
  ) as Cell;
}

function barRows(table: readonly Cell[], paths: number): ReportRow[] {
  const rows = MARKETS.flatMap(([theta, validity]) => {
    const name = `Bar 1, θ=${theta} T=${validity} s:`;
    const full = find(table, theta, validity, 'full').result;
    const symmetric = find(table, theta, validity, 'symmetric').result;
    return [
      atMost(`${name} std of full over symmetric`, ratioOf(deviationOf, 'profit', full, symmetric), 0.45),
      meanRow(`${name} mean of full over symmetric`, full, symmetric, paths),
      atLeast(
        `${name} mean edge of full over symmetric, without position changes`,
        ratioOf(meanOf, 'edge', full, symmetric),
        0.97,
      ),
    ];
  });
  const [full, skew] = [find(table, 0.5, 60, 'full').result, find(table, 0.5, 60, 'skew').result];
  const { optionPaid, optionCost, optionError } = find(table, 0.2, 60, 'fixed').result;
  return [
    ...rows,
    atMost(
      'Bar 2, θ=0.5 T=60 s: pick-off with premium over without',
      ratioOf(meanOf, 'pickOff', full, skew),
      0.82,
    ),
    near(
      'Bar 3, fixed 8 bps, T=60 s: paid per option against C(D), bps',
      meanOf(optionPaid),
      meanOf(optionCost),
      3 * errorOf(optionError),
      '3 standard errors',
    ),
  ];
}

function adversaryRows({ events, paid, unpayable, shortfalls }: AdversaryResult): ReportRow[] {
  return [
    exactly(`Bar 4, adversary that accepts everything, ${events} events: unpayable quotes`, unpayable, 0),
    exactly('Bar 4: events after which the ledger was short', shortfalls, 0),
    atLeast('Bar 4: accepted quotes that were paid', paid, events / 100),
  ];
}

/** Compares the mean; with few worlds the ratio gets a tolerance of three standard errors. */
function meanRow(name: string, full: FirmResult, symmetric: FirmResult, paths: number): ReportRow {
  const noise =
    paths >= PRINTED_PATHS
      ? 0
      : (3 * Math.hypot(errorOf(full.profit), errorOf(symmetric.profit))) / meanOf(symmetric.profit);
  const row = atLeast(name, ratioOf(meanOf, 'profit', full, symmetric), 0.97 - noise);
  return noise === 0
    ? row
    : { ...row, reference: 0.97, tolerance: 'at least, minus 3 standard errors (few worlds)' };
}

function wrongBeliefs(): [string, Cell][] {
  const wrong = (
    name: string,
    validitySeconds: number,
    believed: Partial<FirmSetup['believed']>,
  ): [string, Cell] => [
    name,
    cell({ theta: 0.2, validitySeconds, strategy: 'full', believed: { ...FIRM.believed, ...believed } }),
  ];
  return [
    wrong('Bar 5, σ understated 2×, θ=0.2 T=5 s', 5, { sigma: 0.5 }),
    wrong('Bar 5, σ understated 2×, θ=0.2 T=60 s', 60, { sigma: 0.5 }),
    wrong('σ overstated 2×, θ=0.2 T=60 s', 60, { sigma: 2 }),
    ...([0.5, 2] as const).flatMap((factor) => [
      wrong(`α believed ×${factor}, θ=0.2 T=60 s`, 60, { alpha: factor }),
      wrong(`β believed ×${factor}, θ=0.2 T=60 s`, 60, { beta: factor }),
    ]),
  ];
}

function wrongRows(wrong: readonly [string, Cell][]): ReportRow[] {
  return wrong.flatMap(([name, { result }]) => [
    {
      name: `${name}: PnL, three standard errors below its mean`,
      ours: meanOf(result.profit) - 3 * errorOf(result.profit),
      reference: 0,
      tolerance: 'more than',
      ok: meanOf(result.profit) - 3 * errorOf(result.profit) > 0,
    },
    informs(`${name}: PnL`, meanOf(result.profit)),
    informs(`${name}: std of PnL`, deviationOf(result.profit)),
    informs(`${name}: uninformed fills`, meanOf(result.fills)),
  ]);
}

const CROWD = 3;

function crowds(): [string, Cell][] {
  const among = (name: string, changed: Partial<FirmSetup>): [string, Cell] => [
    name,
    cell({ theta: 0.2, validitySeconds: 60, strategy: 'full', ...changed }),
  ];
  return [
    among(`${CROWD} engines, equal mids`, { engines: CROWD }),
    among(`${CROWD} engines, mids 2 bps off, winner's curse charged`, {
      engines: CROWD,
      noiseBps: 2,
      confidence: true,
    }),
    among(`${CROWD} engines, mids 2 bps off, winner's curse ignored`, { engines: CROWD, noiseBps: 2 }),
  ];
}

function crowdRows(crowd: readonly [string, Cell][]): ReportRow[] {
  const perFill = ({ profit, fills }: FirmResult) => meanOf(profit) / meanOf(fills);
  const rows = crowd.flatMap(([name, { result }]) => [
    informs(`${name}: PnL each`, meanOf(result.profit)),
    informs(`${name}: std of PnL`, deviationOf(result.profit)),
    informs(`${name}: uninformed fills each`, meanOf(result.fills)),
    atLeast(
      `${name}: PnL each, three standard errors below its mean`,
      meanOf(result.profit) - 3 * errorOf(result.profit),
      0,
    ),
  ]);
  const [, charged, ignored] = crowd.map(([, { result }]) => result) as [FirmResult, FirmResult, FirmResult];
  rows.push(
    atLeast(
      `${CROWD} engines, mids 2 bps off: PnL per fill with the winner's curse charged, over without`,
      perFill(charged) / perFill(ignored),
      1,
    ),
  );
  return rows;
}

/** Makes the rows of bar 6: the ranking of strategies on recorded prices. Empty without a recording. */
function recordedRows(
  prices: readonly number[] | undefined,
  paths: number,
  seed: number,
  progress: (done: string) => void,
): ReportRow[] {
  if (prices === undefined) return [];
  const [theta, validitySeconds] = [0.5, 60];
  const cells = STRATEGIES.map((strategy) => cell({ theta, validitySeconds, strategy }));
  inWorlds(
    cells,
    paths,
    seed,
    (path) => replayWorld(prices, HOURS_4, seed, path),
    (done) => progress(`recorded prices: ${done}`),
  );
  const of = (strategy: Strategy) => find(cells, theta, validitySeconds, strategy).result;
  // Per variation of the outcome: one recording moves every position the same way.
  const earned = ({ edge, profit }: FirmResult) => meanOf(edge) / deviationOf(profit);
  const bar = 'Bar 6, recorded prices';
  const pairs = [
    ['full', 'skew'],
    ['skew', 'symmetric'],
    ['symmetric', 'fixed'],
  ] as const;
  return [
    // The fair option cost is known only for drawn prices.
    ...cells.flatMap((each) =>
      cellRows(each)
        .filter(({ name }) => !name.includes('C(D)'))
        .map((row) => ({ ...row, name: `Recorded prices, ${row.name}` })),
    ),
    atMost(
      `${bar}: std of full over symmetric`,
      ratioOf(deviationOf, 'profit', of('full'), of('symmetric')),
      1,
    ),
    ...pairs.map(([better, worse]) =>
      atLeast(
        `${bar}: earned / std of PnL, ${better} over ${worse}`,
        earned(of(better)) / earned(of(worse)),
        1,
      ),
    ),
    ...[pairs[0], pairs[2]].map(([better, worse]) =>
      atMost(
        `${bar}: pick-off of ${better} over ${worse}`,
        ratioOf(meanOf, 'pickOff', of(better), of(worse)),
        1,
      ),
    ),
  ];
}
