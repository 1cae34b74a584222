/** `firmquote certify partner`: plays a venue against a route partner and reports which rules it keeps. */

import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { partnerPublicKey, partnerSigningKey, publicKeyText } from '../../../protocol/partner/signature.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { startCertifyDevnet } from '../devnet.ts';
import { EXIT_CODE, ruleLines, type RuleVerdict, sumLine } from '../findings.ts';
import { certifyPartner, type PartnerReport } from './certify.ts';
import { partnerFile } from './partner-file.ts';

export interface PartnerCertifyOptions {
  url: string;
  partner: string;
  publicKey?: string;
  dataDir: string;
  deadline: number;
  wait: number;
  json?: boolean;
}

const CHAIN_IDS = [31_981, 31_982] as const;
const FILL_MS = 60_000;

export async function runPartnerCertify(options: PartnerCertifyOptions): Promise<void> {
  const { hostname, port, protocol } = urlOf(options.url);
  const say = (line: string) => console.error(line);
  const closers: (() => Promise<unknown>)[] = [];
  const onSignal = () => void Promise.all(closers.map((close) => close())).finally(() => process.exit(130));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    const [venue, theirs] = [newPem(), newPem()];
    const key = partnerSigningKey(venue);
    say('starting two local chains with the contracts');
    const dir = await mkdtemp(join(tmpdir(), 'firmquote-certify-'));
    closers.push(() => rm(dir, { recursive: true, force: true }));
    const devnet = await startCertifyDevnet({ ids: CHAIN_IDS, dir });
    closers.unshift(devnet.stop);
    await mkdir(options.dataDir, { recursive: true });
    const file = join(options.dataDir, 'partner.json');
    const listen = { host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    const text = partnerFile(
      { partner: options.partner, listen, venueKey: publicKeyText(key), privateKey: theirs },
      devnet,
    );
    await writeFile(file, text, { mode: 0o600 });
    say(`start your partner with what ${file} says, so that it answers at ${options.url}`);
    const report = await certifyPartner(devnet.world, {
      partner: options.partner,
      url: options.url.replace(/\/$/, ''),
      key,
      partnerKey: partnerPublicKey(options.publicKey ?? publicKeyText(partnerSigningKey(theirs))),
      deadlineMs: options.deadline,
      startMs: options.wait * 1_000,
      fillMs: FILL_MS,
      onStep: say,
    });
    console.log(options.json ? JSON.stringify(report) : reportText(report));
    process.exitCode = EXIT_CODE[report.verdict];
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    for (const close of closers) await close();
  }
}

const newPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

function urlOf(text: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw badRequest('--url needs the address of the partner, such as http://127.0.0.1:8791.');
  return new URL(text);
}

const reportText = ({ partner, verdict, results, answers: { asked, errors, late } }: PartnerReport): string =>
  [
    ...ruleLines(results),
    '',
    `${asked} requests: ${errors} answered with an error, ${late} too late`,
    `${sumLine(partner, results)} ${CONCLUSION[verdict]}`,
  ].join('\n');

const CONCLUSION: Record<RuleVerdict, string> = {
  pass: 'The partner keeps the protocol.',
  fail: 'The partner breaks the protocol.',
  untested: 'Nothing failed, but some rules could not be tested.',
};
