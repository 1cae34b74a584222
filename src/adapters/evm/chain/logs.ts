/** What nodes say in logs, read once: whoever follows a chain asks for the last blocks again and again. */

import { createBoundedMap } from '../../../domain/bounded.ts';
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

const REMEMBERED = 10_000;
/**
 * Of data as it came: orders hold what their owners like, and the event that is made of it is as large again.
 */
const REMEMBERED_CHARS = 16 * 2 ** 20;

/** One decoder per chain. What a node says in other words than before is read anew. */
export function createDecoder(): (row: RpcLog) => EscrowEvent | undefined {
  const known = createBoundedMap<string, { row: RpcLog; event: EscrowEvent | undefined }>({
    most: () => REMEMBERED,
    mostWeight: REMEMBERED_CHARS,
    weigh: ({ row }) => row.data.length,
  });
  return (row) => {
    const id = `${row.blockHash}:${row.logIndex}`;
    const before = known.get(id);
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
    known.set(id, { row, event });
    return event;
  };
}
