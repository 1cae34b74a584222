/**
 * The contracts deployed by CREATE2 on two real chains: the plan, the run and what it leaves behind, what an
 * owner signs, and every difference that verify has to find.
 */

import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Interface } from 'ethers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFunctionData } from 'viem';
import { readDeployment } from '../../../src/apps/config/deployment.ts';
import { runtimeOf } from '../../../src/apps/deploy/code.ts';
import { CREATE2_DEPLOYER } from '../../../src/apps/config/parts.ts';
import { deployCall } from '../../../src/apps/deploy/contracts.ts';
import { safeChecksum } from '../../../src/apps/deploy/safe.ts';
import type { Address, Hex } from '../../../src/domain/hex.ts';
import { keccakHex } from '../../../src/domain/keccak.ts';
import { attestationOracleAbi } from '../../../src/settlement/abi/attestation-oracle.ts';
import { builds } from '../../../src/settlement/abi/build.ts';
import type { TestAnvil } from '../../support/anvil.ts';
import {
  codeAt,
  type Deploying,
  type DeployWorld,
  SAFE,
  sendAs,
  SENDER,
  sentBy,
  SIGNERS,
  startDeployWorld,
} from '../../support/deployment.ts';
import { commandHere } from '../../support/command.ts';
import { account } from '../../support/devnet.ts';
import { until } from '../../support/venue.ts';

const STRANGER = account(73).address;
const KEYS = ['escrow', 'oracle', 'quoteBond', 'batch'] as const;

let world: DeployWorld;
let [one, two] = [] as unknown as [TestAnvil, TestAnvil];

beforeAll(async () => {
  world = await startDeployWorld([31_621, 31_622]);
  [one, two] = world.chains as [TestAnvil, TestAnvil];
}, 60_000);
afterAll(() => world?.stop());

interface PlanJson {
  chains: {
    contracts: { key: string; address: Address; found: string; codeHash: Hex }[];
    send: { what: string; gas: string; mostCost: string }[];
    sign: { what: string; by: Address }[];
    mostCost: string;
    problems: { what: string; todo: string }[];
  }[];
}
const planOf = async ({ plan }: Deploying) => {
  const { status, stdout } = await plan('--json');
  return { status, ...(JSON.parse(stdout) as PlanJson) };
};

const differencesOf = async ({ verify }: Deploying, ...words: string[]): Promise<string[]> => {
  const { status, stdout } = await verify('--json', ...words);
  const { chains } = JSON.parse(stdout) as { chains: { differences: { what: string; todo: string }[] }[] };
  const found = chains.flatMap(({ differences }) => differences.map(({ what }) => what));
  expect(status).toBe(found.length === 0 ? 0 : 1);
  return found;
};

const ownersCall = (functionName: 'acceptOwnership' | 'transferOwnership', ...args: Address[]) =>
  encodeFunctionData({ abi: attestationOracleAbi, functionName, args } as never);

interface SafeFile {
  chainId: string;
  meta: { checksum: string; createdFromSafeAddress: string };
  transactions: {
    to: Address;
    contractMethod: { name: string; inputs: { name: string; type: string }[] };
    contractInputsValues: Record<string, string>;
  }[];
}

/** As the Transaction Builder does: the calls are encoded from method and values. */
async function signAsSafe(chain: TestAnvil, file: string): Promise<void> {
  const batch = JSON.parse(await readFile(file, 'utf8')) as SafeFile;
  expect(batch.chainId).toBe(String(chain.chainId));
  expect(batch.meta.checksum).toBe(safeChecksum(batch as never));
  for (const { to, contractMethod, contractInputsValues } of batch.transactions) {
    const abi = new Interface([{ type: 'function', stateMutability: 'nonpayable', ...contractMethod }]);
    const values = contractMethod.inputs.map(({ name, type }) => {
      const text = contractInputsValues[name] ?? '';
      return type.endsWith('[]') ? text.slice(1, -1).split(',') : text;
    });
    const data = abi.encodeFunctionData(contractMethod.name, values) as Hex;
    await sendAs(chain, batch.meta.createdFromSafeAddress.toLowerCase() as Address, to, data);
  }
}

test('plan, run, sign and verify, at the same addresses on both chains', async () => {
  const first = await world.parameters('first');
  const planned = await planOf(first);
  expect(planned.status).toBe(0);
  expect(planned.chains.map(({ contracts }) => contracts.map(({ address }) => address))).toEqual(
    [0, 1].map(() => KEYS.map((key) => first.contract(key).address)),
  );
  expect(planned.chains.map(({ sign }) => sign)).toEqual(
    [0, 1].map(() => [expect.objectContaining({ what: 'accept the oracle', by: SAFE })]),
  );
  expect([await sentBy(one), await sentBy(two)]).toEqual([0, 0]);

  const balance = BigInt(await one.rpc<Hex>('eth_getBalance', [SENDER.address, 'latest']));
  const done = await first.run();
  expect([done.status, done.stderr]).toEqual([0, '']);
  const [plan] = planned.chains as [PlanJson['chains'][0]];
  expect([await sentBy(one), await sentBy(two)]).toEqual([plan.send.length, plan.send.length]);
  const spent = balance - BigInt(await one.rpc<Hex>('eth_getBalance', [SENDER.address, 'latest']));
  expect(BigInt(plan.mostCost)).toBeGreaterThan(spent);
  // Gas that is computed and not estimated is close above what was used.
  for (const [at, { what, gas }] of plan.send.entries()) {
    const block = await one.rpc<{ gasUsed: Hex }>('eth_getBlockByNumber', [
      `0x${(at + 1).toString(16)}`,
      false,
    ]);
    const used = Number(block.gasUsed);
    expect([what, Number(gas) >= used && Number(gas) < 1.1 * used + 150_000]).toEqual([what, true]);
  }

  for (const [chain, slug] of [
    [one, 'one'],
    [two, 'two'],
  ] as const) {
    const record = readDeployment(join(first.folder, `${slug}.json`));
    expect(record).toMatchObject({ chainId: chain.chainId, oracle: { owner: SAFE, threshold: 2 } });
    for (const key of KEYS) {
      const { address, codeHash, block } = record.contracts[key] ?? {};
      expect(address).toBe(first.contract(key).address);
      expect(codeHash).toBe(keccakHex(await codeAt(chain, address as Address)));
      const [before, after] = [(block as number) - 1, block as number].map((at) =>
        chain.rpc<Hex>('eth_getCode', [address, `0x${at.toString(16)}`]),
      );
      expect([await before, (await after) === '0x']).toEqual(['0x', false]);
    }
  }

  expect(await differencesOf(first)).toEqual(
    [0, 1].map(() => `oracle: its owner is ${SENDER.address}, not ${SAFE}`),
  );
  await signAsSafe(one, join(first.folder, `safe/one-${SAFE}.json`));
  await signAsSafe(two, join(first.folder, `safe/two-${SAFE}.json`));
  const inputs = join(first.folder, 'standard-json');
  expect(await differencesOf(first, '--standard-json', inputs)).toEqual([]);
  expect((await readdir(inputs)).toSorted()).toEqual(
    Object.keys(builds)
      .map((name) => `${name}.json`)
      .toSorted(),
  );
});

test('a second run sends nothing, and removes what is signed already', async () => {
  const again = await world.parameters('again');
  await again.run();
  await signAsSafe(one, join(again.folder, `safe/one-${SAFE}.json`));
  const before = [await sentBy(one), await sentBy(two)];
  const record = await readFile(join(again.folder, 'one.json'), 'utf8');
  const second = await again.run('--json');
  expect([second.status, (JSON.parse(second.stdout) as { chains: { mined: number }[] }).chains]).toEqual([
    0,
    [expect.objectContaining({ mined: 0 }), expect.objectContaining({ mined: 0 })],
  ]);
  expect([await sentBy(one), await sentBy(two)]).toEqual(before);
  expect(await readFile(join(again.folder, 'one.json'), 'utf8')).toBe(record);
  expect(await readdir(join(again.folder, 'safe'))).toEqual([`two-${SAFE}.json`]);
});

test('without --yes and without a terminal nothing is sent', async () => {
  const { config, file } = await world.parameters('unasked');
  const before = await sentBy(one);
  const refused = await commandHere('deploy', 'run', '-c', file);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('add --yes')]);
  expect([await sentBy(one), config.salt]).toEqual([before, 'unasked']);
});

test('what somebody else has deployed already is used, and its block is found', async () => {
  const foreign = await world.parameters('foreign', { chains: [chainOf(one)] });
  const { to, data } = deployCall(foreign.contract('escrow'));
  await sendAs(one, STRANGER, to, data);
  const block = Number(await one.rpc<Hex>('eth_blockNumber'));
  await one.mine(7);
  const before = await sentBy(one);
  expect((await foreign.run()).status).toBe(0);
  const { contracts } = readDeployment(join(foreign.folder, 'one.json'));
  expect([contracts.escrow.block, (await sentBy(one)) - before]).toEqual([block, 4]);
});

const chainOf = ({ url, chainId }: TestAnvil, more: object = {}) => ({
  ...{ id: chainId, slug: chainId === one.chainId ? 'one' : 'two', rpcUrls: [url], depth: 0, ...more },
});

test('fillers are deployed for what a chain has; where a factory or module is missing nothing is', async () => {
  // Any contract passes for a factory or a module.
  const fillers = {
    constantProduct: CREATE2_DEPLOYER,
    concentrated: CREATE2_DEPLOYER,
    peg: CREATE2_DEPLOYER,
    vault: true,
    wrap: true,
  };
  const filled = await world.parameters('fillers', { chains: [chainOf(one, { fillers })] });
  expect((await filled.plan()).stdout).toContain(
    'ConstantProductFiller has another address on other chains: its constructor takes the DEX factory of one.',
  );
  expect((await filled.run()).status).toBe(0);
  for (const key of [
    'constantProductFiller',
    'concentratedFiller',
    'pegFiller',
    'vaultFiller',
    'wrapFiller',
  ] as const)
    expect(await codeAt(one, filled.contract(key).address)).toBe(runtimeOf(filled.contract(key)));
  const missing = await world.parameters('no-factory', {
    chains: [chainOf(one, { fillers: { concentrated: STRANGER } })],
  });
  const { status, chains } = await planOf(missing);
  expect([status, chains[0]?.problems[0]?.what]).toEqual([1, `The DEX factory ${STRANGER} has no code`]);
  const empty = await world.parameters('no-module', {
    chains: [chainOf(one, { fillers: { peg: STRANGER } })],
  });
  const planned = await planOf(empty);
  expect([planned.status, planned.chains[0]?.problems[0]?.what]).toEqual([
    1,
    `The peg-stability module ${STRANGER} has no code`,
  ]);
});

test('other code at an address: plan and run refuse, verify names it', async () => {
  const wrong = await world.parameters('wrong-code', { chains: [chainOf(one)] });
  const { address } = wrong.contract('batch');
  await one.rpc('anvil_setCode', [address, '0x6001']);
  const before = await sentBy(one);
  const planned = await planOf(wrong);
  expect([planned.status, planned.chains[0]?.problems]).toEqual([
    1,
    [expect.objectContaining({ what: `The code at ${address} is not that of Batch` })],
  ]);
  const run = await wrong.run();
  expect([run.status, await sentBy(one)]).toEqual([1, before]);
  expect(await differencesOf(wrong)).toContainEqual(
    expect.stringContaining(`batch: the code at ${address} is not that of Batch`),
  );
});

test('the right code with an argument of its own: the immutable is named', async () => {
  const right = await world.parameters('immutable', { chains: [chainOf(one)] });
  await right.run();
  const thief = await world.parameters('thief', { escrow: { feeRecipient: STRANGER } });
  const { address } = right.contract('escrow');
  const stolen = runtimeOf({
    ...right.contract('escrow'),
    immutables: {
      ...right.contract('escrow').immutables,
      feeRecipient: thief.contract('escrow').immutables['feeRecipient'] as Hex,
    },
  });
  await one.rpc('anvil_setCode', [address, stolen]);
  const found = await differencesOf(right);
  expect(found).toContainEqual(
    expect.stringMatching(new RegExp(`escrow: feeRecipient .* is 0x0{24}${STRANGER.slice(2)}, not`)),
  );
  expect(found).toContainEqual(expect.stringContaining('escrow.codeHash'));
});

test('a wrong owner, and an offer to a stranger, are found', async () => {
  const owned = await world.parameters('owner', { chains: [chainOf(one)] });
  await owned.run();
  const { address } = owned.contract('oracle');
  await sendAs(one, SENDER.address, address, ownersCall('transferOwnership', STRANGER));
  expect(await differencesOf(owned)).toEqual([
    `oracle: its owner is ${SENDER.address}, not ${SAFE}`,
    `oracle: it is offered to ${STRANGER}`,
  ]);
  await sendAs(one, STRANGER, address, ownersCall('acceptOwnership'));
  expect(await differencesOf(owned)).toEqual([`oracle: its owner is ${STRANGER}, not ${SAFE}`]);
  const { chains } = await planOf(owned);
  expect(chains[0]?.sign.map(({ by }) => by)).toEqual([STRANGER, SAFE]);
});

test('another committee than the initial one: scheduled by its owner, and the addresses stay', async () => {
  const withCommittee = (committee: object | null) =>
    world.parameters('committee', {
      chains: [chainOf(one)],
      oracle: {
        ...{ initialOwner: SENDER.address, initialCommittee: { signers: SIGNERS, threshold: 2 } },
        ...{ rotationDelaySeconds: 3_600, committee },
      },
    });
  const safe = (deploying: Deploying) => signAsSafe(one, join(deploying.folder, `safe/one-${SAFE}.json`));
  const initial = await withCommittee(null);
  // While it owns the oracle, the deployer's key schedules.
  const second = await withCommittee({ signers: SIGNERS.slice(1), threshold: 2 });
  expect(second.contract('oracle').address).toBe(initial.contract('oracle').address);
  expect((await second.run()).status).toBe(0);
  await safe(second);
  expect(await differencesOf(second)).toEqual([expect.stringMatching(/^oracle: the signers are 2 of/)]);
  // With other parameters, what is scheduled is a surprise.
  const unaware = await withCommittee(null);
  expect(await differencesOf(unaware)).toContainEqual(expect.stringContaining('other signers take over at'));
  await withCommittee({ signers: SIGNERS.slice(1), threshold: 2 });
  await one.advance(3_600);
  expect(await differencesOf(second)).toEqual([]);
  // Then the multisig does.
  const third = await withCommittee({ signers: [STRANGER, ...SIGNERS.slice(1)], threshold: 3 });
  expect(await differencesOf(third)).toContainEqual(expect.stringContaining('oracle.threshold is 2, not 3'));
  const before = await sentBy(one);
  expect([(await third.run()).status, await sentBy(one)]).toEqual([0, before]);
  await safe(third);
  await one.advance(3_600);
  expect(await differencesOf(third)).toEqual([]);
});

test('a missing contract, a missing record and a changed record are named', async () => {
  const lost = await world.parameters('lost', { chains: [chainOf(one)] });
  await lost.run();
  await signAsSafe(one, join(lost.folder, `safe/one-${SAFE}.json`));
  const file = join(lost.folder, 'one.json');
  const text = await readFile(file, 'utf8');
  const { address } = lost.contract('quoteBond');
  const code = await codeAt(one, address);
  await one.rpc('anvil_setCode', [address, '0x']);
  expect(await differencesOf(lost)).toEqual([`quoteBond: there is no code at ${address}`]);
  await one.rpc('anvil_setCode', [address, code]);

  await writeFile(file, text.replace(lost.contract('batch').initCodeHash, `0x${'11'.repeat(32)}`));
  expect(await differencesOf(lost)).toEqual([expect.stringContaining('batch.initCodeHash is 0x1111')]);
  await writeFile(file, text.replace(`"${lost.contract('escrow').address}"`, `"${STRANGER}"`));
  expect(await differencesOf(lost)).toContainEqual(
    expect.stringContaining(`names ${STRANGER} as escrow; these parameters and this build make`),
  );
  const refused = await lost.run();
  expect([refused.status, await readFile(file, 'utf8')]).toEqual([1, expect.stringContaining(STRANGER)]);
  await writeFile(file, text.replace(`"chainId": ${one.chainId}`, '"chainId": 1'));
  expect(await differencesOf(lost)).toEqual([`${file} is of chain 1, not ${one.chainId}`]);
  await rm(file);
  expect(await differencesOf(lost)).toEqual([`${file} does not exist`]);
});

test('too little money: the amount that is missing is named, and with it the run goes through', async () => {
  const poor = await world.parameters('poor', { chains: [chainOf(two)] });
  await two.rpc('anvil_setBalance', [SENDER.address, '0x5af3107a4000']);
  const before = await sentBy(two);
  const planned = await planOf(poor);
  const [problem] = planned.chains[0]?.problems ?? [];
  const missing = /Send it (\d+)\.(\d+) ETH more/.exec(problem?.todo ?? '');
  expect([planned.status, missing === null]).toEqual([1, false]);
  const refused = await poor.run();
  expect([refused.status, refused.stdout, await sentBy(two)]).toEqual([
    1,
    expect.stringContaining('PROBLEM: The account'),
    before,
  ]);
  const wei = BigInt(`${missing?.[1]}${missing?.[2]?.padEnd(18, '0')}`) + 10n ** 14n;
  await two.rpc('anvil_setBalance', [SENDER.address, `0x${wei.toString(16)}`]);
  expect((await poor.run()).status).toBe(0);
  await two.rpc('anvil_setBalance', [SENDER.address, '0x56bc75e2d63100000']);
});

test('without the CREATE2 deployer nothing is sent; the way to place it works', async () => {
  const bare = await startDeployWorld([31_623], ['--disable-default-create2-deployer']);
  try {
    const [chain] = bare.chains as [TestAnvil];
    const there = await bare.parameters('bare');
    const planned = await planOf(there);
    expect([planned.status, planned.chains[0]?.problems[0]?.what]).toEqual([
      1,
      `The CREATE2 deployer ${CREATE2_DEPLOYER} is missing`,
    ]);
    const refused = await there.run();
    expect([refused.status, refused.stdout]).toEqual([1, expect.stringContaining('Nothing was sent.')]);
    expect(await sentBy(chain)).toBe(0);
    await chain.rpc('anvil_setCode', [CREATE2_DEPLOYER, '0x6000']);
    expect((await planOf(there)).chains[0]?.problems[0]?.what).toContain('has other code');
    await chain.rpc('anvil_setCode', [CREATE2_DEPLOYER, '0x']);

    const [payer] = /0x[0-9a-f]{40}/.exec(planned.chains[0]?.problems[0]?.todo ?? '') ?? [];
    await chain.rpc('anvil_setBalance', [payer, `0x${(10n ** 16n).toString(16)}`]);
    await chain.rpc('eth_sendRawTransaction', [ARACHNIDS]);
    // The node answers before it has mined.
    await until(async () => (await codeAt(chain, CREATE2_DEPLOYER)) !== '0x');
    expect((await there.run()).status).toBe(0);
    expect(await codeAt(chain, there.contract('escrow').address)).toBe(runtimeOf(there.contract('escrow')));
  } finally {
    await bare.stop();
  }
});

/** The signed transaction that places the CREATE2 deployer on any chain that takes one without chain id. */
const ARACHNIDS =
  '0xf8a58085174876e800830186a08080b853604580600e600039806000f350fe7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf31ba02222222222222222222222222222222222222222222222222222222222222222a02222222222222222222222222222222222222222222222222222222222222222';
