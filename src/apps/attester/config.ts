/** Everything an attester can be told. */

import { z } from 'zod';
import { zChain, zDoor, zKeySource, zLogSection } from '../config/parts.ts';

export const zAttesterConfig = z.strictObject({
  app: z.literal('attester'),
  /** Where signatures are served. */
  http: z
    .strictObject({ host: z.string().default('127.0.0.1'), port: z.int().min(0).max(65_535).default(8090) })
    .prefault({}),
  ops: zDoor(9300).prefault({}),
  log: zLogSection.prefault({}),
  keys: z.strictObject({ attester: zKeySource }),
  /** Fills older than this are not looked for any more. */
  lookBackSeconds: z.int().min(60).default(86_400),
  /** A chain that showed nothing new for this long makes it unready. */
  staleMs: z.int().min(1_000).default(60_000),
  /** The chains it watches for fills, and those whose oracles it signs for: the same list. */
  chains: z.array(zChain).min(1),
});

export type AttesterConfig = z.infer<typeof zAttesterConfig>;
