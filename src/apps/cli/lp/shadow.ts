/** `firmquote lp shadow report`: what a shadow LP would have won and earned. */

import { formatUnits } from '../../../domain/amount.ts';
import { type CsvCell, csvLineOf } from '../../../protocol/csv.ts';
import { printLines, table, usdText } from '../../terminal/table.ts';
import type { Json } from '../../../protocol/json.ts';
import type { AdminReads } from '../../lp/admin/answers.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { timeOf } from './pnl.ts';

export interface ShadowReportOptions extends AdminClientOptions {
  since: string;
  until?: string;
  format: 'table' | 'csv' | 'json';
}

type Report = Json<AdminReads['/shadow']>;
type Row = Report['total'];
type Sums = Row['all'];

const ASKED = ['requests', 'quotes', 'declines', 'spread', 'volume', 'accepted'] as const;
const SETS = ['quotes', 'volume', 'earned', 'mark 1s', 'mark 10s', 'mark 60s'] as const;
const HORIZONS = [1, 10, 60] as const;

export async function showShadowReport({
  since,
  until,
  format,
  ...options
}: ShadowReportOptions): Promise<void> {
  const client = await openAdminClient(options);
  const nowMs = Date.now();
  const end = until === undefined ? '' : `&untilMs=${timeOf(until, nowMs)}`;
  const report = await client.get('/shadow', { query: `sinceMs=${timeOf(since, nowMs)}${end}` });
  if (options.json || format === 'json') return console.log(JSON.stringify(report));
  printLines(format === 'csv' ? csv(report) : tables(report));
}

const iso = (ms: number): string => new Date(ms).toISOString();
const usd = (micros: string): string => usdText(BigInt(micros));
const nameOf = ({ pair }: Row): string => pair ?? 'no pair of ours';

function tables({ sinceMs, untilMs, rows, total }: Report): string[] {
  const named = rows.map((row) => [nameOf(row), row] as const);
  if (rows.length > 1) named.push(['all', total]);
  const declines = Object.entries(total.declinesBy).sort(([, one], [, other]) => other - one);
  return [
    `Shadow quotes ${sinceMs === 0 ? 'since the start' : `since ${iso(sinceMs)}`}${untilMs === null ? '' : ` and before ${iso(untilMs)}`}: nothing was signed. Amounts are USD, spread is bps.`,
    '',
    ...table(
      ['pair', ...ASKED],
      named.map(([name, { requests, declines: declined, spreadBps, all, accepted }]) => [
        name,
        ...[requests, all.quotes, declined].map(String),
        spreadBps === null ? '-' : spreadBps.toFixed(2),
        usd(all.volumeMicros),
        String(accepted),
      ]),
      { right: ASKED },
    ),
    '',
    ...(declines.length === 0
      ? []
      : [`Declined: ${declines.map(([reason, count]) => `${reason} ${count}`).join(', ')}.`, '']),
    'If every shadow quote had been won:',
    '',
    ...sums(named.map(([name, { all }]) => [name, all] as const)),
    '',
    'If those had been won that beat the quote which the taker accepted (column "accepted": as far as the venue told):',
    '',
    ...sums(named.map(([name, { better }]) => [name, better] as const)),
    '',
    `By the win-rate curve of the configuration, an assumption: ${total.assumed.wins.toFixed(1)} quotes won, ${usd(total.assumed.earnedMicros)} earned.`,
    'Earned is at the mid of each quote, after fees and gas. A mark is what the mid did afterwards, positive in your favour.',
    'The inventory does not move with what would have been won, and your quotes would have changed those of others.',
  ];
}

const sums = (named: readonly (readonly [string, Sums])[]): string[] =>
  table(
    ['pair', ...SETS],
    named.map(([name, { quotes, volumeMicros, earnedMicros, markMicros, marked }]) => [
      name,
      String(quotes),
      usd(volumeMicros),
      usd(earnedMicros),
      // Not measured yet is none, not zero.
      ...HORIZONS.map((horizon) => (marked[horizon] === 0 ? '-' : usd(markMicros[horizon]))),
    ]),
    { right: SETS },
  );

function csv({ rows }: Report): string[] {
  const whole = (micros: string): string => formatUnits(BigInt(micros), 6);
  const cells = ({ quotes, volumeMicros, earnedMicros, markMicros, marked }: Sums): CsvCell[] => [
    quotes,
    whole(volumeMicros),
    whole(earnedMicros),
    ...HORIZONS.map((horizon) => (marked[horizon] === 0 ? null : whole(markMicros[horizon]))),
  ];
  const names = SETS.map((name) => name.replace(' ', '_'));
  return [
    csvLineOf([
      ...['pair', 'requests', 'declines', 'spread_bps', ...names, 'accepted'],
      ...[...names.map((name) => `better_${name}`), 'assumed_wins', 'assumed_earned'],
    ]),
    ...rows.map(({ pair, requests, declines, spreadBps, all, accepted, better, assumed }) =>
      csvLineOf([
        ...[pair, requests, declines, spreadBps, ...cells(all), accepted],
        ...[...cells(better), assumed.wins, whole(assumed.earnedMicros)],
      ]),
    ),
  ];
}
