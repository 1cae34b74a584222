/** The venue's options and their defaults. Wall times in milliseconds, chain times in seconds. */

import type { AssetId } from '../domain/asset.ts';
import type { SealKey } from '../auction/seal.ts';
import type { LoadKind } from '../ports/http.ts';

/**
 * The least bond by token symbol, in whole tokens, such as { USDC: "5000" }. It applies on chains with a bond
 * contract.
 */
export type MinBond = Readonly<Record<string, string>>;

/** A key that encrypts the signing secrets of webhooks in the database. */
export interface VaultKey {
  id: string;
  secret: Uint8Array;
}

export const CHAIN_DEFAULTS = {
  /** `apiSubmit` becomes `walletBroadcast` while the relayer cannot pay. */
  executionMode: 'apiSubmit' as 'apiSubmit' | 'walletBroadcast',
  /**
   * Gas of a settlement, each further output, an `open`, and a settlement through a filler without the
   * filler's own.
   */
  settleGas: 230_000n,
  outputGas: 60_000n,
  openGas: 180_000n,
  throughGas: 240_000n,
  /** Gas prices may rise before the transaction lands. */
  relayBufferBps: 2_000,
};
export type ChainSettings = typeof CHAIN_DEFAULTS;

export interface VenueOptions {
  venueId: string;
  /** The first seals; all verify. */
  sealKeys: readonly SealKey[];
  chainSettings?: ReadonlyMap<number, Partial<ChainSettings>>;
  /** Listed chains without an escrow of this venue. */
  listedChains?: readonly { slug: string; id: number; sandbox: boolean }[];
  /** The least bond of an LP that may quote, by token symbol in whole tokens. */
  minBond?: MinBond;
  /**
   * Allows solvers to connect in shadow mode, in which they price requests and sign nothing. Default true.
   */
  shadows?: boolean;
  fanOut?: Partial<FanOutOptions>;
  router?: Partial<RouterOptions>;
  rates?: Partial<RateOptions>;
  breaker?: Partial<BreakerOptions>;
  sockets?: Partial<SocketOptions>;
  admission?: Partial<AdmissionOptions>;
  levels?: Partial<LevelsOptions>;
  webhooks?: Partial<WebhookOptions>;
  sandbox?: Partial<SandboxOptions>;
  /** The first encrypts the secrets of webhooks; all decrypt. Without any, there are no webhooks. */
  webhookKeys?: readonly VaultKey[];
}

export const SANDBOX = {
  /** Lets amounts of test keys force outcomes. Live keys never can. */
  scenarios: false,
  /** Solvers that never fill: for scenario 103, and with a bond for 104. Nothing else asks them. */
  unfilled: [] as readonly string[],
  faded: [] as readonly string[],
};
export type SandboxOptions = typeof SANDBOX;

export const ROUTER = { timeoutMs: 700, middles: [] as readonly AssetId[], maxMiddles: 3 };
export type RouterOptions = typeof ROUTER;

export const FAN_OUT = {
  timeoutMs: 300,
  /** Deadline of the second round, in which LPs commit to a split. */
  sliceTimeoutMs: 200,
  /** Wait after the last answer, for further quotes of the same solver. */
  lingerMs: 1,
  maxSplitParts: 4,
  /** The escrow's withdrawal delay must be longer. */
  maxValiditySeconds: 600,
  /** Shorter ones carry warning 1004. */
  shortValiditySeconds: 4,
  /** Further ones carry warning 1001. */
  farFromMidBps: 200,
};
export type FanOutOptions = typeof FAN_OUT;

export const RATES = {
  quotesPerSecond: 50,
  submitsPerSecond: 20,
  readsPerSecond: 100,
  /** The rate per address is checked before authentication. */
  perIpPerSecond: 300,
  /** Seconds of its rate that a bucket holds. */
  burst: 2,
  /** One key may have this many live quote requests that have not been submitted. */
  openQuotes: 2_000,
  openNotionalUsd: 50_000_000,
  /**
   * The share of the amounts quoted to a workspace that it is expected to submit. While it submits less, its
   * other quotes may hold a shrinking part of each LP's inventory. 0: no limit.
   */
  leastSubmittedShare: 0.01,
  /** Addresses (own proxies, benches) exempt from the limit by address. */
  trustedIps: [] as readonly string[],
};
export type RateOptions = typeof RATES;

export const BREAKER = {
  /** A fault weighs 1, a fade 3; the sum halves every half-life. At the limit the breaker opens. */
  limit: 5,
  halfLifeMs: 60_000,
  firstCoolDownMs: 10_000,
  longestCoolDownMs: 900_000,
  /** Each such quiet spell takes one step off the cool-down. */
  forgiveAfterMs: 600_000,
};
export type BreakerOptions = typeof BREAKER;

export const ADMISSION = {
  places: {
    quote: 256,
    preflight: 128,
    submit: 128,
    read: 64,
    /** Each takes a few database connections, and a page of a large history takes long. */
    history: 4,
    memory: 128,
    export: 8,
    socket: 64,
    subscribe: 32,
  } satisfies Readonly<Record<LoadKind, number>>,
  waiting: {
    quote: 0,
    preflight: 128,
    submit: 640,
    read: 128,
    history: 128,
    memory: 128,
    export: 0,
    socket: 2_048,
    subscribe: 2_048,
  } satisfies Readonly<Record<LoadKind, number>>,
  maxWaitMs: 2_000,
  /**
   * Once a key's requests have waited without a pause, further ones are refused that would wait longer than
   * this: a quote can be asked for again, a submission is a trade.
   */
  targetWaitMs: {
    quote: 20,
    preflight: 500,
    submit: 1_000,
    read: 500,
    history: 1_500,
    memory: 200,
    export: 200,
    socket: 2_000,
    subscribe: 2_000,
  } satisfies Readonly<Record<LoadKind, number>>,
  shedAtDatabaseWaitMs: 500,
  /** Submissions and preflights in progress per chain. */
  perChain: 128,
};
export type AdmissionOptions = typeof ADMISSION;

export const SOCKETS = {
  pingEveryMs: 30_000,
  maxBufferedBytes: 1024 * 1024,
  /** Beyond it, streams with the most unread bytes are closed. */
  maxTotalBufferedBytes: 128 * 1024 * 1024,
  maxPerKey: 100,
  maxFramesPerSecond: 100,
  /** A ticket opens its WebSocket within this time. */
  ticketSeconds: 30,
};
export type SocketOptions = typeof SOCKETS;

export const LEVELS = {
  /** Older ladders are not shown. */
  maxAgeMs: 10_000,
  maxMarkets: 2_000,
  maxPerSecond: 400,
};
export type LevelsOptions = typeof LEVELS;

/** Limits and times of webhooks. */
export const WEBHOOKS = {
  /** The limit counts per workspace and mode. */
  maxEndpoints: 10,
  /** The endpoint must have sent its whole answer by then. */
  timeoutMs: 15_000,
  /** Doubles with each attempt. */
  firstRetryMs: 5_000,
  longestRetryMs: 3_600_000,
  /** The last attempt of a delivery is made then. */
  giveUpAfterMs: 86_400_000,
  /** An endpoint whose attempts have all failed for so long is disabled. */
  disableAfterMs: 86_400_000,
  /** One worker serves this many endpoints together, and sends this many deliveries to one of them. */
  endpointsAtOnce: 32,
  deliveriesAtOnce: 4,
  /** Makes up for lost wake-ups. */
  sweepMs: 5_000,
};
export type WebhookOptions = typeof WEBHOOKS;
