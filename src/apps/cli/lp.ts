/** `firmquote lp …`: the maker's process, and the tools of whoever runs it. Without a word behind it, it quotes. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { RequestError } from '../../domain/errors.ts';
import type { DoorOptions } from './lp-door.ts';

/** The configuration file is asked for where it is needed, so that a parent's demand is not made of every tool. */
export const configOption = (): Option => new Option('-c, --config <file>', 'configuration file, see config/lp.example.json');

/** What stands before and after the tool's name: `lp -c FILE status` is as good as `lp status -c FILE`. */
export const given = <T>(command: Command): T => ({ ...command.parent?.opts(), ...command.opts() }) as T;

export function lpCommand(): Command {
  const lp = new Command('lp').description('make markets from your own inventory; see the commands for the operator’s tools').enablePositionalOptions();
  lp.addOption(configOption()).action(async ({ config }: { config?: string }) => {
    if (config === undefined) throw new RequestError('Which LP? Name its configuration file: firmquote lp --config FILE. A new one is made with: firmquote lp init', { code: 'bad_config' });
    await (await import('../lp/main.ts')).runLp({ config });
  });

  /** A tool that talks to the running LP. */
  const tool = (name: string, description: string): Command =>
    lp
      .command(name)
      .description(description)
      .addOption(configOption())
      .option('--admin <url>', "the running LP's admin door, instead of --config")
      .option('--token-file <file>', 'the token of that door, where it has one')
      .option('--json', 'print the answer as JSON');

  tool('status', 'is it quoting, and if not, why').action(async (_: object, command: Command) => (await import('./lp-control.ts')).showStatus(given<DoorOptions>(command)));
  tool('pause', 'sign nothing from this moment on; what was signed stays honoured')
    .option('--note <text>', 'why, for the venue and the audit trail')
    .action(async (_: object, command: Command) => (await import('./lp-control.ts')).pause(given(command)));
  tool('resume', 'quote again').action(async (_: object, command: Command) => (await import('./lp-control.ts')).resume(given<DoorOptions>(command)));
  tool('drain', 'pause, and wait until nothing is promised any more: before a withdrawal or an upgrade')
    .option('--note <text>', 'why', 'draining')
    .option('--timeout <seconds>', 'stop waiting after this long (it stays paused)', readSeconds)
    .action(async (_: object, command: Command) => (await import('./lp-control.ts')).drain(given(command)));
  tool('reload', 'read the configuration file again, as SIGHUP does').action(async (_: object, command: Command) => (await import('./lp-control.ts')).reload(given<DoorOptions>(command)));
  tool('audit', 'who did what: starts, pauses, reloads with what differed')
    .option('--limit <count>', 'newest so many', '20')
    .action(async (_: object, command: Command) => (await import('./lp-control.ts')).showAudit(given(command)));
  tool('inventory', 'what we own, promised and are owed, by token and chain').action(async (_: object, command: Command) => (await import('./lp-books.ts')).showInventory(given<DoorOptions>(command)));
  tool('limits', 'every cap with what counts against it now').action(async (_: object, command: Command) => (await import('./lp-books.ts')).showLimits(given<DoorOptions>(command)));
  lp.command('price')
    .description('price one request from a JSON file of all inputs, and print every term and the exact amounts')
    .requiredOption('--inputs <file>', 'the inputs, as in docs/examples/worked-example.json')
    .option('--module <file>', 'a pricing plug-in to price with')
    .option('--json', 'print one JSON object')
    .action(async (options: { inputs: string; module?: string; json?: boolean }) => (await import('./lp-price.ts')).priceFile(options));
  return lp;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0) throw new InvalidArgumentError('It must be a number of seconds.');
  return seconds;
}
