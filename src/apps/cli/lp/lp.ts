/** `firmquote lp` and its subcommands. */

import { Command, InvalidArgumentError, Option } from 'commander';
import type { AdminClientOptions } from '../../lp/admin-client.ts';
import type { InitOptions } from './init.ts';
import type { ShadowReportOptions } from './shadow.ts';
import type { SetSignalOptions } from './signal.ts';
import { accountCommands } from './account/account-commands.ts';
import { type AdminTool, adminTools, configOption, given } from './admin-tools.ts';
import { collect } from '../option-values.ts';
import { badConfig } from '../../wiring/bad-request.ts';

const run =
  <T>(load: () => Promise<(options: T) => Promise<void>>) =>
  async (_: object, command: Command): Promise<void> =>
    (await load())(given<T>(command));

export function lpCommand(): Command {
  const lp = new Command('lp')
    .description(
      'run an LP: quote from your own inventory; the subcommands are the operator’s and the owner’s tools',
    )
    .enablePositionalOptions();
  lp.addOption(configOption())
    .option('--shadow', 'price every request and sign nothing; needs no operator key')
    .action(async ({ config, shadow }: { config?: string; shadow?: boolean }) => {
      if (config === undefined)
        throw badConfig(
          'No configuration given. Use: firmquote lp --config FILE. Create one with: firmquote lp init',
        );
      await (await import('../../lp/main.ts')).runLp({ config, shadow: shadow === true });
    });

  initCommand(lp);
  const tool = adminTools(lp);
  controlCommands(tool);
  readingCommands(tool);
  shadowCommands(lp);
  signalCommands(lp);
  rebalanceCommands(lp);
  priceCommand(lp);
  escrowCommands(lp);
  operatorCommands(lp);
  accountCommands(lp, ownersTool);
  bondCommands(lp);
  return lp;
}

function initCommand(lp: Command): void {
  const several = (text: string, before: string[] = []): string[] => [...before, text];
  lp.command('init')
    .description('ask for what is needed, check it, and write a configuration with its keys')
    .option('--dir <folder>', 'folder for all files', 'my-lp')
    .option('--from-demo <file>', 'join a running demo: its data/demo.json answers all questions')
    .option('--answers <file>', 'answers as JSON, instead of questions; see docs/lp/real-venue.md')
    .option('--yes', 'take the proposals instead of asking')
    .option('--force', 'replace existing files; the old ones are kept under another name')
    .option('--venue-url <url>', 'the venue, such as wss://venue.example')
    .option('--venue-key-file <file>', 'file with the solver key from the venue')
    .option('--venue-key-env <name>', 'variable with it')
    .option('--solver-id <id>', 'your id on the roster')
    .option('--solver-name <name>', 'your name, as takers see it')
    .option('--account <address>', "the owner's address")
    .option('--account-owner <address>', 'instead: who will own an LpAccount (docs/lp/account.md)')
    .option('--account-salt <bytes32>', 'with it: tells several accounts of one owner apart')
    .option('--mover', 'also make a key for its mover, which moves inventory between chains')
    .option('--rpc <slug=url>', 'RPC endpoint of a chain; repeat for each chain', several)
    .option('--token <slug=address>', 'a token to trade; repeat for each token', several)
    .option('--operator-key-env <name>', "variable with the operator's private key; default: a new key")
    .option('--operator-password-file <file>', "file with the password of the operator's keystore")
    .option('--operator-password-env <name>', 'variable with it')
    .option('--port <port>', 'port for health and metrics; the admin API gets the next one', readPort)
    .option('--database-url <url>', 'your own PostgreSQL; ${NAME} takes it from the environment')
    .action(async (options: InitOptions) => (await import('./init.ts')).initLp(options));
}

/** Adds the commands by which an operator controls a running LP. */
function controlCommands(tool: AdminTool): void {
  tool('status', 'show whether it quotes, and if not, why').action(
    run(async () => (await import('./control.ts')).showStatus),
  );
  tool('pause', 'stop signing quotes; signed quotes stay valid')
    .option('--note <text>', 'reason, for the audit log; takers see only that it is paused')
    .option('--pair <base-quote>', 'stop only this pair')
    .option('--chain <slug>', 'stop only what comes from or goes to this chain')
    .action(run(async () => (await import('./control.ts')).pauseLp));
  tool('resume', 'quote again: everything, or one pair or chain')
    .option('--pair <base-quote>', 'resume only this pair')
    .option('--chain <slug>', 'resume only this chain')
    .action(run(async () => (await import('./control.ts')).resumeLp));
  tool('drain', 'pause and wait until no quote is live and no order open, before a withdrawal or an upgrade')
    .option('--note <text>', 'why', 'draining')
    .option('--timeout <seconds>', 'stop waiting after this long; the LP stays paused', readSeconds)
    .action(run(async () => (await import('./control.ts')).drainLp));
  tool('reload', 'read the configuration file again, as SIGHUP does')
    .option('--dry-run', 'change nothing: show the changes, and recent quotes priced again with them')
    .action(run(async () => (await import('./control.ts')).reloadLp));
  tool('audit', 'show the audit log: starts, pauses, reloads with their changes')
    .option('--limit <count>', 'number of entries', '20')
    .action(run(async () => (await import('./control.ts')).showAudit));
}

/** Adds the commands by which an operator reads a running LP, and corrects its books. */
function readingCommands(tool: AdminTool): void {
  tool('inventory', 'show balances, reservations and receivables by token and chain').action(
    run(async () => (await import('./inventory.ts')).showInventory),
  );
  tool('awards', 'list orders awarded to this LP, newest first')
    .option('--limit <count>', 'number of orders', '20')
    .action(run(async () => (await import('./inventory.ts')).showAwards));
  tool('limits', 'show every limit and its use').action(
    run(async () => (await import('./inventory.ts')).showLimits),
  );
  tool('explain', 'explain the price of a quote, or why a request was declined')
    .argument('<id>', 'id of the quote, the order or the request')
    .action(async (id: string, _: object, command: Command) =>
      (await import('./explain.ts')).explain(id, given<AdminClientOptions>(command)),
    );
  tool(
    'rfqs',
    'print recent requests and their outcomes as JSON lines, for `firmquote sim replay --rfqs`',
  ).action(run(async () => (await import('./rfqs.ts')).printRfqs));
  tool('pnl', 'show profit of a window: spread, fees, gas, mark-outs, and the change of positions at mid')
    .option('--since <when>', '24h, 7d, all, or a date', '24h')
    .option('--until <when>', 'end of the window, in the same forms; now without it')
    .addOption(
      new Option('--by <what>', 'group rows by')
        .choices(['pair', 'corridor', 'taker', 'trade', 'transfer'])
        .default('pair'),
    )
    .addOption(
      new Option('--format <format>', 'output format').choices(['table', 'csv', 'json']).default('table'),
    )
    .option('--limit <rows>', 'maximum number of rows', '1000')
    .action(run(async () => (await import('./pnl.ts')).showProfit));
  tool('curves', 'show the learned win-rate curves and which are in use').action(
    run(async () => (await import('./inventory.ts')).showCurves),
  );
  tool('journal', 'compare the accounting ledger with inventory and chains')
    .option('--order <id>', 'show the entries of one order instead')
    .option('--adjust <amount>', 'book a difference that no event explains: chain minus ledger, in tokens')
    .option('--chain <slug>', 'with --adjust')
    .option('--token <symbol>', 'with --adjust; "native" for the operator’s gas')
    .option('--operator <address>', 'with --token native: an operator that was rotated out')
    .option('--note <text>', 'with --adjust: the reason, for the audit log')
    .option(
      '--export',
      'write the entries of a window in base units, between opening and closing balances, instead',
    )
    .addOption(new Option('--format <format>', 'with --export').choices(['csv', 'ndjson']).default('csv'))
    .option('--since <when>', 'with --export: 24h, 7d, all, or a date', 'all')
    .option('--until <when>', 'with --export: end of the window; now without it')
    .option(
      '--counterparty <who>',
      'with --export: a taker’s address, "owner", "bridge", or "network" for other gas',
    )
    .action(run(async () => (await import('./accounting.ts')).showAccounting));
}

function priceCommand(lp: Command): void {
  lp.command('price')
    .description('price one request from a JSON file and print every term and the exact amounts')
    .requiredOption('--inputs <file>', 'inputs, as in docs/examples/worked-example.json')
    .option('--module <file>', 'a pricing plug-in to price with')
    .option('--json', 'print one JSON object')
    .action(async (options: { inputs: string; module?: string; json?: boolean }) =>
      (await import('./price.ts')).priceFile(options),
    );
}

const ownersTool = (group: Command, name: string, description: string): Command =>
  group
    .command(name)
    .description(description)
    .addOption(configOption())
    .option('--chain <slug>', 'the chain')
    .option('--owner <keystore>', 'keystore of the owner, not of the operator')
    .option('--owner-password-file <file>', 'file (mode 0600) with its password')
    .option('--owner-password-env <name>', 'variable with its password')
    .option('--dry-run', 'simulate and print the transactions without sending; needs no key')
    .option('--json', 'print the answer as JSON');

function escrowCommands(lp: Command): void {
  ownersTool(lp, 'deposit', "deposit the owner's tokens into the escrow, from which quotes are paid")
    .option('--token <symbol>', 'the token')
    .requiredOption('--amount <tokens>', 'whole tokens, such as 1000.5')
    .action(run(async () => (await import('./owner.ts')).deposit));
  ownersTool(
    lp,
    'withdraw',
    'withdraw tokens: request, wait for the delay, complete; without options: show the pending request',
  )
    .option('--token <symbol>', 'the token')
    .option('--amount <tokens>', 'request this many whole tokens, or "all"')
    .option('--replace', 'replace a pending request; the delay starts again')
    .option('--complete', 'withdraw the requested amount after the delay')
    .option('--to <address>', 'with --complete: recipient, instead of the owner')
    .option('--cancel', 'cancel the request')
    .action(run(async () => (await import('./owner.ts')).withdraw));
}

function operatorCommands(lp: Command): void {
  const operator = lp
    .command('operator')
    .description('operators that may sign for the account')
    .enablePositionalOptions();
  ownersTool(operator, 'set', 'allow an operator to sign quotes and fills; it can never withdraw')
    .argument('[address]', 'default: the operator of the configuration')
    .option(
      '--limit <token=amount/time>',
      'what it may spend of a token in that time, such as USDC=250000/1h; may be repeated; 0: none',
      collect,
    )
    .option('--unlimited', 'let it spend all that the account has in the escrow')
    .action(async (address: string | undefined, _: object, command: Command) =>
      (await import('./owner.ts')).setOperator(address, given(command)),
    );
  ownersTool(operator, 'revoke', 'revoke an operator immediately; the venue takes the LP offline')
    .argument('[address]', 'default: the operator of the configuration')
    .action(async (address: string | undefined, _: object, command: Command) =>
      (await import('./owner.ts')).revokeOperator(address, given(command)),
    );
}

function bondCommands(lp: Command): void {
  const bond = lp
    .command('bond')
    .description('what the account answers with for its quotes')
    .enablePositionalOptions();
  const bondTool = (name: string, description: string, action: (options: never) => Promise<void>) =>
    ownersTool(bond, name, description).action((_: object, command: Command) =>
      action(given<never>(command)),
    );
  bondTool('show', 'bonds, what leaves, and what they cover', async (options) =>
    (await import('./bond.ts')).showBond(options),
  );
  bondTool('post', 'add to the bond from the owner\u2019s wallet', async (options) =>
    (await import('./bond.ts')).postBond(options),
  )
    .option('--token <symbol>', 'the token')
    .requiredOption('--amount <tokens>', 'whole tokens, such as 1000.5');
  bondTool('take-back', 'ask for a part of the bond, and take it after the delay', async (options) =>
    (await import('./bond.ts')).takeBondBack(options),
  )
    .option('--token <symbol>', 'the token')
    .option('--amount <tokens>', 'ask for this many whole tokens, or "all"')
    .option('--complete', 'take what was asked for, after the delay')
    .option('--to <address>', 'with --complete: recipient, instead of the owner')
    .option('--cancel', 'withdraw the request');
  bondTool('terms', 'say which orders across chains the bond answers for', async (options) =>
    (await import('./bond.ts')).setBondTerms(options),
  )
    .requiredOption('--fill-window <time>', 'an order must be open so long before its deadline; 0: none')
    .option('--wallets', 'also for deliveries to wallets, with the risk that a token refuses them');
}

/** Adds `lp shadow report`. */
function shadowCommands(lp: Command): void {
  lp.command('shadow')
    .description('what an LP in shadow mode (lp --shadow) would have won')
    .enablePositionalOptions()
    .command('report')
    .description('show requests, shadow quotes, declines, and what the quotes would have earned')
    .addOption(configOption())
    .option('--admin <url>', 'admin API of the running LP, instead of --config')
    .option('--token-file <file>', 'file with the token of the admin API')
    .option('--json', 'print the answer as JSON')
    .option('--since <when>', '24h, 7d, all, or a date', '24h')
    .option('--until <when>', 'end of the window, in the same forms; now without it')
    .addOption(
      new Option('--format <format>', 'output format').choices(['table', 'csv', 'json']).default('table'),
    )
    .action(async (_: object, command: Command) =>
      (await import('./shadow.ts')).showShadowReport({
        ...command.parent?.parent?.opts(),
        ...command.opts(),
      } as ShadowReportOptions),
    );
}

/** Adds `lp signal set|list|clear`. */
function signalCommands(lp: Command): void {
  const group = lp
    .command('signal')
    .description('your own view of a pair: it leans or widens the prices until it expires')
    .enablePositionalOptions();
  const tool = adminTools(group);
  tool('set', 'set the signal of a pair; it replaces the one in force')
    .requiredOption('--pair <base-quote>', 'the pair, such as WETH-USDC')
    .option('--side <side>', '"buy" or "sell": only where you buy or sell the base; both without it')
    .option('--skew <bps>', 'move bid and ask up, or with a minus down', readBps)
    .option('--shift <bps>', 'move the fair value up, or with a minus down', readBps)
    .option('--width <bps>', 'add to the half-spread', readBps)
    .requiredOption('--for <time>', 'how long: 90s, 10m or 1h')
    .option('--note <text>', 'reason, for the audit log')
    .action(async (_: object, command: Command) =>
      (await import('./signal.ts')).setSignal(given<SetSignalOptions>(command)),
    );
  tool('list', 'show the signals in force and the bounds').action(async (_: object, command: Command) =>
    (await import('./signal.ts')).listSignals(given<AdminClientOptions>(command)),
  );
  tool('clear', 'end a signal by its id, those of a pair, or all')
    .argument('[id-or-pair]', 'such as s-1a2b3c4d or WETH-USDC')
    .option('--all', 'end every signal')
    .action(async (of: string | undefined, _: object, command: Command) =>
      (await import('./signal.ts')).clearSignal(of, given<AdminClientOptions & { all?: boolean }>(command)),
    );
}

function readBps(text: string): number {
  const bps = Number(text);
  if (text.trim() === '' || !Number.isFinite(bps))
    throw new InvalidArgumentError('It must be a number of bps, such as 2.5 or -2.5.');
  return bps;
}

export function readPort(text: string): number {
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

/** `lp rebalance plan|run|status|history`. */
function rebalanceCommands(lp: Command): void {
  const group = lp
    .command('rebalance')
    .description('move inventory between chains over bridges, and see what is moved')
    .enablePositionalOptions();
  const tool = adminTools(group);
  tool('plan', 'what is worth moving, by which bridge, and whether it begins by itself').action(
    run(async () => (await import('./rebalance.ts')).showPlans),
  );
  tool('run', 'begin a transfer by hand: a plan above the limits, or any other')
    .requiredOption('--asset <symbol>', 'such as USDC')
    .requiredOption('--from <slug>', 'chain that it leaves')
    .requiredOption('--to <slug>', 'chain where it arrives')
    .requiredOption('--amount <tokens>', 'whole tokens, such as 12500.5')
    .requiredOption('--note <text>', 'why, for the audit log')
    .action(run(async () => (await import('./rebalance.ts')).beginTransfer));
  tool('status', 'transfers under way, and what each waits for').action(
    run<AdminClientOptions>(async () => {
      const { showRebalancing } = await import('./rebalance.ts');
      return (options) => showRebalancing(options, 'open');
    }),
  );
  tool('history', 'the newest transfers').action(
    run<AdminClientOptions>(async () => {
      const { showRebalancing } = await import('./rebalance.ts');
      return (options) => showRebalancing(options, 'all');
    }),
  );
}
