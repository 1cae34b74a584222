/**
 * Follows a chain's head by subscription, or by polling. Announces no heads while a final block is
 * missing.
 */

import type { Block, ChainHealthIssue } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import { type HeadBlock, type RpcBlock, toBlock } from './block.ts';
import { createFinality } from './finality.ts';
import type { Health } from '../rpc/health.ts';
import type { ChainRpc } from '../rpc/rpc.ts';
import { createSkew } from './clock-skew.ts';

const MIN_POLL_MS = 40;
const MAX_POLL_MS = 4_000;
/** The only node must claim a block that time does not allow this long, and can take it back as long. */
const DOUBT_MS = 60_000;
/** A node that catches up shows the blocks of this long at once; blocks may be faster than configured. */
const BURST_MS = 60_000;
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
export const isNewHead = (block: HeadBlock, head: HeadBlock | undefined): boolean =>
  head === undefined || (block.number >= head.number && block.hash !== head.hash);

export function createHead(
  {
    rpc,
    health,
    clock,
    log,
    metrics,
  }: { rpc: ChainRpc; health: Pick<Health, 'order' | 'eject'>; clock: Clock; log: Log; metrics: Metrics },
  { slug, blockTimeMs, depth, maxJumpBlocks, maxClockSkewMs, stopOnDeepReorg }: HeadOptions,
) {
  const listeners = new Set<(head: Block) => void>();
  const finality = createFinality({ rpc, health, log }, { slug, depth, stop: stopOnDeepReorg });
  const skew = createSkew({ clock, log }, { slug, maxClockSkewMs });
  let head: HeadBlock | undefined;
  let seenAtMs = 0;
  let adoptedMs = 0;
  let doubtedSinceMs: number | undefined;
  /** An honest block replaces the head until then. */
  let unconfirmedUntilMs = 0;
  let intervalMs = blockTimeMs;
  let stopped = true;
  let failures = 0;
  let polledMs = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  let polling: Promise<void> | undefined;
  let unsubscribe: (() => void) | undefined;

  const doubted = metrics.counter(
    'firmquote_chain_heads_doubted_total',
    'Blocks of the only RPC endpoint that were not believed, because time does not allow them',
    { chain: [slug] },
  );

  /** Whether `to` is further from `from` than the time since then allows. */
  function leaps(from: HeadBlock, to: HeadBlock): boolean {
    const passedMs = Math.max(clock.monotonicMs() - adoptedMs, clock.nowMs() - from.timestamp * 1_000);
    const burst = rpc.endpoints === 1 ? (BURST_MS + passedMs * FASTEST) / blockTimeMs : 0;
    return (
      Number(to.number - from.number) > Math.max(maxJumpBlocks, burst) ||
      (to.timestamp - from.timestamp) * 1_000 > passedMs + maxClockSkewMs
    );
  }

  /** Other endpoints have confirmed a leap; the only one must repeat it for a while. */
  function isDoubted(block: HeadBlock): boolean {
    const nowMs = clock.monotonicMs();
    if (rpc.endpoints > 1 || (head && !leaps(head, block))) {
      doubtedSinceMs = undefined;
      return false;
    }
    if (head && doubtedSinceMs === undefined) {
      doubtedSinceMs = nowMs;
      doubted.add({ chain: slug });
      log.warn(
        { block: block.number, timestamp: block.timestamp, head: head.number },
        'the only node names a block that time does not allow; it is not believed unless it persists',
      );
    }
    if (doubtedSinceMs !== undefined && nowMs - doubtedSinceMs < DOUBT_MS) return true;
    doubtedSinceMs = undefined;
    unconfirmedUntilMs = nowMs + DOUBT_MS;
    return false;
  }

  async function newest(): Promise<HeadBlock> {
    const block = toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
    if (rpc.endpoints === 1 || (head && !leaps(head, block))) return block;
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

  async function look(): Promise<void> {
    skew.asked();
    const [block, stands] = await Promise.all([newest(), finality.stands()]);
    if (!stands || isDoubted(block)) return;
    const replaces = head && clock.monotonicMs() < unconfirmedUntilMs && leaps(block, head);
    if (!replaces && !isNewHead(block, head)) return;
    const nowMs = clock.nowMs();
    if (head && block.number > head.number) {
      const perBlock = Math.min((nowMs - seenAtMs) / Number(block.number - head.number), blockTimeMs * 2);
      intervalMs = intervalMs * 0.8 + perBlock * 0.2;
    }
    skew.saw(block.timestamp, head === undefined);
    head = block;
    seenAtMs = nowMs;
    adoptedMs = clock.monotonicMs();
    for (const listener of listeners) {
      try {
        listener(block);
      } catch (error) {
        log.error({ error }, 'a follower of the chain head failed');
      }
    }
    await finality.advance(block);
  }

  /** A node that announces heads without end is asked no more often than one that is polled. */
  function pollSoon(): void {
    const waitMs = polledMs + MIN_POLL_MS - clock.monotonicMs();
    if (polling || waitMs <= 0) return poll();
    cancel();
    cancel = clock.after(waitMs, poll);
  }

  function poll(): void {
    cancel();
    if (stopped || polling) return;
    polledMs = clock.monotonicMs();
    const before = head;
    polling = look()
      .then(
        () => {
          failures = 0;
        },
        () => {
          failures += 1;
          if (failures === 3) log.warn({}, 'the node returns no head');
        },
      )
      .finally(() => {
        polling = undefined;
        if (!stopped) cancel = clock.after(nextPollMs(head !== before), poll);
      });
  }

  function nextPollMs(fresh: boolean): number {
    if (failures > 0) return Math.min(MAX_POLL_MS, 100 * 2 ** Math.min(failures, 6));
    const due = fresh ? intervalMs * 0.85 : intervalMs / 12;
    // With pushed heads, polling is only a fallback.
    return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, unsubscribe ? intervalMs : due));
  }

  return {
    current: () => head,
    seenAtMs: () => seenAtMs,
    onHead(listener: (head: Block) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    healthIssue: (): ChainHealthIssue | undefined => finality.healthIssue() ?? skew.healthIssue(),
    async start() {
      stopped = false;
      await look();
      unsubscribe = await rpc.subscribeHeads(pollSoon);
      poll();
    },
    async stop() {
      stopped = true;
      cancel();
      unsubscribe?.();
      await polling;
    },
  };
}
