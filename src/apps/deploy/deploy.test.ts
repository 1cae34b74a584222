/** Laws of a deployment: what decides its addresses, how code is compared, and the formats others read. */

import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Address, Hex } from '../../domain/hex.ts';
import { builds } from '../../settlement/abi/build.ts';
import { matchCode, runtimeOf } from './code.ts';
import { type DeployConfig, zDeployConfig } from './config.ts';
import { contractsOf } from './contracts.ts';
import { safeChecksum } from './safe.ts';
import { standardJson } from './standard-json.ts';
import { creationCodeOf } from '../../adapters/evm/deploy/creation-code.ts';

const address = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`;
const FILLERS = {
  constantProduct: address(8),
  concentrated: address(9),
  peg: address(14),
  vault: true,
  wrap: true,
};

const PARAMETERS = {
  app: 'deploy',
  keys: { deployer: { env: 'KEY', development: true } },
  salt: 'salt',
  escrow: { feeRecipient: address(1) },
  oracle: { initialOwner: address(2), initialCommittee: { signers: [3, 4, 5].map(address), threshold: 2 } },
  quoteBond: { forfeitTo: address(1) },
  owner: address(6),
  chains: [
    { id: 1, slug: 'a', rpcUrls: ['http://a'], fillers: FILLERS },
    { id: 2, slug: 'b', rpcUrls: ['http://b'], owner: address(7), depth: 1, fillers: FILLERS },
  ],
};

const contractsWith = (changes: object = {}, chain = 0) => {
  const config = zDeployConfig.parse({ ...PARAMETERS, ...changes });
  return contractsOf(config, config.chains[chain] as DeployConfig['chains'][number]);
};
const addressesWith = (changes: object = {}, chain = 0) =>
  contractsWith(changes, chain).map((contract) => contract.address);

describe('addresses', () => {
  test('do not depend on the chain, its owner, the present committee or the order of signers', () => {
    const usual = addressesWith();
    expect(new Set(usual).size).toBe(9);
    expect(addressesWith({}, 1)).toEqual(usual);
    const { oracle } = PARAMETERS;
    expect(
      addressesWith({
        owner: address(10),
        oracle: {
          ...oracle,
          committee: { signers: [address(11)], threshold: 1 },
          initialCommittee: { signers: [5, 3, 4].map(address), threshold: 2 },
        },
      }),
    ).toEqual(usual);
  });

  test.each([
    ['the salt', { salt: 'another' }, [0, 1, 2, 3, 4, 5, 6, 7, 8]],
    ['an argument of the escrow', { escrow: { feeRecipient: address(12) } }, [0, 2, 3, 4, 5, 6, 7, 8]],
    ['the initial owner of the oracle', { oracle: { ...PARAMETERS.oracle, initialOwner: address(12) } }, [1]],
    [
      'a DEX factory',
      {
        chains: [
          {
            ...{ id: 1, slug: 'a', rpcUrls: ['http://a'] },
            fillers: { ...FILLERS, concentrated: address(13) },
          },
        ],
      },
      [5],
    ],
  ])('change with %s', (_, changes, changed) => {
    const usual = addressesWith();
    expect(addressesWith(changes).flatMap((each, at) => (each === usual[at] ? [] : [at]))).toEqual(changed);
  });
});

describe('code', () => {
  const contracts = contractsWith();

  test.each(contracts.map((contract) => [contract.name, contract] as const))(
    '%s: a changed byte is an immutable by its name, or other code',
    (name, contract) => {
      const right = runtimeOf(contract);
      expect(matchCode(contract, right)).toEqual({ is: 'ours' });
      const places = Object.entries(builds[name].immutables).flatMap(([immutable, starts]) =>
        (starts as readonly number[]).map((start) => [immutable, start] as const),
      );
      const length = (right.length - 2) / 2;
      fc.assert(
        fc.property(
          fc.oneof(
            fc.nat(length - 1),
            fc.constantFrom(...places).map(([, start]) => start + 31),
          ),
          fc.integer({ min: 1, max: 255 }),
          (at, flip) => {
            const byte = Number.parseInt(right.slice(2 + 2 * at, 4 + 2 * at), 16) ^ flip;
            const changed =
              `${right.slice(0, 2 + 2 * at)}${byte.toString(16).padStart(2, '0')}${right.slice(4 + 2 * at)}` as Hex;
            const place = places.find(([, start]) => at >= start && at < start + 32);
            expect(matchCode(contract, changed)).toMatchObject(
              place === undefined
                ? { is: 'other_code' }
                : { is: 'other_immutables', immutables: [{ name: place[0] }] },
            );
          },
        ),
        { numRuns: 60 },
      );
    },
  );

  test('code that is shorter or longer is other code, and none is absent', () => {
    const [contract] = contracts as [(typeof contracts)[number]];
    const right = runtimeOf(contract);
    expect(matchCode(contract, right.slice(0, -2) as Hex)).toEqual({ is: 'other_code' });
    expect(matchCode(contract, `${right}00`)).toEqual({ is: 'other_code' });
    expect(matchCode(contract, '0x')).toEqual({ is: 'absent' });
  });
});

test.each([
  ['a threshold above the signers', { initialCommittee: { signers: [address(3)], threshold: 2 } }],
  ['a signer twice', { initialCommittee: { signers: [3, 3].map(address), threshold: 1 } }],
  ['no signer', { initialCommittee: { signers: [], threshold: 1 } }],
  ['a delay of none', { rotationDelaySeconds: 0 }],
  ['no owner', { initialOwner: address(0) }],
])('error: an oracle with %s', (_, change) => {
  const parsed = zDeployConfig.safeParse({ ...PARAMETERS, oracle: { ...PARAMETERS.oracle, ...change } });
  expect(parsed.success).toBe(false);
});

test('error: a bond that can be taken back before the longest quote ends', () => {
  const quoteBond = { forfeitTo: address(1), takeBackDelaySeconds: 900 };
  expect(zDeployConfig.safeParse({ ...PARAMETERS, quoteBond }).success).toBe(false);
});

test('the standard JSON of a contract compiles to the code that is deployed', async () => {
  const solc = createRequire(import.meta.url)('solc') as { compile(input: string): string };
  const output = JSON.parse(solc.compile(JSON.stringify(await standardJson('Batch')))) as {
    contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
  };
  expect(`0x${output.contracts[builds.Batch.file]?.['Batch']?.evm.bytecode.object}`).toBe(
    creationCodeOf('Batch'),
  );
});

test("the checksum of Safe's Transaction Builder, of a batch that it exported", () => {
  const exported = {
    version: '1.0',
    chainId: '1',
    createdAt: 1761326849944,
    meta: {
      name: 'Transactions Batch',
      description: '',
      txBuilderVersion: '1.18.2',
      createdFromSafeAddress: '0xA77DE01e157f9f57C7c4A326eeE9C4874D0598b6',
      createdFromOwnerAddress: '',
      checksum: '0x8b5032f716845c8b08bab3d63dbd9ba92e056f3557793cd041e59b84e16aa989',
    },
    transactions: [
      {
        to: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        value: '0',
        data: null,
        contractMethod: {
          inputs: [
            { internalType: 'address', name: 'spender', type: 'address' },
            { internalType: 'uint256', name: 'value', type: 'uint256' },
          ],
          name: 'approve',
          payable: false,
        },
        contractInputsValues: {
          spender: '0x474e5Ded6b5D078163BFB8F6dBa355C3aA5478C8',
          value: '100000000000',
        },
      },
    ],
  };
  expect(safeChecksum(exported)).toBe(exported.meta.checksum);
  expect(safeChecksum({ ...exported, meta: { ...exported.meta, name: 'renamed' } })).toBe(
    exported.meta.checksum,
  );
});
