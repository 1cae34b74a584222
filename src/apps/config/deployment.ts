/** `deployments/<chain>.json`: what was deployed on a chain, as `firmquote deploy run` wrote it. */

import { z } from 'zod';
import { zAddress, zBytes32, zHex } from '../../protocol/wire.ts';
import { ConfigError, describeIssues, readJson } from './load.ts';

const zDeployedContract = z.strictObject({
  /** In contracts/src. */
  name: z.string(),
  address: zAddress,
  salt: zBytes32,
  /** Of the constructor, by name, as text. */
  args: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  encodedArgs: zHex,
  /** Of the creation code with the arguments: with the salt it makes the address. */
  initCodeHash: zBytes32,
  /** Of the code on the chain. */
  codeHash: zBytes32,
  /** The first block that has it. */
  block: z.int().min(0),
  compiler: z.string(),
  /** Of this repository; "-dirty" at its end: with changes. null: it ran outside a checkout. */
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
  }),
  /** Who shall own the oracle, and whose signatures it shall want. */
  oracle: z.strictObject({ owner: zAddress, signers: z.array(zAddress).min(1), threshold: z.int().min(1) }),
});
export type Deployment = z.infer<typeof zDeployment>;
export type ContractKey = keyof Deployment['contracts'];

/** Throws `ConfigError` when the file does not exist or is not a record of a deployment. */
export async function readDeployment(file: string): Promise<Deployment> {
  const parsed = zDeployment.safeParse(await readJson(file));
  if (!parsed.success) throw new ConfigError(file, describeIssues(zDeployment, parsed.error));
  return parsed.data;
}
