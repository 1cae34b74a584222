/** `firmquote lp`: runs the LP; its subcommands are the operator's and the owner's tools. */

import { Command, InvalidArgumentError, Option } from 'commander';
import { RequestError } from '../../../domain/errors.ts';
import type { DoorOptions } from './admin-client.ts';
import type { InitOptions } from './init.ts';

/** Not mandatory in commander, because subcommands inherit it; each action checks it. */
export const configOption = (): Option =>
  new Option('-c, --config <file>', 'configuration file, see config/lp.example.json');

/** Options before and after the subcommand are equivalent. */
export const given = <T>(command: Command): T => ({ ...command.parent?.opts(), ...command.opts() }) as T;

export function lpCommand(): Command {
  const lp = new Command('lp')
    .description('make markets from your own inventory; see the commands for the operator’s tools')
    .enablePositionalOptions();
  lp.addOption(configOption()).action(async ({ config }: { config?: string }) => {
    if (config === undefined)
      throw new RequestError(
        'Which LP? Name its configuration file: firmquote lp --config FILE. A new one is made with: firmquote lp init',
        { code: 'bad_config' },
      );
    await (await import('../../lp/main.ts')).runLp({ config });
  });

  const several = (text: string, before: string[] = []): string[] => [...before, text];
  lp.command('init')
    .description('ask what is needed, look at it, and write a configuration with its keys')
    .option('--dir <folder>', 'where everything goes', 'my-lp')
    .option('--from-demo <file>', 'take part in a running demo: its data/demo.json answers everything')
    .option('--answers <file>', 'answers as JSON, instead of questions; see docs/lp/real-venue.md')
    .option('--yes', 'take what is proposed instead of asking')
    .option('--force', 'although there are files already; they are kept beside the new ones')
    .option('--venue-url <url>', 'the venue, such as wss://venue.example')
    .option('--venue-key-file <file>', 'the solver key that the venue gave you')
    .option('--venue-key-env <name>', 'the variable that holds it')
    .option('--solver-id <id>', 'your id on the roster')
    .option('--solver-name <name>', 'your name, as takers see it')
    .option('--account <address>', "the owner's address")
    .option('--rpc <slug=url>', 'endpoint of a chain; once for each', several)
    .option('--token <slug=address>', 'a token that you trade; once for each', several)
    .option(
      '--operator-key-env <name>',
      "the variable that holds the operator's private key; drawn otherwise",
    )
    .option('--operator-password-file <file>', "password of the operator's keystore")
    .option('--operator-password-env <name>', 'the variable that holds it')
    .option('--port <port>', 'health and metrics; the admin door is the next one', readPort)
    .option('--database-url <url>', 'PostgreSQL of your own; ${NAME} takes it from the environment')
    .action(async (options: InitOptions) => (await import('./init.ts')).initLp(options));

  /** A command that calls the running LP. */
  const tool = (name: string, description: string): Command =>
    lp
      .command(name)
      .description(description)
      .addOption(configOption())
      .option('--admin <url>', "the running LP's admin door, instead of --config")
      .option('--token-file <file>', 'the token of that door, where it has one')
      .option('--json', 'print the answer as JSON');

  tool('status', 'is it quoting, and if not, why').action(async (_: object, command: Command) =>
    (await import('./control.ts')).showStatus(given<DoorOptions>(command)),
  );
  tool('pause', 'sign nothing from this moment on; what was signed stays honoured')
    .option('--note <text>', 'why, for the venue and the audit trail')
    .action(async (_: object, command: Command) => (await import('./control.ts')).pauseLp(given(command)));
  tool('resume', 'quote again').action(async (_: object, command: Command) =>
    (await import('./control.ts')).resumeLp(given<DoorOptions>(command)),
  );
  tool('drain', 'pause, and wait until nothing is promised any more: before a withdrawal or an upgrade')
    .option('--note <text>', 'why', 'draining')
    .option('--timeout <seconds>', 'stop waiting after this long (it stays paused)', readSeconds)
    .action(async (_: object, command: Command) => (await import('./control.ts')).drainLp(given(command)));
  tool('reload', 'read the configuration file again, as SIGHUP does').action(
    async (_: object, command: Command) =>
      (await import('./control.ts')).reloadLp(given<DoorOptions>(command)),
  );
  tool('audit', 'who did what: starts, pauses, reloads with what differed')
    .option('--limit <count>', 'newest so many', '20')
    .action(async (_: object, command: Command) => (await import('./control.ts')).showAudit(given(command)));
  tool('inventory', 'what we own, promised and are owed, by token and chain').action(
    async (_: object, command: Command) =>
      (await import('./inventory.ts')).showInventory(given<DoorOptions>(command)),
  );
  tool('awards', 'the orders that takers gave us, newest first')
    .option('--limit <count>', 'so many', '20')
    .action(async (_: object, command: Command) =>
      (await import('./inventory.ts')).showAwards(given(command)),
    );
  tool('limits', 'every cap with what counts against it now').action(async (_: object, command: Command) =>
    (await import('./inventory.ts')).showLimits(given<DoorOptions>(command)),
  );
  tool('explain', 'why a quote was priced as it was, or a request declined')
    .argument('<id>', 'of the quote, the order or the request')
    .action(async (id: string, _: object, command: Command) =>
      (await import('./explain.ts')).explain(id, given<DoorOptions>(command)),
    );
  tool(
    'rfqs',
    'recent requests and what became of them, one JSON object a line: what `firmquote sim replay --rfqs` reads',
  ).action(async (_: object, command: Command) =>
    (await import('./rfqs.ts')).printRfqs(given<DoorOptions>(command)),
  );
  tool('pnl', 'what was earned: spread, fees, gas, mark-outs, positions at mid')
    .option('--since <when>', '24h, 7d, all, or a date', '24h')
    .addOption(
      new Option('--by <what>', 'one line for each')
        .choices(['pair', 'corridor', 'taker', 'trade'])
        .default('pair'),
    )
    .addOption(
      new Option('--format <format>', 'how to print it').choices(['table', 'csv', 'json']).default('table'),
    )
    .option('--limit <rows>', 'no more lines than this', '1000')
    .action(async (_: object, command: Command) => (await import('./pnl.ts')).showProfit(given(command)));
  tool('curves', 'win-rate curves as quotes taught them, and which of them price').action(
    async (_: object, command: Command) =>
      (await import('./inventory.ts')).showCurves(given<DoorOptions>(command)),
  );
  tool('journal', 'do the books agree with ledger and chains, to the unit')
    .option('--order <id>', 'the entries of one order instead')
    .option(
      '--adjust <amount>',
      'book a difference that no event explains: base units, what the chain has more',
    )
    .option('--chain <slug>', 'with --adjust')
    .option('--token <symbol>', 'with --adjust; "native" for the operator’s own')
    .option('--note <text>', 'with --adjust: what moved it, for the audit trail')
    .action(async (_: object, command: Command) =>
      (await import('./accounting.ts')).showAccounting(given(command)),
    );
  lp.command('price')
    .description(
      'price one request from a JSON file of all inputs, and print every term and the exact amounts',
    )
    .requiredOption('--inputs <file>', 'the inputs, as in docs/examples/worked-example.json')
    .option('--module <file>', 'a pricing plug-in to price with')
    .option('--json', 'print one JSON object')
    .action(async (options: { inputs: string; module?: string; json?: boolean }) =>
      (await import('./price.ts')).priceFile(options),
    );

  /** A command of the owner: needs a chain and the owner's key, not a running LP. */
  const ownersTool = (group: Command, name: string, description: string): Command =>
    group
      .command(name)
      .description(description)
      .addOption(configOption())
      .option('--chain <slug>', 'on which chain')
      .option('--owner <keystore>', "the owner's keystore; never the operator's")
      .option('--owner-password-file <file>', 'its password, first line of a file of mode 0600')
      .option('--owner-password-env <name>', 'the variable that holds its password')
      .option('--dry-run', 'try it on the chain and print what would be sent; needs no key')
      .option('--json', 'print the answer as JSON');

  ownersTool(lp, 'deposit', "put the owner's tokens into the escrow, where quotes are paid from")
    .option('--token <symbol>', 'which token')
    .requiredOption('--amount <tokens>', 'whole tokens, such as 1000.5')
    .action(async (_: object, command: Command) => (await import('./owner.ts')).deposit(given(command)));
  ownersTool(
    lp,
    'withdraw',
    'take tokens out: request, wait out the delay, complete; without a flag, show what stands',
  )
    .option('--token <symbol>', 'which token')
    .option('--amount <tokens>', 'request this many whole tokens, or "all"')
    .option('--replace', 'even if a request stands: the delay starts again')
    .option('--complete', 'take out what was requested, once the delay is over')
    .option('--to <address>', 'with --complete: to somebody else than the owner')
    .option('--cancel', 'take the request back')
    .action(async (_: object, command: Command) => (await import('./owner.ts')).withdraw(given(command)));
  const operator = lp
    .command('operator')
    .description('who may sign for the account')
    .enablePositionalOptions();
  const operatorOf = (command: Command) => ({ ...command.parent?.parent?.opts(), ...command.opts() });
  ownersTool(operator, 'set', 'allow an operator to sign quotes and fills; it can never withdraw')
    .argument('[address]', 'default: the one whose keystore the configuration names')
    .action(async (address: string | undefined, _: object, command: Command) =>
      (await import('./owner.ts')).setOperator(address, true, operatorOf(command)),
    );
  ownersTool(operator, 'revoke', 'end it at once: the emergency brake; the venue takes the LP offline')
    .argument('[address]', 'default: the one whose keystore the configuration names')
    .action(async (address: string | undefined, _: object, command: Command) =>
      (await import('./owner.ts')).setOperator(address, false, operatorOf(command)),
    );
  return lp;
}

function readPort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1_024 || port > 65_000)
    throw new InvalidArgumentError('It must be a number from 1024 to 65000.');
  return port;
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new InvalidArgumentError('It must be a number of seconds.');
  return seconds;
}
