/** Groups the commands of `firmquote --help` by what a user wants to do, with examples. */

import type { Command } from 'commander';

/** Describes each command in a few words; its own --help says the rest. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Look at it:': { demo: 'the whole system on two local chains, trading' },
  'Run:': {
    venue: 'serve quotes, orders and history, and settle accepted orders',
    lp: "quote from your own inventory; also the operator's and the owner's tools",
    attester: 'watch fills until they are final and sign them',
  },
  'Trade, and check what you got:': {
    take: 'trade as a taker, from quotes to settlement',
    trades: "a venue's trade history",
    verify: 'check the dossier of a trade without trusting the venue',
    'verify-fade': "check a claim on an LP's bond by the chains alone",
  },
  'Set up, and check before you start:': {
    deploy: 'deploy the contracts, or check what is there',
    doctor: 'what is wrong with the surroundings of a process, and what to do',
    config: 'check a configuration file',
    keystore: 'encrypted private keys',
    certify: 'play a venue against a solver and report each rule',
    complete: 'print the completion script for your shell',
  },
  'Administer a venue:': {
    workspace: 'workspaces and their terms',
    member: 'members of a workspace',
    keys: 'issue, list and revoke API keys',
    solver: 'solvers that may quote',
    partner: "compare a route partner's reconciliation file with the venue's records",
    'travel-rule': 'travel-rule records of large orders',
  },
  'Databases:': {
    audit: 'compare a database with the chains and print every difference',
    backup: 'write a snapshot into one file',
    restore: 'load a snapshot into an empty database',
  },
  'Study prices:': {
    sim: 'check pricing against published figures, simulate, or replay',
    feed: 'record price feeds, and replay recordings',
  },
};

const EXAMPLES = `
Examples:
  firmquote demo                               two chains, a venue and three LPs, on this machine
  firmquote lp init --from-demo data/demo.json set up your own LP in the running demo
  firmquote lp --config my-lp/lp.json          run it; firmquote lp status says how it is
  firmquote venue --config venue.json          run a venue
  firmquote doctor --lp my-lp/lp.json          what is wrong with an LP's surroundings, and what to do
  source <(firmquote complete bash)            completion in this shell; also zsh, fish, powershell

Each command has its own --help. The pages for takers, LPs and venues are in the folder docs of the package.
`;

/** Call once all commands are there. Throws for a command that no group names. */
export function presentHelp(program: Command): void {
  const order = Object.values(GROUPS).flatMap((group) => Object.keys(group));
  for (const command of program.commands) {
    const [title, names] = Object.entries(GROUPS).find(([, group]) => command.name() in group) ?? [];
    if (title === undefined) throw new Error(`No group of the help names the command ${command.name()}.`);
    command.helpGroup(title).summary(names?.[command.name()] ?? '');
  }
  (program.commands as Command[]).sort((a, b) => order.indexOf(a.name()) - order.indexOf(b.name()));
  program.helpCommand(false).configureHelp({ subcommandTerm: (command) => command.name() });
  program.addHelpText('after', EXAMPLES);
}
