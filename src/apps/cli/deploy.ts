/** `firmquote deploy`: the contracts of a venue on its chains. */

import { Command } from 'commander';
import { collect } from './option-values.ts';
import { readWhole } from './feed/feed.ts';
import type { DeployOptions } from '../deploy/main.ts';

export function deployCommand(): Command {
  const deploy = new Command('deploy').description(
    'deploy the contracts at the same addresses on every chain, and check what is there',
  );
  const command = (name: string, says: string) =>
    deploy
      .command(name)
      .description(says)
      .requiredOption('-c, --config <file>', 'parameters, see config/deploy.example.json')
      .option('--chain <slug>', 'only this chain; repeat for more', collect, [])
      .option('--json', 'print one JSON object');

  command('plan', 'print addresses, cost and owner of a deployment, and send nothing').action(
    async (options: DeployOptions) => (await import('../deploy/main.ts')).deployPlan(options),
  );
  command('run', 'send what is missing; a run that was interrupted goes on')
    .option('--yes', 'send without asking')
    .option('--patience <seconds>', 'wait so long for a node or a block before giving up', readWhole, 600)
    .action(async (options: DeployOptions & { yes?: boolean; patience: number }) =>
      (await import('../deploy/main.ts')).deployRun(options),
    );
  command(
    'verify',
    "compare a chain's code, owner and signers with the build, the parameters and the record; exit code 1: they differ",
  )
    .option('--standard-json <folder>', 'also write the input for verification by block explorers')
    .action(async (options: DeployOptions & { standardJson?: string }) =>
      (await import('../deploy/main.ts')).deployVerify(options),
    );
  return deploy;
}
