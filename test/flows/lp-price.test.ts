/** `firmquote lp price` as somebody calls it who has nothing but a file of inputs. */

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PROGRAM } from '../support/build.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const EXAMPLE = 'docs/examples/worked-example.json';
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-price-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function lpPrice(...args: string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [PROGRAM, 'lp', 'price', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

test('the worked example: every term to nine digits, and the exact output', async () => {
  const { status, stdout } = await lpPrice('--inputs', EXAMPLE);
  expect(status).toBe(0);
  const line = (name: string) =>
    stdout
      .split('\n')
      .find((text) => text.startsWith(`${name} `))
      ?.split(/ +/)[1];
  const terms = {
    conf: '1.003779504',
    adv: '1.500000000',
    inv: '-2.477180903',
    impact: '1.665524723',
    capital: '0.034246575',
    rebal: '0.000000000',
    gas: '0.144000000',
    c0: '1.870369899',
    x: '0.398880980',
    m: '6.172469116',
    D: '10.441719995',
    output: '24973.8955',
  };
  expect(Object.fromEntries(Object.keys(terms).map((name) => [name, line(name)]))).toEqual(terms);
  expect(stdout).toContain('The independent check agrees.');
  expect(stdout).toContain('dropped stale (stale); dropped outlier (deviant)');
});

test('as JSON, with a plug-in, and with a changed input', async () => {
  const file = join(folder, 'changed.json');
  await writeFile(
    file,
    JSON.stringify({
      ...(JSON.parse(await readFile(join(ROOT, EXAMPLE), 'utf8')) as object),
      firmSeconds: 6,
    }),
  );
  const [plain, changed, plugged] = await Promise.all([
    lpPrice('--inputs', EXAMPLE, '--json'),
    lpPrice('--inputs', file, '--json'),
    lpPrice('--inputs', EXAMPLE, '--json', '--module', 'docs/examples/pricing-terms.mjs'),
  ]);
  const object = ({ stdout }: { stdout: string }) =>
    JSON.parse(stdout) as {
      output: string;
      spread: string;
      terms: { D: number; deviation: number; extra?: object };
      doubts: string[];
    };
  expect(object(plain)).toMatchObject({
    output: '24973895500',
    spread: '82978',
    terms: { D: 10.441719995, deviation: 12.517111575 },
    doubts: [],
  });
  expect(object(changed).terms.D).toBeCloseTo(10.189906, 6);
  expect(object(plugged)).toMatchObject({ terms: { extra: { hedgeFee: 0.8, newCorridor: 0 } }, doubts: [] });
});

test('a decline is printed as the answer; an invalid file lists every mistake', async () => {
  const example = JSON.parse(await readFile(join(ROOT, EXAMPLE), 'utf8')) as object;
  const [large, bad] = [join(folder, 'large.json'), join(folder, 'bad.json')];
  await writeFile(large, JSON.stringify({ ...example, amount: '101000000000000000000' }));
  await writeFile(bad, JSON.stringify({ ...example, sigma: 'high', firmSecond: 6 }));
  const [declined, told, refused, absent] = await Promise.all([
    lpPrice('--inputs', large, '--json'),
    lpPrice('--inputs', large),
    lpPrice('--inputs', bad),
    lpPrice('--inputs', join(folder, 'none.json')),
  ]);
  expect([declined.status, JSON.parse(declined.stdout)]).toEqual([
    0,
    expect.objectContaining({ declined: 'size_above_max', maxAmount: '100000000000399999999' }),
  ]);
  expect(told.stdout).toContain('; at most 100.000000000399999999 WETH.');
  expect(refused.status).toBe(1);
  expect(refused.stderr).toContain('sigma: ');
  expect(refused.stderr).toContain('firmSecond: no such option; did you mean "firmSeconds"?');
  expect([absent.status, absent.stderr]).toEqual([1, expect.stringContaining('does not exist')]);
});
