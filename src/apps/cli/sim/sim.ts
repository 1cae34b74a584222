/** `firmquote sim`. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { badRequest } from '../../wiring/bad-request.ts';
import { collect } from '../option-values.ts';
import { MEASURES } from './measures.ts';

interface SimOptions {
  published?: boolean;
  bars?: boolean;
  model?: string;
  seed?: string;
  paths?: string;
  events?: number;
  recording?: string;
}

export function simCommand(): Command {
  const sim = new Command('sim')
    .description(
      'check pricing and inventory against published figures, simulate a market, or replay a recorded one',
    )
    .hook('preAction', () => void process.stdout.off('error', ignoreClosedPipe).on('error', ignoreClosedPipe))
    .enablePositionalOptions()
    .allowUnknownOption()
    .allowExcessArguments()
    .option(
      '--published',
      'recompute every published figure behind the model: tables, closed forms, options, fees',
    )
    .option('--bars', 'run the firm-quote backtest and the criteria (bars) the engine must meet')
    .option(
      '--model <name>',
      'run one model with your own parameters: as2008, glft, blackscholes, bachelier, lambertw, breakeven, firm',
    )
    .option('--seed <n>', 'random seed; the same seed gives the same output')
    .option('--paths <n>', 'number of worlds or paths; default: as published')
    .option('--events <n>', 'bars: events of the adversary; default: 1000000', natural)
    .option(
      '--recording <file>',
      'bars: recorded exchange prices for bar 6, in the format of `firmquote feed replay`',
    )
    .action(async (options: SimOptions, command: Command) => act(options, command.args));
  marketOptions(
    sim
      .command('run')
      .description(
        "simulate a market around an LP's configuration: takers, option holders, rivals; drawn or recorded prices",
      ),
  )
    .requiredOption('-c, --config <file>', 'configuration of the LP, as in config/lp.example.json')
    .option('--copies <n>', 'competing copies of this LP', within(0, 20, true), 0)
    .option('--fixed <bps>', 'a rival with a fixed spread; may be repeated', each(0.1, 1000), [])
    .option(
      '--seeds <n>',
      'number of runs, each with the next seed: prints a distribution',
      within(1, 10_000, true),
      1,
    )
    .option(
      '--hedge-band-usd <usd>',
      'also report this LP with a hedge: it trades what its position exceeds this by on an exchange',
      within(0, 1e12),
    )
    .option('--hedge-half-spread-bps <bps>', 'half the spread of that exchange', within(0, 1_000), 0.5)
    .option('--hedge-fee-bps <bps>', "that exchange's fee", within(0, 1_000), 2)
    .option('--hedge-delay-seconds <n>', 'from decision to trade', within(0, 3_600, true), 1)
    .action(async (options) => (await import('./run.ts')).simulateMarket(options));
  marketOptions(
    sim
      .command('sweep')
      .description('the same seeds for every point of a grid of model parameters, sorted by a measure'),
  )
    .requiredOption('-c, --config <file>', 'configuration of the LP, as in config/lp.example.json')
    .requiredOption(
      '--set <name=values>',
      'values of a parameter, such as gamma=0.0001,0.0005; may be repeated, see docs/lp/parameters.md',
      collect,
    )
    .option(
      '--seeds <n>',
      'number of runs of each point, each with the next seed',
      within(2, 10_000, true),
      10,
    )
    .addOption(new Option('--sort <measure>', 'best first').choices(Object.keys(MEASURES)).default('pnl'))
    .action(async (options) => (await import('./sweep.ts')).sweepParameters(options));
  marketOptions(
    sim
      .command('compare')
      .description('two configurations over the same flow with many seeds: differences with an interval'),
  )
    .requiredOption('-c, --config <file>', 'first configuration')
    .requiredOption('--against <file>', 'second configuration')
    .option(
      '--rfqs <file>',
      'recorded requests as JSON lines, see docs/lp/replay.md; default: drawn requests',
    )
    .option('--seeds <n>', 'number of runs, each with the next seed', within(2, 10_000, true), 20)
    .action(async (options) => (await import('./compare.ts')).compareMarkets(options));
  marketOptions(
    sim
      .command('replay')
      .description('the same prices and requests against two configurations: what would have differed'),
  )
    .requiredOption('-c, --config <file>', 'first configuration')
    .requiredOption('--against <file>', 'second configuration')
    .option(
      '--rfqs <file>',
      'recorded requests as JSON lines, see docs/lp/replay.md; default: drawn requests',
    )
    .option('--show <n>', 'number of differing quotes to print', within(0, 100_000, true), 20)
    .action(async (options) => (await import('./replay.ts')).replayMarket(options));
  marketOptions(
    sim
      .command('rebalance')
      .description(
        'the same prices and requests with and without transfers between chains: what a policy would have cost and brought',
      ),
  )
    .requiredOption('-c, --config <file>', 'configuration of the LP: shares per chain and lp.rebalancing')
    .option(
      '--rfqs <file>',
      'recorded requests as JSON lines, see docs/lp/replay.md; default: drawn requests',
    )
    .option('--asset <symbol>', 'that the bridge carries; may be repeated; default: USDC', collect)
    .option('--most-usd <usd>', 'of one transfer; default: transfers.mostUsd', within(1, 1e12))
    .option(
      '--most-usd-per-day <usd>',
      'of all that begin in 24 hours; default: transfers.mostUsdPerDay',
      within(1, 1e12),
    )
    .option('--bridge-fee-bps <bps>', 'what the bridge keeps', within(0, 1_000), 1)
    .option('--bridge-seconds <n>', 'from one escrow to the other', within(1, 86_400, true), 60)
    .option('--bridge-gas-usd <usd>', 'gas of one transfer on both chains', within(0, 1e6), 0.5)
    .option('--delay-seconds <n>', "the escrow's withdrawal delay", within(1, 864_000, true), 900)
    .option('--every-seconds <n>', 'between two looks at the bands', within(1, 3_600, true), 10)
    .action(async (options) => (await import('./rebalance.ts')).simulateRebalancing(options));
  return sim;
}

function marketOptions(command: Command): Command {
  return command
    .option('--seed <n>', 'random seed', within(0, 2 ** 31, true), 1)
    .option('--minutes <n>', 'duration; default: an hour, or the whole recording', within(1, 100_000))
    .option(
      '--prices <file>',
      'recorded exchange prices instead of drawn ones, in the format of `firmquote feed replay`; FILE#SYMBOL when it has several symbols; once for each pair',
      collect,
    )
    .option('--start <price>', 'first mid; once for each pair (default: 2500)', each(1e-9, 1e12))
    .option(
      '--sigma <share>',
      'yearly volatility of the mid: 0.9 is 90 %; once for all pairs, or for each (default: 0.9)',
      each(0, 20),
    )
    .option('--correlation <share>', 'of the drawn prices of several pairs (default: 0)', within(0, 1))
    .option('--jumps <n>', 'jumps of the mid per hour', within(0, 3600), 1)
    .option('--jump-bps <bps>', 'mean size of a jump', within(0.1, 10_000), 30)
    .option('--rfq-seconds <seconds>', 'mean time between requests of a pair', within(0.01, 86_400), 10)
    .option(
      '--informed <share>',
      'share of requests from option holders, who decide in the last second',
      within(0, 1),
      0.2,
    )
    .option('--takers <n>', 'number of ordinary takers', within(1, 100_000, true), 50)
    .option('--holders <n>', 'number of option holders', within(1, 100_000, true), 3)
    .option('--size-usd <usd>', 'median size of a request', within(1, 1e9), 10_000)
    .option(
      '--alpha <n>',
      'acceptance probability of ordinary takers: 1 / (1 + e^(alpha + beta * bps))',
      within(-20, 20),
      -2,
    )
    .option('--beta <n>', 'see alpha', within(0.01, 10), 0.25)
    .option('--fee-bps <bps>', 'platform fee', within(0, 100, true), 2)
    .option('--capital-usd <usd>', 'starting balance of an LP in each asset', within(1, 1e12), 500_000)
    .option('--gas-usd <usd>', 'own gas of a cross-chain trade', within(0, 1e6), 0.1)
    .option('--noise-bps <bps>', "standard deviation of an LP's mid from the exchange's", within(0, 100), 0.5)
    .option(
      '--pair <pair>',
      'such as WETH-USDC; may be repeated; default: the first pair of two different assets',
      collect,
    )
    .option('--no-risk', 'without the risk controls')
    .option('--json <file>', 'write all results as JSON')
    .option('--html <file>', 'write a page with charts')
    .option('--csv <folder>', 'write every table and series as CSV files');
}

function within(least: number, most: number, whole = false): (text: string) => number {
  return (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(value) || value < least || value > most || (whole && !Number.isInteger(value)))
      throw new InvalidArgumentError(`It must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`);
    return value;
  };
}

const each =
  (least: number, most: number) =>
  (text: string, before: number[] = []): number[] => [...before, within(least, most)(text)];

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}

async function act(options: SimOptions, rest: readonly string[]): Promise<void> {
  const chosen = [options.published === true, options.bars === true, options.model !== undefined].filter(
    Boolean,
  ).length;
  if (chosen !== 1)
    throw badRequest(
      'Choose what to simulate. One of: --published, --bars, --model NAME, or the commands run, sweep, compare and replay. See: firmquote sim --help',
    );
  const named = namedOptions(rest);
  const { printReport } = await import('./print.ts');
  if (options.model !== undefined) {
    if (options.events !== undefined || options.recording !== undefined)
      throw badRequest('--events and --recording belong to --bars.');
    const { modelRows } = await import('../../../sim/models/model.ts');
    const { reportOf } = await import('../../../sim/row.ts');
    return printReport(
      reportOf(
        modelRows(options.model, {
          ...named,
          ...(options.seed !== undefined && { seed: options.seed }),
          ...(options.paths !== undefined && { paths: options.paths }),
        }),
      ),
    );
  }
  const [unknown] = Object.keys(named);
  if (unknown !== undefined) throw badRequest(`There is no option --${unknown}. See: firmquote sim --help`);
  const size = {
    seed: whole('seed', options.seed) ?? 1,
    ...(options.paths !== undefined && { paths: whole('paths', options.paths) as number }),
  };
  if (size.paths !== undefined && size.paths < 2) throw badRequest('--paths must be at least 2.');
  if (options.published === true) {
    if (options.events !== undefined || options.recording !== undefined)
      throw badRequest('--events and --recording belong to --bars.');
    const { published } = await import('../../../sim/models/published.ts');
    return printReport(published(size));
  }
  const { bars } = await import('../../../sim/bars.ts');
  const recorded =
    options.recording === undefined
      ? undefined
      : await (await import('./prices.ts')).readRecordedPrices(options.recording, 60);
  const progress = process.stderr.isTTY
    ? (done: string) => process.stderr.write(`\r\x1b[K${done}`)
    : () => {};
  const report = bars({
    ...size,
    ...(options.events !== undefined && { events: options.events }),
    prices: recorded?.prices,
    progress,
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  printReport(report, [
    recorded === undefined
      ? '\nBar 6 was not run: it needs a recording of an exchange, which is not part of the repository. Add one with --recording FILE.'
      : `\nBar 6: ${recorded.prices.length} seconds of ${recorded.symbol} from ${new Date(recorded.startMs).toISOString()}${recorded.prices.length <= 14_400 ? ', resampled to four hours in blocks of a minute' : ''}.`,
  ]);
}

/** `--name value` and `--name=value`, for options that commander does not know. */
function namedOptions(words: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const match = /^--([A-Za-z][\w-]*)(?:=(.*))?$/.exec(word);
    if (match === null) throw badRequest(`"${word}" is not an option. Options are written --name value.`);
    const [, name, inline] = match as unknown as [string, string, string | undefined];
    const value = inline ?? words[++at];
    if (value === undefined) throw badRequest(`--${name} needs a value.`);
    if (Object.hasOwn(named, name)) throw badRequest(`--${name} is given twice.`);
    named[name] = value;
  }
  return named;
}

function whole(name: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[0-9]{1,9}$/.test(text))
    throw badRequest(`--${name} must be a whole number, not "${text}".`);
  return text === undefined ? undefined : Number(text);
}

function natural(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError(`It must be a whole number, not "${text}".`);
  return Number(text);
}
