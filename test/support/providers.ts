/**
 * Describes what providers of nodes refuse, and how they say it: figures and words from their documentation
 * and from public reports of their answers. Each entry is one plan of one provider.
 */

import type { Call, HttpRefusal, Provider, RpcError } from '../faults/support/rpc-proxy.ts';

/** The shape of a refusal. `error`: JSON-RPC, once for the whole request. `each`: for each call, with 200. */
type Dress =
  | { as: 'each' }
  | { as: 'error'; status: number; retryAfterSeconds?: number }
  /** The error object without its envelope, in the first answer, or no JSON at all. */
  | { as: 'bare' | 'first'; status: number }
  | { as: 'page'; status: number; html: string };

export interface Plan {
  sources: readonly string[];
  /** Calls a second of one key; a batch counts each. */
  rate: { perSecond: number; error: RpcError; dress: Dress };
  /** The most blocks in a request for logs. */
  logs: { blocks: bigint; error: (from: bigint, to: bigint) => RpcError; status: number };
  /** The most calls in a batch. */
  batch?: { calls: number; error: RpcError; dress: Dress };
  /** Logs and state of blocks further below the newest one are gone. */
  history?: { blocks: bigint; error: RpcError };
  missing?: { methods: readonly string[]; error: RpcError };
  /** One request of `every` reaches a node that is `blocks` behind. */
  lag: { every: number; blocks: number };
}

const hex = (block: bigint) => `0x${block.toString(16)}`;
const LAG = { every: 20, blocks: 1 };
const NO_METHOD: RpcError = { code: -32_601, message: 'the method does not exist/is not available' };

export const PLANS = {
  alchemy: {
    sources: [
      'https://www.alchemy.com/docs/reference/throughput',
      'https://github.com/latticexyz/mud/issues/1522',
      'https://github.com/boundless-xyz/boundless/issues/838',
    ],
    rate: {
      perSecond: 25,
      error: {
        code: 429,
        message:
          'Your app has exceeded its compute units per second capacity. If you have retries enabled, you can safely ignore this message.',
      },
      dress: { as: 'each' },
    },
    logs: {
      blocks: 500n,
      status: 400,
      error: (from) => ({
        code: -32_600,
        message: `You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [${hex(from)}, ${hex(from + 499n)}]`,
      }),
    },
    lag: LAG,
  },
  infura: {
    sources: [
      'https://docs.metamask.io/services/how-to/avoid-rate-limiting/',
      'https://github.com/status-im/status-go/pull/4807',
      'https://github.com/INFURA/infura/issues/237',
    ],
    rate: {
      perSecond: 25,
      error: {
        code: -32_005,
        message: 'exceeded project rate limit',
        data: {
          rate: { allowed_rps: 5, backoff_seconds: 30, current_rps: 5.2 },
          see: 'https://infura.io/dashboard',
        },
      },
      dress: { as: 'error', status: 429 },
    },
    logs: {
      blocks: 10_000n,
      status: 200,
      error: (from, to) => ({ code: -32_602, message: `range ${to - from} exceeds limit of 10000` }),
    },
    lag: LAG,
  },
  quicknode: {
    sources: [
      'https://www.quicknode.com/docs/ethereum/error-references',
      'https://www.quicknode.com/docs/ethereum/eth_getLogs',
      'https://github.com/foundry-rs/foundry/issues/4894',
      'https://github.com/OffchainLabs/arbitrum-sdk/issues/609',
    ],
    rate: {
      perSecond: 25,
      error: {
        code: -32_007,
        message:
          '25/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
      },
      dress: { as: 'bare', status: 429 },
    },
    logs: {
      blocks: 5n,
      status: 413,
      error: () => ({ code: -32_614, message: 'eth_getLogs is limited to a 5 range' }),
    },
    lag: LAG,
  },
  ankr: {
    sources: [
      'https://www.ankr.com/docs/rpc-service/service-plans/',
      'https://github.com/ponder-sh/ponder/issues/1940',
      'https://github.com/AlphaWallet/alpha-wallet-ios/issues/5021',
    ],
    rate: {
      perSecond: 30,
      error: { code: -32_090, message: 'Too many requests, reason: call rate limit exhausted, retry in 10s' },
      dress: { as: 'error', status: 429 },
    },
    logs: {
      blocks: 1_000n,
      status: 200,
      error: () => ({ code: -32_602, message: 'maximum [from, to] blocks distance: 1000' }),
    },
    batch: {
      calls: 100,
      error: { code: -32_600, message: 'Too many methods in the batch' },
      dress: { as: 'error', status: 200 },
    },
    lag: LAG,
  },
  drpc: {
    sources: [
      'its free tier, as many public programs quote its answers: codes 30, 31, 35, statuses 408, 500, 400',
    ],
    rate: {
      perSecond: 40,
      error: {
        code: 30,
        message: 'Request timeout on the free tier, please upgrade your tier to the paid one',
      },
      dress: { as: 'error', status: 408 },
    },
    logs: {
      blocks: 10_000n,
      status: 400,
      error: () => ({ code: 35, message: 'ranges over 10000 blocks are not supported on freetier' }),
    },
    batch: {
      calls: 3,
      error: {
        code: 31,
        message:
          'Batch of more than 3 requests are not allowed on free tier, to use this feature register paid account at drpc.org',
      },
      dress: { as: 'first', status: 500 },
    },
    lag: LAG,
  },
  publicnode: {
    sources: [
      'https://www.publicnode.com',
      'https://github.com/AlphaWallet/alpha-wallet-android/issues/2736',
    ],
    rate: {
      perSecond: 40,
      error: { code: 429, message: 'Too Many Requests' },
      dress: { as: 'page', status: 429, html: '<html><h1>429 Too Many Requests</h1></html>' },
    },
    logs: {
      blocks: 50_000n,
      status: 200,
      error: () => ({ code: -32_701, message: 'exceed maximum block range: 50000' }),
    },
    history: {
      blocks: 10_000n,
      error: {
        code: -32_602,
        message: 'Archive requests require a personal token. Get one at: https://www.allnodes.com/publicnode',
      },
    },
    lag: LAG,
  },
  chainstack: {
    sources: [
      'https://docs.chainstack.com/docs/limits',
      'https://github.com/BobTheBuidler/dank_mids/pull/728',
    ],
    rate: {
      perSecond: 25,
      error: {
        code: -32_005,
        message: "You've exceeded the RPS limit available on the current plan.",
        data: { try_again_in: '250.5ms' },
      },
      dress: { as: 'error', status: 429, retryAfterSeconds: 1 },
    },
    logs: {
      blocks: 100n,
      status: 200,
      error: () => ({
        code: -32_602,
        message:
          'Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits',
      }),
    },
    lag: LAG,
  },
  base: {
    sources: ['https://github.com/ethereum-optimism/infra (proxyd/errors)', 'https://docs.base.org'],
    rate: {
      perSecond: 25,
      error: { code: -32_016, message: 'over rate limit' },
      dress: { as: 'error', status: 429 },
    },
    logs: { blocks: 2_000n, status: 200, error: () => ({ code: -32_000, message: 'block range too large' }) },
    batch: {
      calls: 10,
      error: { code: -32_014, message: 'too many RPC calls in batch request' },
      dress: { as: 'error', status: 200 },
    },
    missing: { methods: ['eth_maxPriorityFeePerGas'], error: NO_METHOD },
    lag: LAG,
  },
} satisfies Record<string, Plan>;

export type ProviderName = keyof typeof PLANS;

export const isProvider = (name: string): name is ProviderName => Object.hasOwn(PLANS, name);

/** `counts` counts what was refused, by kind. */
export interface PlayedProvider extends Provider {
  counts: Record<'rate' | 'logs' | 'batch' | 'history' | 'missing' | 'lag', number>;
}

/** The position of the block among the parameters of each method. */
const STATE_AT: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** Plays a plan: with its own `perSecond`, and `historyBlocks` where it limits history, unless given. */
export function playProvider(
  name: ProviderName,
  { perSecond, historyBlocks }: { perSecond?: number; historyBlocks?: bigint } = {},
): PlayedProvider {
  const plan: Plan = PLANS[name];
  const history = plan.history && { ...plan.history, blocks: historyBlocks ?? plan.history.blocks };
  const limit = perSecond ?? plan.rate.perSecond;
  const counts = { rate: 0, logs: 0, batch: 0, history: 0, missing: 0, lag: 0 };
  const buckets = new Map<string, { left: number; atMs: number }>();
  let requests = 0;
  /** Calls that one request may not make, when the others may. */
  const overRate = new WeakSet<Call>();

  /** Returns how many of so many calls a key may make now. */
  function take(key: string, wanted: number): number {
    const now = performance.now();
    const bucket = buckets.get(key) ?? { left: limit, atMs: now };
    bucket.left = Math.min(limit, bucket.left + ((now - bucket.atMs) / 1_000) * limit);
    bucket.atMs = now;
    buckets.set(key, bucket);
    const taken = Math.min(wanted, Math.floor(bucket.left));
    bucket.left -= taken;
    return taken;
  }

  function errorOf(
    { method, params = [] }: Call,
    head: bigint,
  ): { kind: 'logs' | 'history' | 'missing'; error: RpcError } | undefined {
    if (plan.missing?.methods.includes(method)) return { kind: 'missing', error: plan.missing.error };
    const isGone = (block: bigint) => history !== undefined && block + history.blocks < head;
    const state = params[STATE_AT[method] ?? -1];
    if (history && isNumber(state) && isGone(BigInt(state))) return { kind: 'history', error: history.error };
    if (method !== 'eth_getLogs') return undefined;
    const { fromBlock, toBlock } = params[0] as { fromBlock?: unknown; toBlock?: unknown };
    if (!isNumber(fromBlock) || !isNumber(toBlock)) return undefined;
    const [from, to] = [BigInt(fromBlock), BigInt(toBlock)];
    if (history && isGone(from)) return { kind: 'history', error: history.error };
    return to - from + 1n > plan.logs.blocks ? { kind: 'logs', error: plan.logs.error(from, to) } : undefined;
  }

  return {
    counts,
    needsHead: history !== undefined,
    refuse(calls, { isBatch, key, head }) {
      const { rate, batch } = plan;
      const allowed = take(key, calls.length);
      if (allowed < calls.length) {
        counts.rate += 1;
        if (rate.dress.as !== 'each') return dressed(rate.dress, rate.error, calls, isBatch);
        for (const call of calls.slice(allowed)) overRate.add(call);
      }
      if (batch && isBatch && calls.length > batch.calls) {
        counts.batch += 1;
        return dressed(batch.dress, batch.error, calls, isBatch);
      }
      const [only] = calls;
      const refused = !isBatch && only ? errorOf(only, head) : undefined;
      if (only && refused?.kind === 'logs' && plan.logs.status !== 200) {
        counts.logs += 1;
        return dressed({ as: 'error', status: plan.logs.status }, refused.error, calls, isBatch);
      }
      return undefined;
    },
    refuseCall(call, head) {
      if (overRate.has(call)) return plan.rate.error;
      const refused = errorOf(call, head);
      if (refused) counts[refused.kind] += 1;
      return refused?.error;
    },
    behind() {
      requests += 1;
      if (requests % plan.lag.every !== 0) return 0;
      counts.lag += 1;
      return plan.lag.blocks;
    },
  };
}

const isNumber = (tag: unknown): tag is string => typeof tag === 'string' && /^0x[0-9a-f]+$/i.test(tag);

function dressed(dress: Dress, error: RpcError, calls: readonly Call[], isBatch: boolean): HttpRefusal {
  const json = { 'content-type': 'application/json' };
  const of = (id: unknown) => ({ jsonrpc: '2.0', id, error });
  switch (dress.as) {
    case 'page':
      return { status: dress.status, headers: { 'content-type': 'text/html' }, body: dress.html };
    case 'bare':
      return { status: dress.status, headers: json, body: JSON.stringify(error) };
    case 'first':
      return { status: dress.status, headers: json, body: JSON.stringify([of(calls[0]?.id ?? null)]) };
    case 'error':
      return {
        status: dress.status,
        headers: {
          ...json,
          ...(dress.retryAfterSeconds !== undefined && { 'retry-after': String(dress.retryAfterSeconds) }),
        },
        body: JSON.stringify(of(isBatch ? null : (calls[0]?.id ?? null))),
      };
    case 'each':
      return { status: 200, headers: json, body: JSON.stringify(calls.map(({ id }) => of(id))) };
  }
}
