/** What a venue can be told, with defaults that work. Wall times in milliseconds, chain times in seconds. */

import type { AssetId } from '../domain/asset.ts';
import type { SealKey } from '../auction/seal.ts';
import type { LoadKind } from '../ports/http.ts';

export interface ChainSettings {
  /** Who lands transactions here. `apiSubmit` turns into `walletBroadcast` while the relayer cannot pay. */
  executionMode: 'apiSubmit' | 'walletBroadcast';
  /** Reference price symbol of the native currency. */
  nativeSymbol: string;
  /**
   * Gas of one settlement, of each output beyond the first, of an `open`, and of a settlement through a
   * filler without what the filler uses.
   */
  settleGas: bigint;
  outputGas: bigint;
  openGas: bigint;
  throughGas: bigint;
  /** Added to the relayer's cost for fees that rise before it lands. */
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
  /** Named in every link challenge. */
  venueId: string;
  /** The first seals; the others still verify. */
  sealKeys: readonly SealKey[];
  /** By chain id; missing chains take the defaults. */
  chainSettings?: ReadonlyMap<number, Partial<ChainSettings>>;
  /** Chains that the pairs endpoint lists although no escrow of ours is there. */
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
  /** Everything that one router request asks shares this deadline. */
  timeoutMs: number;
  /** Tried first between two legs. */
  middles: readonly AssetId[];
  /** Assets tried at most between two legs of one request. */
  maxMiddles: number;
}

export interface FanOutOptions {
  /** Shared deadline of the first round. */
  timeoutMs: number;
  /** Of the second, in which a planned split is committed. */
  sliceTimeoutMs: number;
  /** After everybody has answered: further quotes of the same answer are often in flight. */
  lingerMs: number;
  maxSplitParts: number;
  /** Longest validity that a quote may have: the escrow's withdrawal delay must outlive it. */
  maxValiditySeconds: number;
  /** Shorter ones carry warning 1004. */
  shortValiditySeconds: number;
  /** Further from the reference than this carries warning 1001. */
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
  /** Live, unsubmitted quote requests of one key. */
  openQuotes: number;
  openNotionalUsd: number;
  /** Addresses of our own proxies or benches that the per-address limit does not count. */
  trustedIps: readonly string[];
}

export interface BreakerOptions {
  /** A fault weighs 1, a fade 3; the sum halves every half-life. At the limit the breaker opens. */
  limit: number;
  halfLifeMs: number;
  firstCoolDownMs: number;
  longestCoolDownMs: number;
  /** A quiet spell this long forgives one step of the exponential cool-down. */
  forgiveAfterMs: number;
}

/**
 * How much may be at work at once in this process; what is beyond it is refused with 429 or 503 before it
 * costs anything.
 */
export interface AdmissionOptions {
  /** Requests at work, by kind. */
  places: Readonly<Record<LoadKind, number>>;
  /** Requests that may wait for a place, by kind, and for how long. */
  waiting: Readonly<Record<LoadKind, number>>;
  maxWaitMs: number;
  /**
   * While the event loop is this late, quotes and exports begin to be refused; at twice this, all of them.
   * Submissions come last.
   */
  shedAtLagMs: number;
  /** While a statement waits this long for a connection, what needs the database begins to be refused. */
  shedAtDatabaseWaitMs: number;
  /** Submissions and preflights that may wait for one chain's node. */
  perChain: number;
}

export interface SocketOptions {
  pingEveryMs: number;
  maxBufferedBytes: number;
  /** Of all event streams together: beyond it those that lag most are closed. */
  maxTotalBufferedBytes: number;
  maxPerKey: number;
  /** Frames that one client may send per second. */
  maxFramesPerSecond: number;
}

/** Indicative ladders of solvers. */
export interface LevelsOptions {
  /** Older ones are not shown. */
  maxAgeMs: number;
  /** Markets that one solver may have ladders for. */
  maxMarkets: number;
  /** Ladders that one solver may send. */
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
