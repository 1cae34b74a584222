/**
 * Follows a chain's head by subscription, or by polling. Announces no heads while a final block is
 * missing.
 */

import type { Block, ChainHealthIssue } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Counter, Metrics } from '../../../ports/metrics.ts';
import { type HeadBlock, type RpcBlock, toBlock } from './block.ts';
import { createFinality, type Finality } from './finality.ts';
import type { Health } from '../rpc/health.ts';
import type { ChainRpc } from '../rpc/rpc.ts';
import { type ClockSkew, createSkew } from './clock-skew.ts';

const MIN_POLL_MS = 40;
const MAX_POLL_MS = 4_000;
/** The only node must claim a block that time does not allow this long, and can take it back as long. */
const DOUBT_MS = 60_000;
/** A node that catches up shows the blocks of this long at once; blocks may be faster than configured. */
const CATCH_UP_MS = 60_000;
const FASTEST = 4;

interface HeadOptions {
  slug: string;
  blockTimeMs: number;
  depth: number;
  /** A jump of more blocks than this must be confirmed by other endpoints. */
  maxJumpBlocks: number;
  maxClockSkewMs: number;
  stopOnDeepReorg: boolean;
}

/** An older block never replaces the head, because the answering node may lag. */
const isNewHead = (block: HeadBlock, head: HeadBlock | undefined): boolean =>
  head === undefined || (block.number >= head.number && block.hash !== head.hash);

export interface Head {
  current(): HeadBlock | undefined;
  seenAtMs(): number;
  /** Calls the listener with each new head, until the returned function is called. */
  onHead(listener: (head: Block) => void): () => void;
  healthIssue(): ChainHealthIssue | undefined;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface HeadDeps {
  rpc: ChainRpc;
  health: Pick<Health, 'order' | 'eject'>;
  clock: Clock;
  log: Log;
  options: HeadOptions;
  finality: Finality;
  skew: ClockSkew;
  doubted: Counter;
}

interface HeadState {
  listeners: Set<(head: Block) => void>;
  head: HeadBlock | undefined;
  /** The times at which the head was adopted, by the wall clock and by the monotonic clock. */
  seenAtMs: number;
  adoptedMs: number;
  /** The time since when the only node has named blocks that come too early; undefined while it does not. */
  doubtedSinceMs: number | undefined;
  /** An honest block replaces the head until then. */
  unconfirmedUntilMs: number;
  /** Smoothed time between two blocks. */
  intervalMs: number;
  stopped: boolean;
  /** Polls in a row that brought no head. */
  failures: number;
  polledMs: number;
  cancel: () => void;
  polling: Promise<void> | undefined;
  unsubscribe: (() => void) | undefined;
}

export function createHead(
  {
    rpc,
    health,
    clock,
    log,
    metrics,
  }: { rpc: ChainRpc; health: Pick<Health, 'order' | 'eject'>; clock: Clock; log: Log; metrics: Metrics },
  options: HeadOptions,
): Head {
  const { slug, blockTimeMs, depth, maxClockSkewMs, stopOnDeepReorg } = options;
  const state: HeadState = {
    listeners: new Set<(head: Block) => void>(),
    head: undefined,
    seenAtMs: 0,
    adoptedMs: 0,
    doubtedSinceMs: undefined,
    unconfirmedUntilMs: 0,
    intervalMs: blockTimeMs,
    stopped: true,
    failures: 0,
    polledMs: Number.NEGATIVE_INFINITY,
    cancel: () => {},
    polling: undefined,
    unsubscribe: undefined,
  };

  const finality = createFinality({ rpc, health, log }, { slug, depth, stop: stopOnDeepReorg });
  const skew = createSkew({ clock, log }, { slug, maxClockSkewMs });

  const doubted = metrics.counter(
    'firmquote_chain_heads_doubted_total',
    'Blocks of the only RPC endpoint that were not believed, because time does not allow them',
    { chain: [slug] },
  );

  const deps: HeadDeps = { rpc, health, clock, log, options, finality, skew, doubted };
  return {
    current: () => state.head,
    seenAtMs: () => state.seenAtMs,
    onHead(listener: (head: Block) => void): () => void {
      state.listeners.add(listener);
      return () => state.listeners.delete(listener);
    },
    healthIssue: (): ChainHealthIssue | undefined => finality.healthIssue() ?? skew.healthIssue(),
    async start() {
      state.stopped = false;
      await readHead(deps, state);
      state.unsubscribe = await rpc.subscribeHeads(() => pollSoon(deps, state));
      poll(deps, state);
    },
    async stop() {
      state.stopped = true;
      state.cancel();
      state.unsubscribe?.();
      await state.polling;
    },
  };
}

/** Returns true when `to` is further from `from` than the time since then allows. */
function leaps(deps: HeadDeps, state: HeadState, from: HeadBlock, to: HeadBlock): boolean {
  const { clock, rpc } = deps;
  const { blockTimeMs, maxJumpBlocks, maxClockSkewMs } = deps.options;
  const passedMs = Math.max(clock.monotonicMs() - state.adoptedMs, clock.nowMs() - from.timestamp * 1_000);
  const catchUp = rpc.endpoints === 1 ? (CATCH_UP_MS + passedMs * FASTEST) / blockTimeMs : 0;
  return (
    Number(to.number - from.number) > Math.max(maxJumpBlocks, catchUp) ||
    (to.timestamp - from.timestamp) * 1_000 > passedMs + maxClockSkewMs
  );
}

/** Other endpoints have confirmed a leap; the only one must repeat it for a while. */
function isDoubted(deps: HeadDeps, state: HeadState, block: HeadBlock): boolean {
  const { clock, rpc, doubted, log, options } = deps;
  const nowMs = clock.monotonicMs();
  if (rpc.endpoints > 1 || (state.head && !leaps(deps, state, state.head, block))) {
    state.doubtedSinceMs = undefined;
    return false;
  }
  if (state.head && state.doubtedSinceMs === undefined) {
    state.doubtedSinceMs = nowMs;
    doubted.add({ chain: options.slug });
    log.warn(
      { block: block.number, timestamp: block.timestamp, head: state.head.number },
      'the only node names a block that time does not allow; it is not believed unless it persists',
    );
  }
  if (state.doubtedSinceMs !== undefined && nowMs - state.doubtedSinceMs < DOUBT_MS) return true;
  state.doubtedSinceMs = undefined;
  state.unconfirmedUntilMs = nowMs + DOUBT_MS;
  return false;
}

async function newest(deps: HeadDeps, state: HeadState): Promise<HeadBlock> {
  const { rpc, health } = deps;
  const block = toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
  if (rpc.endpoints === 1 || (state.head && !leaps(deps, state, state.head, block))) return block;
  // The head never goes back, so no single node decides it: take the median, or the lower of two.
  const seen = await Promise.all(
    health.order().map((index) =>
      rpc
        .only(index)
        .request<RpcBlock>('eth_getBlockByNumber', ['latest', false])
        .then(toBlock, () => undefined),
    ),
  );
  const sorted = seen
    .filter((one) => one !== undefined)
    .sort((a, b) => Number(a.number - b.number) || a.timestamp - b.timestamp);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? block;
}

async function readHead(deps: HeadDeps, state: HeadState): Promise<void> {
  const { skew, finality, clock, log } = deps;
  const { blockTimeMs } = deps.options;
  skew.asked();
  const [block, stands] = await Promise.all([newest(deps, state), finality.stands()]);
  if (!stands || isDoubted(deps, state, block)) return;
  const replaces =
    state.head && clock.monotonicMs() < state.unconfirmedUntilMs && leaps(deps, state, block, state.head);
  if (!replaces && !isNewHead(block, state.head)) return;
  const nowMs = clock.nowMs();
  if (state.head && block.number > state.head.number) {
    const perBlock = Math.min(
      (nowMs - state.seenAtMs) / Number(block.number - state.head.number),
      blockTimeMs * 2,
    );
    state.intervalMs = state.intervalMs * 0.8 + perBlock * 0.2;
  }
  skew.saw(block.timestamp, state.head === undefined);
  state.head = block;
  state.seenAtMs = nowMs;
  state.adoptedMs = clock.monotonicMs();
  for (const listener of state.listeners) {
    try {
      listener(block);
    } catch (error) {
      log.error({ error }, 'a follower of the chain head failed');
    }
  }
  await finality.advance(block);
}

/** A node that announces heads without end is asked no more often than one that is polled. */
function pollSoon(deps: HeadDeps, state: HeadState): void {
  const { clock } = deps;
  const waitMs = state.polledMs + MIN_POLL_MS - clock.monotonicMs();
  if (state.polling || waitMs <= 0) return poll(deps, state);
  state.cancel();
  state.cancel = clock.after(waitMs, () => poll(deps, state));
}

function poll(deps: HeadDeps, state: HeadState): void {
  const { clock, log } = deps;
  state.cancel();
  if (state.stopped || state.polling) return;
  state.polledMs = clock.monotonicMs();
  const before = state.head;
  state.polling = readHead(deps, state)
    .then(
      () => {
        state.failures = 0;
      },
      () => {
        state.failures += 1;
        if (state.failures === 3) log.warn({}, 'the node returns no head');
      },
    )
    .finally(() => {
      state.polling = undefined;
      if (!state.stopped)
        state.cancel = clock.after(nextPollMs(state, state.head !== before), () => poll(deps, state));
    });
}

function nextPollMs(state: HeadState, fresh: boolean): number {
  if (state.failures > 0) return Math.min(MAX_POLL_MS, 100 * 2 ** Math.min(state.failures, 6));
  const due = fresh ? state.intervalMs * 0.85 : state.intervalMs / 12;
  // With pushed heads, polling is only a fallback.
  return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, state.unsubscribe ? state.intervalMs : due));
}
