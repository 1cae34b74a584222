/** Writes `deployments/<chain>.json`, and finds the blocks that it names. */

import { execFile } from 'node:child_process';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DeployNode } from '../../adapters/evm/deploy/node.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import { keccakHex } from '../../domain/keccak.ts';
import { compilerVersion } from '../../settlement/abi/build.ts';
import { type ContractKey, type Deployment, readDeploymentIfAny } from '../config/deployment.ts';
import type { DeployChain, DeployConfig } from './config.ts';
import type { Contract } from './contracts.ts';
import type { DeployState } from './state.ts';
import { type Problem, wantedCommittee } from './steps.ts';

export const recordFile = ({ deployments }: DeployConfig, { slug }: DeployChain): string =>
  join(deployments, `${slug}.json`);

/** undefined when nothing was recorded. Throws `ConfigError` when the file is not a record. */
export const readRecord = (config: DeployConfig, chain: DeployChain): Deployment | undefined =>
  readDeploymentIfAny(recordFile(config, chain));

type Recorded = NonNullable<Deployment['contracts'][ContractKey]>;

const recordedOf = (record: Deployment | undefined, { key }: Contract): Recorded | undefined =>
  record?.contracts[key];

/**
 * Returns true when an earlier run has recorded each of them, which it does once they are `depth` blocks
 * deep.
 */
export const namesAll = (record: Deployment | undefined, contracts: readonly Contract[]): boolean =>
  contracts.every((contract) => recordedOf(record, contract)?.address === contract.address);

/**
 * Finds recorded contracts that differ from these: users may have money in them, so the record is not
 * overwritten.
 */
export function conflictsOf(
  record: Deployment | undefined,
  contracts: readonly Contract[],
  config: DeployConfig,
  chain: DeployChain,
): Problem[] {
  const file = recordFile(config, chain);
  if (record !== undefined && record.chainId !== chain.id)
    return [
      {
        what: `${file} is of chain ${record.chainId}, not ${chain.id}`,
        todo: 'Give the chain another slug, or name another folder in "deployments"',
      },
    ];
  return contracts.flatMap((contract) => {
    const recorded = recordedOf(record, contract);
    if (recorded === undefined || recorded.address === contract.address) return [];
    return [
      {
        what: `${file} names ${recorded.address} as ${contract.key}; these parameters and this build make ${contract.address}`,
        todo:
          recorded.initCodeHash === contract.initCodeHash
            ? 'Put the recorded salt back. For a second deployment, name another folder in "deployments"'
            : `Put the recorded arguments back, or check out ${recorded.commit ?? 'the version that deployed it'}. For a second deployment, name another folder in "deployments"`,
      },
    ];
  });
}

/** Writes the record. `blocks`: where this process saw a contract appear. */
export async function writeRecord(
  node: DeployNode,
  config: DeployConfig,
  chain: DeployChain,
  { block, contracts, owner }: DeployState,
  blocks: ReadonlyMap<Address, bigint>,
): Promise<Deployment> {
  const before = readRecord(config, chain);
  const commit = await commitOf();
  const entries: [string, Recorded][] = [];
  for (const { contract, code } of contracts) {
    const { key, name, address, salt, args, encodedArgs, initCodeHash } = contract;
    const recorded = recordedOf(before, contract);
    const seen = blocks.get(address);
    entries.push([
      key,
      {
        ...{ name, address, salt, args: args as Recorded['args'], encodedArgs, initCodeHash },
        codeHash: keccakHex(code),
        block: seen || !recorded ? Number(await blockOf(node, address, seen, block)) : recorded.block,
        compiler: recorded?.compiler ?? compilerVersion,
        commit: recorded ? recorded.commit : commit,
      },
    ]);
  }
  const { signers, threshold } = wantedCommittee(config);
  const record = {
    chainId: chain.id,
    slug: chain.slug,
    contracts: { ...before?.contracts, ...Object.fromEntries(entries) } as Deployment['contracts'],
    oracle: { owner: owner.address, signers: [...signers], threshold },
  };
  await writeWhole(recordFile(config, chain), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/**
 * The first block that has the contract: `seen` when it is still right, else found by halving. A contract's
 * nonce is 1 from its first block on.
 */
async function blockOf(
  node: DeployNode,
  address: Address,
  seen: bigint | undefined,
  head: bigint,
): Promise<bigint> {
  const isThere = async (at: bigint) => at >= 0n && (await node.nonce(address, at)) > 0;
  try {
    if (seen !== undefined && (await isThere(seen)) && !(await isThere(seen - 1n))) return seen;
    let [absent, there] = [-1n, head];
    while (there - absent > 1n) {
      const middle = (absent + there) / 2n;
      if (await isThere(middle)) there = middle;
      else absent = middle;
    }
    return there;
  } catch (cause) {
    throw new UpstreamError(
      `The block in which ${address} was deployed cannot be found: the node does not have the state of older blocks. Everything is deployed. Add an archive endpoint to rpcUrls and run again, which only writes the record.`,
      { code: 'no_history', cause },
    );
  }
}

/** null where the files are not those of a checkout of this repository. */
async function commitOf(): Promise<string | null> {
  const git = async (...words: string[]) =>
    (await promisify(execFile)('git', words, { cwd: PACKAGE_FOLDER })).stdout.trim();
  try {
    await git('ls-files', '--error-unmatch', 'contracts/foundry.toml');
    return await git('describe', '--always', '--dirty', '--abbrev=40', '--match', '');
  } catch {
    return null;
  }
}

/** Readers see the old file or the new one. */
export async function writeWhole(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}
