/** `firmquote sim run`: simulates a market around an LP's configuration. */

import { writeFile } from 'node:fs/promises';
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
import type { SimTally } from '../../../sim/tally.ts';
import { readMaker } from './maker.ts';
import { readPrices } from './prices.ts';
import { printLines, table } from '../table.ts';
import { badRequest } from '../../bad-request.ts';

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
}

export interface MarketRunOptions extends MarketOptions {
  config: string;
  copies: number;
  fixed: number[];
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
  const path = await pricesOf(options);
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
  const setup: MarketSetup = {
    seed: options.seed,
    startMs: path.startMs,
    prices: path.prices,
    motion: path.motion,
    takers: takersOf(options),
    makers: [own, ...copies, ...fixed],
    sampleSeconds: Math.max(1, Math.ceil(path.prices.length / 120)),
  };
  const result = runMarket(setup);
  const facts = [
    `${own.base}-${own.quote}, ${Math.round(result.seconds / 6) / 10} minutes, seed ${options.seed}. Prices ${path.source}.`,
    `${result.requests} requests, one per ${options.rfqSeconds} s on average, ${Math.round(options.informed * 100)} % from option holders; ${result.unanswered} got no quote, ${result.refused} did not accept.`,
    'The total of every token was checked at each sample and did not change.',
  ];
  printLines(facts);
  console.log();
  printLines(table(HEAD, result.makers.map(cells), { right: HEAD.slice(1) }));
  for (const { name, declines } of result.makers)
    if (Object.keys(declines).length > 0)
      console.log(
        `${name} declined: ${Object.entries(declines)
          .map(([why, times]) => `${why} ${times}`)
          .join(', ')}`,
      );
  const rows = result.makers.flatMap(tallyRows);
  const { json: _json, html: _html, ...asked } = options;
  if (options.json !== undefined)
    await save(options.json, `${JSON.stringify({ options: asked, result }, null, 1)}\n`);
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
            head: HEAD,
            rows: result.makers.map(cells),
          },
        ],
        charts: chartsOf(result),
      }),
    );
  console.log(JSON.stringify({ ok: true, rows }));
}

const fixedSpread = (bps: number): PricingPlugin => ({
  name: 'fixed',
  pricer: ({ fee, gas }) => ({ spread: Math.max(bps - fee - gas, 0) }),
});

const usd = (value: number): string =>
  value.toLocaleString('en-US', {
    maximumFractionDigits: Math.abs(value) < 1000 ? 2 : 0,
    minimumFractionDigits: 0,
  });

const COLUMNS: readonly (readonly [heading: string, cell: (tally: SimTally) => string])[] = [
  ['LP', ({ name }) => name],
  ['quoted', ({ quoted, requests }) => `${quoted}/${requests}`],
  ['fills', ({ fills }) => `${fills}`],
  ['by holders', ({ exercised }) => `${exercised}`],
  ['volume', ({ volumeUsd }) => usd(volumeUsd)],
  ['spread', ({ spreadUsd }) => usd(spreadUsd)],
  ['pick-off', ({ pickOffUsd }) => usd(pickOffUsd)],
  ['PnL', ({ pnlUsd }) => usd(pnlUsd)],
  ['max drawdown', ({ worstDrawdownUsd }) => usd(worstDrawdownUsd)],
  ['mean D bps', ({ meanSpreadBps }) => meanSpreadBps.toFixed(2)],
  ['mean skew bps', ({ meanSkewBps }) => meanSkewBps.toFixed(2)],
  ['q rms', ({ qRms }) => qRms.toFixed(3)],
  ['q end', ({ qEnd }) => qEnd.toFixed(3)],
  ['max held', ({ mostHeldUsd }) => usd(mostHeldUsd)],
];
const HEAD = COLUMNS.map(([heading]) => heading);
const cells = (tally: SimTally): string[] => COLUMNS.map(([, cell]) => cell(tally));

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

export const rowsOf = (name: string, figures: Record<string, number>) =>
  Object.entries(figures).map(([what, ours]) => ({
    name: `${name}: ${what}`,
    ours,
    reference: null,
    ok: true,
  }));

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

export async function save(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((cause: unknown) => {
    throw badRequest(
      `${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}.`,
      cause,
    );
  });
}
