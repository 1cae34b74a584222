/**
 * Builds `firmquote/client` for programs of others, which bundle it: one file with zod in it, and without
 * what a taker never runs. Only viem stays outside, because such programs have it already.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { parseAbi, parseAbiParameters } from 'viem';

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

/** Returns what esbuild writes and says about it. `root`: the checkout. */
export function buildClient(root, outdir) {
  return build({
    absWorkingDir: root,
    entryPoints: { 'client/client': join(root, 'src/client/client.ts') },
    outdir,
    bundle: true,
    external: ['viem'],
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'esm',
    target: 'es2023',
    legalComments: 'none',
    minifySyntax: true,
    plugins: [
      {
        name: 'small',
        setup({ onLoad, onResolve }) {
          onLoad({ filter: /[\\/]src[\\/](?:protocol|client|settlement)[\\/].*\.ts$/ }, ({ path }) => ({
            contents: withParsedAbis(withoutProse(readFileSync(path, 'utf8'))),
            loader: 'ts',
          }));
          // viem has a keccak in it already, which is fast enough for a taker.
          onResolve({ filter: /^hash-wasm$/ }, () => ({ path: 'keccak', namespace: 'viem' }));
          onLoad({ filter: /./, namespace: 'viem' }, () => ({ contents: KECCAK_OF_VIEM, resolveDir: root }));
          // Every schema of zod refers to what would write it as a JSON schema.
          onLoad({ filter: /[\\/]zod[\\/]v4[\\/]core[\\/](?:to-)?json-schema[\w-]*\.js$/ }, ({ path }) => ({
            contents: withoutBodies(readFileSync(path, 'utf8')),
          }));
        },
      },
    ],
    logLevel: 'warning',
    write: false,
    metafile: true,
  });
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

/** ABIs as data instead of text, so that their parser stays outside. */
function withParsedAbis(text) {
  const strings = String.raw`(?:\s*'(?:[^'\\\n]|\\.)*',?)+\s*`;
  return text
    .replaceAll(new RegExp(String.raw`\bparseAbi\(\[(${strings})\]\)`, 'g'), (_, list) =>
      JSON.stringify(parseAbi(new Function(`return [${list}]`)())),
    )
    .replaceAll(/\bparseAbiParameters\('([^'\n]*)'\)/g, (_, types) =>
      JSON.stringify(parseAbiParameters(types)),
    );
}

/** A module whose exports do nothing. */
function withoutBodies(text) {
  const names = [...text.matchAll(/^export (?:async )?(?:function|const|let|class) (\w+)/gm)].map(
    ([, name]) => name,
  );
  return names.map((name) => `export function ${name}() {}`).join('\n');
}
