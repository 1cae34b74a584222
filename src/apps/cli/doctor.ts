/** `firmquote doctor`: what an operator runs before going live and after every change. */

import { Command } from 'commander';
import type { DoctorOptions } from '../doctor/main.ts';

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description(
      'look at the endpoints, contracts, tokens, accounts, keys, database, feeds and alerts of a process, and say what to do; changes nothing; exit code 1: something fails',
    )
    .option('--venue <file>', 'configuration of a venue; DATABASE_URL overrides its database')
    .option('--lp <file>', 'configuration of an LP')
    .option('--shadow', 'with --lp: check what firmquote lp --shadow needs; no key is opened')
    .option('--attester <file>', 'configuration of an attester')
    .option('--prometheus <url>', 'also ask this Prometheus whether the alert rules are loaded')
    .option('--json', 'print one JSON object')
    .action(async (options: DoctorOptions) => (await import('../doctor/main.ts')).runDoctor(options));
