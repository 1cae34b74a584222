/** `firmquote lp …`: the maker's process, and the tools of whoever runs it. Without a word behind it, it quotes. */

import { Command, Option } from 'commander';
import { RequestError } from '../../domain/errors.ts';

/** The configuration file is asked for where it is needed, so that a parent's demand is not made of every tool. */
export const configOption = (): Option => new Option('-c, --config <file>', 'configuration file, see config/lp.example.json');

export function lpCommand(): Command {
  const lp = new Command('lp').description('make markets from your own inventory; see the commands for the operator’s tools');
  lp.addOption(configOption()).action(async ({ config }: { config?: string }) => {
    if (config === undefined) throw new RequestError('Which LP? Name its configuration file: firmquote lp --config FILE.', { code: 'bad_config' });
    await (await import('../lp/main.ts')).runLp({ config });
  });
  return lp;
}
