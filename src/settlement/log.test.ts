/** Topics equal the golden ones, and the ABI agrees with the topics written here. */

import { toEventHash } from 'viem';
import { expect, test } from 'vitest';
import vectors from '../../test/vectors/orders.json' with { type: 'json' };
import { attestationOracleAbi } from './abi/attestation-oracle.ts';
import { escrowAbi } from './abi/escrow.ts';
import { decodeLog, TOPICS } from './log.ts';
import { decodeRevert, isFundingRevert } from './revert.ts';

test("topics equal the golden ones and the ABI's", () => {
  expect(TOPICS).toMatchObject(vectors.topics);
  for (const item of [...escrowAbi, ...attestationOracleAbi]) {
    if (item.type === 'event' && item.name in TOPICS)
      expect(toEventHash(item), item.name).toBe(TOPICS[item.name as keyof typeof TOPICS]);
  }
});

test('ignores events that are not ours', () => {
  const place = { blockNumber: 1n, blockHash: '0x01', txHash: '0x02', logIndex: 0 } as const;
  expect(decodeLog({ ...place, topics: [`0x${'11'.repeat(32)}`], data: '0x' })).toBeUndefined();
  expect(decodeLog({ ...place, topics: [], data: '0x' })).toBeUndefined();
});

test('reverts become sentences that name whose balance was missing', () => {
  const user = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
  const word = (value: string) => value.padStart(64, '0');
  const error = (text: string) =>
    decodeRevert(
      `0x08c379a0${word('20')}${word(text.length.toString(16))}${Buffer.from(text).toString('hex').padEnd(64, '0')}`,
    );
  expect(error('TRANSFER_FROM_FAILED')).toEqual({ name: 'Error', text: 'TRANSFER_FROM_FAILED' });
  expect(isFundingRevert(error('TRANSFER_FROM_FAILED'), user)).toBe(true);
  expect(decodeRevert('0x')).toEqual({ name: 'unknown', text: 'reverted without a reason' });
  expect(decodeRevert('0xdeadbeef')).toEqual({ name: 'unknown', text: 'an unknown error 0xdeadbeef' });
  const insufficient = { name: 'InsufficientBalance', text: `InsufficientBalance(${user}, 0x01, 0, 1)` };
  expect([
    isFundingRevert(insufficient, user),
    isFundingRevert(insufficient, '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'),
  ]).toEqual([true, false]);
});
