/** `firmquote trades`: rebuilds the trade history from orders and facts. */

import { Command } from 'commander';

const PROGRESS_EVERY = 50_000;

export function tradesCommand(): Command {
  const trades = new Command('trades').description("a venue's trade history");
  trades
    .command('rebuild')
    .description(
      'rebuild all rows and counts of the trade history from orders and facts; the venue may keep running',
    )
    .requiredOption('-c, --config <file>', "the venue's configuration; DATABASE_URL takes precedence")
    .action(rebuild);
  return trades;
}

async function rebuild({ config }: { config: string }): Promise<void> {
  const { withVenueDatabase } = await import('./venue-database.ts');
  const { rebuildTrades } = await import('../../../adapters/postgres/trades/trade-rebuild.ts');
  await withVenueDatabase(config, async ({ db }) => {
    const startedMs = Date.now();
    const rows = await rebuildTrades(db, {}, report);
    const seconds = Math.round((Date.now() - startedMs) / 100) / 10;
    console.log(`Rebuilt ${rows} trades from their facts in ${seconds} s.`);
  });
}

function report(done: number): void {
  if (done % PROGRESS_EVERY === 0) console.error(`${done} trades`);
}
