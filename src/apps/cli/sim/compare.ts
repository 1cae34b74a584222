/** `firmquote sim compare`: two configurations meet the same flow with many seeds. */

import { pageOf } from '../../../sim/page.ts';
import type { ReplayResult } from '../../../sim/replay.ts';
import { type PairedDifference, pairedDifference } from '../../../sim/study/paired.ts';
import { variantsOf } from '../../../sim/study/runs.ts';
import { addToSums, meanOf, noSums } from '../../../sim/sums.ts';
import { printLines, table } from '../../terminal/table.ts';
import {
  cellsOf,
  type Column,
  csvTable,
  DISTRIBUTION_COLUMNS,
  distributionsOf,
  fixed,
  headOf,
  intervalColumns,
  runsTable,
  rowsOf,
  saveTables,
} from './columns.ts';
import { figuresOf, replayChecked, type ReplayOptions, replaySetup } from './replay.ts';
import { save } from './save.ts';

interface CompareOptions extends ReplayOptions {
  seeds: number;
}

interface Compared {
  name: string;
  first: number;
  second: number;
  difference: PairedDifference;
}

export async function compareMarkets(options: CompareOptions): Promise<void> {
  const { setup, source } = await replaySetup(options, options.seed);
  const names = setup.makers.map(({ name }) => name) as [string, string];
  const results: (ReplayResult & { seed: number })[] = [];
  for (let seed = options.seed; seed < options.seed + options.seeds; seed++) {
    if (process.stderr.isTTY) process.stderr.write(`\r\x1b[Kseed ${seed}`);
    results.push({ seed, ...replayChecked((await replaySetup(options, seed)).setup, options) });
  }
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');

  const minutes = (results[0]?.seconds ?? 0) / 60;
  const compared = comparedOf(results);
  const variants = variantsOf(results);
  const distributions = distributionsOf(variants, minutes);
  const columns = columnsOf(names);
  const [head, spreadHead] = [headOf(columns), headOf(DISTRIBUTION_COLUMNS)];
  const cells = compared.map((each) => cellsOf(columns, each));
  const spreadCells = distributions.map((each) => cellsOf(DISTRIBUTION_COLUMNS, each));
  const facts = [
    `${options.seeds} runs of ${Number(minutes.toFixed(1))} minutes, seeds ${options.seed} to ${options.seed + options.seeds - 1}. Prices ${source}. Requests ${options.rfqs === undefined ? 'drawn' : `from ${options.rfqs}`}.`,
    `Means of a run. Difference: ${names[1]} less ${names[0]}, paired by seed, with its 95 % interval.`,
  ];
  printLines(facts);
  console.log();
  printLines(table(head, cells, { right: head.slice(1, -1) }));
  console.log();
  printLines(table(spreadHead, spreadCells, { right: spreadHead.slice(1) }));
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ names, compared, distributions }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [
      csvTable('compare.csv', columns, compared),
      csvTable('distribution.csv', DISTRIBUTION_COLUMNS, distributions),
      runsTable(variants),
    ]);
  if (options.html !== undefined)
    await save(
      options.html,
      pageOf({
        title: `${names[0]} against ${names[1]}`,
        facts,
        tables: [
          { title: 'Differences', head, rows: cells },
          { title: 'Distributions', note: 'USD a run.', head: spreadHead, rows: spreadCells },
        ],
        charts: [],
      }),
    );
  console.log(
    JSON.stringify({
      ok: true,
      rows: compared.flatMap(({ name, difference: { mean, interval } }) =>
        rowsOf(`difference: ${name}`, {
          mean,
          ...(interval !== null && { 'low, 95 %': interval[0], 'high, 95 %': interval[1] }),
        }),
      ),
    }),
  );
}

/** The figures that every run has; reasons of declines differ from run to run. */
function comparedOf(results: readonly ReplayResult[]): Compared[] {
  const runs = results.map((result) =>
    figuresOf(result).filter(({ name }) => !name.startsWith('declined: ')),
  );
  return (runs[0] ?? []).map(({ name }, at) => {
    const [first, second] = [
      runs.map((figures) => figures[at]?.one as number),
      runs.map((figures) => figures[at]?.other as number),
    ];
    return { name, first: mean(first), second: mean(second), difference: pairedDifference(first, second) };
  });
}

function mean(values: readonly number[]): number {
  const sums = noSums();
  for (const value of values) addToSums(sums, value);
  return meanOf(sums);
}

const columnsOf = ([first, second]: readonly [string, string]): Column<Compared>[] => [
  { heading: 'mean of a run', csv: 'figure', value: ({ name }) => name },
  fixed(first, 2, 'first', (row) => row.first),
  fixed(second, 2, 'second', (row) => row.second),
  fixed('difference', 3, 'difference', ({ difference }) => difference.mean),
  ...intervalColumns<Compared>(({ difference }) => difference.interval),
  {
    heading: '',
    csv: 'verdict',
    value: ({ difference: { interval } }) =>
      interval === null || (interval[0] <= 0 && interval[1] >= 0)
        ? 'not shown to differ'
        : interval[0] > 0
          ? `${second} is higher`
          : `${second} is lower`,
  },
];
