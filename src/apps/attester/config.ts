/** The configuration of `firmquote attester`. */

import { z } from 'zod';
import { zChain, zServer, zKeySource, zLogSection } from '../config/parts.ts';

export const zAttesterConfig = z.strictObject({
  app: z.literal('attester'),
  http: z
    .strictObject({ host: z.string().default('127.0.0.1'), port: z.int().min(0).max(65_535).default(8090) })
    .prefault({}),
  ops: zServer(9300).prefault({}),
  log: zLogSection.prefault({}),
  keys: z.strictObject({ attester: zKeySource }),
  lookBackSeconds: z.int().min(60).default(86_400),
  /** Unready after this long without a new block. */
  staleMs: z.int().min(1_000).default(60_000),
  chains: z.array(zChain).min(1),
});
