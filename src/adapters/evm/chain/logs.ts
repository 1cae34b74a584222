/** Decodes event logs, with a cache: following a chain reads the latest blocks again and again. */

import { LRUCache } from 'lru-cache';
import type { Hex } from '../../../domain/hex.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';
import { decodeLog } from '../../../settlement/log.ts';

export interface RpcLog {
  blockNumber: Hex;
  blockHash: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  topics: Hex[];
  data: Hex;
}

const CACHED_LOGS = 10_000;
/** A log that nobody reads for so long is usually final. If it is read after all, it is decoded again. */
const FORGET_MS = 60_000;
/** The interval at which forgotten logs are removed from memory. */
const PURGE_MS = 10_000;
/** Orders contain data of any size chosen by takers, so the count alone is no bound. */
const CACHED_CHARS = 16 * 2 ** 20;

/** `now`: milliseconds of a clock that never goes back. */
export function createDecoder(now = () => performance.now()): (row: RpcLog) => EscrowEvent | undefined {
  const cache = new LRUCache<string, { row: RpcLog; event: EscrowEvent | undefined }>({
    max: CACHED_LOGS,
    maxSize: CACHED_CHARS,
    sizeCalculation: ({ row }) => row.data.length + 1,
    ttl: FORGET_MS,
    ttlResolution: 0,
    updateAgeOnGet: true,
    perf: { now },
  });
  let purgedMs = now();
  return (row) => {
    if (now() - purgedMs >= PURGE_MS) {
      cache.purgeStale();
      purgedMs = now();
    }
    const id = `${row.blockHash}:${row.logIndex}`;
    const before = cache.get(id);
    if (
      before &&
      before.row.data === row.data &&
      before.row.transactionHash === row.transactionHash &&
      before.row.blockNumber === row.blockNumber &&
      before.row.topics.join() === row.topics.join()
    )
      return before.event;
    const event = decodeLog({
      blockNumber: BigInt(row.blockNumber),
      blockHash: row.blockHash,
      txHash: row.transactionHash,
      logIndex: Number(row.logIndex),
      topics: row.topics,
      data: row.data,
    });
    cache.set(id, { row, event });
    return event;
  };
}
