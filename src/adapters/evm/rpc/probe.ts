/** Reads every endpoint's head and one settled block, to compare them. */

import type { Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Health, Sighting } from './health.ts';
import { type RpcBlock, toBlock } from '../chain/block.ts';
import type { ChainRpc } from './rpc.ts';

export interface Probe {
  /** Asks every endpoint once. */
  checkAll(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export function createProbe(
  { rpc, health, clock }: { rpc: ChainRpc; health: Pick<Health, 'round'>; clock: Clock },
  { depth, everyMs }: { depth: number; everyMs: number },
): Probe {
  let lowest: bigint | undefined;
  let checking = Promise.resolve();
  let cancel = () => {};
  let stopped = true;

  async function ask(index: number, settled: bigint | undefined): Promise<Sighting> {
    const one = rpc.only(index);
    const [head, deep] = await Promise.all([
      one.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]).then(toBlock),
      settled === undefined
        ? null
        : one.request<{ hash: Hex } | null>('eth_getBlockByNumber', [`0x${settled.toString(16)}`, false]),
    ]);
    return { head: head.number, deep: deep?.hash };
  }

  async function checkAll(): Promise<void> {
    const settled = lowest === undefined || lowest < BigInt(depth) ? undefined : lowest - BigInt(depth);
    const sightings = await Promise.all(
      Array.from({ length: rpc.endpoints }, (_, index) => ask(index, settled).catch(() => undefined)),
    );
    health.round(sightings);
    const heads = sightings.flatMap((sighting) => (sighting ? [sighting.head] : []));
    lowest = heads.length === 0 ? undefined : heads.reduce((least, head) => (head < least ? head : least));
  }

  function next(): void {
    cancel = clock.after(everyMs, () => {
      checking = checkAll().finally(() => {
        if (!stopped) next();
      });
    });
  }

  return {
    checkAll,
    start() {
      stopped = false;
      next();
    },
    async stop() {
      stopped = true;
      cancel();
      await checking;
    },
  };
}
