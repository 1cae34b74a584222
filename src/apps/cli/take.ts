/** `firmquote take`: a taker's command line. */

import { Command, InvalidArgumentError, Option } from 'commander';
import type { TakeCommand } from '../take/main.ts';
import { collect } from './option-values.ts';

export const takeCommand = (): Command =>
  new Command('take')
    .description(
      'trade as a taker: quotes, checks, approvals, signature, settlement, and the claim on a bond if an LP breaks its promise; exit codes: docs/trade/take.md',
    )
    .requiredOption(
      '-c, --config <file>',
      'the venue, your chains and your key, see config/take.example.json',
    )
    .option('--sell <token>', 'what you give: USDC@base, 0x…@base or CAIP-19')
    .option('--buy <token>', 'what you want, written likewise; on another chain for a trade across chains')
    .option('--amount <amount>', 'whole tokens of what you give, or with --exact output of what you want')
    .addOption(
      new Option('--exact <side>', 'the side that --amount is of')
        .choices(['input', 'output'])
        .default('input'),
    )
    .option('--base-units', '--amount and --limit are in base units')
    .option('--limit <amount>', 'the least to get; with --exact output, the most to give')
    .option('--receiver <address>', 'who gets the output; default: the key’s own address')
    .option('--solver <id>', 'ask only this solver; repeat for more', collect, [])
    .option('--bond', 'only quotes of LPs whose bonds pay the whole share')
    .option('--firm-for <seconds>', 'only quotes that stay firm so long: time to read them', readSeconds)
    .option('--router', 'also DEX pools and routes')
    .option(
      '--candidate <n>',
      'take this one of the table; default: the best that passes every check',
      readNumber,
    )
    .option('--yes', 'trade without the question')
    .option('--dry-run', 'show the candidates and stop; no password needed')
    .option('--keystore <file>', 'the key to sign with; default: wallet of the configuration')
    .option('--password-file <file>', 'file (mode 0600) with its password; default: ask')
    .option('--password-env <name>', 'variable with its password')
    .option('--key-file <file>', 'file (mode 0600) with the API key; or the variable FIRMQUOTE_KEY')
    .option('--no-claim', 'do not claim the bond of an LP that breaks its promise')
    .option('--resume <orderId>', 'go on with an order that this command signed before')
    .option('--json', 'one JSON object a line for each step; amounts in base units')
    .action(async (options: TakeCommand) => (await import('../take/main.ts')).runTake(options));

function readSeconds(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text))
    throw new InvalidArgumentError('It is a number of seconds, such as 60.');
  return Number(text);
}

function readNumber(text: string): number {
  if (!/^[1-9][0-9]?$/.test(text)) throw new InvalidArgumentError('It is the number of a row: 1, 2 …');
  return Number(text);
}
