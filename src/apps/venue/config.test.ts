/** What the fields of a venue's configuration say together. */

import { expect, test } from 'vitest';
import { ConfigError, parseConfig, readJson } from '../config/load.ts';
import { zVenueConfig } from './config.ts';

const example = new URL('../../../config/venue.example.json', import.meta.url).pathname;

async function problemsOf(minBond: Record<string, string>, quoteBond: string | null) {
  const json = (await readJson(example)) as { chains: object[] };
  const [first] = json.chains;
  try {
    parseConfig(zVenueConfig, { ...json, chains: [{ ...first, quoteBond }], roster: { minBond } }, {});
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
