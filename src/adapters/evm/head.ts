/** Follows the head of a chain: pushed where the node pushes, otherwise asked for about when the next block is due. */

import type { Hex } from '../../domain/hex.ts';
import type { Block } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Rpc } from './rpc.ts';

const MIN_POLL_MS = 40;
const MAX_POLL_MS = 4_000;

export interface HeadBlock extends Block {
  baseFee: bigint;
}

export interface Head {
  current(): HeadBlock | undefined;
  seenAtMs(): number;
  onHead(listener: (head: Block) => void): () => void;
  /** Resolves with the first head. Throws when the chain cannot be reached. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface RpcBlock {
  number: Hex;
  hash: Hex;
  timestamp: Hex;
  baseFeePerGas?: Hex;
}

export const toBlock = ({ number, hash, timestamp, baseFeePerGas }: RpcBlock): HeadBlock => ({ number: BigInt(number), hash, timestamp: Number(timestamp), baseFee: BigInt(baseFeePerGas ?? '0x0') });

export function createHead({ rpc, clock, log, blockTimeMs }: { rpc: Rpc; clock: Clock; log: Log; blockTimeMs: number }): Head {
  const listeners = new Set<(head: Block) => void>();
  let head: HeadBlock | undefined;
  let seenAtMs = 0;
  let intervalMs = blockTimeMs;
  let stopped = true;
  let failures = 0;
  let cancel = () => {};
  let polling: Promise<void> | undefined;
  let unsubscribe: (() => Promise<void>) | undefined;

  async function look(): Promise<void> {
    const block = toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
    // A node that is behind, or behind a proxy that is, must not take us back.
    if (head && (block.number < head.number || block.hash === head.hash)) return;
    const nowMs = clock.nowMs();
    if (head && block.number > head.number) {
      const perBlock = Math.min((nowMs - seenAtMs) / Number(block.number - head.number), blockTimeMs * 2);
      intervalMs = intervalMs * 0.8 + perBlock * 0.2;
    }
    head = block;
    seenAtMs = nowMs;
    for (const listener of listeners) {
      try {
        listener(block);
      } catch (error) {
        log.error({ error }, 'a follower of the chain head failed');
      }
    }
  }

  function poll(): void {
    cancel();
    if (stopped || polling) return;
    const before = head;
    polling = look()
      .then(
        () => {
          failures = 0;
        },
        () => {
          failures += 1;
          if (failures === 3) log.warn({}, 'the chain gives no head');
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
    // Pushed heads make polling a mere safety net.
    return Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, unsubscribe ? intervalMs : due));
  }

  return {
    current: () => head,
    seenAtMs: () => seenAtMs,
    onHead(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async start() {
      stopped = false;
      await look();
      unsubscribe = await rpc.subscribeHeads(poll);
      poll();
    },
    async stop() {
      stopped = true;
      cancel();
      await unsubscribe?.();
      await polling;
    },
  };
}
