/** Logs that a chain's follower remembers stay small, in number and in what they hold. */

import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodeAbiParameters, getAbiItem } from 'viem';
import { expect, test } from 'vitest';
import type { Hex } from '../../../domain/hex.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { TOPICS } from '../../../settlement/log.ts';
import { createDecoder, type RpcLog } from './logs.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const random = (bytes: number): Hex => `0x${randomBytes(bytes).toString('hex')}`;
const [, ...FILLED] = getAbiItem({ abi: escrowAbi, name: 'OutputFilled' }).inputs;

function filled(callbackBytes = 0): RpcLog {
  const output = {
    oracle: random(32),
    settler: random(32),
    chainId: 31_337n,
    token: random(32),
    amount: 1n,
    recipient: random(32),
    callbackData: random(callbackBytes),
    context: random(60),
  };
  const data = encodeAbiParameters(FILLED, [random(32), 1_795_281_150, output, 1n]);
  // As it comes: cut out of a node's answer.
  return JSON.parse(
    JSON.stringify({
      blockNumber: '0x10',
      blockHash: random(32),
      transactionHash: random(32),
      logIndex: '0x0',
      topics: [TOPICS.OutputFilled, random(32)],
      data,
    }),
  ) as RpcLog;
}

/** Bytes that the decoder holds on to beside the rows themselves. */
function heldBy(rows: readonly RpcLog[]): number {
  const decoded = createDecoder();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (const row of rows) decoded(row);
  collectGarbage();
  const after = process.memoryUsage().heapUsed;
  expect(decoded(rows.at(-1) as RpcLog)).toBe(decoded(rows.at(-1) as RpcLog));
  return after - before;
}

test('the parsed event needs little more memory than the log', () => {
  const rows = Array.from({ length: 3_000 }, () => filled());
  heldBy(rows.slice(0, 100));
  // 1,300 characters of data; put together byte by byte, as it comes from the ABI decoder, an event of it
  // takes 7,000.
  expect(heldBy(rows) / rows.length).toBeLessThan(3_500);
});

test('keeps what is read again and again, and forgets the rest after a minute', () => {
  let nowMs = 1_000;
  const decoded = createDecoder(() => nowMs);
  const rows = Array.from({ length: 2_000 }, () => filled());
  const row = filled();
  const event = decoded(row);
  // Reading them makes their own strings larger.
  heldBy(rows);
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (const each of rows) decoded(each);
  for (let n = 0; n < 5; n += 1) {
    nowMs += 30_000;
    expect(decoded(row)).toBe(event);
  }
  collectGarbage();
  // What stays is the cache's own table.
  expect((process.memoryUsage().heapUsed - before) / rows.length).toBeLessThan(300);
  nowMs += 61_000;
  expect(decoded(row)).not.toBe(event);
});

test('reads a log again when a node formats it differently', () => {
  const decoded = createDecoder();
  const row = filled();
  const event = decoded(row);
  expect(decoded({ ...row, topics: [...row.topics] })).toBe(event);
  const other = decoded({ ...row, data: filled().data });
  expect(other).not.toBe(event);
  expect(decoded({ ...row })).toEqual(event);
});

test('large orders of others evict the oldest ones, within the memory limit', () => {
  const decoded = createDecoder();
  const rows = Array.from({ length: 24 }, () => filled(512 * 1_024));
  const first = decoded(rows[0] as RpcLog);
  const events = rows.map(decoded);
  expect(decoded(rows[0] as RpcLog)).not.toBe(first);
  expect(decoded(rows.at(-1) as RpcLog)).toBe(events.at(-1));
});
