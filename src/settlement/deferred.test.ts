/** What history says of a delivery into the ledger, at every turn that it may take. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Evidence, Fact } from '../domain/fact.ts';
import { allocate, deferredSettlement, foldCredits } from './deferred.ts';

const orderId = `0x${'0d'.repeat(32)}` as const;
const [account, token] = [`0x${'ac'.repeat(20)}`, `0x${'70'.repeat(20)}`] as const;
const T = 1_800_000_000;
const evidence = (at: number, n = 1): Evidence => ({
  chainId: 1,
  txHash: `0x${n.toString(16).padStart(64, '0')}`,
  blockNumber: BigInt(n),
  blockHash: `0x${'bb'.repeat(32)}`,
  at,
});
const credited = (autoWithdraw: boolean, outputIndex = 0, at = T): Fact => ({
  kind: 'credited',
  outputIndex,
  account,
  token,
  amount: 100n,
  autoWithdraw,
  windowSeconds: 900,
  evidence: evidence(at),
});
const sent: Fact = { kind: 'payout_sent', outputIndex: 0, chainId: 1, txHash: evidence(0, 7).txHash };
const left = (amount: bigint, ended: boolean, outputIndex = 0): Fact => ({
  kind: 'withdrawn',
  outputIndex,
  amount,
  ended,
  evidence: evidence(T + 950, 9),
});
const asked = (amount: bigint): Fact => ({
  kind: 'withdrawal_requested',
  outputIndex: 0,
  amount,
  availableAt: T + 1_000,
  lapsesAt: T + 2_000,
  evidence: evidence(T + 100, 5),
});
const at = (now: number, facts: Fact[], outputs = 1) =>
  deferredSettlement({ orderId, outputs, credits: foldCredits(facts) }, now);

describe('paid out by the venue', () => {
  test('executed, then available, requested and withdrawn', () => {
    expect(at(T, [])).toBeNull();
    const facts = [credited(true)];
    expect(at(T + 899, facts)).toEqual({
      stage: 'executed',
      autoWithdraw: true,
      executedAt: '2027-01-15T08:00:00.000Z',
      estimatedSettlementAvailableAt: '2027-01-15T08:15:00.000Z',
      settlementWindowHours: 1,
      withdrawalStatus: 'scheduled',
      withdrawalTrackingId: null,
      withdrawalTxHash: null,
    });
    expect(at(T + 900, facts)).toMatchObject({ stage: 'available', withdrawalStatus: 'due' });
    facts.push(sent);
    expect(at(T + 901, facts)).toMatchObject({
      stage: 'requested',
      withdrawalStatus: 'submitted',
      withdrawalTrackingId: `${orderId}-withdraw-0`,
      withdrawalTxHash: evidence(0, 7).txHash,
    });
    facts.push(left(100n, true));
    expect(at(T + 902, facts)).toMatchObject({
      stage: 'withdrawn',
      withdrawalStatus: 'completed',
      withdrawalTxHash: evidence(0, 9).txHash,
      estimatedSettlementAvailableAt: '2027-01-15T08:15:00.000Z',
    });
  });

  test('kept in the ledger by its receiver', () => {
    expect(at(T + 2_000, [credited(true), left(0n, true)])).toMatchObject({
      stage: 'available',
      withdrawalStatus: 'kept_in_ledger',
      withdrawalTxHash: null,
    });
  });

  test('a receiver that withdraws before the window ends', () => {
    expect(at(T + 950, [credited(true), asked(100n)])).toMatchObject({
      stage: 'requested',
      withdrawalStatus: 'requested',
    });
    expect(at(T + 1_000, [credited(true), asked(100n), left(100n, false)])).toMatchObject({
      stage: 'withdrawn',
    });
    // Half by request, half by itself.
    expect(at(T + 1_000, [credited(true), left(50n, false), left(50n, true)])).toMatchObject({
      stage: 'withdrawn',
    });
  });

  test('slices count as far as the slowest one', () => {
    expect(at(T, [credited(true)], 2)).toBeNull();
    const both = [credited(true, 0), credited(true, 1, T + 5)];
    expect(at(T + 902, both, 2)).toMatchObject({ stage: 'executed', executedAt: '2027-01-15T08:00:05.000Z' });
    expect(at(T + 999, [...both, left(100n, true, 0)], 2)).toMatchObject({ stage: 'available' });
    expect(at(T + 999, [...both, left(100n, true, 0), left(100n, true, 1)], 2)).toMatchObject({
      stage: 'withdrawn',
    });
  });
});

describe('withdrawn by request', () => {
  test('available, requested, withdrawn', () => {
    const facts = [credited(false)];
    expect(at(T, facts)).toMatchObject({
      stage: 'available',
      autoWithdraw: false,
      estimatedSettlementAvailableAt: null,
      withdrawalStatus: 'none',
    });
    facts.push(asked(100n));
    expect(at(T + 2_000, facts)).toMatchObject({
      stage: 'requested',
      estimatedSettlementAvailableAt: '2027-01-15T08:16:40.000Z',
    });
    expect(at(T + 2_001, facts)).toMatchObject({ stage: 'available', withdrawalStatus: 'none' });
    expect(at(T + 100, [...facts, asked(0n)])).toMatchObject({
      stage: 'available',
      estimatedSettlementAvailableAt: null,
    });
    expect(at(T + 999, [...facts, left(100n, false)])).toMatchObject({
      stage: 'withdrawn',
      withdrawalTxHash: evidence(0, 9).txHash,
    });
    expect(at(T + 999, [...facts, left(60n, false)])).toMatchObject({ stage: 'available' });
  });
});

test('law: allocations equal withdrawals, oldest first, at most the balance', () => {
  const credit = fc.record({ autoWithdraw: fc.boolean(), left: fc.bigInt(0n, 100n) });
  fc.assert(
    fc.property(fc.bigInt(0n, 500n), fc.array(credit, { maxLength: 8 }), (amount, credits) => {
      const parts = allocate(amount, credits);
      const all = credits.reduce((sum, { left: each }) => sum + each, 0n);
      expect(parts.reduce((sum, part) => sum + part.amount, 0n)).toBe(amount < all ? amount : all);
      // Nothing of a later one before an earlier one is used up.
      const short = parts.findIndex((part) => part.amount < part.credit.left);
      if (short !== -1) for (const part of parts.slice(short + 1)) expect(part.amount).toBe(0n);
      expect(parts.map((part) => part.credit.autoWithdraw)).toEqual(
        [...credits.map((each) => each.autoWithdraw)].sort(),
      );
    }),
  );
});
