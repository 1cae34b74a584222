/** `firmquote sim replay`: compares two configurations on the same prices and requests. */

import { basename } from 'node:path';
import { readTextFile } from '../../../adapters/system/text-file.ts';
import { lineChart } from '../../../sim/chart.ts';
import { pageOf } from '../../../sim/page.ts';
import {
  type ReplayLeg,
  type ReplayedQuote,
  type ReplayResult,
  type ReplaySetup,
  runReplay,
} from '../../../sim/replay.ts';
import { parseRfqs, type RfqRecord } from '../../../sim/rfq-record.ts';
import { pairName } from '../../../sim/maker/setup.ts';
import type { SimTally } from '../../../sim/tally.ts';
import { readMaker } from './maker.ts';
import { type CsvTable, rowsOf, saveTables } from './columns.ts';
import { firstMids, readPaths, sampleSecondsOf } from './paths.ts';
import { chartsOf, type MarketOptions, seriesTables, takersOf } from './run.ts';
import { save } from './save.ts';
import { printLines, table } from '../../terminal/table.ts';
import { badRequest } from '../../wiring/bad-request.ts';

export interface ReplayOptions extends MarketOptions {
  config: string;
  against: string;
  rfqs?: string;
  show: number;
}

/** The two configurations, the prices of a seed, and the requests. */
export async function replaySetup(
  options: ReplayOptions,
  seed: number,
): Promise<{ setup: ReplaySetup; source: string }> {
  const { paths, startMs, source } = await readPaths({ ...options, seed });
  const records = options.rfqs === undefined ? undefined : await readRfqs(options.rfqs);
  const mids = firstMids(paths);
  const names =
    options.config === options.against || basename(options.config) !== basename(options.against)
      ? [basename(options.config, '.json'), basename(options.against, '.json')]
      : [options.config, options.against];
  const [first, second] = names[0] === names[1] ? ['A', 'B'] : (names as [string, string]);
  const a = await readMaker(options.config, first, mids, options);
  const b = await readMaker(options.against, second, mids, { ...options, pair: a.pairs.map(pairName) });
  return {
    setup: {
      seed,
      startMs,
      paths,
      records,
      takers: takersOf(options),
      makers: [a, b],
      sampleSeconds: sampleSecondsOf(paths),
    },
    source,
  };
}

/** Throws `RequestError` when no recorded request lies in the time of the prices. */
export const replayChecked = (setup: ReplaySetup, options: ReplayOptions): ReplayResult =>
  checked(runReplay(setup), setup, options);

/** Throws `RequestError` when no recorded request lies in the time of the prices. */
export function checked(
  result: ReplayResult,
  setup: Pick<ReplaySetup, 'records' | 'startMs'>,
  options: Pick<ReplayOptions, 'rfqs'>,
): ReplayResult {
  if (setup.records !== undefined && result.requests === 0)
    throw badRequest(
      `None of the ${setup.records.length} requests in ${options.rfqs} lies in the ${result.seconds} seconds of prices from ${new Date(setup.startMs).toISOString()}.`,
    );
  return result;
}

export async function replayMarket(options: ReplayOptions): Promise<void> {
  const { setup, source } = await replaySetup(options, options.seed);
  const {
    records,
    makers: [a, b],
  } = setup;
  const result = replayChecked(setup, options);
  const facts = [
    `${a.pairs.map(pairName).join(' and ')}, ${Math.round(result.seconds / 6) / 10} minutes. Prices ${source}.`,
    `${result.requests} requests ${records === undefined ? `drawn with seed ${options.seed}` : `from ${options.rfqs}`}${result.skipped > 0 ? `, ${result.skipped} outside the prices' time left out` : ''}; ${result.changed} were answered or accepted differently.`,
  ];
  printLines(facts);
  console.log();
  const sums = sumsOf(figuresOf(result));
  printLines(table(['', a.name, b.name, 'difference'], sums, { right: [a.name, b.name, 'difference'] }));
  const changed = result.quotes.filter((quote) => quote.changed);
  const head = [
    'request',
    'time',
    'pair',
    'corridor',
    'we',
    'recorded',
    `${a.name}`,
    'bps',
    `${b.name}`,
    'bps',
    'price diff bps',
  ];
  if (changed.length > 0) {
    console.log(
      `\nDifferences${changed.length > options.show ? `, the first ${options.show} of ${changed.length} (--show)` : ''}:`,
    );
    printLines(
      table(head, changed.slice(0, options.show).map(quoteCells), { right: ['bps', 'price diff bps'] }),
    );
  }
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ names: [a.name, b.name], result }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [
      {
        file: 'summary.csv',
        header: ['figure', a.name, b.name, 'difference'],
        rows: figuresOf(result).map(({ name, one, other }) => [name, one, other, other - one]),
      },
      ...seriesTables(result),
      quotesTable(result),
    ]);
  if (options.html !== undefined) {
    await save(
      options.html,
      pageOf({
        title: `Replay, ${a.name} against ${b.name}`,
        facts,
        tables: [
          {
            title: 'Summary',
            note: `USD at the last mid. Difference: ${b.name} less ${a.name}.`,
            head: ['', a.name, b.name, 'difference'],
            rows: sums,
          },
        ],
        charts: chartsOf(result, [differenceChart(result)]),
        details:
          changed.length === 0
            ? []
            : [
                {
                  title: 'Differences, quote by quote',
                  note:
                    changed.length > MOST_ON_PAGE
                      ? `The first ${MOST_ON_PAGE} of ${changed.length}; all are in the JSON file.`
                      : 'Price difference: positive is worse for the taker.',
                  head,
                  rows: changed.slice(0, MOST_ON_PAGE).map(quoteCells),
                },
              ],
      }),
    );
  }
  const [one, other] = result.makers;
  console.log(
    JSON.stringify({
      ok: true,
      rows: [
        ...tallyRows(one),
        ...tallyRows(other),
        { name: 'requests', ours: result.requests, reference: null, ok: true },
        { name: 'answered or accepted differently', ours: result.changed, reference: null, ok: true },
      ],
    }),
  );
}

const MOST_ON_PAGE = 200;

export async function readRfqs(file: string): Promise<RfqRecord[]> {
  const text = await readTextFile(file).catch((cause: unknown) => {
    throw badRequest(
      `${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  });
  const records = parseRfqs(text, file);
  if (records.length === 0) throw badRequest(`${file} holds no requests.`);
  return records;
}

const money = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 2 });

export interface Figure {
  name: string;
  one: number;
  other: number;
  digits: number;
}

export function figuresOf({ makers: [a, b] }: ReplayResult): Figure[] {
  const row = (name: string, of: (tally: SimTally) => number, digits = 2): Figure => ({
    name,
    one: of(a),
    other: of(b),
    digits,
  });
  const reasons = [...new Set([...Object.keys(a.declines), ...Object.keys(b.declines)])].sort();
  return [
    row('requests', ({ requests }) => requests),
    row('quoted', ({ quoted }) => quoted),
    ...reasons.map((reason) => row(`declined: ${reason}`, ({ declines }) => declines[reason] ?? 0)),
    row('fills', ({ fills }) => fills),
    row('fills by option holders', ({ exercised }) => exercised),
    row('volume, USD', ({ volumeUsd }) => volumeUsd),
    row('mean spread D, bps', ({ meanSpreadBps }) => meanSpreadBps, 3),
    row('mean skew, bps', ({ meanSkewBps }) => meanSkewBps, 3),
    row('spread earned, USD', ({ spreadUsd }) => spreadUsd),
    row('pick-off, USD', ({ pickOffUsd }) => pickOffUsd),
    row('PnL, USD', ({ pnlUsd }) => pnlUsd),
    row('max drawdown, USD', ({ worstDrawdownUsd }) => worstDrawdownUsd),
    row('q rms', ({ qRms }) => qRms, 4),
    row('max held, USD', ({ mostHeldUsd }) => mostHeldUsd),
  ];
}

export const sumsOf = (figures: readonly Figure[]): string[][] =>
  figures.map(({ name, one, other, digits }) => {
    const text = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
    return [name, text(one), text(other), `${other - one > 0 ? '+' : ''}${text(other - one)}`];
  });

const LEG_COLUMNS = ['declined', 'amount_base_units', 'spread_bps', 'valid_seconds', 'outcome', 'edge_usd'];

/** Lists every request, changed or not; `first` and `second` are the two configurations. */
const quotesTable = ({ quotes }: ReplayResult): CsvTable => ({
  file: 'quotes.csv',
  header: [
    'request',
    'time_unix_ms',
    'pair',
    'corridor',
    'lp_side',
    'fixed_side',
    'amount_base_units',
    'recorded_outcome',
    ...['first', 'second'].flatMap((side) => LEG_COLUMNS.map((column) => `${side}_${column}`)),
    'price_difference_bps',
    'changed',
  ],
  rows: quotes.map(
    ({ id, atMs, pair, corridor, lp, side, amount, recorded, legs, differenceBps, changed }) => [
      id,
      atMs,
      pair,
      corridor,
      lp,
      side,
      amount,
      recorded,
      ...legs.flatMap((leg) => [
        leg.declined,
        leg.amount,
        leg.spreadBps,
        leg.validSeconds,
        leg.outcome,
        leg.edgeUsd,
      ]),
      differenceBps,
      String(changed),
    ],
  ),
});

function quoteCells({
  id,
  atMs,
  pair,
  corridor,
  lp,
  recorded,
  legs: [a, b],
  differenceBps,
}: ReplayedQuote): string[] {
  const said = ({ declined, outcome, edgeUsd }: ReplayLeg) =>
    declined !== null ? `no: ${declined}` : outcome === 'won' ? `won ${money(edgeUsd)}` : 'not taken';
  const spread = ({ spreadBps }: ReplayLeg) => (spreadBps === null ? '' : spreadBps.toFixed(3));
  return [
    id,
    new Date(atMs).toISOString().slice(11, 23),
    pair ?? '-',
    corridor,
    lp,
    recorded ?? '-',
    said(a),
    spread(a),
    said(b),
    spread(b),
    differenceBps === null ? '' : differenceBps.toFixed(4),
  ];
}

export const tallyRows = ({
  name,
  quoted,
  fills,
  volumeUsd,
  pnlUsd,
  spreadUsd,
  pickOffUsd,
  meanSpreadBps,
}: SimTally) =>
  rowsOf(name, {
    quoted,
    fills,
    'volume, USD': volumeUsd,
    'spread, USD': spreadUsd,
    'pick-off, USD': pickOffUsd,
    'PnL, USD': pnlUsd,
    'mean D, bps': meanSpreadBps,
  });

function differenceChart({ quotes }: ReplayResult): string {
  const fromMs = quotes[0]?.atMs ?? 0;
  const compared = quotes.filter(({ differenceBps }) => differenceBps !== null);
  return lineChart({
    title: 'Price difference',
    unit: 'bps per request, positive is worse for the taker',
    minutes: compared.map(({ atMs }) => (atMs - fromMs) / 60_000),
    lines: [{ name: 'difference', values: compared.map(({ differenceBps }) => differenceBps) }],
    level: 0,
    dots: true,
  });
}
