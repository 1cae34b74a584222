/** The configuration of `firmquote venue`. */

import proxyAddress from '@fastify/proxy-addr';
import * as z from 'zod';
import { COURIER } from '../../venue/orders/travel-rule.ts';
import {
  ADMISSION,
  BREAKER,
  CHAIN_DEFAULTS,
  FAN_OUT,
  LEVELS,
  RATES,
  ROUTER,
  SANDBOX,
  SOCKETS,
} from '../../venue/options.ts';
import { WEBHOOKS } from '../../venue/options.ts';
import type { LoadKind } from '../../ports/http.ts';
import { zAddress, zAssetId } from '../../protocol/wire.ts';
import { zFeed } from '../config/feeds.ts';
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
import { zBridges } from './bridges.ts';
import { zDexes } from './dex.ts';
import { zIssuers } from './issuers.ts';
import { zPartners } from './partners.ts';

/** Accepts what the HTTP server can compile; it would only throw at start. */
const zProxyAddress = z.string().refine((text) => {
  try {
    proxyAddress.compile(text);
    return true;
  } catch {
    return false;
  }
}, 'must be an IP address, or a network such as 10.0.0.0/8');

const zOrigin = z
  .string()
  .refine(
    (text) => URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text,
    'must be the origin of a web page: scheme, host and port only, such as https://app.example.com',
  );

const zGas = (standard: bigint) => z.int().min(21_000).max(30_000_000).default(Number(standard));
const zCount = (standard: number) => z.int().min(1).default(standard);
const zPerKind = (standard: Readonly<Record<LoadKind, number>>, least: number) =>
  zSection(
    Object.fromEntries(
      Object.entries(standard).map(([kind, most]) => [kind, z.int().min(least).default(most)]),
    ) as Record<LoadKind, z.ZodDefault<z.ZodInt>>,
  );

const zVenueChain = zChain.extend({
  executionMode: z.enum(['apiSubmit', 'walletBroadcast']).default(CHAIN_DEFAULTS.executionMode),
  settleGas: zGas(CHAIN_DEFAULTS.settleGas),
  outputGas: zGas(CHAIN_DEFAULTS.outputGas),
  openGas: zGas(CHAIN_DEFAULTS.openGas),
  throughGas: zGas(CHAIN_DEFAULTS.throughGas),
  relayBufferBps: z.int().min(0).max(100_000).default(CHAIN_DEFAULTS.relayBufferBps),
  maxFeeGwei: z.number().positive().default(500),
  /** The escrow's Batch contract. null: one transaction per settlement. */
  batch: zAddress.nullable().default(null),
  /**
   * The least balance, whole native currency. A relayer account with less counts as unable to pay, and takers
   * broadcast themselves. null: what its open transactions and one more cost at the fees of now.
   */
  minGas: z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,18})?$/, 'must be whole native currency, such as "0.05"')
    .nullable()
    .default(null),
});

/** Reference prices, for display, limits and the relay fee. No quote is priced from them. */
const zReferencePrice = z.union([
  z.strictObject({
    fixed: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,30})?$/, 'must be a USD price such as "2500.5"')
      .refine(
        (text) => /[1-9]/.test(text),
        'must be above 0: a price of 0 would free every amount of its duties',
      ),
  }),
  z.strictObject({
    feed: z.string().min(1),
    symbol: z.string().min(1),
    maxAgeMs: z.int().min(100).default(60_000),
  }),
]);

const zVenueFields = z.strictObject({
  app: z.literal('venue'),
  venueId: z.string().min(1).max(64),
  role: z.enum(['api', 'worker', 'all']).default('all'),
  http: zSection({
    host: z.string().default('127.0.0.1'),
    port: z.int().min(0).max(65_535).default(8080),
    /** Addresses and networks (CIDR) of load balancers whose X-Forwarded-For is trusted. */
    trustProxy: z.array(zProxyAddress).default([]),
    /** /readyz fails for this long after SIGTERM, before the server stops: a load balancer must notice. */
    drainMs: z.int().min(0).max(2_000).default(0),
    /** The origins of web pages that may call the API and open streams. */
    origins: z.array(zOrigin).default([]),
    /** Pages for people of workspaces, at http://<host>:<port>/console/. null: none. */
    console: z
      .strictObject({
        /**
         * A node of each chain by its id, which the pages of takers read. It must answer web pages (CORS),
         * and anyone can see its address. A chain without one is read through the taker's wallet.
         */
        rpcUrls: z
          .record(z.string().regex(/^[1-9][0-9]{0,15}$/, 'must be the id of a chain'), z.url())
          .default({}),
      })
      .nullable()
      .default(null),
  }),
  ops: zServer(9100),
  admin: zSection({
    host: z.string().default('127.0.0.1'),
    port: z.int().min(0).max(65_535).default(9101),
    /** Accepted in Host beside `host` and loopback names, without a port. */
    hostNames: z.array(z.string().toLowerCase()).default([]),
    keys: z
      .array(z.strictObject({ id: z.string().regex(/^[a-z0-9-]{1,32}$/), secret: zSecretSource }))
      .default([]),
    requestsPerSecond: z.number().positive().default(20),
    /** Pages for administrators, at http://<host>:<port>/console/. They need an admin key. */
    console: z.boolean().default(false),
  }),
  log: zLogSection,
  tracing: zTracing,
  secrets: zSecretsSection,
  database: zDatabase('firmquote_venue'),
  queue: zSection({
    /** REDIS_URL wins; null: queues are on PostgreSQL. */
    redisUrl: zSecretText.nullable().default(null),
  }),
  keys: z.strictObject({
    relayer: z.union([zKeySource, z.array(zKeySource).min(1)]),
    /**
     * The keys of quote seals: the first seals, all verify. Keep an old key until its longest quote has
     * expired.
     */
    seals: z
      .array(
        z.strictObject({
          id: z.string().regex(/^[a-z0-9-]{1,16}$/),
          secret: zSecretSource,
          /** The latest validUntil that a retired key can have sealed. */
          acceptUntil: z.int().min(0).nullable().default(null),
        }),
      )
      .min(1),
    /**
     * They encrypt the signing secrets of webhooks: the first new ones, all decrypt. Keep an old key until
     * every secret has been rotated. Without any, workspaces can create no webhooks.
     */
    webhooks: z
      .array(z.strictObject({ id: z.string().regex(/^[a-z0-9-]{1,16}$/), secret: zSecretSource }))
      .default([]),
    /** Ed25519 keys in PEM. Each signs what the venue asks its partners: two while one is replaced. */
    partners: z.array(zSecretSource).max(2).default([]),
  }),
  chains: zChains(zVenueChain),
  listedChains: z
    .array(z.strictObject({ slug: z.string(), id: z.int(), sandbox: z.boolean().default(false) }))
    .default([]),
  attesters: zSection({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) }),
  feeds: z.record(z.string(), zFeed).default({}),
  prices: z.record(z.string(), zReferencePrice).default({}),
  outbound: zSection({
    allowHosts: z.array(z.string().min(1)).default([]),
    allowPrivate: z.boolean().default(false),
  }),
  /** Takers and receivers are screened before every quote, preflight and submission. */
  screening: zSection({
    /** JSON or one address per line; read again when it changes and on SIGHUP. */
    denyListFile: z.string().min(1).nullable().default(null),
    provider: zSection({
      name: z.string().min(1).max(60).default('screening-service'),
      /** `{address}` is replaced by the address. null: no service is asked. */
      url: zSecretText.nullable().default(null),
      headers: z.record(z.string(), zSecretText).default({}),
      /** Path of the verdict in the JSON answer, joined by dots. */
      deniedPath: z.string().min(1).default('identifications'),
      /** null: any list that is not empty denies. */
      deniedEquals: z.union([z.string(), z.number(), z.boolean()]).nullable().default(null),
      versionPath: z.string().min(1).nullable().default(null),
      timeoutMs: z.int().min(50).default(800),
      attempts: z.int().min(1).max(5).default(2),
      deadlineMs: z.int().min(50).default(1_500),
      cacheTtlMs: z.int().min(0).default(300_000),
      maxCached: z.int().min(1).default(100_000),
      /**
       * Decides when the service does not answer: closed refuses to quote; open quotes, and the record says
       * so.
       */
      onFailure: z.enum(['closed', 'open']).default('closed'),
    }),
  }),
  /** Reports large orders; each workspace's threshold decides which. */
  travelRule: zSection({
    url: zSecretText.nullable().default(null),
    headers: z.record(z.string(), zSecretText).default({}),
    timeoutMs: z.int().min(50).default(10_000),
    file: z.string().min(1).nullable().default(null),
    maxAttempts: zCount(COURIER.maxAttempts),
    firstRetryMs: zCount(COURIER.firstRetryMs),
    longestRetryMs: zCount(COURIER.longestRetryMs),
  }),
  /** Workspaces to add to a database that lacks them. */
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
  roster: zSection({
    /**
     * The least bond of an LP that may quote, by token symbol in whole tokens, such as { "USDC": "5000" }. It
     * counts on each chain with a `quoteBond`, in the token in which a claim would be paid.
     */
    minBond: z.record(z.string().min(1), z.string().regex(/^[0-9]{1,18}(?:\.[0-9]{1,18})?$/)).default({}),
    /** True when solvers on the roster may watch in shadow mode: they see requests and prove no account. */
    shadows: z.boolean().default(true),
  }),
  fanOut: zSection({
    timeoutMs: zCount(FAN_OUT.timeoutMs),
    sliceTimeoutMs: zCount(FAN_OUT.sliceTimeoutMs),
    lingerMs: z.int().min(0).default(FAN_OUT.lingerMs),
    maxSplitParts: zCount(FAN_OUT.maxSplitParts),
    maxValiditySeconds: zCount(FAN_OUT.maxValiditySeconds),
    shortValiditySeconds: z.int().min(0).default(FAN_OUT.shortValiditySeconds),
    farFromMidBps: zCount(FAN_OUT.farFromMidBps),
  }),
  router: zSection({
    timeoutMs: zCount(ROUTER.timeoutMs),
    /** Assets (CAIP-19) tried first between two legs. */
    middles: z.array(zAssetId).default([]),
    maxMiddles: z.int().min(0).max(8).default(ROUTER.maxMiddles),
  }),
  dex: zDexes,
  issuers: zIssuers,
  bridges: zBridges,
  /** Off-chain liquidity over HTTP: docs/venue/route-partners.md. */
  partners: zPartners,
  rates: zSection({
    quotesPerSecond: z.number().positive().default(RATES.quotesPerSecond),
    submitsPerSecond: z.number().positive().default(RATES.submitsPerSecond),
    readsPerSecond: z.number().positive().default(RATES.readsPerSecond),
    perIpPerSecond: z.number().positive().default(RATES.perIpPerSecond),
    burst: z.number().min(1).default(RATES.burst),
    openQuotes: zCount(RATES.openQuotes),
    openNotionalUsd: z.number().positive().default(RATES.openNotionalUsd),
    leastSubmittedShare: z.number().min(0).max(1).default(RATES.leastSubmittedShare),
    trustedIps: z.array(z.string()).default([...RATES.trustedIps]),
  }),
  breaker: zSection({
    limit: z.number().positive().default(BREAKER.limit),
    halfLifeMs: zCount(BREAKER.halfLifeMs),
    firstCoolDownMs: zCount(BREAKER.firstCoolDownMs),
    longestCoolDownMs: zCount(BREAKER.longestCoolDownMs),
    forgiveAfterMs: zCount(BREAKER.forgiveAfterMs),
  }),
  sockets: zSection({
    pingEveryMs: zCount(SOCKETS.pingEveryMs),
    maxBufferedBytes: zCount(SOCKETS.maxBufferedBytes),
    /** Beyond it, event streams with the most unread bytes are closed. */
    maxTotalBufferedBytes: zCount(SOCKETS.maxTotalBufferedBytes),
    maxPerKey: zCount(SOCKETS.maxPerKey),
    maxFramesPerSecond: zCount(SOCKETS.maxFramesPerSecond),
    /** A ticket (POST /api/v1/ws/tickets) opens its WebSocket within this time. */
    ticketSeconds: z.int().min(5).max(300).default(SOCKETS.ticketSeconds),
  }),
  /** Requests beyond these limits get 429 or 503. */
  admission: zSection({
    places: zPerKind(ADMISSION.places, 1),
    waiting: zPerKind(ADMISSION.waiting, 0),
    maxWaitMs: zCount(ADMISSION.maxWaitMs),
    /** Beyond a burst, requests of a key that would wait longer are refused at once. */
    targetWaitMs: zPerKind(ADMISSION.targetWaitMs, 1),
    /** The wait for a database connection at which requests that need the database begin to be refused. */
    shedAtDatabaseWaitMs: zCount(ADMISSION.shedAtDatabaseWaitMs),
    perChain: zCount(ADMISSION.perChain),
  }),
  levels: zSection({
    maxAgeMs: zCount(LEVELS.maxAgeMs),
    maxMarkets: zCount(LEVELS.maxMarkets),
    maxPerSecond: zCount(LEVELS.maxPerSecond),
  }),
  webhooks: zSection({
    /** Allows addresses that resolve to private, loopback or link-local ones; for development. */
    allowPrivate: z.boolean().default(false),
    allowHttp: z.boolean().default(false),
    maxEndpoints: zCount(WEBHOOKS.maxEndpoints),
    timeoutMs: z.int().min(100).max(60_000).default(WEBHOOKS.timeoutMs),
    firstRetryMs: zCount(WEBHOOKS.firstRetryMs),
    longestRetryMs: zCount(WEBHOOKS.longestRetryMs),
    giveUpAfterMs: zCount(WEBHOOKS.giveUpAfterMs),
    disableAfterMs: zCount(WEBHOOKS.disableAfterMs),
    endpointsAtOnce: zCount(WEBHOOKS.endpointsAtOnce),
    deliveriesAtOnce: zCount(WEBHOOKS.deliveriesAtOnce),
    sweepMs: zCount(WEBHOOKS.sweepMs),
  }),
  /** Days until rows are deleted; null keeps them. */
  /** Outcomes that amounts of test keys can force; live keys never can. */
  sandbox: zSection({
    scenarios: z.boolean().default(SANDBOX.scenarios),
    /** Solvers that never fill (`lp.sandbox.neverFills`): for scenario 103, and with a bond for 104. */
    unfilled: z.array(z.string().min(1).max(64)).default([]),
    faded: z.array(z.string().min(1).max(64)).default([]),
  }),
  retention: zSection({
    /** An Idempotency-Key must hold for at least one day. */
    idempotencyDays: z.int().min(2).nullable().default(2),
    slotDays: z.int().min(7).nullable().default(90),
    /** A stream cannot resume from before that. */
    eventDays: z.int().min(7).nullable().default(null),
    /** Days for which the log of webhook deliveries is kept. */
    webhookDays: z.int().min(2).nullable().default(30),
  }),
});

/** Checks the rules between several fields. */
export const zVenueConfig = zVenueFields.superRefine(({ chains, roster }, context) => {
  const bonded = new Set(
    chains
      .filter(({ quoteBond }) => quoteBond !== null)
      .flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)),
  );
  for (const symbol of Object.keys(roster.minBond))
    if (!bonded.has(symbol))
      context.addIssue({
        code: 'custom',
        path: ['roster', 'minBond', symbol],
        message: `no chain with a quoteBond has a token ${symbol}`,
      });
});

export type VenueConfig = z.infer<typeof zVenueConfig>;
