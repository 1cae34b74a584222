/** `firmquote sim run`: simulates a market around an LP's configuration. */

import type { PricingPlugin } from '../../../pricing/price-inputs.ts';
import { barChart, lineChart } from '../../../sim/chart.ts';
import { createRandom } from '../../../sim/random.ts';
import { drawPrices, realised } from '../../../sim/exchange.ts';
import type { MakerSetup } from '../../../sim/maker.ts';
import {
  type MarketResult,
  type MarketSetup,
  type OptionView,
  runMarket,
  type TakerSetup,
} from '../../../sim/market.ts';
import { pageOf } from '../../../sim/page.ts';
import { type SeedResult, variantsOf } from '../../../sim/study/runs.ts';
import type { SimTally } from '../../../sim/tally.ts';
import {
  cellsOf,
  type CsvTable,
  csvTable,
  DISTRIBUTION_COLUMNS,
  distributionsOf,
  headOf,
  rowsOf,
  runsTable,
  saveTables,
  TALLY_COLUMNS,
} from './columns.ts';
import { hedgeReport } from './hedge-report.ts';
import { readMaker } from './maker.ts';
import { readPrices } from './prices.ts';
import { save } from './save.ts';
import { printLines, table } from '../table.ts';

export interface MarketOptions {
  seed: number;
  minutes?: number;
  start: number;
  sigma: number;
  jumps: number;
  jumpBps: number;
  prices?: string;
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
  pair?: string;
  risk: boolean;
  json?: string;
  html?: string;
  csv?: string;
}

export interface MarketRunOptions extends MarketOptions {
  config: string;
  copies: number;
  fixed: number[];
  seeds: number;
  hedgeBandUsd?: number;
  hedgeHalfSpreadBps: number;
  hedgeFeeBps: number;
  hedgeDelaySeconds: number;
}

/** Less says nothing about a configuration. */
const LEAST_SECONDS = 5;
/** A fixed start, so that the same seed gives the same bytes. */
const EPOCH_MS = Date.UTC(2026, 0, 1);

export async function pricesOf({
  prices: file,
  seed,
  minutes,
  start,
  sigma,
  jumps,
  jumpBps,
}: MarketOptions): Promise<{ prices: number[]; startMs: number; motion: OptionView; source: string }> {
  const seconds = minutes === undefined ? undefined : Math.round(minutes * 60);
  if (file === undefined) {
    const prices = drawPrices(
      { seconds: seconds ?? 3_600, start, sigma, jumpsPerHour: jumps, jumpBps },
      createRandom(seed, 0),
    );
    return {
      prices,
      startMs: EPOCH_MS,
      motion: { sigma, jumpsPerHour: jumps, jumpBps },
      source: `drawn: ${(sigma * 100).toFixed(0)} % a year, ${jumps} jumps an hour of ${jumpBps} bps`,
    };
  }
  const recorded = await readPrices(file, LEAST_SECONDS);
  const prices = seconds === undefined ? recorded.prices : recorded.prices.slice(0, seconds + 1);
  const seen = realised(prices);
  return {
    prices,
    startMs: recorded.startMs,
    motion: { sigma: seen, jumpsPerHour: 0, jumpBps },
    source: `recorded: ${recorded.symbol} from ${new Date(recorded.startMs).toISOString()}, ${(seen * 100).toFixed(0)} % a year realised`,
  };
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
  const setup = await setupOf(options, options.seed);
  const [own] = setup.makers as [MakerSetup];
  const result = runMarket(setup);
  const { source } = await pricesOf(options);
  const results: SeedResult[] = [{ seed: options.seed, ...result }];
  for (let seed = options.seed + 1; seed < options.seed + options.seeds; seed++)
    results.push({ seed, ...runMarket(await setupOf(options, seed)) });
  const minutes = result.seconds / 60;
  const variants = variantsOf(results, { total: true });
  const distributions = distributionsOf(variants, minutes);

  const facts = [
    `${own.base}-${own.quote}, ${Number(minutes.toFixed(1))} minutes, seed ${options.seed}. Prices ${source}.`,
    `${result.requests} requests, one per ${options.rfqSeconds} s on average, ${Math.round(options.informed * 100)} % from option holders; ${result.unanswered} got no quote, ${result.refused} did not accept.`,
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
    ...result.makers.flatMap(tallyRows),
    ...(options.seeds > 1 ? distributions.flatMap(distributionRows) : []),
  ];
  const { json: _json, html: _html, csv: _csv, ...asked } = options;
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ options: asked, result, distributions }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [
      csvTable('results.csv', TALLY_COLUMNS, result.makers),
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
        title: `Simulated market, ${own.base}-${own.quote}`,
        facts,
        tables: [
          {
            title: 'Results',
            note: 'USD at the last mid. Spread: value of ordinary fills when taken, after gas. Pick-off: the same for option holders.',
            head,
            rows: cells,
          },
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

/** The market of one seed: drawn prices, takers and noise depend on it, recorded prices do not. */
async function setupOf(options: MarketRunOptions, seed: number): Promise<MarketSetup> {
  const path = await pricesOf({ ...options, seed });
  const own = await readMaker(options.config, 'this LP', path.prices[0] as number, options);
  const copies = Array.from({ length: options.copies }, (_, at): MakerSetup => ({
    ...own,
    name: `copy ${at + 1}`,
  }));
  const fixed = options.fixed.map((bps): MakerSetup => ({
    ...own,
    name: `fixed ${bps} bps`,
    plugin: fixedSpread(bps),
  }));
  return {
    seed,
    startMs: path.startMs,
    prices: path.prices,
    motion: path.motion,
    takers: takersOf(options),
    makers: [own, ...copies, ...fixed],
    sampleSeconds: Math.max(1, Math.ceil(path.prices.length / 120)),
    ...(options.hedgeBandUsd !== undefined && {
      hedge: {
        bandUsd: options.hedgeBandUsd,
        halfSpreadBps: options.hedgeHalfSpreadBps,
        feeBps: options.hedgeFeeBps,
        delaySeconds: options.hedgeDelaySeconds,
      },
    }),
  };
}

const fixedSpread = (bps: number): PricingPlugin => ({
  name: 'fixed',
  pricer: ({ fee, gas }) => ({ spread: Math.max(bps - fee - gas, 0) }),
});

const tallyRows = ({ name, pnlUsd, fills, exercised, spreadUsd, pickOffUsd, quoted, qRms }: SimTally) =>
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

/** What the charts draw. */
export function seriesTables({ series, makers }: Pick<MarketResult, 'series' | 'makers'>): CsvTable[] {
  return [
    {
      file: 'mids.csv',
      header: ['time_seconds', 'mid_quote_tokens'],
      rows: series.map(({ second, mid }) => [second, mid]),
    },
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
  const chart = (of: 'pnlUsd' | 'q' | 'heldUsd' | 'spreadBps', title: string, unit: string, level?: number) =>
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
  const mids = [{ name: 'mid', values: series.map(({ mid }) => mid) }];
  return [
    lineChart({ title: 'Mid', unit: 'quote tokens', minutes, lines: mids }),
    chart('pnlUsd', 'Profit and loss', 'USD at mid', 0),
    chart('q', 'Position', 'relative to the soft band', 0),
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
