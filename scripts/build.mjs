// node scripts/build.mjs [--types] [--clean] [ENTRY OUTDIR]
//
// Bundles the program into dist, unless the one there is newer than everything that it is made of: a process
// that loads one file for each module spends twice the CPU until it runs. Code is split, so that a command
// loads only its own. `firmquote/client` is a file of its own, without its packages.
//
// --types   also writes the declarations that the client needs
// --clean   removes what earlier builds left in dist first
// ENTRY     bundles this file into OUTDIR instead: tests have programs of their own
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** Packages of many small modules, or of which we use little. Others load files or binaries by their path. */
const INSIDE = new Set([
  'viem',
  'zod',
  '@noble/curves',
  'hash-wasm',
  'commander',
  '@bomb.sh/tab',
  'lru-cache',
  'ipaddr.js',
  'undici',
]);
/** The part of undici that we use. Its index loads caches, mocks and `fetch`, which take 0.4 s of CPU. */
const PART_OF_UNDICI = `
  import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
  import request from 'undici/lib/api/api-request.js';
  export { default as Agent } from 'undici/lib/dispatcher/agent.js';
  export { default as Pool } from 'undici/lib/dispatcher/pool.js';
  export { default as buildConnector } from 'undici/lib/core/connect.js';
  Object.assign(Dispatcher.prototype, { request });`;
const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const outside = Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) => !INSIDE.has(name));

/** Replaces what hash-wasm's `createKeccak` returns, as far as src/domain/keccak.ts uses it. */
const KECCAK_OF_VIEM = `
  import { keccak256 } from 'viem';
  export async function createKeccak() {
    let input;
    const hasher = {
      init: () => hasher,
      update: (bytes) => ((input = bytes), hasher),
      digest: () => keccak256(input, 'bytes'),
    };
    return hasher;
  }`;

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
  await bundle({ 'apps/cli/main': join(ROOT, 'src/apps/cli/main.ts') }, DIST);
}
if (types) {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
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
  return ['package.json', 'package-lock.json', 'scripts/build.mjs', ...sources].every(
    (path) => statSync(join(ROOT, path)).mtimeMs <= builtMs,
  );
}

async function bundle(entryPoints, into) {
  const { outputFiles } = await build({
    entryPoints,
    outdir: into,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    mainFields: ['module', 'main'],
    external: outside,
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'external',
    sourcesContent: false,
    plugins: [
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
  });
  // The program itself is last, so that its time says that all is there.
  for (const { path, contents } of [...outputFiles].reverse())
    // src/adapters/system/stack-traces.ts reads the maps.
    if (path.endsWith('.map')) write(`${path}.gz`, gzipSync(contents));
    else write(path, contents);
}

/** Builds the client for programs of others, which bundle it with packages of their own. */
async function client() {
  const { outputFiles } = await build({
    entryPoints: { 'client/client': join(ROOT, 'src/client/client.ts') },
    outdir: DIST,
    bundle: true,
    packages: 'external',
    platform: 'neutral',
    format: 'esm',
    target: 'es2023',
    plugins: [
      {
        name: 'small',
        setup({ onLoad, onResolve }) {
          onLoad({ filter: /[\\/]src[\\/]protocol[\\/].*\.ts$/ }, ({ path }) => ({
            contents: withoutProse(readFileSync(path, 'utf8')),
            loader: 'ts',
          }));
          // viem has a keccak in it already, which is fast enough for a taker.
          onResolve({ filter: /^hash-wasm$/ }, () => ({ path: 'keccak', namespace: 'viem' }));
          onLoad({ filter: /./, namespace: 'viem' }, () => ({ contents: KECCAK_OF_VIEM, resolveDir: ROOT }));
        },
      },
    ],
    logLevel: 'warning',
    write: false,
  });
  for (const { path, contents } of outputFiles) write(path, contents);
}

/**
 * Schemas without the calls that say what their fields mean, which only the venue's documents show. Text in
 * quotes and comments may hold parentheses.
 */
function withoutProse(text) {
  const token = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[()]/g;
  const call = /\s*\.(?:describe|meta)\(/g;
  let [left, at] = ['', 0];
  for (let found = call.exec(text); found; found = call.exec(text)) {
    left += text.slice(at, found.index);
    token.lastIndex = call.lastIndex;
    for (let depth = 1; depth > 0;) {
      const [next] = token.exec(text);
      if (next === '(') depth += 1;
      if (next === ')') depth -= 1;
    }
    at = call.lastIndex = token.lastIndex;
  }
  return left + text.slice(at);
}

/** A process that runs from here meanwhile reads the old file or the new one, never a part. */
function write(path, contents) {
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, contents);
  renameSync(draft, path);
}
