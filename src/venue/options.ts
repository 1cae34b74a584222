/** The venue's options and their defaults. Wall times in milliseconds, chain times in seconds. */

import type { AssetId } from '../domain/asset.ts';
import type { SealKey } from '../auction/seal.ts';
import type { LoadKind } from '../ports/http.ts';

export const CHAIN_DEFAULTS = {
  /** Who sends transactions. `apiSubmit` becomes `walletBroadcast` while the relayer cannot pay. */
  executionMode: 'apiSubmit' as 'apiSubmit' | 'walletBroadcast',
  /** Reference price symbol of the native currency. */
  nativeSymbol: 'ETH',
  /**
   * Gas of a settlement, of each further output, of an `open`, and of a settlement through a filler without
   * the filler's own gas.
   */
  settleGas: 230_000n,
  outputGas: 60_000n,
  openGas: 180_000n,
  throughGas: 240_000n,
  /** Added to the relayer's cost, because gas prices may rise before the transaction lands. */
  relayBufferBps: 2_000,
};
export type ChainSettings = typeof CHAIN_DEFAULTS;

export interface VenueOptions {
  /** Sent in every link challenge. */
  venueId: string;
  /** The first seals; all of them verify. */
  sealKeys: readonly SealKey[];
  /** By chain id; other chains have the defaults. */
  chainSettings?: ReadonlyMap<number, Partial<ChainSettings>>;
  /** Chains that the pairs endpoint lists although they have no escrow of this venue. */
  listedChains?: readonly { slug: string; id: number; sandbox: boolean }[];
  fanOut?: Partial<FanOutOptions>;
  router?: Partial<RouterOptions>;
  rates?: Partial<RateOptions>;
  breaker?: Partial<BreakerOptions>;
  sockets?: Partial<SocketOptions>;
  admission?: Partial<AdmissionOptions>;
  levels?: Partial<LevelsOptions>;
}

export const ROUTER = {
  /** Deadline of one router request, shared by all its sources. */
  timeoutMs: 700,
  /** Assets tried first between two legs. */
  middles: [] as readonly AssetId[],
  /** Most assets tried between two legs of one request. */
  maxMiddles: 3,
};
export type RouterOptions = typeof ROUTER;

export const FAN_OUT = {
  /** Deadline of the first round. */
  timeoutMs: 300,
  /** Deadline of the second round, in which LPs commit to a split. */
  sliceTimeoutMs: 200,
  /** Wait after the last solver's answer, for further quotes of the same answer. */
  lingerMs: 1,
  maxSplitParts: 4,
  /** Longest validity of a quote; the escrow's withdrawal delay must be longer. */
  maxValiditySeconds: 600,
  /** Shorter validities carry warning 1004. */
  shortValiditySeconds: 4,
  /** Prices further from the reference carry warning 1001. */
  farFromMidBps: 200,
};
export type FanOutOptions = typeof FAN_OUT;

export const RATES = {
  quotesPerSecond: 50,
  submitsPerSecond: 20,
  readsPerSecond: 100,
  /** Before authentication. */
  perIpPerSecond: 300,
  /** A bucket holds this many seconds of its rate. */
  burst: 2,
  /** Live quote requests of one key that have not been submitted. */
  openQuotes: 2_000,
  openNotionalUsd: 50_000_000,
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
  /** Each quiet spell of this length takes one step off the exponential cool-down. */
  forgiveAfterMs: 600_000,
};
export type BreakerOptions = typeof BREAKER;

/**
 * Limits of work in progress in one process. Requests beyond them are refused with 429 or 503 before any
 * work.
 */
export const ADMISSION = {
  /** Requests in progress, by kind. */
  places: {
    quote: 256,
    preflight: 128,
    submit: 128,
    read: 64,
    memory: 128,
    export: 8,
    socket: 64,
    subscribe: 32,
  } satisfies Readonly<Record<LoadKind, number>>,
  /** Requests that may wait for a slot, by kind, and for how long. */
  waiting: {
    quote: 0,
    preflight: 128,
    submit: 640,
    read: 128,
    memory: 128,
    export: 0,
    socket: 2_048,
    subscribe: 2_048,
  } satisfies Readonly<Record<LoadKind, number>>,
  maxWaitMs: 2_000,
  /**
   * At this event loop lag some quotes and exports are refused, at twice this all of them; submissions come
   * last.
   */
  shedAtLagMs: 200,
  /** At this wait for a database connection, requests that need the database begin to be refused. */
  shedAtDatabaseWaitMs: 500,
  /** Submissions and preflights in progress per chain. */
  perChain: 128,
};
export type AdmissionOptions = typeof ADMISSION;

export const SOCKETS = {
  pingEveryMs: 30_000,
  maxBufferedBytes: 1024 * 1024,
  /** Of all event streams together; beyond it those with the most unread bytes are closed. */
  maxTotalBufferedBytes: 128 * 1024 * 1024,
  maxPerKey: 100,
  /** Frames that one client may send per second. */
  maxFramesPerSecond: 100,
};
export type SocketOptions = typeof SOCKETS;

export const LEVELS = {
  /** Older ladders are not shown. */
  maxAgeMs: 10_000,
  /** Markets for which one solver may publish ladders. */
  maxMarkets: 2_000,
  /** Ladders that one solver may send per second. */
  maxPerSecond: 400,
};
export type LevelsOptions = typeof LEVELS;
