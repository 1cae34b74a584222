/**
 * `firmquote certify partner` as docs/venue/route-partners.md shows it: it passes the example as a real
 * process, and each planted fault fails its rule and no other.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { type CertifyDevnet, startCertifyDevnet } from '../../../src/apps/certify/devnet.ts';
import { certifyPartner, type PartnerReport } from '../../../src/apps/certify/partner/certify.ts';
import { partnerFile } from '../../../src/apps/certify/partner/partner-file.ts';
import { PARTNER_RULES } from '../../../src/apps/certify/partner/rules.ts';
import {
  partnerPublicKey,
  partnerSigningKey,
  publicKeyText,
} from '../../../src/protocol/partner/signature.ts';
import { PROGRAM } from '../../support/build.ts';
import { newPem, PARTNER_EXAMPLE } from '../../support/partner.ts';
import { PLANTED_PARTNERS } from '../../certify/planted-partner.ts';
import { changed } from '../../certify/planted.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** The machine of the tests is busy. */
const DEADLINE_MS = 15_000;
/** One that answers late by intention. */
const SHORT_DEADLINE_MS = 2_500;
const LANES = 3;

let folder: string;
let devnet: CertifyDevnet;
const children: ChildProcess[] = [];
const reports: Promise<PartnerReport>[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-certify-partner-'));
  // Changed examples find their packages here.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  devnet = await startCertifyDevnet({ ids: [31_983, 31_984], dir: folder, solvers: PLANTED_PARTNERS.length });
  const lanes = Array.from({ length: LANES }, (): Promise<unknown> => Promise.resolve());
  for (const at of PLANTED_PARTNERS.keys()) {
    const run = (lanes[at % LANES] as Promise<unknown>).then(() => certifyPlanted(at));
    // Its own test reports a failure.
    lanes[at % LANES] = run.catch(() => {});
    run.catch(() => {});
    reports.push(run);
  }
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(words: readonly string[]): { child: ChildProcess; said(): string } {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  return { child, said: () => said };
}

const rulesWith = ({ results }: PartnerReport, wanted: string) =>
  results.filter(({ verdict }) => verdict === wanted).map(({ rule, seen }) => `${rule}: ${seen}`);

async function certifyPlanted(at: number): Promise<PartnerReport> {
  const { faults } = PLANTED_PARTNERS[at] as (typeof PLANTED_PARTNERS)[number];
  const [program, config] = [join(folder, `partner-${at}.mjs`), join(folder, `partner-${at}.json`)];
  await writeFile(
    program,
    changed(
      await readFile(PARTNER_EXAMPLE, 'utf8'),
      faults.flatMap(({ changes }) => changes),
    ),
  );
  const [key, theirs] = [partnerSigningKey(newPem()), newPem()];
  const port = await freePort();
  const listen = { host: '127.0.0.1', port };
  const named = { partner: 'planted', listen, venueKey: publicKeyText(key), privateKey: theirs };
  await writeFile(config, partnerFile(named, devnet, devnet.solvers[at]));
  const { child } = start([program, config]);
  const report = await certifyPartner(devnet.world, {
    partner: 'planted',
    url: `http://127.0.0.1:${port}`,
    key,
    partnerKey: partnerPublicKey(publicKeyText(partnerSigningKey(theirs))),
    deadlineMs: faults.some(({ rule }) => rule === 'deadline') ? SHORT_DEADLINE_MS : DEADLINE_MS,
    startMs: 60_000,
    fillMs: 15_000,
  });
  child.kill('SIGKILL');
  return report;
}

test('each rule stands on a sentence of the protocol page', async () => {
  for (const { page, sentence } of Object.values(PARTNER_RULES)) {
    const text = await readFile(join(ROOT, page), 'utf8');
    expect(text.replaceAll(/\s+/g, ' ')).toContain(sentence);
  }
});

test('every rule has a planted fault', () => {
  const planted = new Set(PLANTED_PARTNERS.flatMap(({ faults }) => faults.map(({ rule }) => rule)));
  expect(Object.keys(PARTNER_RULES).filter((rule) => !planted.has(rule as never))).toEqual([]);
});

describe('partners', { timeout: 240_000 }, () => {
  test('the example passes, by the command that the page shows', async () => {
    const port = await freePort();
    const data = join(folder, 'data');
    const url = `http://127.0.0.1:${port}`;
    const words = ['certify', 'partner', '--url', url, '--data-dir', data, '--deadline', String(DEADLINE_MS)];
    const command = start([PROGRAM, ...words, '--json']);
    const ended = new Promise<number | null>((resolve) => command.child.once('close', resolve));
    await expect.poll(() => command.said(), { timeout: 120_000 }).toContain('start your partner');
    start([PARTNER_EXAMPLE, join(data, 'partner.json')]);
    const code = await ended;
    const line = command
      .said()
      .split('\n')
      .find((each) => each.startsWith('{'));
    const report = JSON.parse(line ?? command.said()) as PartnerReport;
    expect([rulesWith(report, 'fail'), rulesWith(report, 'untested')]).toEqual([[], []]);
    expect([code, report.verdict]).toEqual([0, 'pass']);
  });

  test.each(PLANTED_PARTNERS.map(({ name }, at) => ({ name, at })))(
    'one that $name fails by that alone',
    async ({ at }) => {
      const { faults } = PLANTED_PARTNERS[at] as (typeof PLANTED_PARTNERS)[number];
      const report = (await reports[at]) as PartnerReport;
      const failed = report.results.filter(({ verdict }) => verdict === 'fail');
      expect(
        failed.map(({ rule }) => rule).sort(),
        failed.map(({ rule, seen }) => `${rule}: ${seen}`).join('\n'),
      ).toEqual(faults.map(({ rule }) => rule).sort());
    },
  );
});
