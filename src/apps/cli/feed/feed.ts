/** `firmquote feed`. */

import { Command, InvalidArgumentError } from 'commander';

export function feedCommand(): Command {
  const feed = new Command('feed').description('record price feeds, and replay recordings');
  feed
    .command('record')
    .description('write the messages of an exchange as they arrive, until Ctrl-C')
    .requiredOption('-c, --config <file>', 'configuration of the LP')
    .requiredOption('--feed <name>', 'name of an exchange’s feed in the configuration')
    .requiredOption('--out <file>', 'file to write; messages are added to its end')
    .option(
      '--symbol <symbol>',
      'default: what the configuration prices from this feed; repeatable',
      many,
      [],
    )
    .option('--minutes <n>', 'end after this time', readMinutes)
    .action(async (options) => (await import('./record.ts')).recordFeed(options));
  feed
    .command('replay')
    .description('run the price feed on a recording and print mids, gaps and stale periods')
    .argument(
      '<file>',
      'JSON lines, may be gzipped: receive time in nanoseconds, then the message of the exchange',
    )
    .option('--every <ms>', 'recorded time between printed mids; 0: print all', readWhole, 1_000)
    .option('--max-age <ms>', 'a mid older than this is stale', readWhole, 2_000)
    .option('--gap <ms>', 'this long without a new top of book is a gap', readWhole, 1_000)
    .option('--symbol <symbol>', 'only this symbol')
    .action(
      async (
        file: string,
        { every, maxAge, gap, symbol }: { every: number; maxAge: number; gap: number; symbol?: string },
      ) => {
        const { replayFeed } = await import('../../../adapters/feeds/replay.ts');
        const options = {
          everyMs: every,
          maxAgeMs: maxAge,
          gapMs: gap,
          ...(symbol !== undefined && { symbol }),
        };
        await replayFeed(file, options, (line) => console.log(line));
      },
    );
  return feed;
}

const many = (text: string, before: readonly string[]): string[] => [...before, text];

export function readWhole(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new InvalidArgumentError('It must be a whole number.');
  return count;
}

function readMinutes(text: string): number {
  const minutes = Number(text);
  if (!(minutes > 0 && minutes <= 20_000)) throw new InvalidArgumentError('It must be from 0 to 20000.');
  return minutes;
}
