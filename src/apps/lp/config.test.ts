/**
 * Read in steps, a configuration is what the schema makes of it, and what is wrong with it is said in the
 * schema's words.
 */

import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atOnce } from '../../domain/steps.ts';
import { ConfigError, parseConfig, parsingConfig } from '../config/load.ts';
import { readParts, type Remembered, zLpAppConfig } from './config.ts';

type Json = Record<string, unknown>;
interface File extends Json {
  networks: [{ slug: string; tokens: Json[] }];
  feeds: Json;
  lp: { chains: [Json]; prices: Json; assets: Json; pairs: Json[] };
}

const example = JSON.parse(await readFile('config/lp.example.json', 'utf8')) as File;

/** As many pairs as wanted, each of a token of its own against USDC. */
function fileOf(pairs: number): File {
  const file = structuredClone(example);
  const names = Array.from({ length: pairs }, (_, n) => `T${n}`);
  file.networks[0].tokens.push(
    ...names.map((symbol, n) => ({
      symbol,
      name: symbol,
      address: `0x${(n + 1).toString(16).padStart(40, '0')}`,
      decimals: 18,
    })),
  );
  for (const symbol of names) {
    file.lp.prices[symbol] = { fixed: '2' };
    file.lp.assets[symbol] = { price: symbol };
    file.lp.pairs.push({ base: symbol, quote: 'USDC' });
  }
  return file;
}

function outcome(read: () => { config: unknown; fromEnv: string[] }): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** How many steps it took. */
function inSteps(
  json: unknown,
  env: NodeJS.ProcessEnv = {},
  last: Remembered = new Map(),
): { got: unknown; steps: number } {
  let steps = 0;
  function* counted<T>(work: Generator<void, T>): Generator<void, T> {
    for (;;) {
      const { done, value } = work.next();
      if (done === true) return value;
      steps += 1;
      yield;
    }
  }
  return {
    got: outcome(() =>
      atOnce(counted(parsingConfig(zLpAppConfig, json, env, 'f', (parts) => readParts(parts, last)))),
    ),
    steps,
  };
}

const whole = (json: unknown, env: NodeJS.ProcessEnv = {}): unknown =>
  outcome(() => parseConfig(zLpAppConfig, json, env, 'f'));

/** Something that an operator's hand may do to a file. */
const slip = fc.constantFrom<(file: File, at: number) => void>(
  () => {},
  ({ lp }, at) => void (lp.pairs[at % lp.pairs.length] = { base: 'T0' }),
  ({ lp }, at) => void Object.assign(lp.pairs[at % lp.pairs.length] as Json, { corridors: ['nowhere-else'] }),
  ({ lp }, at) => void Object.assign(lp.pairs[at % lp.pairs.length] as Json, { qoute: 'USDC' }),
  ({ lp }, at) => void Object.assign(lp.assets, { [`T${at}`]: { price: 'nothing' } }),
  ({ lp }, at) => void Object.assign(lp.assets, { [`T${at}`]: { price: 1 } }),
  ({ lp }, at) => void Object.assign(lp.prices, { [`T${at}`]: { sources: [] } }),
  ({ lp }, at) =>
    void Object.assign(lp.prices, { [`T${at}`]: { sources: [{ feed: 'unknown', symbol: 'X' }] } }),
  ({ lp }, at) => void lp.pairs.push({ base: 'USDC', quote: `T${at}` }),
  ({ lp }) => void (lp.pairs = []),
  ({ lp }) => void Object.assign(lp, { pairs: {} }),
  ({ lp }) => void Object.assign(lp, { prices: null }),
  ({ lp }) => void Object.assign(lp.chains[0], { gasPrice: 'nothing' }),
  (file) => void Object.assign(file, { lp: null }),
  (file) => void Object.assign(file, { app: 'venue', strange: 1 }),
  (file) => void Object.assign(file, JSON.parse('{"__proto__": {"app": "lp"}}')),
  ({ lp }) => void Object.assign(lp, { assets: JSON.parse('{"__proto__": {"price": "USD"}}') as Json }),
);

test('in steps it is the same configuration, and the same is wrong with it', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 130 }),
      fc.array(fc.tuple(slip, fc.nat(200)), { maxLength: 3 }),
      fc.constantFrom(
        {},
        { FIRMQUOTE__LP__PAIRS__0__BASE: 'T0' },
        { FIRMQUOTE__OPS__PORT: '9' },
        { FIRMQUOTE__LP__SOLVER__NAME: '8453' },
      ),
      (pairs, slips, env) => {
        const file = fileOf(pairs);
        for (const [change, at] of slips) {
          try {
            change(file, at);
          } catch {
            // What an earlier slip took away cannot be spoilt by a later one.
          }
        }
        const before = structuredClone(file);
        expect(inSteps(file, env).got).toEqual(whole(file, env));
        expect(file).toEqual(before);
      },
    ),
    { numRuns: 200 },
  );
});

test('what is long takes steps', () => {
  const { got, steps } = inSteps(fileOf(1_000));
  expect(got).toMatchObject({ config: { app: 'lp' } });
  expect(steps).toBeGreaterThanOrEqual(60);
});

test('the order of names is that of the file', () => {
  const file = fileOf(120);
  const { config } = inSteps(file).got as { config: File };
  expect(JSON.stringify(config)).toBe(JSON.stringify((whole(file) as { config: File }).config));
});

test('read again and again, it is what it would be if it were read for the first time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 130 }),
      fc.array(fc.tuple(slip, fc.nat(200)), { minLength: 1, maxLength: 4 }),
      (pairs, slips) => {
        const last: Remembered = new Map();
        inSteps(fileOf(pairs), {}, last);
        for (const [change, at] of slips) {
          // What is wrong with a file is corrected before the next slip: each is read after a good one, and
          // after a bad one.
          const file = fileOf(pairs);
          try {
            change(file, at);
          } catch {
            // Nothing there to spoil.
          }
          expect(inSteps(file, {}, last).got).toEqual(whole(file));
          expect(inSteps(fileOf(pairs), {}, last).got).toEqual(whole(fileOf(pairs)));
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('what stands there as before is the very object that it was', () => {
  const last: Remembered = new Map();
  const read = (file: File) => (inSteps(file, {}, last).got as { config: File }).config.lp;
  const before = read(fileOf(200));
  const file = fileOf(200);
  Object.assign(file.lp.pairs[120] as Json, { params: { minSpreadBps: 3 } });
  const after = read(file);
  const same = after.pairs.map((pair, at) => pair === before.pairs[at]);
  expect(after.pairs[120]).toMatchObject({ params: { minSpreadBps: 3 } });
  // Some at a time: a change takes its neighbours with it.
  expect([same.filter(Boolean).length, same[120], same[0], same.at(-1)]).toEqual([
    same.length - 50,
    false,
    true,
    true,
  ]);
  expect(Object.keys(after.assets).filter((name) => after.assets[name] !== before.assets[name])).toEqual([]);
  expect(Object.keys(after.prices).filter((name) => after.prices[name] !== before.prices[name])).toEqual([]);
});
