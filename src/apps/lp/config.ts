/**
 * What the LP room takes, with what only a process needs around it: doors, keys, venues, databases,
 * endpoints.
 */

import { z } from 'zod';
import { atOnce } from '../../domain/steps.ts';
import { zLpConfig } from '../../lp/config/config.ts';
import { zAddress } from '../../protocol/wire.ts';
import { wantedOf } from '../../lp/market/market.ts';
import { problemsOf } from '../../lp/config/problems.ts';
import { feedProblems, zFeed } from '../config/feeds.ts';
import {
  zChain,
  zDatabase,
  zDoor,
  zKeySource,
  zLogSection,
  zSecretSource,
  zSecretText,
} from '../config/parts.ts';

const zLpNetwork = zChain.extend({
  maxFeeGwei: z.number().positive().default(500),
  /**
   * Of a rollup: the uptime feed of its sequencer. Its corridors are not quoted while that is down, nor for
   * the grace after.
   */
  sequencer: z
    .strictObject({ address: zAddress, graceSeconds: z.int().min(0).default(3_600) })
    .nullable()
    .default(null),
});

const zOps = zDoor(9200);

/** Pause, resume, kill switch: opened on loopback only. */
const zAdmin = z.strictObject({
  port: z.int().min(0).max(65_535).default(9201),
  /**
   * A secret that whoever knocks has to show, made at the first start; null: every program on this machine
   * may knock.
   */
  tokenFile: z.string().min(1).nullable().default(null),
});

/**
 * Several processes as one LP: the same configuration, operator, accounts and database, one inventory through
 * Redis.
 */
const zReplicas = z.strictObject({
  /** null: this process runs the LP alone. */
  redisUrl: zSecretText.nullable().default(null),
  /** This process's own among them, the same after a restart. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .default('a'),
  /** How long Redis may take to answer before it counts as away and nothing is signed. */
  timeoutMs: z.int().min(5).max(10_000).default(150),
  /** How long the replica that fills may be silent before another one takes its place. */
  leadSeconds: z.int().min(1).max(60).default(3),
});

/**
 * Where a running LP is found, whatever else its file says: it must be stopped even while somebody is half
 * way through editing it.
 */
export const zLpDoors = z.object({ ops: zOps.prefault({}), admin: zAdmin.prefault({}) });

const zParts = z.strictObject({
  app: z.literal('lp'),
  ops: zOps.prefault({}),
  admin: zAdmin.prefault({}),
  log: zLogSection.prefault({}),
  database: zDatabase('firmquote_lp').prefault({}),
  replicas: zReplicas.prefault({}),
  keys: z.strictObject({
    /** Signs quotes and fills; can never withdraw. The owner's key has no place here. */
    operator: zKeySource,
    /** Development only: the operator's key may be the account's own, which can also withdraw. */
    operatorMayBeOwner: z.boolean().default(false),
  }),
  venues: z
    .array(z.strictObject({ name: z.string().min(1).max(40), url: z.string().min(1), apiKey: zSecretSource }))
    .min(1),
  /** The networks; what the LP does on them stands in `lp.chains`. */
  networks: z.array(zLpNetwork).min(1),
  attesters: z
    .strictObject({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) })
    .prefault({}),
  feeds: z.record(z.string(), zFeed).default({}),
  /**
   * Rows that have done their duty are let go after so many days; null: kept for good. The books always are.
   */
  retention: z
    .strictObject({
      /**
       * Nonces of the operator with all that was ever signed for them. Longer than the LP is ever down: their
       * gas goes into the books.
       */
      slotDays: z.int().min(7).nullable().default(90),
      /** Why an accepted quote was priced as it was. */
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
  for (const { path, message } of atOnce(problemsOf(lp, networks)))
    context.addIssue({ code: 'custom', path: ['lp', ...path], message });
});

export type LpAppConfig = z.infer<typeof zParts>;
