/**
 * The pages for newcomers, followed to the letter against one real demo: every command of the LP's page, then
 * every command and program of the taker's.
 */

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROGRAM } from '../support/build.ts';
import { type Running, startFirmquote } from '../support/command.ts';
import { blocksOf, openShell, ROOT, type Shell } from '../support/page.ts';
import { freeBlock } from '../support/ports.ts';

/** As the page defines it, and the same without npm and its half second. */
const [TYPED, MEANT] = ['npm run -s firmquote -- "$@"', `"${process.execPath}" "${PROGRAM}" "$@"`];

/** What each block of the page must print; `until`: what the reader waits for. */
const EXPECTED: readonly { block: string; prints?: RegExp; until?: RegExp }[] = [
  { block: 'npm run demo' },
  { block: 'firmquote()' },
  {
    block: 'lp init',
    prints:
      /✓ the venue firmquote-demo accepts the key; chains: base, arc[\s\S]*✓ arc: the account has .*USDC.*the operator may sign[\s\S]*Written: /,
  },
  {
    block: 'config check',
    prints: /lp\.quoting\.validitySeconds = 10 {2}\(default\)[\s\S]*is a valid configuration of lp\./,
  },
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
  {
    block: 'lp audit',
    prints: /pause {2}by cli .*"draining"[\s\S]*reload[\s\S]*beta: - → 0\.6[\s\S]*start {2}by process/,
  },
];

let folder: string;
let demo: Running | undefined;
let lp: Running | undefined;
let shell: Shell | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-quickstart-'));
  // The database user of a root run has to get in.
  await chmod(folder, 0o755);
  const port = await freeBlock(21_000 + (process.pid % 100) * 60);
  demo = startFirmquote(['demo', '--data-dir', join(folder, 'data'), '--port', String(port)]);
  await demo.says('ready after');
}, 300_000);

afterAll(async () => {
  shell?.end();
  await lp?.stop();
  await demo?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('every command of the page works in order', { timeout: 600_000 }, async () => {
  const page = await readFile(join(ROOT, 'docs', 'lp', 'quickstart.md'), 'utf8');
  const blocks = await blocksOf('docs/lp/quickstart.md', 'sh');
  expect(blocks).toEqual(EXPECTED.map(({ block }) => expect.stringContaining(block)));
  shell = openShell();
  for (const [index, block] of blocks.entries()) {
    const { block: name, prints, until } = EXPECTED[index] ?? { block: '' };
    // It runs already, in the first terminal.
    if (name === 'npm run demo') continue;
    if (name.startsWith('npm run -s firmquote')) {
      lp = startFirmquote(['lp', '--config', join(folder, 'my-lp', 'lp.json')]);
      await lp.says('LP is running');
      continue;
    }
    const typed = block
      .replaceAll('my-lp', join(folder, 'my-lp'))
      .replaceAll('$PWD/data', join(folder, 'data'))
      .replace(TYPED, MEANT);
    let done = await shell.run(typed);
    for (
      const deadline = performance.now() + 90_000;
      until !== undefined && !until.test(done.output) && performance.now() < deadline;
      done = await shell.run(typed)
    )
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(done.output, name).toMatch(prints ?? until ?? /^/);
    expect([name, done.status, done.output]).toEqual([name, 0, done.output]);
  }
  expect(page).toContain(TYPED);
  // Ctrl-C.
  lp?.child.kill('SIGINT');
  expect(await lp?.ended).toBe(0);
});

describe("the taker's pages, in a folder of their own", () => {
  let taker: Shell | undefined;
  let work: string;
  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'fq-taker-'));
    // The commands name files of the checkout and of the demo by where the reader has them.
    await symlink(join(ROOT, 'docs'), join(work, 'docs'));
    await symlink(join(folder, 'data'), join(work, 'data'));
    // The client's part of `npm run build`.
    const tsconfig = join(work, 'tsconfig.json');
    await writeFile(
      tsconfig,
      JSON.stringify({
        extends: join(ROOT, 'src/client/tsconfig.json'),
        compilerOptions: {
          rootDir: join(ROOT, 'src'),
          outDir: join(ROOT, 'dist'),
          typeRoots: [join(ROOT, 'node_modules/@types')],
        },
        include: [],
        files: [join(ROOT, 'src/client/client.ts')],
      }),
    );
    await promisify(execFile)(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '-p',
      tsconfig,
    ]);
    taker = openShell(work);
  }, 300_000);
  afterAll(async () => {
    taker?.end();
    await rm(work, { recursive: true, force: true });
  });
  const type = async (block: string) => taker?.run(block) ?? { status: 1, output: 'no shell' };

  test(
    'docs/start/quickstart.md: one trade with curl, one with the client',
    { timeout: 300_000 },
    async () => {
      const prints = [
        /^$/,
        /^(?:alpha|beta|gamma) sells \d{18} wei until \d{10}/,
        /^eip3009Authorization, orderSignature/,
        /^$/,
        /"status":"settled"/,
        /order\.settled settled\nsettled: \d{18} wei of WETH for 1000000000 units of USDC/,
      ];
      const blocks = await blocksOf('docs/start/quickstart.md', 'sh');
      expect(blocks).toHaveLength(prints.length);
      for (const [index, block] of blocks.entries()) {
        // Built above, as `npm run -s build` does it.
        const { status, output } = await type(block.replace('npm run -s build\n', ''));
        expect([block, status, output]).toEqual([block, 0, expect.stringMatching(prints[index] as RegExp)]);
      }
      expect(blocks.at(-1)).toContain('npm run -s build\n');
    },
  );

  test('the package contains the client with types, programs and documents, and no tests or sources', async () => {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      maxBuffer: 16 * 1024 * 1024,
    });
    const [pack] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const files = pack?.files.map(({ path }) => path) ?? [];
    expect(files).toEqual(
      expect.arrayContaining([
        'package.json',
        'README.md',
        'LICENSE',
        'docs/trade/client.md',
        'docs/examples/trade.mjs',
        'config/venue.example.json',
        'dist/client/client.js',
        'dist/client/client.d.ts',
        'dist/protocol/api/candidate.d.ts',
        'contracts/artifacts/Escrow.json',
      ]),
    );
    expect(
      files.filter(
        (path) =>
          !/^(?:dist|docs|config|ops|contracts\/artifacts)\/|^(?:package\.json|README\.md|CHANGELOG\.md|LICENSE)$/.test(
            path,
          ) ||
          // Code of contracts that only tests deploy.
          path.startsWith('contracts/artifacts/test/') ||
          /\.test\.|\.map$/.test(path) ||
          (path.startsWith('dist/') && /(?<!\.d)\.ts$/.test(path)),
      ),
    ).toEqual([]);
    const { exports } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      exports: Record<string, Record<string, string>>;
    };
    expect(Object.values(exports['./client'] ?? {}).filter((path) => !files.includes(path.slice(2)))).toEqual(
      [],
    );
  });

  test('README.md: a first quote', { timeout: 120_000 }, async () => {
    const block = (await blocksOf('README.md', 'sh')).find((one) => one.includes('quotes.json')) ?? '';
    const { status, output } = await type(block);
    expect([status, output]).toEqual([
      0,
      expect.stringMatching(/sells \d{18} wei[\s\S]*"status":"(?:pending|settled)"/),
    ]);
  });

  test('docs/trade/client.md: its programs, in order', { timeout: 300_000 }, async () => {
    const programs = await blocksOf('docs/trade/client.md', 'js');
    const file = join(ROOT, 'dist', `client-page-${process.pid}.mjs`);
    await writeFile(
      file,
      `import { readFileSync } from 'node:fs';\nconst demo = JSON.parse(readFileSync('data/demo.json', 'utf8'));\n${programs.join('\n')}`,
    );
    const { status, output } = await type(`node ${file}`).finally(() => rm(file));
    expect([status, output]).toEqual([
      0,
      expect.stringMatching(
        /^at least \d{18} wei, order 0x[\s\S]*true preview The preview shows[\s\S]*rerun false, settled\nacross chains: settled\n[\s\S]*history: 5 of \d+/,
      ),
    ]);
  });
});
