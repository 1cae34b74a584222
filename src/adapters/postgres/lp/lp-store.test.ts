/**
 * Tests the LP's memory in a real database: one owner at a time, a clean stop handed out once, leases that
 * never shrink.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { createLedger } from '../../../inventory/ledger.ts';
import { restoreLedger } from '../../../../test/support/restore-ledger.ts';
import type { LpAward, LpSignal, LpStore } from '../../../ports/stores/lp-store.ts';
import { createLpStore } from './lp-store.ts';
import { LP_MIGRATIONS } from '../migrations/lp.ts';

let postgres: TestPostgres;
let number = 0;

beforeAll(async () => {
  postgres = await startTestPostgres();
});
afterAll(() => postgres.stop());

/** Stores of two processes over one schema. */
async function pair(): Promise<[LpStore, LpStore]> {
  const schema = `lp_${(number += 1)}`;
  return [
    createLpStore(await postgres.database(schema, LP_MIGRATIONS)),
    createLpStore(await postgres.database(schema, LP_MIGRATIONS)),
  ];
}

const word = (digit: string) => `0x${digit.repeat(64)}` as const;
const award = (overrides: Partial<LpAward> = {}): LpAward => ({
  orderId: word('1'),
  quoteId: word('2'),
  order: {
    user: `0x${'a'.repeat(40)}`,
    nonce: 2n ** 255n,
    originChainId: 1n,
    expires: 3,
    fillDeadline: 2,
    inputOracle: `0x${'b'.repeat(40)}`,
    inputs: [[7n, 9n]],
    outputs: [],
  },
  outputIndex: 0,
  commitment: { lp: `0x${'c'.repeat(40)}`, deadline: 2, signature: '0x1234' },
  stage: 'committed',
  fill: null,
  note: null,
  acceptedAtMs: 1,
  updatedAtMs: 1,
  ...overrides,
});

test('an award round-trips, and leaves the open list when it is final', async () => {
  const [store] = await pair();
  await store.open();
  expect(await store.putAward(award())).toBe(true);
  expect(await store.award(word('1'))).toEqual(award());
  const filled = award({
    stage: 'filled',
    fill: { timestamp: 5, txHash: word('3'), blockNumber: 77n },
    note: 'proving',
    updatedAtMs: 9,
  });
  await store.putAward(filled);
  expect((await store.open()).awards).toEqual([filled]);
  await store.putAward({ ...filled, stage: 'finalised', commitment: null });
  expect((await store.open()).awards).toEqual([]);
  expect(await store.listAwards(5)).toEqual([{ ...filled, stage: 'finalised' }]);
});

test('after a takeover the first process can write nothing', async () => {
  const [first, second] = await pair();
  await first.open();
  expect(await first.writeLease(1, { signedUpTo: 100, clean: false })).toBe(true);
  expect((await second.open()).leases.get(1)).toEqual({ signedUpTo: 100, clean: false });
  expect(await first.writeLease(1, { signedUpTo: 200, clean: false })).toBe(false);
  expect(await first.putAward(award())).toBe(false);
  expect(
    await first.stop({
      ledger: createLedger({ buckets: [], graceSeconds: () => 1, limits: {} }).snapshotChunks(),
      cursors: [],
    }),
  ).toBe(false);
  expect((await second.open()).leases.get(1)).toEqual({ signedUpTo: 100, clean: false });
});

test('a clean stop is used once; a crash after it is a crash', async () => {
  const [store] = await pair();
  await store.open();
  await store.writeLease(1, { signedUpTo: 100, clean: false });
  const ledger = createLedger({
    buckets: [{ chainId: 1, token: `0x${'d'.repeat(40)}`, asset: 'X', decimals: 6 }],
    graceSeconds: () => 1,
    limits: {},
  });
  ledger.apply({ type: 'deposited', id: 'start', chainId: 1, token: `0x${'d'.repeat(40)}`, amount: 5n });
  const cursors = [{ chainId: 1, block: 2n ** 60n, hash: word('4') }];
  expect(await store.stop({ ledger: ledger.snapshotChunks(), cursors })).toBe(true);
  const opening = await store.open();
  expect(opening.clean).toEqual({ ledger: ledger.snapshot(), cursors });
  expect(opening.leases.get(1)).toEqual({ signedUpTo: 100, clean: true });
  const again = await store.open();
  expect(again.clean).toBeNull();
  expect(again.leases.get(1)).toEqual({ signedUpTo: 100, clean: false });
});

test('restores many holds from a clean stop', async () => {
  const [store] = await pair();
  await store.open();
  const token = `0x${'d'.repeat(40)}` as const;
  const options = {
    buckets: [{ chainId: 1, token, asset: 'X', decimals: 6 }],
    graceSeconds: () => 15,
    limits: {},
  };
  const ledger = createLedger(options);
  ledger.apply({ type: 'deposited', id: 'start', chainId: 1, token, amount: 10n ** 12n });
  for (let n = 0; n < 10_000; n += 1) {
    const orderId = `0x${n.toString(16).padStart(64, '0')}`;
    ledger.hold(
      {
        orderId,
        chainId: 1,
        token,
        amount: 10n ** 6n,
        input: { chainId: 1, token, amount: 1n },
        group: `1:0x${'e'.repeat(40)}:${(10n ** 76n + BigInt(n)).toString()}`,
        lapsesAt: 2_000 + (n % 60),
        taker: `0x${'e'.repeat(40)}`,
        pair: 'X-Y',
        side: 'buy',
        notional: 10n ** 9n,
      },
      1_000,
    );
  }
  expect(await store.stop({ ledger: ledger.snapshotChunks(), cursors: [] })).toBe(true);
  const { clean } = await store.open();
  const kept = clean?.ledger ?? expect.fail();
  // The order of insertion here is the order of the ids.
  expect(kept).toEqual(ledger.snapshot());
  const again = restoreLedger(options, kept);
  expect([again.live, again.bucket(1, token)?.held]).toEqual([10_000, 10n ** 10n]);
});

test('a lease never ends earlier', async () => {
  const [store] = await pair();
  await store.open();
  await store.writeLease(1, { signedUpTo: 300, clean: false });
  await store.writeLease(1, { signedUpTo: 200, clean: false });
  expect((await store.open()).leases.get(1)?.signedUpTo).toBe(300);
});

test('signals are shared by replicas, one per pair and side', async () => {
  const [one, other] = await pair();
  await one.join('a');
  await other.join('b');
  const signal = (id: string, change: Partial<LpSignal> = {}): LpSignal => ({
    ...{ id, pair: 'WETH-USDC', side: null, skewBps: 1.5, fairValueShiftBps: -2, widthBps: 0 },
    ...{ expiresAtMs: 2_000, setAtMs: 1_000, by: 'me', note: null },
    ...change,
  });
  const [buy, sell] = [signal('s-1', { side: 'buy' }), signal('s-2', { side: 'sell', note: 'news' })];
  expect(await one.putSignal(buy)).toBe(true);
  expect(await other.putSignal(sell)).toBe(true);
  expect(await other.putSignal(signal('s-3', { pair: 'WBTC-USDC' }))).toBe(true);
  expect(await one.signals()).toEqual([buy, sell, signal('s-3', { pair: 'WBTC-USDC' })]);
  await one.putSignal(signal('s-4'));
  expect((await other.signals()).map(({ id }) => id)).toEqual(['s-3', 's-4']);
  await other.dropSignals(['s-3', 'unknown']);
  expect(await one.signals()).toEqual([signal('s-4')]);

  const [alone] = await pair();
  await alone.open();
  await alone.putSignal(signal('s-5'));
  expect(await alone.signals()).toEqual([signal('s-5')]);
});

test('pauses of pairs and chains are shared by replicas, and each command changes only what it names', async () => {
  const [one, other] = await pair();
  await one.join('a');
  await other.join('b');
  expect(await one.pauses()).toEqual({});
  expect(await one.putPauses({ 'pair WETH-USDC': 'odd fills' })).toBe(true);
  expect(await other.putPauses({ 'chain base': '' })).toBe(true);
  expect(await one.pauses()).toEqual({ 'pair WETH-USDC': 'odd fills', 'chain base': '' });
  await other.putPauses({ 'pair WETH-USDC': null, 'pair unknown': null });
  expect(await one.pauses()).toEqual({ 'chain base': '' });
  await one.putPauses(null);
  expect(await other.pauses()).toEqual({});

  const [alone, later] = await pair();
  await alone.open();
  await alone.putPauses({ 'chain base': 'moved' });
  await later.open();
  expect(await alone.putPauses(null)).toBe(false);
  expect(await later.pauses()).toEqual({ 'chain base': 'moved' });
});

test('a process that was taken over writes no signal', async () => {
  const [first, second] = await pair();
  await first.open();
  await second.open();
  const late: LpSignal = {
    ...{ id: 's-1', pair: 'WETH-USDC', side: null, skewBps: 1, fairValueShiftBps: 0, widthBps: 0 },
    ...{ expiresAtMs: 2_000, setAtMs: 1_000, by: 'me', note: null },
  };
  expect(await first.putSignal(late)).toBe(false);
  expect(await first.dropSignals(['s-1'])).toBe(false);
  expect(await second.signals()).toEqual([]);
});
