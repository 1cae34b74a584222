/** A chain entry takes its contracts from the record of their deployment. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { zAttesterConfig } from '../attester/config.ts';
import { zVenueConfig } from '../venue/config.ts';
import type { Deployment } from './deployment.ts';
import { parseConfig } from './load.ts';

const address = (n: number) => `0x${String(n).repeat(40)}` as const;
const contract = (n: number, block: number, args: Record<string, string> = {}) => ({
  ...{
    name: 'Some',
    address: address(n),
    salt: `0x${'00'.repeat(32)}` as const,
    args,
    encodedArgs: '0x' as const,
  },
  ...{ initCodeHash: `0x${'11'.repeat(32)}` as const, codeHash: `0x${'22'.repeat(32)}` as const },
  ...{ block, compiler: '0.8.37', commit: null },
});
const RECORD: Deployment = {
  chainId: 8453,
  slug: 'base',
  contracts: {
    escrow: contract(1, 700, { minProofWindow: '2400' }),
    oracle: contract(2, 701),
    quoteBond: contract(3, 702),
    batch: contract(4, 703),
  },
  oracle: { owner: address(5), signers: [address(6)], threshold: 1 },
};

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-deployment-'));
  file = join(folder, 'base.json');
  // With the mark that other people's editors add.
  await writeFile(file, `\uFEFF${JSON.stringify(RECORD)}`);
});
afterAll(() => rm(folder, { recursive: true }));

const attester = (...chains: unknown[]) =>
  parseConfig(
    zAttesterConfig,
    { app: 'attester', keys: { attester: { env: 'KEY', development: true } }, chains },
    {},
  ).config.chains;

test('with a preset it is a whole entry; only a venue has a batch', () => {
  const entry = { preset: 'base', deployment: file };
  const known = {
    ...{ id: 8453, slug: 'base', escrow: address(1), oracle: address(2), quoteBond: address(3) },
    ...{ proofWindowSeconds: 2_400, startBlock: 700, depth: 5 },
  };
  expect(attester(entry)).toEqual([expect.objectContaining(known)]);
  const venue = parseConfig(
    zVenueConfig,
    {
      ...{ app: 'venue', venueId: 'v', chains: [entry] },
      keys: { relayer: { env: 'KEY', development: true }, seals: [{ id: 'k', secret: { env: 'SEAL' } }] },
    },
    {},
  );
  expect(venue.config.chains).toEqual([expect.objectContaining({ ...known, batch: address(4) })]);
});

test('what the entry says itself wins', () => {
  const [chain] = attester({ preset: 'base', deployment: file, quoteBond: null, startBlock: 5 });
  expect(chain).toMatchObject({ escrow: address(1), quoteBond: null, startBlock: 5 });
});

test.each([
  ['of another chain', RECORD, 'arc', /chains\.0: .*json is of chain 8453, and this entry is of chain 5042/],
  [
    'with an address cut short',
    { ...RECORD, oracle: { ...RECORD.oracle, owner: '0x55' } },
    'base',
    /oracle\.owner: /,
  ],
  ['that is not JSON', '{', 'base', /chains\.0: .*changed\.json: .*JSON/],
])('error: a record %s', async (_, record, preset, says) => {
  const changed = join(folder, 'changed.json');
  await writeFile(changed, typeof record === 'string' ? record : JSON.stringify(record));
  expect(() => attester({ preset, deployment: changed })).toThrow(says);
});

test('error: no such file', () => {
  expect(() => attester({ preset: 'base', deployment: join(folder, 'none.json') })).toThrow(
    /chains\.0: .*none\.json: the file does not exist/,
  );
});
