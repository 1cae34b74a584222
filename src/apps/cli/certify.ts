/** `firmquote certify`: what the engineer of a solver runs before asking a venue for a key. */

import { Command } from 'commander';
import type { CertifyOptions } from '../certify/main.ts';
import type { PartnerCertifyOptions } from '../certify/partner/main.ts';
import { readWhole } from './feed/feed.ts';
import { collect } from './option-values.ts';

export const certifyCommand = (): Command =>
  new Command('certify')
    .enablePositionalOptions()
    .description(
      'play a venue against a solver, in any language, and report for each rule of the protocol whether it holds; exit code 0: all held, 1: something failed, 2: some rules could not be tested',
    )
    .option('--listen <address>', 'where the solver connects, as to a venue', '127.0.0.1:8790')
    .option(
      '--key <key>',
      'the solver must send this key; preferably in the variable FIRMQUOTE_KEY; default: a new one',
    )
    .option('--solver <id>', "the solver's id on the roster", 'certified')
    .option('--data-dir <folder>', 'folder for solver.json: what the solver needs to know', './data/certify')
    .option('--requests <n>', 'requests of the firmness check', readWhole, 1_000)
    .option('--deadline <ms>', 'time to answer each request', readWhole, 300)
    .option('--heartbeat <seconds>', 'time between pings', readWhole, 1)
    .option('--wait <seconds>', 'how long to wait for the solver to connect', readWhole, 300)
    .option(
      '--venue <url>',
      "use the chains of this venue, read with --key, instead of local chains; the solver's quotes are then not executed",
    )
    .option('--rpc <chain=url>', 'with --venue: your node of a chain; repeat for each', collect, [])
    .option('--pair <input,output>', 'with --venue: assets to ask for; repeat for more', collect, [])
    .option('--json', 'print one JSON object')
    .action(async (options: CertifyOptions) => (await import('../certify/main.ts')).runCertify(options))
    .addCommand(partnerCommand());

const partnerCommand = (): Command =>
  new Command('partner')
    .description(
      'play a venue against a route partner over HTTP, and report for each rule of its protocol whether it holds; exit codes as above',
    )
    .option('--url <url>', 'where the partner answers', 'http://127.0.0.1:8791')
    .option('--partner <id>', "the partner's id at the venue", 'certified')
    .option('--public-key <key>', 'of the partner; default: that of the private key in partner.json')
    .option(
      '--data-dir <folder>',
      'folder for partner.json: what the partner needs to know',
      './data/certify',
    )
    .option('--deadline <ms>', 'time to answer each price and reservation', readWhole, 500)
    .option('--wait <seconds>', 'how long to wait for the partner to answer', readWhole, 300)
    .option('--json', 'print one JSON object')
    .action(async (options: PartnerCertifyOptions) =>
      (await import('../certify/partner/main.ts')).runPartnerCertify(options),
    );
