#!/usr/bin/env node
/** The `firmquote` command line. */

import tab from '@bomb.sh/tab/commander';
import { Command, Option } from 'commander';
import { mapStackTraces } from '../../adapters/system/stack-traces.ts';
import { VERSION } from '../../adapters/system/version.ts';
import { BaseError } from '../../domain/errors.ts';
import type { AuditCommand } from '../audit/main.ts';
import type { SubjectOptions } from '../audit/subject.ts';
import type { DemoOptions } from '../demo/main.ts';
import { adminCommands } from './admin/admin.ts';
import { certifyCommand } from './certify.ts';
import type { App } from './config-check.ts';
import { deployCommand } from './deploy.ts';
import { doctorCommand } from './doctor.ts';
import { feedCommand, readWhole } from './feed/feed.ts';
import { presentHelp } from './help.ts';
import { lpCommand, readPort } from './lp/lp.ts';
import { collect } from './option-values.ts';
import { simCommand } from './sim/sim.ts';
import { takeCommand } from './take.ts';
import { tradesCommand } from './admin/trades.ts';

mapStackTraces();
const program = new Command('firmquote')
  .description(
    'Make markets with firm, escrow-backed quotes: the LP daemon, the venue, the attesters, and a demo of all three.',
  )
  .version(VERSION)
  .enablePositionalOptions()
  .showHelpAfterError('Run firmquote --help to see every command.');

const configOption = () =>
  new Option('-c, --config <file>', 'configuration file, see config/*.example.json').makeOptionMandatory();

program
  .command('venue')
  .description('run a venue: serve quotes, orders and history, and settle accepted orders')
  .addOption(configOption())
  .addOption(
    new Option('--role <role>', 'which part to run; overrides the configuration').choices([
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
  .description('run an attester: watch fills until they are final and sign them')
  .addOption(configOption())
  .action(async (options: { config: string }) => (await import('../attester/main.ts')).runAttester(options));

program
  .command('demo')
  .description('run the whole system on two local chains and trade')
  .option('--once', 'run a fixed list of checked trades and refusals, then exit')
  .option('--risk', 'with --once: trip every risk control of the LPs instead')
  .option('--data-dir <folder>', 'folder for demo.json and all other files', './data')
  .option('--port <port>', 'first of the 60 ports in use', readPort, 8100)
  .option('--config <file>', 'configuration of the demo', undefined)
  .option('--quiet-market', 'without its own trades')
  .action(async (options: DemoOptions) => (await import('../demo/main.ts')).runDemo(options));

program
  .command('verify')
  .description(
    'check the dossier of a trade against signatures and chains, without trusting the venue; exit code 0: all held, 1: something failed, 2: some checks could not be made',
  )
  .argument('<orderId>')
  .option('--file <file>', 'a saved dossier (JSON) instead of asking the venue')
  .option('--url <url>', 'URL of the venue')
  .option('--workspace <id>', 'workspace of the trade')
  .option('--key <key>', 'workspace key of an owner or admin; preferably in the variable FIRMQUOTE_KEY')
  .option('--rpc <chain=url>', 'your own node of a chain; repeat for each chain of the order', collect, [])
  .option(
    '--escrow <chain=address>',
    'the escrow you expect on a chain, compared with the signed one',
    collect,
    [],
  )
  .option(
    '--bond <chain=address>',
    'the bond contract on the origin: also check that the LPs answered with a bond',
    collect,
    [],
  )
  .option('--json', 'print one JSON object')
  .action(async (orderId: string, options: { rpc: string[]; escrow: string[]; bond: string[] }) =>
    (await import('../verify/main.ts')).runVerify(orderId, options),
  );

program
  .command('verify-fade')
  .description(
    "check a claim on an LP's bond against signatures and chains alone: what was promised, that it failed, what was paid; exit codes as of verify",
  )
  .argument('<transaction>', 'that made the claim; GET /solvers/{id}/firmness lists them')
  .requiredOption('--chain <id>', 'chain of the claim')
  .requiredOption('--bond <address>', 'the bond contract')
  .option('--rpc <chain=url>', 'your own node of a chain; of the destination too', collect, [])
  .option('--json', 'print one JSON object')
  .action(
    async (transaction: string, options: { chain: string; bond: string; rpc: string[]; json?: boolean }) =>
      (await import('../verify/main.ts')).runVerifyFade(transaction, options),
  );

program
  .command('audit')
  .description(
    "compare a venue's or an LP's database and accounting ledger with the chains and print every difference; exit code 0: none, 1: some, 2: none, but some checks could not be made",
  )
  .option('--venue <file>', 'configuration of a venue; DATABASE_URL overrides its database')
  .option('--lp <file>', 'configuration of an LP')
  .option(
    '--days <n>',
    'check open orders and those of the last n days one by one; 0: all orders',
    readWhole,
    7,
  )
  .option('--patience <seconds>', 'how long a difference must last to be reported', readWhole, 30)
  .option('--others', 'other venues use the same escrows, so unknown orders are no difference')
  .option('--json', 'print one JSON object')
  .action(async (options: AuditCommand) => (await import('../audit/main.ts')).runAudit(options));

for (const [name, says, run] of [
  ['backup', 'write a snapshot of a database into one file; its processes may keep running', 'runBackup'],
  ['restore', 'load a backup into an empty database; its processes must be stopped', 'runRestore'],
] as const) {
  program
    .command(name)
    .description(says)
    .argument('<file>')
    .option('--venue <file>', 'configuration of a venue; DATABASE_URL overrides its database')
    .option('--lp <file>', 'configuration of an LP')
    .action(async (file: string, options: SubjectOptions) =>
      (await import('../backup/main.ts'))[run](file, options),
    );
}

const config = program.command('config').description('work with configuration files');
config
  .command('check')
  .description('print every option as understood, or everything that is wrong with the file')
  .argument('<file>')
  .addOption(
    new Option('--app <app>', 'what the file configures; default: as the file says').choices([
      'venue',
      'lp',
      'attester',
      'deploy',
      'demo',
      'take',
    ]),
  )
  .action(async (file: string, options: { app?: App }) =>
    (await import('./config-check.ts')).checkConfig(file, options.app),
  );

for (const command of adminCommands()) program.addCommand(command);

program.addCommand(feedCommand());
program.addCommand(deployCommand());
program.addCommand(doctorCommand());
program.addCommand(certifyCommand());
program.addCommand(takeCommand());

const keystore = program.command('keystore').description('encrypted private keys');
keystore
  .command('new')
  .description('generate a key, write it encrypted and print the address')
  .argument('<file>')
  .option('--password-file <file>', 'file (mode 0600) with the password; default: ask')
  .option('--password-env <name>', 'variable with the password')
  .option('--import-env <name>', 'encrypt the private key in this variable instead of a new one')
  .action(async (file: string, options: object) =>
    (await import('./keystore.ts')).newKeystore(file, options),
  );
keystore
  .command('address')
  .description('print the address of the key in a keystore file')
  .argument('<file>')
  .action(async (file: string) => (await import('./keystore.ts')).printAddress(file));

keystore
  .command('change-password')
  .description('encrypt the same key with a new password')
  .argument('<file>')
  .option('--old-password-file <file>', 'file (mode 0600) with the present password')
  .option('--old-password-env <name>', 'variable with the present password')
  .option('--password-file <file>', 'file (mode 0600) with the new password')
  .option('--password-env <name>', 'variable with the new password')
  .action(async (file: string, options: object) =>
    (await import('./keystore.ts')).changePassword(file, options),
  );

tab(program);
presentHelp(program);

// The reader of a pipe, such as `head`, may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0);
  throw error;
});

try {
  await program.parseAsync();
} catch (error) {
  // Expected errors print their message; a bug prints its stack.
  console.error(error instanceof BaseError ? error.message : error);
  process.exitCode = 1;
}
