#!/usr/bin/env node
/**
 * The `firmquote` command line: every process and tool is a subcommand that loads only the modules it needs.
 */

import { Command, InvalidArgumentError, Option } from 'commander';
import { BaseError } from '../../domain/errors.ts';
import { adminCommands } from './admin/admin.ts';
import { lpCommand } from './lp/lp.ts';
import { simCommand } from './sim/sim.ts';
import { tradesCommand } from './admin/trades.ts';

const program = new Command('firmquote')
  .description(
    'Make markets with firm, escrow-backed quotes: the LP daemon, the venue, the attesters, and a demo of all of them.',
  )
  .version('0.1.0')
  // Options after a subcommand belong to it.
  .enablePositionalOptions()
  .showHelpAfterError('Run firmquote --help to see every command.');

const configOption = () =>
  new Option('-c, --config <file>', 'configuration file, see config/*.example.json').makeOptionMandatory();

program
  .command('venue')
  .description('serve quotes, orders and history; settle what was accepted')
  .addOption(configOption())
  .addOption(
    new Option('--role <role>', 'which half to run, whatever the configuration says').choices([
      'api',
      'worker',
      'all',
    ]),
  )
  .action(async (options: { config: string; role?: 'api' | 'worker' | 'all' }) =>
    (await import('../venue/main.ts')).runVenue(options),
  );

program.addCommand(lpCommand());
program.addCommand(simCommand());
program.addCommand(tradesCommand());

program
  .command('attester')
  .description('watch fills to their depth and sign what was seen')
  .addOption(configOption())
  .action(async (options: { config: string }) => (await import('../attester/main.ts')).runAttester(options));

program
  .command('demo')
  .description('run everything on two local chains and trade')
  .option('--once', 'run a fixed list of trades and refusals, check each, and exit')
  .option('--risk', 'with --once: trip every risk control of the running LPs instead')
  .option('--data-dir <folder>', 'where demo.json and everything else goes', './data')
  .option('--port <port>', 'first of the 60 ports that it uses', readPort, 8100)
  .option('--config <file>', 'what the demo is made of', undefined)
  .option('--quiet-market', 'no trades of its own')
  .action(
    async (options: {
      once?: boolean;
      risk?: boolean;
      dataDir: string;
      port: number;
      config?: string;
      quietMarket?: boolean;
    }) => (await import('../demo/main.ts')).runDemo(options),
  );

program
  .command('verify')
  .description(
    'check the dossier of a trade against signatures and chains, trusting no venue; exit 0 all held, 1 something is false, 2 not everything could be asked',
  )
  .argument('<orderId>')
  .option('--file <file>', 'a saved dossier (JSON), instead of asking the venue')
  .option('--url <url>', 'the venue')
  .option('--workspace <id>', 'whose trade it is')
  .option('--key <key>', 'a workspace key of an owner or admin; better in the variable FIRMQUOTE_KEY')
  .option('--rpc <chain=url>', 'your own node of a chain; repeat for each chain of the order', collect, [])
  .option(
    '--escrow <chain=address>',
    'the escrow that you know on a chain, to be held against the signed one',
    collect,
    [],
  )
  .option('--json', 'one JSON object')
  .action(async (orderId: string, options: { rpc: string[]; escrow: string[] }) =>
    (await import('../verify/main.ts')).runVerify(orderId, options),
  );

program
  .command('audit')
  .description(
    "compare a venue's or an LP's database, ledger and chains and print every difference; exit 0 none, 1 some, 2 none but not everything could be asked",
  )
  .option('--venue <file>', "a venue's configuration; DATABASE_URL wins over its database")
  .option('--lp <file>', "an LP's configuration")
  .option(
    '--days <n>',
    'look one by one at open orders and at those of the last days; 0: at all there ever were',
    readWhole,
    7,
  )
  .option('--patience <seconds>', 'how long a difference has to stand until it is one', readWhole, 30)
  .option('--others', 'other venues use the same escrows: orders that we do not know are no difference')
  .option('--json', 'one JSON object')
  .action(
    async (options: {
      venue?: string;
      lp?: string;
      days: number;
      patience: number;
      others?: boolean;
      json?: boolean;
    }) => (await import('../audit/main.ts')).runAudit(options),
  );

for (const [name, says, run] of [
  [
    'backup',
    'write everything a database holds into one file, as it is at this moment, while its processes go on',
    'runBackup',
  ],
  [
    'restore',
    'put a backup into an empty database and tell it that time has passed; its processes must be down',
    'runRestore',
  ],
] as const) {
  program
    .command(name)
    .description(says)
    .argument('<file>')
    .option('--venue <file>', "a venue's configuration; DATABASE_URL wins over its database")
    .option('--lp <file>', "an LP's configuration")
    .action(async (file: string, options: { venue?: string; lp?: string }) =>
      (await import('../backup/main.ts'))[run](file, options),
    );
}

const config = program.command('config').description('look at configuration files');
config
  .command('check')
  .description('print what a configuration file means, or everything that is wrong with it')
  .argument('<file>')
  .addOption(
    new Option('--app <app>', 'what the file configures; found out by itself when absent').choices([
      'venue',
      'lp',
      'attester',
      'demo',
    ]),
  )
  .action(async (file: string, options: { app?: 'venue' | 'lp' | 'attester' | 'demo' }) =>
    (await import('./config-check.ts')).checkConfig(file, options.app),
  );

for (const command of adminCommands()) program.addCommand(command);

program
  .command('feed')
  .description('tools for price feeds')
  .command('replay')
  .description('run the price feed over a recording and print mids, gaps and stale spells')
  .argument(
    '<file>',
    'JSON lines, gzip or not: receive time in nanoseconds, then the message as the exchange sent it',
  )
  .option('--every <ms>', 'recorded time between two printed mids; 0 prints every one', readWhole, 1_000)
  .option('--max-age <ms>', 'older than this is stale', readWhole, 2_000)
  .option('--gap <ms>', 'no new top of book for this long is a gap', readWhole, 1_000)
  .option('--symbol <symbol>', 'only this one')
  .action(
    async (
      file: string,
      { every, maxAge, gap, symbol }: { every: number; maxAge: number; gap: number; symbol?: string },
    ) =>
      (await import('./feed-replay.ts')).replayFile(file, {
        everyMs: every,
        maxAgeMs: maxAge,
        gapMs: gap,
        ...(symbol === undefined ? {} : { symbol }),
      }),
  );

const keystore = program.command('keystore').description('encrypted private keys');
keystore
  .command('new')
  .description('draw a key and write it encrypted; prints the address')
  .argument('<file>')
  .option('--password-file <file>', 'file (mode 0600) with the password; asked for otherwise')
  .option('--password-env <name>', 'variable with the password')
  .option('--import-env <name>', 'encrypt the private key in this variable instead of drawing one')
  .action(async (file: string, options: object) =>
    (await import('./keystore.ts')).newKeystore(file, options),
  );
keystore
  .command('address')
  .description('print the address that a keystore file holds the key of')
  .argument('<file>')
  .action(async (file: string) => (await import('./keystore.ts')).printAddress(file));

keystore
  .command('change-password')
  .description('encrypt the same key anew')
  .argument('<file>')
  .option('--old-password-file <file>', 'the present password, first line of a file of mode 0600')
  .option('--old-password-env <name>', 'the variable that holds the present password')
  .option('--password-file <file>', 'the new password')
  .option('--password-env <name>', 'the variable that holds the new password')
  .action(async (file: string, options: object) =>
    (await import('./keystore.ts')).changePassword(file, options),
  );

try {
  await program.parseAsync();
} catch (error) {
  // Expected errors print their message; a bug prints its stack.
  console.error(error instanceof BaseError ? error.message : error);
  process.exitCode = 1;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1024 || port > 65_000)
    throw new InvalidArgumentError('It must be a number from 1024 to 65000.');
  return port;
}

function readWhole(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new InvalidArgumentError('It must be a whole number.');
  return count;
}

function collect(text: string, before: readonly string[]): string[] {
  return [...before, text];
}
