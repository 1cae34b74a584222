/** The words and options of `firmquote lp account`. */

import type { Command } from 'commander';
import { collect } from '../../option-values.ts';
import type { SetOptions } from './account.ts';
import { given } from '../admin-tools.ts';
import type { OwnerOptions } from '../owner.ts';

export function accountCommands(
  lp: Command,
  ownersTool: (group: Command, name: string, description: string) => Command,
): void {
  const group = lp
    .command('account')
    .description('an account that is the contract LpAccount: deploy it, set it up, look at it')
    .enablePositionalOptions();
  const tool = (name: string, description: string): Command => ownersTool(group, name, description);

  tool('deploy', "deploy it, at the configuration's account address, on every chain that lacks it")
    .option('--first-owner <address>', "its first owner; default: the key's address")
    .option('--salt <bytes32>', 'tells several accounts of one first owner apart; as in lp init')
    .action(async (_: object, command: Command) =>
      (await import('./account.ts')).deployAccount(given(command)),
    );
  tool('set', 'name treasury, mover, limits and routes; what widens is scheduled after the set-up')
    .option('--treasury <address>', 'where money may leave to, and nowhere else')
    .option('--mover <address>', 'who moves inventory; "config": the key in keys.mover; "none": nobody')
    .option('--mover-limit <token=amount>', 'the most that it moves in a day; may be repeated', collect)
    .option('--routes', 'list a route for each bridge of the configuration')
    .option('--drop-routes', 'take these routes off the list')
    .action(async (_: object, command: Command) =>
      (await import('./account.ts')).setAccount(given<SetOptions>(command)),
    );
  tool('finish', 'end the set-up: from then on what widens waits two days').action(
    async (_: object, command: Command) => (await import('./account.ts')).finishSetup(given(command)),
  );
  tool('show', 'roles, limits, routes and changes that wait, on each chain').action(
    async (_: object, command: Command) => (await import('./account.ts')).showAccount(given(command)),
  );
  tool('cancel', 'cancel a change that waits')
    .argument('<id>', 'its id, as lp account show prints it')
    .action(async (id: string, _: object, command: Command) =>
      (await import('./account.ts')).cancelChange(id, given(command)),
    );
  tool('take', 'take what lies on the account to the treasury; withdraw it from the escrow first')
    .option('--token <symbol>', 'the token; "native" for the chain\u2019s currency')
    .requiredOption('--amount <tokens>', 'whole tokens, or "all"')
    .action(async (_: object, command: Command) =>
      (await import('./account.ts')).takeToTreasury(given<OwnerOptions & { amount: string }>(command)),
    );
  tool('offer', 'offer the account to another owner, who has to accept it')
    .argument('<address>', 'the new owner; "none" takes the offer back')
    .action(async (to: string, _: object, command: Command) =>
      (await import('./account.ts')).offerAccount(to, given(command)),
    );
  tool('accept', 'accept the account, with the key of who was offered it (--owner)').action(
    async (_: object, command: Command) => (await import('./account.ts')).acceptAccount(given(command)),
  );
  tool(
    'close',
    'close the account for good, when the key of its owner is stolen or it is not needed any more',
  )
    .option('--yes', 'close it')
    .action(async (_: object, command: Command) =>
      (await import('./account.ts')).closeAccount(given<OwnerOptions & { yes?: boolean }>(command)),
    );
}
