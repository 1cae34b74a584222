/** The venue's options and their defaults. Wall times in milliseconds, chain times in seconds. */

import type { AssetId } from '../domain/asset.ts';
import type { SealKey } from '../auction/seal.ts';
import type { LoadKind } from '../ports/http.ts';

export interface ChainSettings {
  /** Who sends transactions. `apiSubmit` becomes `walletBroadcast` while the relayer cannot pay. */
  executionMode: 'apiSubmit' | 'walletBroadcast';
  /** Reference price symbol of the native currency. */
  nativeSymbol: string;
  /**
   * Gas of a settlement, of each further output, of an `open`, and of a settlement through a filler without
   * the filler's own gas.
   */
  settleGas: bigint;
  outputGas: bigint;
  openGas: bigint;
  throughGas: bigint;
  /** Added to the relayer's cost, because gas prices may rise before the transaction lands. */
  relayBufferBps: number;
}

export const CHAIN_DEFAULTS: ChainSettings = {
  executionMode: 'apiSubmit',
  nativeSymbol: 'ETH',
  settleGas: 230_000n,
  outputGas: 60_000n,
  openGas: 180_000n,
  throughGas: 240_000n,
  relayBufferBps: 2_000,
};

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

export interface RouterOptions {
  /** Deadline of one router request, shared by all its sources. */
  timeoutMs: number;
  /** Assets tried first between two legs. */
  middles: readonly AssetId[];
  /** Most assets tried between two legs of one request. */
  maxMiddles: number;
}

export interface FanOutOptions {
  /** Deadline of the first round. */
  timeoutMs: number;
  /** Deadline of the second round, in which LPs commit to a split. */
  sliceTimeoutMs: number;
  /** Wait after the last solver's answer, for further quotes of the same answer. */
  lingerMs: number;
  maxSplitParts: number;
  /** Longest validity of a quote; the escrow's withdrawal delay must be longer. */
  maxValiditySeconds: number;
  /** Shorter validities carry warning 1004. */
  shortValiditySeconds: number;
  /** Prices further from the reference carry warning 1001. */
  farFromMidBps: number;
}

export interface RateOptions {
  quotesPerSecond: number;
  submitsPerSecond: number;
  readsPerSecond: number;
  /** Before authentication. */
  perIpPerSecond: number;
  /** A bucket holds this many seconds of its rate. */
  burst: number;
  /** Live quote requests of one key that have not been submitted. */
  openQuotes: number;
  openNotionalUsd: number;
  /** Addresses (own proxies, benches) exempt from the limit by address. */
  trustedIps: readonly string[];
}

export interface BreakerOptions {
  /** A fault weighs 1, a fade 3; the sum halves every half-life. At the limit the breaker opens. */
  limit: number;
  halfLifeMs: number;
  firstCoolDownMs: number;
  longestCoolDownMs: number;
  /** Each quiet spell of this length takes one step off the exponential cool-down. */
  forgiveAfterMs: number;
}

/**
 * Limits of work in progress in one process. Requests beyond them are refused with 429 or 503 before any
 * work.
 */
export interface AdmissionOptions {
  /** Requests in progress, by kind. */
  places: Readonly<Record<LoadKind, number>>;
  /** Requests that may wait for a slot, by kind, and for how long. */
  waiting: Readonly<Record<LoadKind, number>>;
  maxWaitMs: number;
  /**
   * At this event loop lag some quotes and exports are refused, at twice this all of them; submissions come
   * last.
   */
  shedAtLagMs: number;
  /** At this wait for a database connection, requests that need the database begin to be refused. */
  shedAtDatabaseWaitMs: number;
  /** Submissions and preflights in progress per chain. */
  perChain: number;
}

export interface SocketOptions {
  pingEveryMs: number;
  maxBufferedBytes: number;
  /** Of all event streams together; beyond it those with the most unread bytes are closed. */
  maxTotalBufferedBytes: number;
  maxPerKey: number;
  /** Frames that one client may send per second. */
  maxFramesPerSecond: number;
}

export interface LevelsOptions {
  /** Older ladders are not shown. */
  maxAgeMs: number;
  /** Markets for which one solver may publish ladders. */
  maxMarkets: number;
  /** Ladders that one solver may send per second. */
  maxPerSecond: number;
}

export const FAN_OUT: FanOutOptions = {
  timeoutMs: 300,
  sliceTimeoutMs: 200,
  lingerMs: 1,
  maxSplitParts: 4,
  maxValiditySeconds: 600,
  shortValiditySeconds: 4,
  farFromMidBps: 200,
};
export const ROUTER: RouterOptions = { timeoutMs: 700, middles: [], maxMiddles: 3 };
export const RATES: RateOptions = {
  quotesPerSecond: 50,
  submitsPerSecond: 20,
  readsPerSecond: 100,
  perIpPerSecond: 300,
  burst: 2,
  openQuotes: 2_000,
  openNotionalUsd: 50_000_000,
  trustedIps: [],
};
export const BREAKER: BreakerOptions = {
  limit: 5,
  halfLifeMs: 60_000,
  firstCoolDownMs: 10_000,
  longestCoolDownMs: 900_000,
  forgiveAfterMs: 600_000,
};
export const SOCKETS: SocketOptions = {
  pingEveryMs: 30_000,
  maxBufferedBytes: 1024 * 1024,
  maxTotalBufferedBytes: 128 * 1024 * 1024,
  maxPerKey: 100,
  maxFramesPerSecond: 100,
};
export const ADMISSION: AdmissionOptions = {
  places: {
    quote: 256,
    preflight: 128,
    submit: 128,
    read: 64,
    memory: 128,
    export: 8,
    socket: 64,
    subscribe: 32,
  },
  waiting: {
    quote: 0,
    preflight: 128,
    submit: 640,
    read: 128,
    memory: 128,
    export: 0,
    socket: 2_048,
    subscribe: 2_048,
  },
  maxWaitMs: 2_000,
  shedAtLagMs: 200,
  shedAtDatabaseWaitMs: 500,
  perChain: 128,
};
export const LEVELS: LevelsOptions = { maxAgeMs: 10_000, maxMarkets: 2_000, maxPerSecond: 400 };
