/** Parses the parameters of a deployment: the constructors' arguments, and the owners of the contracts. */

import * as z from 'zod';
import { ZERO_ADDRESS } from '../../domain/hex.ts';
import { MAX_UINT32 } from '../../domain/time.ts';
import { zAddress } from '../../protocol/wire.ts';
import { PERMIT2, zChain, zChainEntry, zKeySource, zSecretsSection } from '../config/parts.ts';

const zDelay = z.int().min(1).max(MAX_UINT32);
const zOwned = zAddress.refine((address) => address !== ZERO_ADDRESS, 'must not be the zero address');
const zCommittee = z
  .strictObject({ signers: z.array(zOwned).min(1).max(500), threshold: z.int().min(1) })
  .refine(({ signers, threshold }) => threshold <= signers.length, 'the threshold is above the signers')
  .refine(({ signers }) => new Set(signers).size === signers.length, 'a signer is named twice');

const zDeployChain = zChain
  .pick({
    ...{ id: true, slug: true, rpcUrls: true, timeoutMs: true, depth: true, native: true },
    ...{ create2Deployer: true, feeModel: true, minBaseFeeGwei: true },
  })
  .extend({
    /** The most that is paid per gas. */
    maxFeeGwei: z.number().positive().default(500),
    /** The owner of the oracle on this chain. null: `owner` of the file. */
    owner: zOwned.nullable().default(null),
    /**
     * The sources to fill from. DEX factories and the peg-stability module differ by chain, and so do the
     * addresses of their fillers.
     */
    fillers: z
      .strictObject({
        constantProduct: zAddress.nullable().default(null),
        concentrated: zAddress.nullable().default(null),
        peg: zAddress.nullable().default(null),
        vault: z.boolean().default(false),
        wrap: z.boolean().default(false),
      })
      .prefault({}),
  });
export type DeployChain = z.infer<typeof zDeployChain>;

export const zDeployConfig = z
  .strictObject({
    app: z.literal('deploy'),
    /** Pays for the gas. It needs no other power, unless it is the oracle's initial owner. */
    keys: z.strictObject({ deployer: zKeySource }),
    secrets: zSecretsSection,
    /** Folder of the records, one file for each chain. */
    deployments: z.string().min(1).default('./deployments'),
    /** Any text; another one gives other addresses. */
    salt: z.string().min(1),
    permit2: zAddress.default(PERMIT2),
    escrow: z.strictObject({
      feeRecipient: zOwned,
      maxFeeBps: z.int().min(0).max(10_000).default(100),
      withdrawalDelaySeconds: zDelay.default(900),
      withdrawalWindowSeconds: zDelay.default(86_400),
      minProofWindowSeconds: zDelay.default(1_800),
    }),
    oracle: z.strictObject({
      /** Goes into the address, so it stays the same for all chains and all times. */
      initialOwner: zOwned,
      /** Goes into the address too. */
      initialCommittee: zCommittee,
      rotationDelaySeconds: zDelay.default(86_400),
      /** The committee that signs now. null: the initial committee. */
      committee: zCommittee.nullable().default(null),
    }),
    /** null: no bond contract. */
    quoteBond: z
      .strictObject({
        forfeitTo: zOwned,
        shareBps: z.int().min(1).max(10_000).default(50),
        takeBackDelaySeconds: zDelay.default(86_400),
      })
      .nullable()
      .default(null),
    batch: z.boolean().default(true),
    /** Owns the oracle when all is done: a multisig. */
    owner: zOwned,
    chains: z.array(zChainEntry(zDeployChain)).min(1),
  })
  .superRefine(({ escrow, quoteBond, chains }, context) => {
    if (quoteBond !== null && quoteBond.takeBackDelaySeconds <= escrow.withdrawalDelaySeconds)
      context.addIssue({
        code: 'custom',
        path: ['quoteBond', 'takeBackDelaySeconds'],
        message: `must be above escrow.withdrawalDelaySeconds (${escrow.withdrawalDelaySeconds}): a bond outlasts every quote`,
      });
    for (const name of ['id', 'slug'] as const)
      chains.forEach((chain, at) => {
        if (chains.findIndex((other) => other[name] === chain[name]) !== at)
          context.addIssue({ code: 'custom', path: ['chains', at, name], message: 'is named twice' });
      });
  });
export type DeployConfig = z.infer<typeof zDeployConfig>;
