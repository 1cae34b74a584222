/**
 * An integrator's programs against a venue with a worker behind it: docs/examples/trade-fetch.mjs, and
 * docs/examples/trade-typed.ts compiled with a client that is generated from docs/openapi.json.
 */

import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestAccount } from '../support/devnet.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';

const ROOT = join(import.meta.dirname, '../..');
const run = promisify(execFile);
const WETH = 400_000_000_000_000_000n;
let w: RouterWorld;
let mining: ReturnType<typeof setInterval>;
let folder: string;

beforeAll(async () => {
  w = await startRouterWorld({ chainIds: [31_451] }, async () => []);
  await w.v.solver(1, (rfq, make) => make.quote(rfq, { output: WETH }));
  mining = setInterval(() => void w.a.anvil.mine().catch(() => {}), 200);
  // Inside the checkout, where its packages are found.
  await mkdir(join(ROOT, 'data'), { recursive: true });
  folder = await mkdtemp(join(ROOT, 'data/api-examples-'));
});
afterAll(async () => {
  clearInterval(mining);
  await w.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A file as the demo writes it, with a taker who has money. */
async function demoFile(): Promise<{ path: string; taker: TestAccount }> {
  const taker = await w.taker();
  const { chain, usdc, weth } = w.a;
  const path = join(folder, `${taker.address}.json`);
  const tokens = [
    { symbol: 'USDC', address: usdc.address },
    { symbol: 'WETH', address: weth.address },
  ];
  const demo = {
    venue: { url: w.v.url, keys: { service: w.key } },
    chains: [{ id: chain.id, tokens }],
    takers: [taker, taker].map(({ address, privateKey }) => ({ address, privateKey })),
  };
  await writeFile(path, JSON.stringify(demo));
  return { path, taker };
}

async function tradesWith(program: string): Promise<void> {
  const { path, taker } = await demoFile();
  const before = await w.held(taker, w.a, w.a.weth);
  const { stdout } = await run(process.execPath, [program, path]);
  expect(stdout).toMatch(new RegExp(`^settled: ${WETH} wei of WETH, order 0x[0-9a-f]{64}\\n$`));
  expect((await w.held(taker, w.a, w.a.weth)) - before).toBe(WETH);
}

test('plain fetch: quote, preflight, signatures, submission, settlement', async () => {
  await tradesWith(join(ROOT, 'docs/examples/trade-fetch.mjs'));
});

test('a client generated from the document compiles and trades', async () => {
  const document = await readFile(join(ROOT, 'docs/openapi.json'), 'utf8');
  // Fields with a default may be left out of requests.
  const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
  await writeFile(join(folder, 'venue.d.ts'), types);
  await copyFile(join(ROOT, 'docs/examples/trade-typed.ts'), join(folder, 'trade-typed.ts'));
  const options = {
    ...{ module: 'nodenext', target: 'es2023', lib: ['es2023', 'dom'], types: ['node'] },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: true, rootDir: '.', outDir: 'made' },
  };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['trade-typed.ts', 'venue.d.ts'] }),
  );
  const compile = async () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    return run(process.execPath, [compiler, '-p', folder]).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  };
  expect(await compile()).toBe('');
  await tradesWith(join(folder, 'made/trade-typed.js'));

  // The types are real: a field that does not exist, and a value that is no status, are refused.
  const program = await readFile(join(folder, 'trade-typed.ts'), 'utf8');
  await writeFile(
    join(folder, 'trade-typed.ts'),
    program.replace('taker: taker.address,', 'takr: taker.address,').replace("=== 'pending'", "=== 'open'"),
  );
  expect(await compile()).toMatch(/takr[^]*'"open"'/);
});
