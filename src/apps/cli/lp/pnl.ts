/** `firmquote lp pnl`: profit as a table, CSV or JSON. */

import { formatUnits } from '../../../domain/amount.ts';
import { type CsvCell, csvLineOf } from '../../../protocol/csv.ts';
import type { TradeView } from '../../../lp/accounting/trade-view.ts';
import { type AdminClientOptions, openAdminClient } from './admin-client.ts';
import { printLines, shortUnits, table } from '../table.ts';
import { badRequest } from '../../bad-request.ts';

interface Row {
  key: string;
  trades: number;
  volumeMicros: string;
  grossMicros: string;
  feesMicros: string;
  gasMicros: string;
  lostMicros: string;
  realisedMicros: string;
  markMicros: Record<string, string>;
  late: number;
  /** With --by trade. */
  trade?: TradeView;
}

interface Position {
  asset: string;
  quantity: string | null;
  price: number | null;
  valueMicros: string | null;
  costMicros: string | null;
  realisedMicros: string;
  unrealisedMicros: string;
  ownerMicros: string;
}

interface Profit {
  sinceMs: number;
  untilMs: number | null;
  timedFromMs: number | null;
  by: string;
  rows: Row[];
  totals: Record<string, string>;
  positions: Position[];
}

const FIGURES = [
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

export async function showProfit({
  since,
  until,
  by,
  format,
  limit,
  ...options
}: AdminClientOptions & {
  since: string;
  until?: string;
  by: string;
  format: 'table' | 'csv' | 'json';
  limit: string;
}): Promise<void> {
  const client = await openAdminClient(options);
  const nowMs = Date.now();
  const window = `sinceMs=${timeOf(since, nowMs)}${until === undefined ? '' : `&untilMs=${timeOf(until, nowMs)}`}`;
  const profit = await client.get<Profit>(`/pnl?by=${by}&${window}&limit=${encodeURIComponent(limit)}`);
  if (options.json || format === 'json') return console.log(JSON.stringify(profit));
  printLines(format === 'csv' ? csv(profit) : tables(profit));
}

const iso = (ms: number): string => new Date(ms).toISOString();

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;

/** Parses "24h", "30m", "7d", "all" or a date. Answers Unix milliseconds. */
export function timeOf(text: string, nowMs: number): number {
  if (text === 'all') return 0;
  const span = /^(\d+)([smhdw])$/.exec(text);
  if (span) return Math.max(0, nowMs - Number(span[1]) * SECONDS[span[2] as keyof typeof SECONDS] * 1_000);
  const date = Date.parse(text);
  if (Number.isNaN(date))
    throw badRequest(`"${text}" is not a time span or date. Use 24h, 7d, all, or 2026-01-31.`);
  return date;
}

const figures = ({
  trades,
  volumeMicros,
  grossMicros,
  feesMicros,
  gasMicros,
  lostMicros,
  markMicros,
}: Row): (bigint | null)[] =>
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

function tables({ sinceMs, untilMs, timedFromMs, by, rows, totals, positions }: Profit): string[] {
  const cells = rows.map((row) => [
    row.key,
    ...figures(row).map((figure, at) => (figure === null ? '-' : at === 0 ? figure.toString() : usd(figure))),
  ]);
  const sums = rows.reduce<bigint[]>(
    (sum, row) => figures(row).map((figure, at) => (figure ?? 0n) + (sum[at] ?? 0n)),
    [],
  );
  const late = rows.reduce((sum, row) => sum + row.late, 0);
  const total = (name: string) => usd(BigInt(totals[name] ?? 0));
  return [
    `Booked ${sinceMs === 0 ? 'since the start' : `since ${iso(sinceMs)}`}${untilMs === null ? '' : ` and before ${iso(untilMs)}`}, USD:`,
    ...(sinceMs > 0 && timedFromMs !== null && sinceMs < timedFromMs
      ? [
          `The database knows the time of figures from ${iso(timedFromMs)} on: this window counts from there. Earlier figures are in --since all only.`,
        ]
      : []),
    '',
    ...table(
      [by, ...FIGURES],
      [
        ...cells,
        ...(rows.length > 1
          ? [['all', ...sums.map((figure, at) => (at === 0 ? figure.toString() : usd(figure)))]]
          : []),
      ],
      { right: FIGURES },
    ),
    '',
    'Positions over all chains at average cost: what is held now, and what the window changed:',
    '',
    ...table(
      ['asset', 'quantity', 'price', 'value', 'cost', 'realised', 'unrealised', 'owner transfers'],
      positions.map(
        ({
          asset,
          quantity,
          price,
          valueMicros,
          costMicros,
          realisedMicros,
          unrealisedMicros,
          ownerMicros,
        }) => [
          asset,
          quantity === null ? '-' : shortUnits(BigInt(quantity), 18),
          price === null ? '-' : String(Number(price.toPrecision(10))),
          ...[valueMicros, costMicros, realisedMicros, unrealisedMicros, ownerMicros].map((micros) =>
            micros === null ? '-' : usd(BigInt(micros)),
          ),
        ],
      ),
      { right: ['quantity', 'price', 'value', 'cost', 'realised', 'unrealised', 'owner transfers'] },
    ),
    '',
    `spread ${total('spread')} + realised ${total('realised')} + unrealised ${total('unrealised')} - gas ${total('gas')} - lost ${total('lost')} = ${total('total')}`,
    ...(late > 0
      ? [`${late} of these trades were valued late: the LP was down or had no price at the time.`]
      : []),
  ];
}

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

function csv({ by, rows }: Profit): string[] {
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
  ];
}

function usd(micros: bigint): string {
  const cents = (micros < 0n ? -micros + 5_000n : micros + 5_000n) / 10_000n;
  const whole = (cents / 100n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  return `${micros < 0n && cents > 0n ? '-' : ''}${whole}.${(cents % 100n).toString().padStart(2, '0')}`;
}
