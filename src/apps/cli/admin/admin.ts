/** Commands that administer a venue directly in its database. Each action loads only the modules it needs. */

import { Command, InvalidArgumentError, Option } from 'commander';

const ROLES = ['owner', 'admin', 'member', 'viewer'];
const KYC = ['none', 'pending', 'verified', 'rejected'];

export function adminCommands(): Command[] {
  return [workspaceCommand(), memberCommand(), keysCommand(), solverCommand(), travelRuleCommand()];
}

const inVenue = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '-c, --config <file>',
        "the venue's configuration; DATABASE_URL wins over it",
      ).makeOptionMandatory(),
    )
    .option('--json', 'one JSON object instead of a table');

const load = () => import('./workspaces.ts');
const loadKeys = () => import('./keys.ts');

function workspaceCommand(): Command {
  const workspace = new Command('workspace').description('who trades at a venue, and on which terms');
  const terms = (command: Command): Command =>
    inVenue(command)
      .option('--name <text>', 'as people see it')
      .option('--fee-bps <n>', 'platform fee in basis points, at most what every escrow takes', readWhole)
      .option('--solvers <ids>', 'who may be asked, with commas between them, or "all"')
      .option('--open-quotes <n>', 'live, unsubmitted quote requests per key, or "default"')
      .option('--open-notional-usd <n>', 'the same by what they are worth, or "default"')
      .option('--travel-rule-usd <n>', 'orders of this much or more are reported, or "none"');
  inVenue(workspace.command('list'))
    .description('every workspace')
    .action(async (options) => (await load()).listWorkspaces(options));
  inVenue(workspace.command('show'))
    .description('one workspace with its members')
    .argument('<id>')
    .action(async (id, options) => (await load()).showWorkspace(id, options));
  terms(workspace.command('add'))
    .description('add a workspace')
    .argument('<id>')
    .action(async (id, options) => (await load()).addWorkspace(id, options));
  terms(workspace.command('set'))
    .description('change a workspace; the next quote follows')
    .argument('<id>')
    .action(async (id, options) => (await load()).setWorkspace(id, options));
  inVenue(workspace.command('audit'))
    .description('who changed what and when, newest first')
    .argument('[id]', 'only of this workspace')
    .option('--limit <n>', 'at most so many', readWhole, 50)
    .action(async (id, options) => (await load()).showChanges(id, options));
  return workspace;
}

function memberCommand(): Command {
  const member = new Command('member').description('people of a workspace');
  const person = (command: Command): Command =>
    inVenue(command)
      .option('--first-name <text>', 'first name')
      .option('--last-name <text>', 'last name')
      .option('--email <address>', 'address, one member each')
      .addOption(new Option('--role <role>', 'what they and their keys may see').choices(ROLES))
      .addOption(new Option('--kyc <status>', 'how far their identity was checked').choices(KYC));
  inVenue(member.command('list'))
    .description('members of a workspace')
    .argument('<workspace>')
    .option('--removed', 'those who left as well')
    .action(async (workspace, options) => (await load()).listMembers(workspace, options));
  person(member.command('add'))
    .description('add a member')
    .argument('<workspace>')
    .option('--id <id>', 'the member’s id; made up when absent')
    .action(async (workspace, options) => (await load()).addMember(workspace, options));
  person(member.command('set'))
    .description('change a member; a lower role lowers their keys')
    .argument('<workspace>')
    .argument('<member>')
    .action(async (workspace, id, options) => (await load()).setMember(workspace, id, options));
  inVenue(member.command('remove'))
    .description('remove a member and revoke their keys')
    .argument('<workspace>')
    .argument('<member>')
    .action(async (workspace, id, options) => (await load()).removeMember(workspace, id, options));
  return member;
}

function keysCommand(): Command {
  const keys = new Command('keys').description('issue, list and revoke API keys of a venue');
  inVenue(keys.command('issue'))
    .description('make a key and print it, once')
    .addOption(
      new Option('--kind <kind>', 'who will use it')
        .choices(['service', 'workspace', 'solver'])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--mode <mode>', 'sandbox or production').choices(['test', 'live']).default('test'))
    .option('--workspace <id>', 'the workspace it belongs to (service and workspace keys)')
    .addOption(
      new Option('--role <role>', "workspace keys only; the member's own when absent").choices(ROLES),
    )
    .option('--member <id>', 'whose key it is (service and workspace keys); it ends with the membership')
    .option('--solver <id>', 'the roster entry it belongs to (solver keys)')
    .option('--label <text>', 'a note for the list', '')
    .action(async (options) => (await loadKeys()).issueKey(options));
  inVenue(keys.command('list'))
    .description('list keys; their text is not kept')
    .option('--workspace <id>', 'only of this workspace')
    .option('--solver <id>', 'only of this solver')
    .option('--live', 'without revoked ones')
    .action(async (options) => (await loadKeys()).listKeys(options));
  inVenue(keys.command('revoke'))
    .description('end a key at once')
    .argument('<id>')
    .action(async (id, options) => (await loadKeys()).revokeKey(id, options));
  return keys;
}

function solverCommand(): Command {
  const solver = new Command('solver').description('who may take part in the fan-out');
  const terms = (command: Command): Command =>
    inVenue(command)
      .option('--name <text>', 'as people see it')
      .addOption(new Option('--kind <kind>', 'what it is').choices(['lp', 'solver']))
      .option(
        '--corridors <list>',
        'which it may quote, as <source>-<dest> with commas between them, or "all"',
      )
      .option('--disabled', 'ends its link at once');
  inVenue(solver.command('list'))
    .description('everybody who is onboarded')
    .action(async (options) => (await load()).listSolvers(options));
  terms(solver.command('add'))
    .description('onboard a solver')
    .argument('<id>')
    .action(async (id, options) => (await load()).addSolver(id, options));
  terms(solver.command('set'))
    .description('change, disable or enable a solver')
    .option('--enabled', 'lets it in again')
    .argument('<id>')
    .action(async (id, options) => (await load()).setSolver(id, options));
  return solver;
}

function readWhole(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function travelRuleCommand(): Command {
  const records = new Command('travel-rule').description(
    'what the venue reported of large orders, and what nobody took',
  );
  inVenue(records.command('list'))
    .description('the newest record of each order')
    .addOption(
      new Option('--state <state>', 'only these').choices([
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
    .description('send once more what was given up')
    .argument('<orderId>')
    .action(async (orderId, options) => (await import('./travel-rule.ts')).retryTravelRule(orderId, options));
  return records;
}
