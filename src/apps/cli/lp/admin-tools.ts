/** The options that all commands of the admin API have, and the options that an action was given. */

import { type Command, Option } from 'commander';

/** Makes an option that each action checks: subcommands inherit it, so commander must not demand it. */
export const configOption = (): Option =>
  new Option('-c, --config <file>', 'configuration file, see config/lp.example.json');

/** Options of a command and of all above it; the innermost wins, as in `firmquote lp -c FILE signal list`. */
export function given<T>(command: Command): T {
  return { ...(command.parent && given<object>(command.parent)), ...command.opts() } as T;
}

/** Adds a command by its name and description. */
export type AdminTool = (name: string, description: string) => Command;

/** Adds commands to `group`, such as `lp` or `lp signal`, that ask a running LP. */
export const adminTools =
  (group: Command): AdminTool =>
  (name, description) =>
    group
      .command(name)
      .description(description)
      .addOption(configOption())
      .option('--admin <url>', 'admin API of the running LP, instead of --config')
      .option('--token-file <file>', 'file with the token of the admin API')
      .option('--json', 'print the answer as JSON');
