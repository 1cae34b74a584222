/** An LP without and with its hedge, side by side. */

import { lineChart } from '../../../sim/chart.ts';
import type { MarketResult } from '../../../sim/market.ts';
import { pairedDifference } from '../../../sim/study/paired.ts';
import { HEDGED, type Variant } from '../../../sim/study/runs.ts';
import { cellsOf, type Column, csvTable, headOf, money, rowsOf, usd } from './columns.ts';

interface Side {
  name: string;
  pnlUsd: number;
  orders: number;
  volumeUsd: number;
  halfSpreadUsd: number;
  feeUsd: number;
  drawdownUsd: number;
  openRmsUsd: number;
}

const COLUMNS: readonly Column<Side>[] = [
  { heading: 'variant', csv: 'variant', value: ({ name }) => name },
  money('PnL', 'pnl_usd', ({ pnlUsd }) => pnlUsd),
  { heading: 'orders', csv: 'orders', value: ({ orders }) => orders },
  money('traded', 'traded_usd', ({ volumeUsd }) => volumeUsd),
  money('half-spread', 'half_spread_cost_usd', ({ halfSpreadUsd }) => halfSpreadUsd),
  money('fee', 'fee_usd', ({ feeUsd }) => feeUsd),
  money('max drawdown', 'max_drawdown_usd', ({ drawdownUsd }) => drawdownUsd),
  money('open position rms', 'open_position_rms_usd', ({ openRmsUsd }) => openRmsUsd),
];

/**
 * Reports a hedge; undefined: the run has none. Tables show the first seed, the note the difference over all
 * seeds.
 */
export function hedgeReport({ hedge, series, makers }: MarketResult, variants: readonly Variant[]) {
  if (hedge === undefined) return undefined;
  const [alone, hedged] = [variants[0] as Variant, variants.find(({ name }) => name === HEDGED) as Variant];
  const samples = series.flatMap((sample) => sample.hedged ?? []);
  const rms = (values: readonly number[]): number =>
    Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
  const first = ({ runs }: Variant) => ({
    pnlUsd: runs[0]?.pnlUsd ?? 0,
    drawdownUsd: runs[0]?.worstDrawdownUsd ?? 0,
  });
  const sides: Side[] = [
    {
      name: 'hedge-less',
      ...first(alone),
      ...{ orders: 0, volumeUsd: 0, halfSpreadUsd: 0, feeUsd: 0 },
      openRmsUsd: rms(samples.map(({ aloneUsd }) => aloneUsd)),
    },
    { name: HEDGED, ...first(hedged), ...hedge, openRmsUsd: rms(samples.map(({ openUsd }) => openUsd)) },
  ];
  const profits = ({ runs }: Variant) => runs.map(({ pnlUsd }) => pnlUsd);
  const { mean, interval } = pairedDifference(profits(alone), profits(hedged));
  const minutes = series.map(({ second }) => second / 60);
  const chart = (title: string, lines: { name: string; values: number[] }[]) =>
    lineChart({ title, unit: 'USD at mid', minutes, lines, level: 0 });
  return {
    title: `${makers[0]?.name ?? ''}, hedge-less and hedged`,
    head: headOf(COLUMNS),
    cells: sides.map((side) => cellsOf(COLUMNS, side)),
    note: `Hedged less hedge-less: ${usd(mean)} USD a run${interval === null ? '' : `, 95 % interval ${usd(interval[0])} to ${usd(interval[1])} over ${alone.runs.length} seeds`}. Half-spread and fee are in the PnL.`,
    files: [
      csvTable('hedge.csv', COLUMNS, sides),
      {
        file: 'hedge-series.csv',
        header: ['time_seconds', 'hedged_pnl_usd', 'hedge_less_open_usd', 'hedged_open_usd'],
        rows: series.map(({ second, hedged: sample }) => [
          second,
          sample?.pnlUsd,
          sample?.aloneUsd,
          sample?.openUsd,
        ]),
      },
    ],
    charts: [
      chart('Profit, hedge-less and hedged', [
        { name: 'hedge-less', values: series.map((sample) => sample.makers[0]?.pnlUsd ?? 0) },
        { name: HEDGED, values: samples.map(({ pnlUsd }) => pnlUsd) },
      ]),
      chart('Open position', [
        { name: 'hedge-less', values: samples.map(({ aloneUsd }) => aloneUsd) },
        { name: HEDGED, values: samples.map(({ openUsd }) => openUsd) },
      ]),
    ],
    rows: rowsOf('hedge', {
      'hedged PnL, USD': sides[1]?.pnlUsd ?? 0,
      orders: hedge.orders,
      'costs, USD': hedge.halfSpreadUsd + hedge.feeUsd,
      'hedged less hedge-less, USD a run': mean,
    }),
  };
}
