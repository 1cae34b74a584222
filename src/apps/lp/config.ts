/**
 * Configuration of an LP process: the LP's own section, and what surrounds it (servers, keys, venues,
 * databases, chains).
 */

import { z } from 'zod';
import { zLpConfig } from '../../lp/config/config.ts';
import { zAddress } from '../../protocol/wire.ts';
import { wantedOf } from '../../lp/market/market.ts';
import { lpConfigProblems } from '../../lp/config/problems.ts';
import { feedProblems, zFeed } from '../config/feeds.ts';
import {
  zChain,
  zDatabase,
  zServer,
  zKeySource,
  zLogSection,
  zSecretSource,
  zSecretText,
} from '../config/parts.ts';

const zLpNetwork = zChain.extend({
  maxFeeGwei: z.number().positive().default(500),
  /**
   * Rollups: the sequencer's uptime feed. Its corridors are not quoted while it is down, nor during the grace
   * period after.
   */
  sequencer: z
    .strictObject({ address: zAddress, graceSeconds: z.int().min(0).default(3_600) })
    .nullable()
    .default(null),
});

const zOps = zServer(9200);

const zAdmin = z.strictObject({
  port: z.int().min(0).max(65_535).default(9201),
  /** File of the token that callers must send, made at the first start. null: any local program may call. */
  tokenFile: z.string().min(1).nullable().default(null),
});

/**
 * Several processes as one LP: the same configuration, operator, accounts and database, and one inventory in
 * Redis.
 */
const zReplicas = z.strictObject({
  /** null: a single process. */
  redisUrl: zSecretText.nullable().default(null),
  /** This process's name among the replicas; it must survive a restart. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .default('a'),
  /** Nothing is signed while Redis takes longer to answer. */
  timeoutMs: z.int().min(5).max(10_000).default(150),
  /** Another replica takes over fills when the leader is silent for this long. */
  leadSeconds: z.int().min(1).max(60).default(3),
});

/**
 * Where a running LP listens. Ignores the rest of the file, so that an LP can be stopped while its file is
 * being edited.
 */
export const zLpServers = z.object({ ops: zOps.prefault({}), admin: zAdmin.prefault({}) });

const zParts = z.strictObject({
  app: z.literal('lp'),
  ops: zOps.prefault({}),
  admin: zAdmin.prefault({}),
  log: zLogSection.prefault({}),
  database: zDatabase('firmquote_lp').prefault({}),
  replicas: zReplicas.prefault({}),
  keys: z.strictObject({
    /** Signs quotes and fills; cannot withdraw. The owner's key must not be here. */
    operator: zKeySource,
    /** Development only: the operator's key may be the account's own, which can also withdraw. */
    operatorMayBeOwner: z.boolean().default(false),
  }),
  venues: z
    .array(z.strictObject({ name: z.string().min(1).max(40), url: z.string().min(1), apiKey: zSecretSource }))
    .min(1),
  /** The chains; `lp.chains` says what the LP does on each. */
  networks: z.array(zLpNetwork).min(1),
  attesters: z
    .strictObject({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) })
    .prefault({}),
  feeds: z.record(z.string(), zFeed).default({}),
  /** Days until old rows are deleted; null: never. The accounting ledger is never deleted. */
  retention: z
    .strictObject({
      /** The operator's transaction slots. Must exceed any downtime: their gas is booked from them. */
      slotDays: z.int().min(7).nullable().default(90),
      explanationDays: z.int().min(1).nullable().default(null),
    })
    .prefault({}),
  lp: zLpConfig,
});

/** The parts are also checked against each other: prices need their feeds, chains their networks. */
export const zLpAppConfig = zParts.superRefine(({ feeds, networks, lp }, context) => {
  const chainIds = networks.map(({ id }) => id);
  for (const message of feedProblems(feeds, wantedOf(lp.prices), chainIds))
    context.addIssue({ code: 'custom', path: [], message });
  for (const { path, message } of lpConfigProblems(lp, networks))
    context.addIssue({ code: 'custom', path: ['lp', ...path], message });
});

export type LpAppConfig = z.infer<typeof zParts>;
