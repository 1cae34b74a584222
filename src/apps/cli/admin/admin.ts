/** Commands that administer a venue in its database. */

import { Command, InvalidArgumentError, Option } from 'commander';

const ROLES = ['owner', 'admin', 'member', 'viewer'];
const KYC = ['none', 'pending', 'verified', 'rejected'];

export function adminCommands(): Command[] {
  return [
    workspaceCommand(),
    memberCommand(),
    keysCommand(),
    solverCommand(),
    partnerCommand(),
    travelRuleCommand(),
  ];
}

const inVenue = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '-c, --config <file>',
        'configuration of the venue; DATABASE_URL overrides its database',
      ).makeOptionMandatory(),
    )
    .option('--json', 'print one JSON object instead of a table');

const load = () => import('./workspaces.ts');
const loadKeys = () => import('./keys.ts');

function workspaceCommand(): Command {
  const workspace = new Command('workspace').description('workspaces of a venue and their terms');
  const terms = (command: Command): Command =>
    inVenue(command)
      .option('--name <text>', 'display name')
      .option('--fee-bps <n>', 'platform fee in basis points, at most the maximum of every escrow', readWhole)
      .option('--solvers <ids>', 'solvers that may be asked, separated by commas, or "all"')
      .option('--open-quotes <n>', 'limit of open quote requests per key, or "default"')
      .option('--open-notional-usd <n>', 'limit of their value, or "default"')
      .option('--travel-rule-usd <n>', 'report orders from this value on, or "none"');
  inVenue(workspace.command('list'))
    .description('list workspaces')
    .action(async (options) => (await load()).listWorkspaces(options));
  inVenue(workspace.command('show'))
    .description('show a workspace with its members')
    .argument('<id>')
    .action(async (id, options) => (await load()).showWorkspace(id, options));
  terms(workspace.command('add'))
    .description('add a workspace')
    .argument('<id>')
    .action(async (id, options) => (await load()).addWorkspace(id, options));
  terms(workspace.command('set'))
    .description('change a workspace; effective from the next quote')
    .argument('<id>')
    .action(async (id, options) => (await load()).setWorkspace(id, options));
  inVenue(workspace.command('audit'))
    .description('show the audit log, newest first')
    .argument('[id]', 'only this workspace')
    .option('--limit <n>', 'maximum number of entries', readWhole, 50)
    .action(async (id, options) => (await load()).showChanges(id, options));
  return workspace;
}

function memberCommand(): Command {
  const member = new Command('member').description('members of a workspace');
  const person = (command: Command): Command =>
    inVenue(command)
      .option('--first-name <text>', 'first name')
      .option('--last-name <text>', 'last name')
      .option('--email <address>', 'email address, unique')
      .addOption(new Option('--role <role>', 'role of the member and of the keys').choices(ROLES))
      .addOption(new Option('--kyc <status>', 'status of the identity check').choices(KYC));
  inVenue(member.command('list'))
    .description('list the members of a workspace')
    .argument('<workspace>')
    .option('--removed', 'including removed members')
    .action(async (workspace, options) => (await load()).listMembers(workspace, options));
  person(member.command('add'))
    .description('add a member')
    .argument('<workspace>')
    .option('--id <id>', 'id of the member; default: a new one')
    .action(async (workspace, options) => (await load()).addMember(workspace, options));
  person(member.command('set'))
    .description('change a member; a lower role applies to the keys too')
    .argument('<workspace>')
    .argument('<member>')
    .action(async (workspace, id, options) => (await load()).setMember(workspace, id, options));
  inVenue(member.command('remove'))
    .description('remove a member and revoke all keys of the member')
    .argument('<workspace>')
    .argument('<member>')
    .action(async (workspace, id, options) => (await load()).removeMember(workspace, id, options));
  return member;
}

function keysCommand(): Command {
  const keys = new Command('keys').description('issue, list and revoke API keys of a venue');
  inVenue(keys.command('issue'))
    .description('create a key and print it once')
    .addOption(
      new Option('--kind <kind>', 'kind of the key')
        .choices(['service', 'workspace', 'solver'])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--mode <mode>', 'sandbox or production').choices(['test', 'live']).default('test'))
    .option('--workspace <id>', 'its workspace (service and workspace keys)')
    .addOption(new Option('--role <role>', "workspace keys only; default: the member's role").choices(ROLES))
    .option('--member <id>', 'its member (service and workspace keys); it ends with the membership')
    .option('--solver <id>', 'its solver on the roster (solver keys)')
    .option('--label <text>', 'a note for the list', '')
    .action(async (options) => (await loadKeys()).issueKeyCommand(options));
  inVenue(keys.command('list'))
    .description('list keys; their text is not stored')
    .option('--workspace <id>', 'only this workspace')
    .option('--solver <id>', 'only this solver')
    .option('--live', 'without revoked ones')
    .action(async (options) => (await loadKeys()).listKeys(options));
  inVenue(keys.command('revoke'))
    .description('revoke a key with immediate effect')
    .argument('<id>')
    .action(async (id, options) => (await loadKeys()).revokeKeyCommand(id, options));
  return keys;
}

function solverCommand(): Command {
  const solver = new Command('solver').description('solvers that may quote');
  const terms = (command: Command): Command =>
    inVenue(command)
      .option('--name <text>', 'display name')
      .addOption(new Option('--kind <kind>', 'what it is').choices(['lp', 'solver']))
      .option(
        '--corridors <list>',
        'corridors it may quote, as <source>-<dest> separated by commas, or "all"',
      )
      .option('--disabled', 'disable it and close its link');
  inVenue(solver.command('list'))
    .description('list onboarded solvers')
    .action(async (options) => (await load()).listSolvers(options));
  terms(solver.command('add'))
    .description('onboard a solver')
    .argument('<id>')
    .action(async (id, options) => (await load()).addSolver(id, options));
  terms(solver.command('set'))
    .description('change, disable or enable a solver')
    .option('--enabled', 'enable it again')
    .argument('<id>')
    .action(async (id, options) => (await load()).setSolver(id, options));
  return solver;
}

function partnerCommand(): Command {
  const partner = new Command('partner').description('route partners of a venue');
  inVenue(partner.command('reconcile'))
    .description(
      "compare a partner's reconciliation file with the venue's records and name each difference; exit code 0: none, 1: some",
    )
    .argument('<id>', 'id of the partner in the configuration')
    .option('--day <day>', 'day in UTC, such as 2026-11-28; default: the last whole day')
    .option('--file <file>', 'a saved file, instead of asking the partner')
    .action(async (id, options) => (await import('./partners.ts')).reconcilePartner(id, options));
  return partner;
}

function readWhole(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function travelRuleCommand(): Command {
  const records = new Command('travel-rule').description('travel-rule records of large orders');
  inVenue(records.command('list'))
    .description('list the newest record of each order')
    .addOption(
      new Option('--state <state>', 'only records in this state').choices([
        'due',
        'sending',
        'transmitted',
        'failed',
        'unknown',
        'abandoned',
      ]),
    )
    .action(async (options) => (await import('./travel-rule.ts')).listTravelRule(options));
  inVenue(records.command('retry'))
    .description('send an abandoned record again')
    .argument('<orderId>')
    .action(async (orderId, options) => (await import('./travel-rule.ts')).retryTravelRule(orderId, options));
  return records;
}
