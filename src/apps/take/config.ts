/** The configuration of `firmquote take`: a venue, the taker's own nodes and trusted contracts, its key. */

import * as z from 'zod';
import {
  zChain,
  zChainEntry,
  zKeySource,
  zSecretSource,
  zSecretsSection,
  zSecretText,
} from '../config/parts.ts';

/**
 * The contracts against which the client verifies; escrow and oracle must come from a source other than the
 * venue.
 */
const zTakerChain = zChain.pick({
  ...{ id: true, slug: true, deployment: true, escrow: true, oracle: true, permit2: true, quoteBond: true },
  ...{ blockTimeMs: true, tokens: true, rpcUrls: true, timeoutMs: true },
});
export type TakerChain = z.infer<typeof zTakerChain>;

export const zTakeConfig = z.strictObject({
  app: z.literal('take'),
  secrets: zSecretsSection,
  venue: z.strictObject({
    /** Replicas of one venue; the next one is asked when one does not answer. */
    urls: z.array(zSecretText).min(1),
    /** A service key. null: --key-file or the variable FIRMQUOTE_KEY. */
    key: zSecretSource.nullable().default(null),
    timeoutMs: z.int().min(100).default(15_000),
  }),
  /** The taker's key. null: --keystore. */
  wallet: zKeySource.nullable().default(null),
  /** Signed orders are kept here before they are submitted, so that `--resume` can go on with them. */
  folder: z.string().min(1).default('./data/take'),
  chains: z.array(zChainEntry(zTakerChain)).min(1),
});
export type TakeConfig = z.infer<typeof zTakeConfig>;
