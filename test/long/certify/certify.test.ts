/**
 * `firmquote certify` as docs/lp/certify.md shows it: it passes the example solver and our LP as real
 * processes, and each planted fault fails its rule and no other.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../src/adapters/postgres/embedded/embedded.ts';
import { certify, type CertifySettings } from '../../../src/apps/certify/certify.ts';
import { type CertifyDevnet, startCertifyDevnet } from '../../../src/apps/certify/devnet.ts';
import { type CertifyReport, createRuleFindings } from '../../../src/apps/certify/findings.ts';
import { type RuleId, RULES } from '../../../src/apps/certify/rules.ts';
import { solverFile } from '../../../src/apps/certify/solver-file.ts';
import { startCertifyVenue } from '../../../src/apps/certify/venue.ts';
import { sendUnlocked } from '../../../src/apps/demo/chains/anvil.ts';
import { limitOperatorCall } from '../../../src/settlement/call.ts';
import { PROGRAM } from '../../support/build.ts';
import { prepareOurLp } from '../../certify/our-lp.ts';
import { changed, PLANTED, type PlantedSolver } from '../../certify/planted.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const EXAMPLE = join(ROOT, 'docs/examples/solver.mjs');
const SETTINGS = {
  solverId: 'planted',
  key: `fq_test_${'5'.repeat(48)}`,
  host: '127.0.0.1',
  port: 0,
  // The machine of the tests is busy.
  deadlineMs: 15_000,
  heartbeatSeconds: 3,
  requests: 60,
  startMs: 60_000,
  activeMs: 20_000,
  fillMs: 15_000,
} as const satisfies CertifySettings;

let folder: string;
let devnet: CertifyDevnet;
const children: ChildProcess[] = [];
/** By planted solver. They mostly wait, so a few run side by side. */
const reports: Promise<CertifyReport>[] = [];
/** An answer to this one is late by intention. */
const SHORT_DEADLINE_MS = 2_000;
const SHORT_LANES = 2;
let ofOurs: Promise<CertifyReport>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-certify-'));
  // Changed examples find their packages here.
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  devnet = await startCertifyDevnet({ ids: [31_973, 31_974], dir: folder, solvers: PLANTED.length + 2 });
  ofOurs = certifyOurs();
  ofOurs.catch(() => {});
  const lanes = new Map<string, Promise<unknown>>();
  for (const [at, planted] of PLANTED.entries()) {
    const lane = planted.faults.length > 1 ? `long ${at}` : `short ${at % SHORT_LANES}`;
    const run = (lanes.get(lane) ?? Promise.resolve()).then(() => certifyPlanted(planted, at));
    // Its own test reports a failure.
    lanes.set(
      lane,
      run.catch(() => {}),
    );
    reports.push(run);
    run.catch(() => {});
  }
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

function start(words: readonly string[]): ChildProcess & { said(): string } {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (said += data.toString()));
  return Object.assign(child, { said: () => said });
}

/** The command, patient with a busy machine. */
function startCertify(words: readonly string[]) {
  const command = start([PROGRAM, 'certify', ...words, '--deadline', '15000', '--heartbeat', '3', '--json']);
  return { command, ended: new Promise<number | null>((resolve) => command.once('close', resolve)) };
}

function reportOf({ said }: { said(): string }): CertifyReport {
  const line = said()
    .split('\n')
    .find((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`certify ended without a report:\n${said()}`);
  return JSON.parse(line) as CertifyReport;
}

const rulesWith = ({ results }: CertifyReport, wanted: string) =>
  results.filter(({ verdict }) => verdict === wanted).map(({ rule, seen }) => `${rule}: ${seen}`);

test('each rule stands on a sentence of the protocol page', async () => {
  for (const { page, sentence } of Object.values(RULES)) {
    const text = await readFile(join(ROOT, page), 'utf8');
    expect(text.replaceAll(/\s+/g, ' ')).toContain(sentence);
  }
});

test('every rule has a planted fault', () => {
  const planted = new Set(PLANTED.flatMap(({ faults }) => faults.map(({ rule }) => rule)));
  expect(Object.keys(RULES).filter((rule) => !planted.has(rule as keyof typeof RULES))).toEqual([]);
});

/** Certifies the example with faults in it. */
async function certifyPlanted({ base = [], faults, limitOperator }: PlantedSolver, at: number) {
  const keys = devnet.solvers[at] as CertifyDevnet['solvers'][number];
  if (limitOperator) {
    const { chain, rpcUrl } = devnet.world.chains[0] as CertifyDevnet['world']['chains'][number];
    for (const { address } of chain.tokens) {
      const data = limitOperatorCall(keys.operator.address, address, 1n, 3_600);
      await sendUnlocked(rpcUrl, { from: keys.owner.address, to: chain.escrow, data, gas: '0x493e0' });
    }
  }
  const [program, config] = [join(folder, `solver-${at}.mjs`), join(folder, `solver-${at}.json`)];
  const source = changed(await readFile(EXAMPLE, 'utf8'), base);
  await writeFile(
    program,
    changed(
      source,
      faults.flatMap(({ changes }) => changes),
    ),
  );
  let child: ChildProcess | undefined;
  const isLate = faults.some(({ rule }) => rule === 'deadline');
  const report = await certify(devnet.world, {
    ...SETTINGS,
    ...(isLate && { deadlineMs: SHORT_DEADLINE_MS }),
    async onListening(url) {
      const { key, solverId } = SETTINGS;
      await writeFile(config, solverFile({ url, key, solverId }, devnet, keys));
      child = start([program, config]);
    },
  });
  child?.kill('SIGKILL');
  return report;
}

async function certifyOurs(): Promise<CertifyReport> {
  const keys = devnet.solvers.at(-1) as CertifyDevnet['solvers'][number];
  const ours = await prepareOurLp(devnet, keys, { folder, ...SETTINGS });
  try {
    return await certify(devnet.world, {
      ...SETTINGS,
      requests: 1_000,
      activeMs: 60_000,
      onListening: (url) => void ours.start(url),
    });
  } finally {
    await ours.stop();
  }
}

describe('solvers', { timeout: 240_000 }, () => {
  test('the example passes, by the command that the page shows', async () => {
    const port = await freePort();
    const data = join(folder, 'data');
    const { command, ended } = startCertify(['--listen', String(port), '--data-dir', data]);
    await expect.poll(() => command.said(), { timeout: 120_000 }).toContain('start your solver');
    const solver = start([EXAMPLE, join(data, 'solver.json')]);
    const code = await ended;
    solver.kill();
    const report = reportOf(command);
    expect(rulesWith(report, 'fail')).toEqual([]);
    expect(rulesWith(report, 'untested')).toEqual([
      'ladder: the solver offers no parts',
      'commit: the solver offers no parts',
      'slice: the solver offers no parts',
      'levels: the solver sends no levels',
    ]);
    expect([code, report.verdict, report.answers.quotes > 1_000]).toEqual([0, 'pass', true]);
  });

  test("on a venue's own chains, by that venue's challenge: nothing is executed", async () => {
    const { key, solverId } = SETTINGS;
    const findings = createRuleFindings<RuleId>(RULES);
    const real = await startCertifyVenue(
      { world: devnet.world, key, solverId, findings, heartbeatSeconds: 5 },
      { host: '127.0.0.1', port: 0 },
    );
    const port = await freePort();
    const { command, ended } = startCertify([
      ...['--listen', String(port), '--key', key, '--solver', solverId, '--venue', real.url],
      ...devnet.world.chains.flatMap(({ chain, rpcUrl }) => ['--rpc', `${chain.id}=${rpcUrl}`]),
      ...devnet.world.pairs.flatMap(({ input, output }) => ['--pair', `${input},${output}`]),
      ...['--requests', '60'],
    ]);
    const config = join(folder, 'solver-real.json');
    const url = `ws://127.0.0.1:${port}`;
    await writeFile(config, solverFile({ url, key, solverId }, devnet, devnet.solvers.at(-2)));
    const solver = start([EXAMPLE, config]);
    const code = await ended;
    solver.kill();
    await real.stop();
    const report = reportOf(command);
    expect(rulesWith(report, 'fail')).toEqual([]);
    expect(report.results.filter(({ verdict }) => verdict === 'untested').map(({ rule }) => rule)).toEqual([
      ...['binding', 'ladder', 'commit', 'slice', 'deposit', 'fill', 'resume', 'levels'],
    ]);
    expect([code, report.verdict]).toEqual([2, 'untested']);
  });

  test('our LP passes', async () => {
    const report = await ofOurs;
    expect(rulesWith(report, 'fail').join('\n')).toBe('');
    expect(rulesWith(report, 'untested').join('\n')).toBe('');
    expect([report.verdict, report.answers.quotes > 1_000]).toEqual(['pass', true]);
  });

  test.each(PLANTED.map(({ name }, at) => ({ name, at })))(
    'one that $name fails by that alone',
    async ({ at }) => {
      const { faults } = PLANTED[at] as PlantedSolver;
      const report = (await reports[at]) as CertifyReport;
      const failed = report.results.filter(({ verdict }) => verdict === 'fail');
      expect(
        failed.map(({ rule }) => rule).sort(),
        failed.map(({ rule, seen }) => `${rule}: ${seen}`).join('\n'),
      ).toEqual(faults.map(({ rule }) => rule).sort());
      expect(report.verdict).toBe('fail');
    },
  );
});
