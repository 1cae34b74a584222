/** Configuration of an LP process. */

import * as z from 'zod';
import { zLpConfig, zUnits } from '../../lp/config/config.ts';
import { zAddress } from '../../protocol/wire.ts';
import { wantedOf } from '../../lp/market/market.ts';
import { pricingParams } from '../../lp/config/params.ts';
import { unknownWorths } from '../../lp/config/price-identity.ts';
import { uncheckedPrices } from '../../lp/config/unchecked-prices.ts';
import { lpConfigProblems } from '../../lp/config/problems.ts';
import { zBridgeTransports } from '../config/bridges.ts';
import { feedProblems, zFeed } from '../config/feeds.ts';
import {
  zChain,
  zChains,
  zDatabase,
  zServer,
  zKeySource,
  zLogSection,
  zSecretSource,
  zSecretsSection,
  zTracing,
  zSection,
  zSecretText,
} from '../config/parts.ts';

const zLpNetwork = zChain.extend({
  maxFeeGwei: z.number().positive().default(500),
  /** Stops quotes while the sequencer is down, and in the grace period after. */
  sequencer: z
    .strictObject({ address: zAddress, graceSeconds: z.int().min(0).default(3_600) })
    .nullable()
    .default(null),
});

const zOps = zServer(9200);

const zAdmin = zSection({
  port: z.int().min(0).max(65_535).default(9201),
  /** File of the token that callers must send, made at the first start. null: any local program may call. */
  tokenFile: z.string().min(1).nullable().default('./data/admin.token'),
  /** Pages for people, at http://<host>:<port>/console/. null: none. */
  console: z
    .strictObject({
      port: z.int().min(0).max(65_535).default(9202),
      /** Beyond loopback only behind a proxy that speaks TLS. */
      host: z.string().min(1).default('127.0.0.1'),
      /** File of the token to log in with, made at the first start. null: `admin.tokenFile`. */
      tokenFile: z.string().min(1).nullable().default(null),
      /** The file of a second token: a user who logs in with it sees all and changes nothing. */
      viewerTokenFile: z.string().min(1).nullable().default(null),
    })
    .nullable()
    .default(null),
});

/** Makes several processes one LP: same configuration, operator and database, one inventory in Redis. */
const zReplicas = zSection({
  redisUrl: zSecretText.nullable().default(null),
  /** This process's name among the replicas; it must survive a restart. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .default('a'),
  /** The longest answer of Redis; beyond it nothing is signed. */
  timeoutMs: z.int().min(5).max(10_000).default(150),
  /** Another replica takes over when the leader is silent for this long. */
  leadSeconds: z.int().min(1).max(60).default(3),
});

/** Rebalancing that is executed: what `lp.rebalancing` advises is moved over `bridges` by `keys.mover`. */
const zTransfers = zSection({
  /** `by_hand`: what the operator begins. `automatic`: also what is advised, within these limits. */
  mode: z.enum(['off', 'by_hand', 'automatic']).default('off'),
  /** Limits one automatic transfer, and all that began in 24 hours; more waits for the operator. */
  mostUsd: z.number().positive().default(50_000),
  mostUsdPerDay: z.number().positive().default(250_000),
  everyMs: z.int().min(200).default(10_000),
  /** How long a bridge may refuse what was withdrawn for it before the money goes back into the ledger. */
  patienceSeconds: z.int().min(1).default(3_600),
});

/** Applies to `firmquote lp --shadow` only. */
const zShadow = zSection({
  /** Whole tokens by chain and symbol that the LP is taken to have beside what the chains show. */
  inventory: z.record(z.string(), z.record(z.string(), zUnits)).default({}),
  /** The report covers at most the newest requests. */
  keep: z.int().min(100).max(200_000).default(20_000),
});

/** Reads only this part, so that an LP can be stopped while its file is being edited. */
export const zLpServers = z.object({ ops: zOps, admin: zAdmin, secrets: zSecretsSection });

const zParts = z.strictObject({
  app: z.literal('lp'),
  ops: zOps,
  admin: zAdmin,
  log: zLogSection,
  tracing: zTracing,
  secrets: zSecretsSection,
  database: zDatabase('firmquote_lp'),
  replicas: zReplicas,
  keys: z.strictObject({
    /** Signs quotes and fills; cannot withdraw. The owner's key must not be here. */
    operator: zKeySource,
    /** Development only: the operator's key may be the account's own, which can also withdraw. */
    operatorMayBeOwner: z.boolean().default(false),
    /** Moves inventory between chains: the mover of an `LpAccount`, and a key of its own. */
    mover: zKeySource.nullable().default(null),
  }),
  venues: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(40),
        url: z.string().min(1),
        apiKey: zSecretSource,
        /** The id that the venue must name. Absent: any, and our proof could be used at another venue. */
        venueId: z.string().min(1).max(64).optional(),
      }),
    )
    .min(1),
  networks: zChains(zLpNetwork),
  attesters: zSection({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) }),
  feeds: z.record(z.string(), zFeed).default({}),
  /** The bridges that move inventory between the LP's accounts. */
  bridges: zBridgeTransports,
  transfers: zTransfers,
  shadow: zShadow,
  /** Days until rows are deleted; null: never. */
  retention: zSection({
    /** Must exceed any downtime: gas is booked from these rows. */
    slotDays: z.int().min(7).nullable().default(90),
    explanationDays: z.int().min(1).nullable().default(null),
  }),
  lp: zLpConfig,
});

export const zLpAppConfig = zParts.superRefine(
  ({ feeds, networks, lp, keys, bridges, transfers, replicas }, context) => {
    const chainIds = networks.map(({ id }) => id);
    for (const message of feedProblems(feeds, wantedOf(lp.prices), chainIds))
      context.addIssue({ code: 'custom', path: [], message });
    if (lp.sandbox.neverFills && !networks.every(({ sandbox }) => sandbox))
      context.addIssue({
        code: 'custom',
        path: ['lp', 'sandbox', 'neverFills'],
        message: 'would take and not fill orders of real money: every network must have "sandbox": true',
      });
    if (transfers.mode !== 'off' && keys.mover === null)
      context.addIssue({
        code: 'custom',
        path: ['keys', 'mover'],
        message:
          'is needed to move inventory: set the key of the account’s mover, or transfers.mode to "off"',
      });
    if (transfers.mode !== 'off' && replicas.redisUrl !== null)
      context.addIssue({
        code: 'custom',
        path: ['transfers', 'mode'],
        message:
          'must be "off" with several replicas: only the process that moves money keeps it back from its quotes. Run one process, or leave rebalancing to the owner',
      });
    if (transfers.mode !== 'off' && bridges.cctp === null && bridges.oft.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['bridges'],
        message: 'must name a bridge to move inventory over: cctp or oft; or set transfers.mode to "off"',
      });
    for (const { path, message } of lpConfigProblems(lp, networks))
      context.addIssue({ code: 'custom', path: ['lp', ...path], message });
  },
);

export type LpAppConfig = z.infer<typeof zParts>;

/** Lists what an operator should know before trading real money; none on test chains. */
export const lpWarnings = ({ networks, lp }: LpAppConfig): string[] =>
  networks.every(({ sandbox }) => sandbox)
    ? []
    : [...uncheckedPrices(lp, networks), ...unknownWorths(lp, networks)];

/** Shows every pair with the value of each pricing parameter in force, defaults included. */
export const withEffectiveParams = (config: LpAppConfig) => ({
  ...config,
  lp: {
    ...config.lp,
    pairs: config.lp.pairs.map((pair) => ({ ...pair, params: pricingParams(pair.params) })),
  },
});
