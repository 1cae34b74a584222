/** `firmquote trades`: history made anew from facts, and history made up for measuring. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { RequestError } from '../../../domain/errors.ts';
import { chainOf } from '../../networks.ts';
import { rebuildTrades } from '../../../adapters/postgres/trades/trade-rebuild.ts';
import { seedPeople, seedTrades } from '../../../adapters/postgres/trades/trade-seed.ts';
import { withVenueDatabase } from './venue-database.ts';

const PROGRESS_EVERY = 50_000;

export function tradesCommand(): Command {
  const trades = new Command('trades').description("a venue's trade history");
  const configOption = () =>
    new Option(
      '-c, --config <file>',
      "the venue's configuration; DATABASE_URL wins over it",
    ).makeOptionMandatory();
  trades
    .command('rebuild')
    .description(
      'make every row and count of history anew from orders and facts; the venue may go on meanwhile',
    )
    .addOption(configOption())
    .action(rebuild);
  trades
    .command('seed')
    .description(
      'add made-up trades of every kind with all their facts, for measuring; never in a database whose history matters',
    )
    .addOption(configOption())
    .option('--rows <n>', 'how many', readWhole, 10_000)
    .option('--seed <n>', 'the same number makes the same trades', readWhole, 1)
    .option('--workspace <id>', 'whose', 'seed')
    .addOption(new Option('--mode <mode>', 'sandbox or production').choices(['test', 'live']).default('test'))
    .option('--days <n>', 'over how many days up to now', readWhole, 180)
    .action(seedHistory);
  return trades;
}

const rebuild = ({ config }: { config: string }): Promise<void> =>
  withVenueDatabase(config, async ({ db }) => {
    const startedMs = Date.now();
    const rows = await rebuildTrades(db, {}, (done) => report(done));
    console.log(`${rows} trades were made anew from their facts in ${seconds(startedMs)} s.`);
  });

const seedHistory = ({
  config: file,
  rows,
  seed,
  workspace,
  mode,
  days,
}: {
  config: string;
  rows: number;
  seed: number;
  workspace: string;
  mode: 'test' | 'live';
  days: number;
}): Promise<void> =>
  withVenueDatabase(file, async ({ db, venue, config }) => {
    const chains = config.chains.map(chainOf).filter(({ sandbox }) => sandbox === (mode === 'test'));
    if (chains.length === 0)
      throw new RequestError(
        `The configuration has no ${mode === 'test' ? 'sandbox' : 'production'} chain, so there is nothing that a ${mode} trade could have happened on. Choose the other --mode.`,
        { code: 'bad_request' },
      );
    if (!(await venue.workspace(workspace)))
      await venue.putWorkspace({
        id: workspace,
        name: workspace,
        platformFeeBps: 2,
        eligibleSolvers: null,
        limits: { openQuotes: null, openNotionalUsd: null },
        travelRuleThresholdUsd: null,
      });
    const { lps, members } = await seedPeople(db, workspace);
    const startedMs = Date.now();
    const made = await seedTrades(
      db,
      {
        book: { workspaceId: workspace, mode },
        rows,
        seed,
        chains,
        lps,
        members,
        untilMs: startedMs,
        days,
        usd: { USD: 1, ETH: 2_500 },
      },
      report,
    );
    console.log(`${made} trades were added to workspace ${workspace} (${mode}) in ${seconds(startedMs)} s.`);
  });

function report(done: number): void {
  if (done % PROGRESS_EVERY === 0) console.error(`${done} trades`);
}

const seconds = (startedMs: number): number => Math.round((Date.now() - startedMs) / 100) / 10;

function readWhole(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return count;
}
