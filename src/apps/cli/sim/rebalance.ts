/** `firmquote sim rebalance`: what transfers by a policy would have cost and brought over the same flow. */

import { pairName } from '../../../sim/maker/setup.ts';
import { type ReplayResult, runReplay } from '../../../sim/replay.ts';
import type { TransferTally } from '../../../sim/transfers.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { printLines, table } from '../../terminal/table.ts';
import { rowsOf, saveTables } from './columns.ts';
import { readMaker, rebalancingOf } from './maker.ts';
import { firstMids, readPaths, sampleSecondsOf } from './paths.ts';
import { checked, type Figure, figuresOf, readRfqs, sumsOf, tallyRows } from './replay.ts';
import { type MarketOptions, takersOf } from './run.ts';
import { save } from './save.ts';

interface RebalanceOptions extends MarketOptions {
  rfqs?: string;
  asset?: string[];
  mostUsd?: number;
  mostUsdPerDay?: number;
  bridgeFeeBps: number;
  bridgeSeconds: number;
  bridgeGasUsd: number;
  delaySeconds: number;
  everySeconds: number;
}

/** Throws `RequestError`. */
export async function simulateRebalancing(options: RebalanceOptions): Promise<void> {
  const { paths, startMs, source } = await readPaths(options);
  const records = options.rfqs === undefined ? undefined : await readRfqs(options.rfqs);
  const without = await readMaker(options.config, 'without', firstMids(paths), { ...options, located: true });
  const assets = options.asset ?? ['USDC'];
  const stuck = assets.find((asset) => (without.places?.get(asset)?.length ?? 0) < 2);
  if (stuck !== undefined)
    throw badRequest(
      `${options.config} does not have ${stuck} on two chains for the simulated pairs. Name with --asset what the bridge carries.`,
    );
  const { rule, ...written } = await rebalancingOf(options.config);
  const { mostUsd = written.mostUsd, mostUsdPerDay = written.mostUsdPerDay } = options;
  const { everySeconds, delaySeconds } = options;
  const transfers = {
    rule,
    policy: { mode: 'automatic' as const, mostUsd, mostUsdPerDay },
    ...{ everySeconds, delaySeconds },
    bridge: {
      assets,
      feeBps: options.bridgeFeeBps,
      seconds: options.bridgeSeconds,
      gasUsd: options.bridgeGasUsd,
    },
  };
  const setup = {
    ...{ seed: options.seed, startMs, paths, records, takers: takersOf(options) },
    makers: [without, { ...without, name: 'with', transfers }] as const,
    sampleSeconds: sampleSecondsOf(paths),
  };
  const result = checked(runReplay(setup), setup, options);
  const figures = [...figuresOf(result), ...transferFigures(result)];
  printLines([
    `${without.pairs.map(pairName).join(' and ')}, ${Math.round(result.seconds / 6) / 10} minutes. Prices ${source}.`,
    `${result.requests} requests ${records === undefined ? `drawn with seed ${options.seed}` : `from ${options.rfqs}`}${result.skipped > 0 ? `, ${result.skipped} outside the prices' time left out` : ''}.`,
    `Transfers of up to ${mostUsd} USD, ${mostUsdPerDay} a day; ${delaySeconds} s until the escrow lets money go, then ${options.bridgeSeconds} s; the bridge keeps ${options.bridgeFeeBps} bps.`,
    '',
    ...table(['', 'without', 'with', 'difference'], sumsOf(figures), {
      right: ['without', 'with', 'difference'],
    }),
    ...waitsOf(result.inventories[1]),
  ]);
  if (options.json !== undefined) await save(options.json, `${JSON.stringify({ result }, null, 1)}\n`);
  if (options.csv !== undefined)
    await saveTables(options.csv, [
      {
        file: 'rebalancing.csv',
        header: ['figure', 'without', 'with', 'difference'],
        rows: figures.map(({ name, one, other }) => [name, one, other, other - one]),
      },
    ]);
  const [one, other] = result.makers;
  console.log(
    JSON.stringify({
      ok: true,
      rows: [
        ...tallyRows(one),
        ...tallyRows(other),
        ...rowsOf('with', Object.fromEntries(transferFigures(result).map((row) => [row.name, row.other]))),
        ...rowsOf('without', Object.fromEntries(transferFigures(result).map((row) => [row.name, row.one]))),
      ],
    }),
  );
}

/** Declines because a chain had too little, or too much, of a token. */
const SHORT = ['no_inventory', 'band'] as const;

function transferFigures({ makers, inventories: [a, b] }: ReplayResult): Figure[] {
  const short = (at: 0 | 1) => SHORT.reduce((sum, why) => sum + (makers[at].declines[why] ?? 0), 0);
  const row = (name: string, of: (tally: TransferTally) => number, digits = 2): Figure => ({
    ...{ name, one: of(a), other: of(b), digits },
  });
  const share = (tally: TransferTally, place: string): number =>
    tally.seconds === 0 ? 0 : (100 * (tally.outOfBand[place] ?? 0)) / tally.seconds;
  return [
    { name: 'declined for lack of inventory', one: short(0), other: short(1), digits: 0 },
    ...Object.keys(b.outOfBand).map((place) =>
      row(`time out of band, ${place}, %`, (of) => share(of, place)),
    ),
    row('transfers', ({ transfers }) => transfers, 0),
    row('moved, USD', ({ movedUsd }) => movedUsd),
    row('bridge fees, USD', ({ bridgeFeesUsd }) => bridgeFeesUsd),
    row('gas of transfers, USD', ({ transferGasUsd }) => transferGasUsd),
    row('mean minutes under way', ({ transfers, underWaySeconds }) =>
      transfers === 0 ? 0 : underWaySeconds / transfers / 60,
    ),
  ];
}

function waitsOf({ byHand }: TransferTally): string[] {
  const reasons = Object.entries(byHand);
  return reasons.length === 0
    ? []
    : [
        '',
        'Advice that would not have begun by itself, by looks:',
        ...reasons.map(([why, looks]) => `  ${looks}: ${why}`),
      ];
}
