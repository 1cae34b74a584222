/** `firmquote sim sweep`: every point of a grid of model parameters meets the same seeds. */

import { zPricingParams } from '../../../lp/config/params.ts';
import { DEFAULT_PARAMS, type PricingParams } from '../../../pricing/params.ts';
import { runMarket } from '../../../sim/market.ts';
import { pageOf } from '../../../sim/page.ts';
import { type PairedDifference, pairedDifference } from '../../../sim/study/paired.ts';
import { type SeedResult, type Variant, variantsOf } from '../../../sim/study/runs.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { printLines, table } from '../../terminal/table.ts';
import {
  cellsOf,
  type Column,
  csvTable,
  DISTRIBUTION_COLUMNS,
  distributionsOf,
  headOf,
  intervalColumns,
  money,
  runsTable,
  rowsOf,
  saveTables,
} from './columns.ts';
import { readMaker } from './maker.ts';
import { MEASURES } from './measures.ts';
import { firstMids, type Paths, readPaths, sampleSecondsOf } from './paths.ts';
import { type MarketOptions, takersOf } from './run.ts';
import { save } from './save.ts';

interface SweepOptions extends MarketOptions {
  set: string[];
  seeds: number;
  sort: string;
}

type Params = Partial<PricingParams>;
type Point = ReturnType<typeof distributionsOf>[number] & { params: Params; difference: PairedDifference };

/** The most points of a sweep. More is a mistake in most cases: a point takes a second or more. */
const MOST_POINTS = 500;
const AS_CONFIGURED = 'as configured';

export async function sweepParameters(options: SweepOptions): Promise<void> {
  const axes = axesOf(options.set);
  const points = [{}, ...gridOf(axes)];
  const markets = new Map<number, Paths>();
  for (let seed = options.seed; seed < options.seed + options.seeds; seed++)
    markets.set(seed, await readPaths({ ...options, seed }));
  const first = markets.get(options.seed) as Paths;
  const mids = firstMids(first.paths);
  // Every point is checked before the first one runs.
  const makers = [];
  for (const params of points)
    makers.push(await readMaker(options.config, nameOf(params), mids, options, params));

  const variants: Variant[] = [];
  for (const [at, maker] of makers.entries()) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kpoint ${at + 1} of ${makers.length}`);
    const results = [...markets].map(([seed, { startMs, paths }]): SeedResult => ({
      seed,
      ...runMarket({
        seed,
        startMs,
        paths,
        takers: takersOf(options),
        makers: [maker],
        sampleSeconds: sampleSecondsOf(paths),
      }),
    }));
    variants.push(...variantsOf(results));
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

  const minutes = ((first.paths[0]?.prices.length ?? 1) - 1) / 60;
  const profits = ({ runs }: Variant) => runs.map(({ pnlUsd }) => pnlUsd);
  const measure = MEASURES[options.sort] as (typeof MEASURES)[string];
  const all = distributionsOf(variants, minutes).map((distribution, at): Point => ({
    ...distribution,
    params: points[at] as Params,
    difference: pairedDifference(profits(variants[0] as Variant), profits(variants[at] as Variant)),
  }));
  const sorted = all.toSorted((a, b) => measure(b) - measure(a));

  const columns = [...axes.map(([name]) => paramColumn(name)), ...SWEEP_COLUMNS];
  const head = headOf(columns);
  const cells = sorted.map((point) => cellsOf(columns, point));
  const facts = [
    `${points.length - 1} points and the configuration as it is, each with seeds ${options.seed} to ${options.seed + options.seeds - 1} of ${Number(minutes.toFixed(1))} minutes. Prices ${first.source}.`,
    `Sorted by ${options.sort}, best first. Differences are paired with the configuration as it is, USD a run, at 95 %.`,
  ];
  printLines(facts);
  console.log();
  printLines(table(head, cells, { right: head }));
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ sort: options.sort, points: sorted }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [csvTable('sweep.csv', columns, sorted), runsTable(variants)]);
  if (options.html !== undefined)
    await save(
      options.html,
      pageOf({
        title: 'Parameter sweep',
        facts,
        tables: [{ title: 'Points', head, rows: cells }],
        charts: [],
      }),
    );
  console.log(
    JSON.stringify({
      ok: true,
      rows: sorted.flatMap((point) =>
        rowsOf(point.name, {
          'mean PnL, USD': point.mean,
          'difference, USD': point.difference.mean,
          'greatest drawdown, USD': point.worstDrawdown,
          '5 % expected shortfall, USD': point.tail5.shortfall,
        }),
      ),
    }),
  );
}

const paramColumn = (name: string): Column<Point> => ({
  heading: name,
  csv: name,
  value: ({ params }) => {
    const value = params[name as keyof PricingParams];
    return value === undefined ? AS_CONFIGURED : typeof value === 'boolean' ? String(value) : value;
  },
});

const SWEEP_COLUMNS: readonly Column<Point>[] = [
  ...DISTRIBUTION_COLUMNS.slice(2),
  money('difference', 'difference_usd', ({ difference }) => difference.mean),
  ...intervalColumns<Point>(({ difference }) => difference.interval),
];

const nameOf = (params: Params): string =>
  Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ') || AS_CONFIGURED;

type Axis = [name: string, values: (number | boolean)[]];

/** Throws `RequestError` that says what is allowed. */
function axesOf(texts: readonly string[]): Axis[] {
  const axes = texts.map(axisOf);
  for (const [at, [name]] of axes.entries())
    if (axes.findIndex(([other]) => other === name) !== at)
      throw badRequest(`--set names ${name} twice: write all its values in one list.`);
  const points = axes.reduce((product, [, values]) => product * values.length, 1);
  if (points > MOST_POINTS)
    throw badRequest(`The grid has ${points} points; at most ${MOST_POINTS} are allowed. Take values out.`);
  return axes;
}

function axisOf(text: string): Axis {
  const [name = '', list = ''] = text.split(/=(.*)/s);
  if (!Object.hasOwn(DEFAULT_PARAMS, name))
    throw badRequest(
      `--set ${text}: "${name}" is no parameter of the model. Write NAME=VALUE,VALUE with one of: ${Object.keys(DEFAULT_PARAMS).join(', ')}.`,
    );
  const values = list.split(',').map((word) => {
    const value =
      word === 'true' ? true : word === 'false' ? false : word.trim() === '' ? word : Number(word);
    const parsed = zPricingParams.safeParse({ [name]: value });
    if (!parsed.success || typeof value === 'string')
      throw badRequest(
        `--set ${name}: "${word}" is not allowed. ${parsed.error?.issues.map(({ message }) => message).join('; ') ?? ''}. See docs/lp/parameters.md.`,
      );
    return value;
  });
  return [name, [...new Set(values)]];
}

const gridOf = (axes: readonly Axis[]): Params[] =>
  axes.reduce<Params[]>(
    (points, [name, values]) =>
      points.flatMap((point) => values.map((value) => ({ ...point, [name]: value }))),
    [{}],
  );
