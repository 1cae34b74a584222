/** The configuration of `firmquote attester`. */

import * as z from 'zod';
import { zChain, zChains, zServer, zKeySource, zLogSection, zSecretsSection } from '../config/parts.ts';

export const zAttesterConfig = z.strictObject({
  app: z.literal('attester'),
  http: zServer(8090),
  ops: zServer(9300),
  log: zLogSection,
  secrets: zSecretsSection,
  keys: z.strictObject({ attester: zKeySource }),
  lookBackSeconds: z.int().min(60).default(86_400),
  /** The attester is not ready after this long without a new block. */
  staleMs: z.int().min(1_000).default(60_000),
  chains: zChains(zChain),
});

export type AttesterConfig = z.output<typeof zAttesterConfig>;
