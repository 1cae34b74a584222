/** Tests the rules between several fields of a venue's configuration. */

import { expect, test } from 'vitest';
import { ConfigError, parseConfig, readJson } from '../config/load.ts';
import { zVenueConfig } from './config.ts';

const example = new URL('../../../config/venue.example.json', import.meta.url).pathname;

const exampleJson = async () => (await readJson(example)) as { chains: object[] };

async function problemsOf(minBond: Record<string, string>, quoteBond: string | null) {
  const json = await exampleJson();
  const [first] = json.chains;
  return problemsWith({ ...json, chains: [{ ...first, quoteBond }], roster: { minBond } });
}

function problemsWith(json: object): readonly string[] {
  try {
    parseConfig(zVenueConfig, json, {});
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const AT = `0x${'b0'.repeat(20)}`;

test('a bond is demanded in a token of a chain that has a bond contract', async () => {
  expect(await problemsOf({ USDC: '5000' }, AT)).toEqual([]);
  expect(await problemsOf({ USDC: '5000' }, null)).toEqual([
    expect.stringContaining('no chain with a quoteBond has a token USDC'),
  ]);
  expect(await problemsOf({ USDCE: '5000' }, AT)).toEqual([expect.stringContaining('USDCE')]);
});

test.each(['-1', '1e3', '', '1.', '0x10'])('"%s" is no amount of a bond', async (amount) => {
  expect(await problemsOf({ USDC: amount }, AT)).not.toEqual([]);
});

test('an issuer: a module for a peg and for nothing else, each pair of a chain once', async () => {
  const [token, other, psm] = [1, 2, 3].map((n) => `0x${String(n).repeat(40)}`) as [string, string, string];
  const json = await exampleJson();
  const problems = (kind: string, ...products: readonly object[]) =>
    problemsWith({
      ...json,
      issuers: [{ id: 'one', name: 'One', kind, places: [{ chainId: 8453, filler: psm, products }] }],
    });
  const pair = { tokens: [token, other] };
  expect(problems('vault', pair)).toEqual([]);
  expect(problems('peg', { ...pair, psm })).toEqual([]);
  expect(problems('peg', pair)).toEqual([expect.stringContaining('psm: must be given')]);
  expect(problems('wrap', { ...pair, psm })).toEqual([expect.stringContaining('only a peg has a module')]);
  expect(problems('vault', { tokens: [token, token] })).toEqual([
    expect.stringContaining('must be two different tokens'),
  ]);
  expect(problems('vault', pair, { tokens: [other, token] })).toEqual([
    expect.stringContaining('must be a pair that no other product has'),
  ]);
  expect(problems('vault', { ...pair, gas: 1 })).toEqual([expect.stringContaining('gas')]);
});
