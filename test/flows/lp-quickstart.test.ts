/** docs/lp-quickstart.md, followed to the letter: every command of the page, in its order, in one shell, against a real demo. */

import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Running, startFirmquote } from '../support/command.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** As the page defines it, and the same without npm and its half second. */
const [TYPED, MEANT] = ['npm run -s firmquote -- "$@"', `"${process.execPath}" --import tsx src/apps/cli/main.ts "$@"`];

/** What each block of the page must print; `until`: what the reader waits for. */
const EXPECTED: readonly { block: string; prints?: RegExp; until?: RegExp }[] = [
  { block: 'npm run demo' },
  { block: 'firmquote()' },
  { block: 'lp init', prints: /✓ the venue firmquote-demo knows the key; chains: base, arc[\s\S]*✓ arc: the account has .*USDC.*the operator may sign[\s\S]*Written: / },
  { block: 'config check', prints: /lp\.quoting\.validitySeconds = 10 {2}\(default\)[\s\S]*is a valid configuration of lp\./ },
  { block: 'npm run -s firmquote -- lp --config my-lp/lp.json\n' },
  { block: 'lp status', until: /^Quoting\./ },
  { block: '/api/v1/solvers', until: /"guest"/ },
  { block: 'sed -i.bak', prints: /lp\.pairs\.WETH-USDC\.params\.beta: - → 0\.6/ },
  { block: 'lp awards', until: /WETH on (?:base|arc)/ },
  { block: 'lp explain', prints: /We promised [\s\S]*adverse selection[\s\S]*nearest limits/ },
  { block: 'lp pnl', until: /WETH-(?:USDC|DAI) +\d/ },
  { block: 'lp inventory', prints: /USDC +base +\d[\s\S]*total .*%/ },
  { block: 'lp withdraw', prints: /would request the withdrawal of 1000 USDC: about \d+ gas/ },
  { block: 'lp pause', prints: /Paused by cli[\s\S]*just looking[\s\S]*Quoting\./ },
  { block: 'lp drain', prints: /Drained after \d+ s/ },
  { block: 'lp audit', prints: /pause {2}by cli .*"draining"[\s\S]*reload[\s\S]*beta: - → 0\.6[\s\S]*start {2}by process/ },
];

let folder: string;
let demo: Running | undefined;
let lp: Running | undefined;
let shell: Shell | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-quickstart-'));
  // The database user of a root run has to get in.
  await chmod(folder, 0o755);
});

afterAll(async () => {
  shell?.end();
  await lp?.stop();
  await demo?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface Shell {
  run(block: string): Promise<{ status: number; output: string }>;
  end(): void;
}

/** One bash for the whole page, as the reader has one: functions and variables stay. */
function openShell(): Shell {
  const bash: ChildProcess = spawn('bash', ['--norc', '--noprofile'], { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] } });
  let said = '';
  for (const stream of [bash.stdout, bash.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  let serial = 0;
  return {
    async run(block) {
      const mark = `__done_${(serial += 1)}__`;
      said = '';
      bash.stdin?.write(`{\n${block}\n} < /dev/null\necho "${mark}$?"\n`);
      const ended = new RegExp(`^([\\s\\S]*)${mark}(\\d+)\\n`);
      while (!ended.test(said)) {
        if (bash.exitCode !== null) throw new Error(`The shell ended:\n${said}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const [, output = '', status] = ended.exec(said) ?? [];
      return { status: Number(status), output };
    },
    end() {
      bash.stdin?.end('exit\n');
    },
  };
}

test('every command works, in the order of the page', { timeout: 600_000 }, async () => {
  const page = await readFile(join(ROOT, 'docs', 'lp-quickstart.md'), 'utf8');
  const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? '');
  expect(blocks).toEqual(EXPECTED.map(({ block }) => expect.stringContaining(block)));
  shell = openShell();
  for (const [index, block] of blocks.entries()) {
    const { block: name, prints, until } = EXPECTED[index] ?? { block: '' };
    if (name === 'npm run demo') {
      const port = 21_000 + (process.pid % 100) * 60;
      demo = startFirmquote(['demo', '--data-dir', join(folder, 'data'), '--port', String(port)]);
      await demo.says('ready after');
      continue;
    }
    if (name.startsWith('npm run -s firmquote')) {
      lp = startFirmquote(['lp', '--config', join(folder, 'my-lp', 'lp.json')]);
      await lp.says('LP is open');
      continue;
    }
    const typed = block.replaceAll('my-lp', join(folder, 'my-lp')).replaceAll('$PWD/data', join(folder, 'data')).replace(TYPED, MEANT);
    let done = await shell.run(typed);
    for (const deadline = performance.now() + 90_000; until !== undefined && !until.test(done.output) && performance.now() < deadline; done = await shell.run(typed)) await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(done.output, name).toMatch(prints ?? until ?? /^/);
    expect([name, done.status, done.output]).toEqual([name, 0, done.output]);
  }
  expect(page).toContain(TYPED);
  // Ctrl-C.
  lp?.child.kill('SIGINT');
  expect(await lp?.ended).toBe(0);
});
