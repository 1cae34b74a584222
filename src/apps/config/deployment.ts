/** `deployments/<chain>.json`: what was deployed on a chain, as `firmquote deploy run` wrote it. */

import * as z from 'zod';
import { zAddress, zBytes32, zHex } from '../../protocol/wire.ts';
import { readFileSync } from 'node:fs';
import { decodeText } from '../../adapters/system/text-file.ts';
import { ConfigError, describeIssues } from './load.ts';

const zDeployedContract = z.strictObject({
  /** The contract's name in contracts/src. */
  name: z.string(),
  address: zAddress,
  salt: zBytes32,
  /** The constructor's arguments by name, as text. */
  args: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  encodedArgs: zHex,
  /** The hash of the creation code with the arguments: with the salt it makes the address. */
  initCodeHash: zBytes32,
  /** The hash of the code on the chain. */
  codeHash: zBytes32,
  /** The first block that has it. */
  block: z.int().min(0),
  compiler: z.string(),
  /** The commit of this repository; "-dirty" at its end: with changes. null: it ran outside a checkout. */
  commit: z.string().nullable(),
});

const zDeployment = z.strictObject({
  chainId: z.int().min(1),
  slug: z.string(),
  contracts: z.strictObject({
    escrow: zDeployedContract,
    oracle: zDeployedContract,
    quoteBond: zDeployedContract.optional(),
    batch: zDeployedContract.optional(),
    constantProductFiller: zDeployedContract.optional(),
    concentratedFiller: zDeployedContract.optional(),
    vaultFiller: zDeployedContract.optional(),
    pegFiller: zDeployedContract.optional(),
    wrapFiller: zDeployedContract.optional(),
  }),
  /** The intended owner of the oracle, and the signers whose signatures it is to demand. */
  oracle: z.strictObject({ owner: zAddress, signers: z.array(zAddress).min(1), threshold: z.int().min(1) }),
});
export type Deployment = z.infer<typeof zDeployment>;
export type ContractKey = keyof Deployment['contracts'];

/** Throws `ConfigError` when the file does not exist or is not a record of a deployment. */
export function readDeployment(file: string): Deployment {
  const parsed = zDeployment.safeParse(jsonOf(file));
  if (!parsed.success) throw new ConfigError(file, describeIssues(zDeployment, parsed.error));
  return parsed.data;
}

function jsonOf(file: string): unknown {
  try {
    return JSON.parse(decodeText(readFileSync(file), file)) as unknown;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw new ConfigError(file, [NO_FILE]);
    throw new ConfigError(file, [cause instanceof Error ? cause.message : String(cause)]);
  }
}

const NO_FILE = 'the file does not exist';

/** undefined where there is no such file. Throws as `readDeployment`. */
export function readDeploymentIfAny(file: string): Deployment | undefined {
  try {
    return readDeployment(file);
  } catch (error) {
    if (error instanceof ConfigError && error.problems[0] === NO_FILE) return undefined;
    throw error;
  }
}

/**
 * An entry of a list of chains with what its `deployment` file names: contracts, the shortest time for proofs
 * and the first block. The entry's own options win. Only `options` are filled in. Throws `RangeError` for the
 * file of another chain.
 */
export function withDeployment(entry: unknown, options: readonly string[]): unknown {
  if (typeof entry !== 'object' || entry === null) return entry;
  const { deployment: file, id } = entry as { deployment?: unknown; id?: unknown };
  if (typeof file !== 'string') return entry;
  const { chainId, slug, contracts } = readDeployment(file);
  if (id !== undefined && id !== chainId)
    throw new RangeError(`${file} is of chain ${chainId}, and this entry is of chain ${String(id)}`);
  const { escrow, oracle, quoteBond, batch } = contracts;
  const known: Record<string, unknown> = {
    escrow: escrow.address,
    oracle: oracle.address,
    quoteBond: quoteBond?.address ?? null,
    batch: batch?.address ?? null,
    proofWindowSeconds: Number(escrow.args['minProofWindow']),
    startBlock: Math.min(escrow.block, oracle.block),
  };
  const filled = Object.entries(known).filter(([key]) => options.includes(key));
  return { id: chainId, slug, ...Object.fromEntries(filled), ...entry };
}
