/** `firmquote sim run`: simulates a market around an LP's configuration. */

import type { PricingPlugin } from '../../../pricing/price-inputs.ts';
import { barChart, lineChart } from '../../../sim/chart.ts';
import { type MakerSetup, pairName } from '../../../sim/maker/setup.ts';
import { type MarketResult, type MarketSetup, runMarket, type TakerSetup } from '../../../sim/market.ts';
import { pageOf } from '../../../sim/page.ts';
import { type SeedResult, variantsOf } from '../../../sim/study/runs.ts';
import type { PairTally } from '../../../sim/tally.ts';
import {
  cellsOf,
  type CsvTable,
  csvTable,
  DISTRIBUTION_COLUMNS,
  distributionsOf,
  headOf,
  PAIR_COLUMNS,
  rowsOf,
  runsTable,
  saveTables,
  TALLY_COLUMNS,
} from './columns.ts';
import { hedgeReport } from './hedge-report.ts';
import { readMaker } from './maker.ts';
import { firstMids, type PathOptions, readPaths, sampleSecondsOf } from './paths.ts';
import { save } from './save.ts';
import { printLines, table } from '../../terminal/table.ts';

export interface MarketOptions extends PathOptions {
  rfqSeconds: number;
  informed: number;
  takers: number;
  holders: number;
  sizeUsd: number;
  alpha: number;
  beta: number;
  feeBps: number;
  capitalUsd: number;
  gasUsd: number;
  noiseBps: number;
  risk: boolean;
  json?: string;
  html?: string;
  csv?: string;
}

interface MarketRunOptions extends MarketOptions {
  config: string;
  copies: number;
  fixed: number[];
  seeds: number;
  hedgeBandUsd?: number;
  hedgeHalfSpreadBps: number;
  hedgeFeeBps: number;
  hedgeDelaySeconds: number;
}

export const takersOf = ({
  rfqSeconds,
  informed,
  takers,
  holders,
  sizeUsd,
  alpha,
  beta,
  feeBps,
}: MarketOptions): TakerSetup => ({
  rfqSeconds,
  theta: informed,
  takers,
  holders,
  medianUsd: sizeUsd,
  sizeSpread: 1,
  mostUsd: 25 * sizeUsd,
  alpha,
  beta,
  platformFeeBps: feeBps,
});

export async function simulateMarket(options: MarketRunOptions): Promise<void> {
  const { setup, source } = await setupOf(options, options.seed);
  const [own] = setup.makers as [MakerSetup];
  const pairs = own.pairs.map(pairName);
  const several = pairs.length > 1;
  const result = runMarket(setup);
  const results: SeedResult[] = [{ seed: options.seed, ...result }];
  for (let seed = options.seed + 1; seed < options.seed + options.seeds; seed++)
    results.push({ seed, ...runMarket((await setupOf(options, seed)).setup) });
  const minutes = result.seconds / 60;
  const variants = variantsOf(results, { total: true });
  const distributions = distributionsOf(variants, minutes);

  const facts = [
    `${pairs.join(' and ')}, ${Number(minutes.toFixed(1))} minutes, seed ${options.seed}. Prices ${source}.`,
    `${result.requests} requests, one per ${options.rfqSeconds} s ${several ? 'and pair ' : ''}on average, ${Math.round(options.informed * 100)} % from option holders; ${result.unanswered} got no quote, ${result.refused} did not accept.`,
    'The total of every token was checked at each sample and did not change.',
  ];
  const spread = `Distribution over ${options.seeds} runs of ${Number(minutes.toFixed(1))} minutes, seeds ${options.seed} to ${options.seed + options.seeds - 1}, USD a run`;
  const head = headOf(TALLY_COLUMNS);
  const cells = result.makers.map((tally) => cellsOf(TALLY_COLUMNS, tally));
  const spreadHead = headOf(DISTRIBUTION_COLUMNS);
  const spreadCells = distributions.map((each) => cellsOf(DISTRIBUTION_COLUMNS, each));
  printLines(facts);
  console.log();
  printLines(table(head, cells, { right: head.slice(1) }));
  const byPair = result.makers.flatMap(({ name, pairs: parts }) => parts.map((part) => ({ name, ...part })));
  const pairHead = headOf(PAIR_COLUMNS);
  const pairCells = byPair.map((part) => cellsOf(PAIR_COLUMNS, part));
  if (several) {
    console.log('\nBy pair:');
    printLines(table(pairHead, pairCells, { right: pairHead.slice(2) }));
  }
  for (const { name, declines } of result.makers)
    if (Object.keys(declines).length > 0)
      console.log(
        `${name} declined: ${Object.entries(declines)
          .map(([why, times]) => `${why} ${times}`)
          .join(', ')}`,
      );
  if (options.seeds > 1) {
    console.log(`\n${spread}:`);
    printLines(table(spreadHead, spreadCells, { right: spreadHead.slice(1) }));
  }
  const hedge = hedgeReport(result, variants);
  if (hedge !== undefined) {
    console.log(`\n${hedge.title}:`);
    printLines(table(hedge.head, hedge.cells, { right: hedge.head.slice(1) }));
    console.log(hedge.note);
  }
  const rows = [
    ...(hedge?.rows ?? []),
    ...result.makers.flatMap(({ name, ...tally }) => tallyRows(name, tally)),
    ...(several ? byPair.flatMap(({ name, pair, ...tally }) => tallyRows(`${name}, ${pair}`, tally)) : []),
    ...(options.seeds > 1 ? distributions.flatMap(distributionRows) : []),
  ];
  const { json: _json, html: _html, csv: _csv, ...asked } = options;
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ options: asked, result, distributions }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [
      csvTable('results.csv', TALLY_COLUMNS, result.makers),
      ...(several ? [csvTable('pairs.csv', PAIR_COLUMNS, byPair)] : []),
      ...seriesTables(result),
      {
        file: 'money.csv',
        header: ['chain_id', 'token', 'before_base_units', 'after_base_units'],
        rows: result.money.map(({ chainId, symbol, before, after }) => [chainId, symbol, before, after]),
      },
      csvTable('distribution.csv', DISTRIBUTION_COLUMNS, distributions),
      runsTable(variants),
      ...(hedge?.files ?? []),
    ]);
  if (options.html !== undefined)
    await save(
      options.html,
      pageOf({
        title: `Simulated market, ${pairs.join(' and ')}`,
        facts,
        tables: [
          {
            title: 'Results',
            note: 'USD at the last mid. Spread: value of ordinary fills when taken, after gas. Pick-off: the same for option holders.',
            head,
            rows: cells,
          },
          ...(several
            ? [
                {
                  title: 'By pair',
                  note: 'The inventory of the quote asset serves all pairs. The profits of the pairs sum to that of the LP.',
                  head: pairHead,
                  rows: pairCells,
                },
              ]
            : []),
          ...(hedge ? [{ title: hedge.title, note: hedge.note, head: hedge.head, rows: hedge.cells }] : []),
          ...(options.seeds > 1
            ? [
                {
                  title: 'Distribution',
                  note: `${spread}. Charts show the first seed.`,
                  head: spreadHead,
                  rows: spreadCells,
                },
              ]
            : []),
        ],
        charts: chartsOf(result, hedge?.charts),
      }),
    );
  console.log(JSON.stringify({ ok: true, rows }));
}

/** Sets up the market of one seed: drawn prices, takers and noise depend on it, recorded prices do not. */
async function setupOf(
  options: MarketRunOptions,
  seed: number,
): Promise<{ setup: MarketSetup; source: string }> {
  const { paths, startMs, source } = await readPaths({ ...options, seed });
  const own = await readMaker(options.config, 'this LP', firstMids(paths), options);
  const copies = Array.from({ length: options.copies }, (_, at): MakerSetup => ({
    ...own,
    name: `copy ${at + 1}`,
  }));
  const fixed = options.fixed.map((bps): MakerSetup => ({
    ...own,
    name: `fixed ${bps} bps`,
    plugin: fixedSpread(bps),
  }));
  const setup: MarketSetup = {
    seed,
    startMs,
    paths,
    takers: takersOf(options),
    makers: [own, ...copies, ...fixed],
    sampleSeconds: sampleSecondsOf(paths),
    ...(options.hedgeBandUsd !== undefined && {
      hedge: {
        bandUsd: options.hedgeBandUsd,
        halfSpreadBps: options.hedgeHalfSpreadBps,
        feeBps: options.hedgeFeeBps,
        delaySeconds: options.hedgeDelaySeconds,
      },
    }),
  };
  return { setup, source };
}

const fixedSpread = (bps: number): PricingPlugin => ({
  name: 'fixed',
  pricer: ({ fee, gas }) => ({ spread: Math.max(bps - fee - gas, 0) }),
});

const tallyRows = (
  name: string,
  { pnlUsd, fills, exercised, spreadUsd, pickOffUsd, quoted, qRms }: Omit<PairTally, 'pair'>,
) =>
  rowsOf(name, {
    'PnL, USD': pnlUsd,
    'spread, USD': spreadUsd,
    'pick-off, USD': pickOffUsd,
    fills,
    'fills by holders': exercised,
    quoted,
    'q rms': qRms,
  });

const distributionRows = ({
  name,
  mean,
  error,
  deviation,
  sharpe,
  sharpeYear,
  worstDrawdown,
  tail5,
  tail1,
  losing,
}: ReturnType<typeof distributionsOf>[number]) =>
  rowsOf(`${name}, all runs`, {
    'mean PnL, USD': mean,
    ...(error !== null && { 'error of the mean, USD': error }),
    ...(deviation !== null && { 'deviation of PnL, USD': deviation }),
    ...(sharpe !== null && { 'Sharpe of a run': sharpe }),
    ...(sharpeYear !== null && { 'Sharpe of a year': sharpeYear }),
    'greatest drawdown, USD': worstDrawdown,
    '5 % tail, USD': tail5.value,
    '5 % expected shortfall, USD': tail5.shortfall,
    '1 % tail, USD': tail1.value,
    '1 % expected shortfall, USD': tail1.shortfall,
    'share of losing runs': losing,
  });

/** Makes the tables that the charts draw. */
export function seriesTables({ series, makers }: Pick<MarketResult, 'series' | 'makers'>): CsvTable[] {
  const pairs = makers[0]?.pairs ?? [];
  return [
    {
      file: 'mids.csv',
      header: ['time_seconds', 'pair', 'mid_quote_tokens'],
      rows: series.flatMap(({ second, mids }) => mids.map((mid, at) => [second, pairs[at]?.pair, mid])),
    },
    ...(pairs.length > 1
      ? [
          {
            file: 'pair-series.csv',
            header: ['time_seconds', 'lp', 'pair', 'pnl_usd', 'q_soft_bands', 'spread_bps'],
            rows: series.flatMap((sample) =>
              sample.makers.flatMap(({ pairs: parts }, at) =>
                parts.map(({ pnlUsd, q, spreadBps }, pair) => [
                  sample.second,
                  makers[at]?.name,
                  pairs[pair]?.pair,
                  pnlUsd,
                  q,
                  spreadBps,
                ]),
              ),
            ),
          },
        ]
      : []),
    {
      file: 'series.csv',
      header: ['time_seconds', 'lp', 'pnl_usd', 'q_soft_bands', 'held_usd', 'spread_bps'],
      rows: series.flatMap((sample) =>
        sample.makers.map(({ pnlUsd, q, heldUsd, spreadBps }, at) => [
          sample.second,
          makers[at]?.name,
          pnlUsd,
          q,
          heldUsd,
          spreadBps,
        ]),
      ),
    },
    {
      file: 'declines.csv',
      header: ['lp', 'reason', 'declines'],
      rows: makers.flatMap(({ name, declines }) =>
        Object.entries(declines).map(([reason, times]) => [name, reason, times]),
      ),
    },
  ];
}

export function chartsOf(
  { series, makers }: Pick<MarketResult, 'series' | 'makers'>,
  more: readonly string[] = [],
): string[] {
  const minutes = series.map(({ second }) => second / 60);
  const chart = (of: 'pnlUsd' | 'heldUsd' | 'spreadBps', title: string, unit: string, level?: number) =>
    lineChart({
      title,
      unit,
      minutes,
      lines: makers.map(({ name }, at) => ({
        name,
        values: series.map((sample) => sample.makers[at]?.[of] ?? null),
      })),
      ...(level !== undefined && { level }),
    });
  const pairs = makers[0]?.pairs ?? [];
  const mids = pairs.map(({ pair }, at) =>
    lineChart({
      title: pairs.length > 1 ? `Mid of ${pair}` : 'Mid',
      unit: 'quote tokens',
      minutes,
      lines: [{ name: 'mid', values: series.map((sample) => sample.mids[at] ?? null) }],
    }),
  );
  const ofPairs = (of: 'pnlUsd' | 'q', title: string, unit: string) =>
    lineChart({
      title,
      unit,
      minutes,
      lines: makers.flatMap(({ name }, at) =>
        pairs.map(({ pair }, place) => ({
          name: pairs.length > 1 ? `${name}, ${pair}` : name,
          values: series.map((sample) => sample.makers[at]?.pairs[place]?.[of] ?? null),
        })),
      ),
      level: 0,
    });
  return [
    ...mids,
    chart('pnlUsd', 'Profit and loss', 'USD at mid', 0),
    ...(pairs.length > 1 ? [ofPairs('pnlUsd', 'Profit and loss by pair', 'USD at mid')] : []),
    ofPairs('q', 'Position', 'relative to the soft band'),
    chart('spreadBps', 'All-in spread offered', 'bps, mean since the last sample'),
    ...more,
    chart('heldUsd', 'Held for live quotes', 'USD', 0),
    barChart({
      title: 'Declines',
      unit: 'by control or reason',
      bars: makers.map(({ name, declines }) => ({
        name,
        values: Object.entries(declines).map(([why, value]) => ({ name: why, value })),
      })),
    }),
  ];
}
