/** The configuration of `firmquote venue`. Numbers default to those of the venue's options. */

import { z } from 'zod';
import { COURIER } from '../../venue/orders/travel-rule.ts';
import {
  ADMISSION,
  BREAKER,
  CHAIN_DEFAULTS,
  FAN_OUT,
  LEVELS,
  RATES,
  ROUTER,
  SOCKETS,
} from '../../venue/options.ts';
import type { LoadKind } from '../../ports/http.ts';
import { zAddress, zAssetId } from '../../protocol/wire.ts';
import { zFeed } from '../config/feeds.ts';
import {
  zChain,
  zDatabase,
  zServer,
  zKeySource,
  zLogSection,
  zSecretSource,
  zSecretText,
} from '../config/parts.ts';
import { zDexes } from './dex.ts';

const zGas = (standard: bigint) => z.int().min(21_000).max(30_000_000).default(Number(standard));
const zCount = (standard: number) => z.int().min(1).default(standard);
const zPerKind = (standard: Readonly<Record<LoadKind, number>>, least: number) =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(standard).map(([kind, most]) => [kind, z.int().min(least).default(most)]),
      ) as Record<LoadKind, z.ZodDefault<z.ZodInt>>,
    )
    .prefault({});

const zVenueChain = zChain.extend({
  executionMode: z.enum(['apiSubmit', 'walletBroadcast']).default(CHAIN_DEFAULTS.executionMode),
  /** Reference price symbol of the native currency. */
  nativeSymbol: z.string().default(CHAIN_DEFAULTS.nativeSymbol),
  settleGas: zGas(CHAIN_DEFAULTS.settleGas),
  outputGas: zGas(CHAIN_DEFAULTS.outputGas),
  openGas: zGas(CHAIN_DEFAULTS.openGas),
  throughGas: zGas(CHAIN_DEFAULTS.throughGas),
  relayBufferBps: z.int().min(0).max(100_000).default(CHAIN_DEFAULTS.relayBufferBps),
  maxFeeGwei: z.number().positive().default(500),
  /**
   * The contract Batch of this chain's escrow, which puts several settlements into one transaction. null: one
   * transaction each.
   */
  batch: zAddress.nullable().default(null),
});

/** Reference prices, for display, limits and the relay fee. No quote is priced from them. */
const zReferencePrice = z.union([
  z.strictObject({
    fixed: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,8})?$/, 'must be a USD price such as "2500.5"'),
  }),
  z.strictObject({
    feed: z.string().min(1),
    symbol: z.string().min(1),
    maxAgeMs: z.int().min(100).default(60_000),
  }),
]);

export const zVenueConfig = z.strictObject({
  app: z.literal('venue'),
  venueId: z.string().min(1).max(64),
  /**
   * api serves takers and solvers, worker settles orders, all does both; `--role` wins. Several processes
   * need a database server.
   */
  role: z.enum(['api', 'worker', 'all']).default('all'),
  /** The public server: REST, events and the LP link. */
  http: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(8080),
      /** Addresses of load balancers whose X-Forwarded-For is trusted. */
      trustProxy: z.array(z.string()).default([]),
      /**
       * After SIGTERM /readyz fails for this long before requests are refused: the time a load balancer takes
       * to notice.
       */
      drainMs: z.int().min(0).max(2_000).default(0),
    })
    .prefault({}),
  ops: zServer(9100).prefault({}),
  /** The admin API; closed without keys. */
  admin: z
    .strictObject({
      host: z.string().default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(9101),
      /** A key may change everything that `firmquote workspace` can. Its id appears in the audit log. */
      keys: z
        .array(z.strictObject({ id: z.string().regex(/^[a-z0-9-]{1,32}$/), secret: zSecretSource }))
        .default([]),
      requestsPerSecond: z.number().positive().default(20),
    })
    .prefault({}),
  log: zLogSection.prefault({}),
  database: zDatabase('firmquote_venue').prefault({}),
  queue: z
    .strictObject({
      /** REDIS_URL wins; null: queues are on PostgreSQL. */ redisUrl: zSecretText.nullable().default(null),
    })
    .prefault({}),
  keys: z.strictObject({
    /**
     * Pays gas and holds nothing else. Each key sends independently; one without funds does not stop the
     * others.
     */
    relayer: z.union([zKeySource, z.array(zKeySource).min(1)]),
    /**
     * Keys that seal candidates: the first seals, all of them verify. Keep an old key until its longest quote
     * has expired.
     */
    seals: z
      .array(
        z.strictObject({
          id: z.string().regex(/^[a-z0-9-]{1,16}$/),
          secret: zSecretSource,
          /** For a retired key: the longest validUntil that it can have sealed. */ acceptUntil: z
            .int()
            .min(0)
            .nullable()
            .default(null),
        }),
      )
      .min(1),
  }),
  chains: z.array(zVenueChain).min(1),
  /** Chains that the pairs endpoint lists although they have no escrow of this venue. */
  listedChains: z
    .array(z.strictObject({ slug: z.string(), id: z.int(), sandbox: z.boolean().default(false) }))
    .default([]),
  attesters: z
    .strictObject({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) })
    .prefault({}),
  feeds: z.record(z.string(), zFeed).default({}),
  prices: z.record(z.string(), zReferencePrice).default({}),
  /** Hosts that this process may call over HTTP (screening service, travel-rule service). */
  outbound: z
    .strictObject({
      /** Host names; no other host is called. */
      allowHosts: z.array(z.string().min(1)).default([]),
      /** Also plain http, and addresses in private networks. */
      allowPrivate: z.boolean().default(false),
    })
    .prefault({}),
  /** Takers and receivers are screened before every quote, preflight and submission. */
  screening: z
    .strictObject({
      /**
       * File of denied addresses, JSON or one per line; read again when it changes and on SIGHUP. null: none.
       */
      denyListFile: z.string().min(1).nullable().default(null),
      /** A service that is asked with GET about one address. */
      provider: z
        .strictObject({
          name: z.string().min(1).max(60).default('screening-service'),
          /** `{address}` is replaced by the address. null: no service is asked. */
          url: zSecretText.nullable().default(null),
          headers: z.record(z.string(), zSecretText).default({}),
          /** Path of the verdict in the JSON answer, joined by dots. */
          deniedPath: z.string().min(1).default('identifications'),
          /** The verdict that denies; null: any list that is not empty. */
          deniedEquals: z.union([z.string(), z.number(), z.boolean()]).nullable().default(null),
          versionPath: z.string().min(1).nullable().default(null),
          /** Of one attempt, and of all attempts together: the longest that a taker waits. */
          timeoutMs: z.int().min(50).default(800),
          attempts: z.int().min(1).max(5).default(2),
          deadlineMs: z.int().min(50).default(1_500),
          cacheTtlMs: z.int().min(0).default(300_000),
          maxCached: z.int().min(1).default(100_000),
          /**
           * When the service does not answer: closed refuses to quote; open quotes, and the record says so.
           */
          onFailure: z.enum(['closed', 'open']).default('closed'),
        })
        .prefault({}),
    })
    .prefault({}),
  /** Where travel-rule records are sent. Each workspace's threshold decides what is reported. */
  travelRule: z
    .strictObject({
      /** A service that takes each record with POST; wins over `file`. */
      url: zSecretText.nullable().default(null),
      headers: z.record(z.string(), zSecretText).default({}),
      timeoutMs: z.int().min(50).default(10_000),
      /** Appends one JSON line per record. null, and no url: records wait. */
      file: z.string().min(1).nullable().default(null),
      maxAttempts: zCount(COURIER.maxAttempts),
      firstRetryMs: zCount(COURIER.firstRetryMs),
      longestRetryMs: zCount(COURIER.longestRetryMs),
    })
    .prefault({}),
  /** Added to a database that lacks them; afterwards `firmquote workspace set` changes them. */
  workspaces: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        name: z.string().min(1).max(120),
        platformFeeBps: z.int().min(0).max(100).default(0),
        eligibleSolvers: z.array(z.string()).nullable().default(null),
        openQuotes: z.int().min(1).nullable().default(null),
        openNotionalUsd: z.int().min(1).nullable().default(null),
        /** Orders worth this or more are reported under the travel rule; null: none. */
        travelRuleThresholdUsd: z.number().min(0).nullable().default(null),
      }),
    )
    .default([]),
  /** Onboarded solvers; added to a database that lacks them, as workspaces are. */
  solvers: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        name: z.string().min(1).max(80),
        kind: z.enum(['lp', 'solver']).default('lp'),
        corridors: z.array(z.string()).nullable().default(null),
        disabled: z.boolean().default(false),
      }),
    )
    .default([]),
  fanOut: z
    .strictObject({
      timeoutMs: zCount(FAN_OUT.timeoutMs),
      sliceTimeoutMs: zCount(FAN_OUT.sliceTimeoutMs),
      lingerMs: z.int().min(0).default(FAN_OUT.lingerMs),
      maxSplitParts: zCount(FAN_OUT.maxSplitParts),
      maxValiditySeconds: zCount(FAN_OUT.maxValiditySeconds),
      shortValiditySeconds: z.int().min(0).default(FAN_OUT.shortValiditySeconds),
      farFromMidBps: zCount(FAN_OUT.farFromMidBps),
    })
    .prefault({}),
  /** The router: one deadline for all its sources, and the assets between two legs. */
  router: z
    .strictObject({
      timeoutMs: zCount(ROUTER.timeoutMs),
      /** Assets (CAIP-19) tried first between two legs. */
      middles: z.array(zAssetId).default([]),
      /** Most assets tried per request; 0: no two-leg routes. */
      maxMiddles: z.int().min(0).max(8).default(ROUTER.maxMiddles),
    })
    .prefault({}),
  /** DEX liquidity that the router may fill orders from. */
  dex: zDexes,
  rates: z
    .strictObject({
      quotesPerSecond: z.number().positive().default(RATES.quotesPerSecond),
      submitsPerSecond: z.number().positive().default(RATES.submitsPerSecond),
      readsPerSecond: z.number().positive().default(RATES.readsPerSecond),
      perIpPerSecond: z.number().positive().default(RATES.perIpPerSecond),
      burst: z.number().min(1).default(RATES.burst),
      openQuotes: zCount(RATES.openQuotes),
      openNotionalUsd: z.number().positive().default(RATES.openNotionalUsd),
      trustedIps: z.array(z.string()).default([...RATES.trustedIps]),
    })
    .prefault({}),
  breaker: z
    .strictObject({
      limit: z.number().positive().default(BREAKER.limit),
      halfLifeMs: zCount(BREAKER.halfLifeMs),
      firstCoolDownMs: zCount(BREAKER.firstCoolDownMs),
      longestCoolDownMs: zCount(BREAKER.longestCoolDownMs),
      forgiveAfterMs: zCount(BREAKER.forgiveAfterMs),
    })
    .prefault({}),
  sockets: z
    .strictObject({
      pingEveryMs: zCount(SOCKETS.pingEveryMs),
      maxBufferedBytes: zCount(SOCKETS.maxBufferedBytes),
      /** Of all event streams together; beyond it those with the most unread bytes are closed. */
      maxTotalBufferedBytes: zCount(SOCKETS.maxTotalBufferedBytes),
      maxPerKey: zCount(SOCKETS.maxPerKey),
      maxFramesPerSecond: zCount(SOCKETS.maxFramesPerSecond),
    })
    .prefault({}),
  /** Limits of work in progress in one process; requests beyond them get 429 or 503. */
  admission: z
    .strictObject({
      /** Requests in progress, by kind. */
      places: zPerKind(ADMISSION.places, 1),
      /** Requests that may wait for a slot, by kind. */
      waiting: zPerKind(ADMISSION.waiting, 0),
      maxWaitMs: zCount(ADMISSION.maxWaitMs),
      /** At this steady event loop lag some quotes and exports are refused, at twice this all of them. */
      shedAtLagMs: zCount(ADMISSION.shedAtLagMs),
      /** At this wait for a database connection, requests that need the database begin to be refused. */
      shedAtDatabaseWaitMs: zCount(ADMISSION.shedAtDatabaseWaitMs),
      /** Submissions and preflights in progress per chain. */
      perChain: zCount(ADMISSION.perChain),
    })
    .prefault({}),
  /** Indicative ladders of solvers, for the prices topics. */
  levels: z
    .strictObject({
      maxAgeMs: zCount(LEVELS.maxAgeMs),
      maxMarkets: zCount(LEVELS.maxMarkets),
      maxPerSecond: zCount(LEVELS.maxPerSecond),
    })
    .prefault({}),
  /** Days until rows are deleted; null keeps them. Orders, facts and history are always kept. */
  retention: z
    .strictObject({
      /** An Idempotency-Key must hold for at least one day. */
      idempotencyDays: z.int().min(2).nullable().default(2),
      /** The relayer's nonces with every transaction signed for them. */
      slotDays: z.int().min(7).nullable().default(90),
      /** Events of ended orders: a stream cannot resume from before that. */
      eventDays: z.int().min(7).nullable().default(null),
    })
    .prefault({}),
});

export type VenueConfig = z.infer<typeof zVenueConfig>;
