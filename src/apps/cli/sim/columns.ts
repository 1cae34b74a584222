/** Columns of the simulator's tables: one list for the terminal, the page and the CSV file. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CsvCell, csvLineOf } from '../../../protocol/csv.ts';
import { type Distribution, distributionOf } from '../../../sim/study/distribution.ts';
import type { Variant } from '../../../sim/study/runs.ts';
import type { PairTally, SimTally } from '../../../sim/tally.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { save } from './save.ts';

export interface Column<T> {
  /** What people read of the column; absent: the column is only in the CSV file. */
  heading?: string;
  text?: (row: T) => string;
  /** Header of the CSV file: a name that ends in its unit, unless it is a count or a name. */
  csv: string;
  value: (row: T) => CsvCell;
}

export interface CsvTable {
  file: string;
  header: readonly string[];
  rows: readonly (readonly CsvCell[])[];
}

export const headOf = <T>(columns: readonly Column<T>[]): string[] =>
  columns.flatMap(({ heading }) => heading ?? []);

export const cellsOf = <T>(columns: readonly Column<T>[], row: T): string[] =>
  columns.flatMap(({ heading, text, value }) =>
    heading === undefined ? [] : (text?.(row) ?? String(value(row) ?? '')),
  );

export const csvTable = <T>(file: string, columns: readonly Column<T>[], rows: readonly T[]): CsvTable => ({
  file,
  header: columns.map(({ csv }) => csv),
  rows: rows.map((row) => columns.map(({ value }) => value(row))),
});

/** Writes one file per table into a folder that it makes. Throws `RequestError` when that fails. */
export async function saveTables(folder: string, tables: readonly CsvTable[]): Promise<void> {
  await mkdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw badRequest(
      `${folder} cannot be made: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  });
  for (const { file, header, rows } of tables)
    await save(join(folder, file), `${[header, ...rows].map(csvLineOf).join('\n')}\n`);
}

export const usd = (value: number): string =>
  value.toLocaleString('en-US', {
    maximumFractionDigits: Math.abs(value) < 1000 ? 2 : 0,
    minimumFractionDigits: 0,
  });

const number = (value: number | null, digits: number): string => value?.toFixed(digits) ?? '-';
const percent = (share: number): string => `${Number((share * 100).toFixed(1))} %`;

type TallyRow = Omit<PairTally, 'pair'> & { name: string };

const LP: Column<{ name: string }> = { heading: 'LP', csv: 'lp', value: ({ name }) => name };

const FIGURE_COLUMNS: readonly Column<TallyRow>[] = [
  { csv: 'requests', value: ({ requests }) => requests },
  {
    heading: 'quoted',
    text: ({ quoted, requests }) => `${quoted}/${requests}`,
    csv: 'quoted',
    value: ({ quoted }) => quoted,
  },
  { heading: 'fills', csv: 'fills', value: ({ fills }) => fills },
  { heading: 'by holders', csv: 'fills_by_holders', value: ({ exercised }) => exercised },
  money('volume', 'volume_usd', ({ volumeUsd }) => volumeUsd),
  money('spread', 'spread_usd', ({ spreadUsd }) => spreadUsd),
  money('pick-off', 'pick_off_usd', ({ pickOffUsd }) => pickOffUsd),
  money('PnL', 'pnl_usd', ({ pnlUsd }) => pnlUsd),
  money('max drawdown', 'max_drawdown_usd', ({ worstDrawdownUsd }) => worstDrawdownUsd),
  fixed('mean D bps', 2, 'mean_spread_bps', ({ meanSpreadBps }) => meanSpreadBps),
  fixed('mean skew bps', 2, 'mean_skew_bps', ({ meanSkewBps }) => meanSkewBps),
  fixed('q rms', 3, 'q_rms_soft_bands', ({ qRms }) => qRms),
  fixed('q end', 3, 'q_end_soft_bands', ({ qEnd }) => qEnd),
];

export const TALLY_COLUMNS: readonly Column<SimTally>[] = [
  LP,
  ...FIGURE_COLUMNS,
  money('max held', 'max_held_usd', ({ mostHeldUsd }) => mostHeldUsd),
];

export const PAIR_COLUMNS: readonly Column<TallyRow & { pair: string }>[] = [
  LP,
  { heading: 'pair', csv: 'pair', value: ({ pair }) => pair },
  ...FIGURE_COLUMNS,
];

type Named = Distribution & { name: string };

export const DISTRIBUTION_COLUMNS: readonly Column<Named>[] = [
  { heading: 'LP', csv: 'lp', value: ({ name }) => name },
  { heading: 'runs', csv: 'runs', value: ({ runs }) => runs },
  money('mean PnL', 'mean_pnl_usd', ({ mean }) => mean),
  money('± error', 'error_of_mean_usd', ({ error }) => error),
  money('deviation', 'deviation_usd', ({ deviation }) => deviation),
  fixed('Sharpe', 2, 'sharpe_per_run', ({ sharpe }) => sharpe),
  fixed('Sharpe a year', 1, 'sharpe_per_year', ({ sharpeYear }) => sharpeYear),
  money('max drawdown', 'max_drawdown_usd', ({ worstDrawdown }) => worstDrawdown),
  money('5 % tail', 'tail_5_percent_usd', ({ tail5 }) => tail5.value),
  money('5 % ES', 'shortfall_5_percent_usd', ({ tail5 }) => tail5.shortfall),
  money('1 % tail', 'tail_1_percent_usd', ({ tail1 }) => tail1.value),
  money('1 % ES', 'shortfall_1_percent_usd', ({ tail1 }) => tail1.shortfall),
  {
    heading: 'losing',
    text: ({ losing }) => percent(losing),
    csv: 'losing_share',
    value: ({ losing }) => losing,
  },
];

export const distributionsOf = (variants: readonly Variant[], minutes: number): Named[] =>
  variants.map(({ name, runs }) => ({ name, ...distributionOf(runs, minutes) }));

/** Lists one line per variant and seed: what a distribution is made of. */
export const runsTable = (variants: readonly Variant[]): CsvTable => ({
  file: 'runs.csv',
  header: ['lp', 'seed', 'pnl_usd', 'max_drawdown_usd'],
  rows: variants.flatMap(({ name, runs }) =>
    runs.map(({ seed, pnlUsd, worstDrawdownUsd }) => [name, seed, pnlUsd, worstDrawdownUsd]),
  ),
});

export function money<T>(heading: string, csv: string, value: (row: T) => number | null): Column<T> {
  return {
    heading,
    csv,
    value,
    text: (row) => {
      const amount = value(row);
      return amount === null ? '-' : usd(amount);
    },
  };
}

export function fixed<T>(
  heading: string,
  digits: number,
  csv: string,
  value: (row: T) => number | null,
): Column<T> {
  return { heading, csv, value, text: (row) => number(value(row), digits) };
}

/** Makes the columns of a 95 % interval's bounds; the unit is that of the difference beside them. */
export const intervalColumns = <T>(
  interval: (row: T) => readonly [low: number, high: number] | null,
): Column<T>[] => [
  fixed('from', 3, 'difference_low_95', (row) => interval(row)?.[0] ?? null),
  fixed('to', 3, 'difference_high_95', (row) => interval(row)?.[1] ?? null),
];

/** Figures of the closing line of JSON. */
export const rowsOf = (name: string, figures: Record<string, number>) =>
  Object.entries(figures).map(([what, ours]) => ({
    name: `${name}: ${what}`,
    ours,
    reference: null,
    ok: true,
  }));
