/** `firmquote lp pnl`: profit, and what rebalancing cost, as a table, CSV or JSON. */

import {
  costOf,
  figures,
  FIGURES,
  isIdle,
  profitCsv,
  type RebalancingCosts,
} from '../../../lp/accounting/profit-csv.ts';
import type { Json } from '../../../protocol/json.ts';
import type { AdminReads } from '../../lp/admin/answers.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { printLines, shortUnits, table, usdText } from '../../terminal/table.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { minutes, showTransfers } from './transfer-costs.ts';

type Profit = Json<AdminReads['/pnl']>;

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
  if (by === 'transfer') return showTransfers(client, { window, limit, format, json: options.json === true });
  const profit = await client.get('/pnl', { query: `by=${by}&${window}&limit=${encodeURIComponent(limit)}` });
  if (options.json || format === 'json') return console.log(JSON.stringify(profit));
  printLines(format === 'csv' ? profitCsv(profit) : tables(profit));
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

function tables({ sinceMs, untilMs, timedFromMs, by, rows, totals, transfers, positions }: Profit): string[] {
  const cells = rows.map((row) => [
    row.key,
    ...figures(row).map((figure, at) =>
      figure === null ? '-' : at === 0 ? figure.toString() : usdText(figure),
    ),
  ]);
  const sums = rows.reduce<bigint[]>(
    (sum, row) => figures(row).map((figure, at) => (figure ?? 0n) + (sum[at] ?? 0n)),
    [],
  );
  const late = rows.reduce((sum, row) => sum + row.late, 0);
  const total = (name: keyof Profit['totals']) => usdText(BigInt(totals[name]));
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
          ? [['all', ...sums.map((figure, at) => (at === 0 ? figure.toString() : usdText(figure)))]]
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
            micros === null ? '-' : usdText(BigInt(micros)),
          ),
        ],
      ),
      { right: ['quantity', 'price', 'value', 'cost', 'realised', 'unrealised', 'owner transfers'] },
    ),
    '',
    `spread ${total('spread')} + realised ${total('realised')} + unrealised ${total('unrealised')} - gas ${total('gas')} - lost ${total('lost')} - rebalancing ${usdText(costOf(transfers))} = ${total('total')}`,
    ...(isIdle(transfers) ? [] : [rebalancingLine(transfers)]),
    ...(late > 0
      ? [`${late} of these trades were valued late: the LP was down or had no price at the time.`]
      : []),
  ];
}

function rebalancingLine({
  transfers,
  movedMicros,
  underWayMs,
  feesMicros,
  gasMicros,
}: RebalancingCosts): string {
  const each = transfers === 0 ? '' : `, ${minutes(underWayMs / transfers)} under way on average`;
  return `rebalancing: ${transfers} transfers of ${usdText(BigInt(movedMicros))} ended${each}; bridges kept ${usdText(BigInt(feesMicros))}, gas ${usdText(BigInt(gasMicros))}`;
}
