/**
 * Tests several signers, and several settlements in one transaction, against a real chain and a real
 * database.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  account,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../../../../test/support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../../../../test/support/silent.ts';
import { makeTrade } from '../../../../test/support/trade.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { NewOrder } from '../../../ports/stores/store.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import type { Transactor, TxIntent, TxStatus } from '../../../ports/transactor.ts';
import { settleCall } from '../../../settlement/call.ts';
import { invalidateNonceCall } from '../../../../test/support/escrow.ts';
import { TRANSACTION_MIGRATIONS } from '../../postgres/migrations/transactions.ts';
import { createTxStore } from '../../postgres/tx-store.ts';
import { systemClock } from '../../system/clock.ts';
import { createLanes, type SignerLane } from './lanes.ts';
import { createTransactor, type TransactorOptions } from './transactor.ts';

let postgres: TestPostgres;
let devnet: Devnet;
let c: TestChain;
let store: TxStore;
const running: Transactor[] = [];
const [taker, lp] = [account(3_001), account(3_002)];
const SINK: Address = '0x00000000000000000000000000000000000000aa';
let serial = 3_100;

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([31337])]);
  c = devnet.chains[0] as TestChain;
  store = createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS));
  for (const { address } of [taker, lp]) await c.fund(address);
  await c.deposit(lp.address, c.weth.address, 10n ** 22n);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((transactor) => transactor.stop()));
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
});
afterAll(async () => {
  await devnet.stop();
  await postgres.stop();
});

async function newSigners(count: number): Promise<TestAccount[]> {
  const signers = Array.from({ length: count }, () => account(serial++));
  for (const { address } of signers) await c.fund(address, 0n);
  return signers;
}

/** Starts a process with these signers; with `of`, it owns only some of them all. */
async function start(
  signers: readonly TestAccount[],
  options: Partial<TransactorOptions> = {},
  { of = signers, chain = c.port }: { of?: readonly TestAccount[]; chain?: ChainPort } = {},
): Promise<Transactor> {
  const owner = `lanes-${serial++}`;
  const lanes = signers.map(({ signer }, n) =>
    createTransactor(
      { chain, store, signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
      {
        owner,
        leaseMs: 120_000,
        lane: String(n),
        lanes: of.map(({ address }) => address),
        batch: c.deployment.batch,
        bumpAfterBlocks: 1_000,
        ...options,
      },
    ),
  );
  const whole = createLanes(lanes as [SignerLane, ...SignerLane[]]);
  running.push(whole);
  await whole.start();
  return whole;
}

const trade = () =>
  makeTrade({
    origin: c,
    taker,
    lps: [{ account: lp }],
    inputAmount: 1_000_000n,
    outputAmount: 10n ** 15n,
    validForSeconds: 3_600,
  });
const settlement = ({ orderId, order, funding, quoteId, commitments }: NewOrder): TxIntent => ({
  key: `${orderId}-settle`,
  to: c.chain.escrow,
  data: settleCall(order, funding, quoteId, commitments),
  together: true,
});
const plain = (key: string): TxIntent => ({ key, to: SINK, data: '0x', gas: 30_000n });
const mined = async (transactor: Transactor, key: string): Promise<TxStatus> => {
  let status: TxStatus | undefined;
  await expect
    .poll(async () => (status = await transactor.status(key))?.state, { interval: 25 })
    .not.toBe('pending');
  return status as TxStatus;
};
const hashesOf = (statuses: readonly TxStatus[]) =>
  new Set(statuses.map((status) => (status.state === 'mined' ? status.receipt.txHash : status.state)));

describe('many settlements in one transaction', () => {
  test('concurrent ones share it, each by its own key, and all settle', async () => {
    const [relayer] = await newSigners(1);
    const transactor = await start([relayer as TestAccount]);
    const trades = Array.from({ length: 50 }, trade);
    await Promise.all(trades.map((each) => transactor.submit(settlement(each))));
    const statuses = await Promise.all(trades.map(({ orderId }) => mined(transactor, `${orderId}-settle`)));
    expect(statuses.every((status) => status.state === 'mined' && status.receipt.status === 'success')).toBe(
      true,
    );
    expect(hashesOf(statuses).size).toBeLessThan(10);
    expect(await Promise.all(trades.map(({ orderId }) => c.port.orderStatus(orderId)))).toEqual(
      trades.map(() => 'claimed'),
    );
  });

  test('two that are submitted in one tick share it, also when nothing was in the queue', async () => {
    const [relayer] = await newSigners(1);
    const transactor = await start([relayer as TestAccount]);
    const trades = [trade(), trade()];
    await Promise.all(trades.map((each) => transactor.submit(settlement(each))));
    const statuses = await Promise.all(trades.map(({ orderId }) => mined(transactor, `${orderId}-settle`)));
    expect(hashesOf(statuses).size).toBe(1);
  });

  test('one that the chain would refuse is refused alone with its reason, and the others continue', async () => {
    const [relayer] = await newSigners(1);
    const transactor = await start([relayer as TestAccount]);
    const [good, other] = [trade(), trade()];
    const broken = { ...trade(), commitments: good.commitments };
    const submitted = await Promise.allSettled(
      [plain('first'), settlement(good), settlement(broken), settlement(other)].map((intent) =>
        transactor.submit(intent),
      ),
    );
    expect(submitted.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(submitted[2]).toMatchObject({
      reason: {
        code: 'would_revert',
        facts: { reason: expect.stringContaining('InvalidSignature') as string },
      },
    });
    expect(
      hashesOf(await Promise.all([good, other].map(({ orderId }) => mined(transactor, `${orderId}-settle`))))
        .size,
    ).toBe(1);
    expect(await transactor.status(`${broken.orderId}-settle`)).toBeUndefined();
  });

  test('when one reverts inside the batch, the others settle, also after a restart', async () => {
    const [relayer] = await newSigners(1);
    const transactor = await start([relayer as TestAccount]);
    await c.anvil.rpc('evm_setAutomine', [false]);
    const trades = [trade(), trade(), trade()] as const;
    void transactor.submit(plain('first'));
    await Promise.all(trades.map((each) => transactor.submit(settlement(each))));
    await expect.poll(() => c.port.transactionCount((relayer as TestAccount).address, 'pending')).toBe(2);
    // In the same block, before it.
    await c.anvil.rpc('eth_sendTransaction', [
      {
        from: taker.address,
        to: c.chain.escrow,
        data: invalidateNonceCall(trades[1].order.nonce),
        gas: '0x30d40',
        maxFeePerGas: '0x174876e800',
        maxPriorityFeePerGas: '0xba43b7400',
      },
    ]);
    await c.anvil.mine();
    const outcome = async (sender: Transactor) =>
      Promise.all(
        trades.map(async ({ orderId }) => {
          const status = await mined(sender, `${orderId}-settle`);
          return status.state === 'mined' ? status.receipt.status : status.state;
        }),
      );
    expect(await outcome(transactor)).toEqual(['success', 'reverted', 'success']);
    await transactor.stop();
    expect(await outcome(await start([relayer as TestAccount]))).toEqual(['success', 'reverted', 'success']);
    expect(await Promise.all(trades.map(({ orderId }) => c.port.orderStatus(orderId)))).toEqual([
      'claimed',
      'none',
      'claimed',
    ]);
  });

  test('bytes that were stored and not sent go out unchanged after a restart, for all that share them', async () => {
    const [relayer] = await newSigners(1);
    const deaf: ChainPort = {
      ...c.port,
      sendRaw: async () => ({ kind: 'indeterminate', message: 'the process died here' }),
    };
    const first = await start([relayer as TestAccount], {}, { chain: deaf });
    const trades = [trade(), trade(), trade()];
    void first.submit(plain('first'));
    const before = await Promise.all(trades.map((each) => first.submit(settlement(each))));
    await first.stop();
    const second = await start([relayer as TestAccount]);
    const again = await Promise.all(trades.map((each) => second.submit(settlement(each))));
    expect(again.map(({ hashes }) => hashes)).toEqual(before.map(({ hashes }) => hashes));
    expect(
      hashesOf(await Promise.all(trades.map(({ orderId }) => mined(second, `${orderId}-settle`)))).size,
    ).toBe(1);
    expect(await c.port.transactionCount((relayer as TestAccount).address, 'latest')).toBe(2);
  });
});

describe('several signers', () => {
  test('share the keys, and each key is one transaction', async () => {
    const signers = await newSigners(3);
    const transactor = await start(signers);
    const keys = Array.from({ length: 60 }, (_, n) => `${n}-settle`);
    await Promise.all([...keys, ...keys].map((key) => transactor.submit(plain(key))));
    expect(hashesOf(await Promise.all(keys.map((key) => mined(transactor, key)))).size).toBe(60);
    const counts = await Promise.all(
      signers.map(({ address }) => c.port.transactionCount(address, 'latest')),
    );
    expect(counts.reduce((sum, count) => sum + count)).toBe(60);
    expect(counts.every((count) => count > 5)).toBe(true);
  });

  test('a lane without gas is skipped by keys without a slot; keys with a slot there wait', async () => {
    const signers = await newSigners(2);
    const transactor = await start(signers);
    const keys = Array.from({ length: 20 }, (_, n) => `${n}-settle`);
    await c.anvil.rpc('evm_setAutomine', [false]);
    await Promise.all(keys.map((key) => transactor.submit(plain(key))));
    const before = await Promise.all(keys.map(async (key) => (await transactor.status(key))?.hashes));
    await expect
      .poll(async () =>
        (await Promise.all(signers.map(({ address }) => c.port.transactionCount(address, 'pending')))).reduce(
          (sum, count) => sum + count,
        ),
      )
      .toBe(20);
    await transactor.stop();
    const [poor, rich] = signers as [TestAccount, TestAccount];
    const ofPoor = await c.port.transactionCount(poor.address, 'pending');
    await c.anvil.rpc('anvil_setBalance', [poor.address, '0x1']);
    const next = await start(signers);
    await Promise.all(keys.map((key) => next.submit(plain(key))));
    expect(await Promise.all(keys.map(async (key) => (await next.status(key))?.hashes))).toEqual(before);
    const fresh = Array.from({ length: 20 }, (_, n) => `${n + 100}-settle`);
    await Promise.all(fresh.map((key) => next.submit(plain(key))));
    await c.anvil.rpc('anvil_setBalance', [poor.address, '0x8ac7230489e80000']);
    await c.anvil.rpc('evm_setAutomine', [true]);
    await c.anvil.mine();
    await Promise.all([...keys, ...fresh].map((key) => mined(next, key)));
    expect(await c.port.transactionCount(poor.address, 'latest')).toBe(ofPoor);
    expect(await c.port.transactionCount(rich.address, 'latest')).toBe(40 - ofPoor);
  });

  test('two processes with a lane each, asked for the same keys concurrently, use one slot per key', async () => {
    const signers = await newSigners(2);
    const [one, two] = (await Promise.all(signers.map((signer) => start([signer], {}, { of: signers })))) as [
      Transactor,
      Transactor,
    ];
    const trades = Array.from({ length: 24 }, trade);
    await Promise.all(
      trades
        .flatMap((each) => [one.submit(settlement(each)), two.submit(settlement(each))])
        .map((sent) => sent.catch(() => undefined)),
    );
    // A late caller may have been told that the chain would refuse its call by now. The test requires only
    // that nothing is mined twice.
    const statuses = await Promise.all(trades.map(({ orderId }) => mined(one, `${orderId}-settle`)));
    expect(statuses.every((status) => status.state === 'mined' && status.receipt.status === 'success')).toBe(
      true,
    );
    expect(await Promise.all(trades.map(({ orderId }) => two.status(`${orderId}-settle`)))).toEqual(statuses);
    const slots = await store.slotsOf(
      31337,
      signers.map(({ address }) => address),
      trades.map(({ orderId }) => `${orderId}-settle`),
    );
    expect(slots.flatMap(({ keys }) => keys).sort()).toEqual(
      trades.map(({ orderId }) => `${orderId}-settle`).sort(),
    );
    const used = (
      await Promise.all(signers.map(({ address }) => c.port.transactionCount(address, 'latest')))
    ).reduce((sum, count) => sum + count);
    expect(used).toBe(slots.length);
  });
});
