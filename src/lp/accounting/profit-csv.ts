/** Profit as CSV, the same for the command line and for the console, which makes it in the browser. */

import { formatUnits } from '../../domain/amount.ts';
import { type CsvCell, csvLineOf } from '../../protocol/csv.ts';
import type { TransferCosts } from '../../ports/stores/accounting-store.ts';
import type { Json } from '../../protocol/json.ts';
import type { ShownProfitRow, TradeView } from './trade-view.ts';

/** A row of profit as JSON carries it: millionths of USD are decimal texts. */
type BookedRow = Json<ShownProfitRow>;
export type RebalancingCosts = Json<TransferCosts>;

interface ProfitRows {
  by: string;
  rows: BookedRow[];
  transfers: RebalancingCosts;
}

export const FIGURES = [
  'trades',
  'volume',
  'gross',
  'fees',
  'spread',
  'gas',
  'lost',
  'mark 1s',
  'mark 10s',
  'mark 60s',
] as const;

export const figures = ({
  trades,
  volumeMicros,
  grossMicros,
  feesMicros,
  gasMicros,
  lostMicros,
  markMicros,
}: BookedRow): (bigint | null)[] =>
  [
    trades,
    volumeMicros,
    grossMicros,
    feesMicros,
    BigInt(grossMicros) - BigInt(feesMicros),
    gasMicros,
    lostMicros,
    // A mark that is not due is none, not zero.
    ...[1, 10, 60].map((horizon) => markMicros[horizon] ?? null),
  ].map((figure) => (figure === null ? null : BigInt(figure)));

export const costOf = ({ feesMicros, gasMicros }: RebalancingCosts): bigint =>
  BigInt(feesMicros) + BigInt(gasMicros);
export const isIdle = (all: RebalancingCosts): boolean => all.transfers === 0 && costOf(all) === 0n;

const iso = (ms: number): string => new Date(ms).toISOString();

const TRADE_COLUMNS: readonly (readonly [string, (trade: TradeView) => CsvCell])[] = [
  ['time', ({ acceptedAtMs }) => iso(acceptedAtMs)],
  ['pair', ({ pair }) => pair],
  ['corridor', ({ corridor }) => corridor],
  ['side', ({ side }) => side],
  ['stage', ({ stage }) => stage],
  ['taker', ({ taker }) => taker],
  ['quantity', ({ quantity }) => quantity],
  ['base', ({ base }) => base],
  ['price', ({ price }) => price],
  ['quote', ({ quote }) => quote],
  ['fee', ({ fee }) => fee],
  ['fee_token', ({ feeToken }) => feeToken],
];

/**
 * Returns the lines. The last row, `rebalancing`, has what transfers moved and cost in the columns of trades.
 */
export function profitCsv({ by, rows, transfers }: ProfitRows): string[] {
  const columns = by === 'trade' ? TRADE_COLUMNS : [];
  const names = FIGURES.map((name) => name.replace(' ', '_'));
  return [
    csvLineOf([by, ...columns.map(([name]) => name), ...names, 'realised', 'late']),
    ...rows.map((row) =>
      csvLineOf([
        row.key,
        ...columns.map(([, cell]) => row.trade && cell(row.trade)),
        ...figures(row).map((figure, at) =>
          figure === null ? null : at === 0 ? figure.toString() : formatUnits(figure, 6),
        ),
        formatUnits(BigInt(row.realisedMicros), 6),
        row.late,
      ]),
    ),
    ...(isIdle(transfers)
      ? []
      : [
          csvLineOf([
            'rebalancing',
            ...columns.map(() => null),
            transfers.transfers,
            ...[transfers.movedMicros, 0, transfers.feesMicros, -BigInt(transfers.feesMicros)].map(whole),
            ...[transfers.gasMicros, 0].map(whole),
            ...[null, null, null, null, null],
          ]),
        ]),
  ];
}

const whole = (micros: string | bigint | number): string => formatUnits(BigInt(micros), 6);
