/**
 * The transactor against a real chain and a real database: nothing lost, nothing doubled, whatever falls over
 * in between.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import type { Address } from '../../../src/domain/hex.ts';
import type { ChainPort } from '../../../src/ports/chain.ts';
import type { TxStore } from '../../../src/ports/stores/tx-store.ts';
import type { Transactor, TxStatus } from '../../../src/ports/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createTransactor, type TransactorOptions } from '../../../src/adapters/evm/transactor/transactor.ts';

let postgres: TestPostgres;
let devnet: Devnet;
let c: TestChain;
let store: TxStore;
const running: Transactor[] = [];

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([31337])]);
  c = devnet.chains[0] as TestChain;
  store = createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS));
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

const SINK: Address = '0x00000000000000000000000000000000000000aa';
let accounts = 1_000;

async function newSigner(): Promise<TestAccount> {
  const signer = account(accounts++);
  await c.fund(signer.address, 0n);
  return signer;
}

async function start(
  signer: TestAccount,
  options: Partial<TransactorOptions> = {},
  chain: ChainPort = c.port,
): Promise<Transactor> {
  const transactor = createTransactor(
    { chain, store, signer: signer.signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { owner: `test-${accounts++}`, leaseMs: 3_000, ...options },
  );
  running.push(transactor);
  await transactor.start();
  return transactor;
}

const intent = (key: string) => ({ key, to: SINK, data: '0x' as const, gas: 30_000n });
const settled = async (transactor: Transactor, key: string): Promise<TxStatus> => {
  let status: TxStatus | undefined;
  await expect
    .poll(async () => (status = await transactor.status(key))?.state, { timeout: 40_000, interval: 25 })
    .not.toBe('pending');
  return status as TxStatus;
};

test('300 concurrent intents: all mined once, nonces without a gap', async () => {
  const signer = await newSigner();
  const transactor = await start(signer);
  await Promise.all(Array.from({ length: 300 }, (_, n) => transactor.submit(intent(`k${n}`))));
  const statuses = await Promise.all(Array.from({ length: 300 }, (_, n) => settled(transactor, `k${n}`)));
  expect(statuses.every(({ state }) => state === 'mined')).toBe(true);
  expect(
    new Set(statuses.map((status) => (status.state === 'mined' ? status.receipt.txHash : ''))).size,
  ).toBe(300);
  expect(await c.port.transactionCount(signer.address, 'latest')).toBe(300);
});

test('one key is one transaction, for any number of calls and restarts', async () => {
  const signer = await newSigner();
  const first = await start(signer);
  const answers = await Promise.all(Array.from({ length: 20 }, () => first.submit(intent('same'))));
  expect(new Set(answers.flatMap(({ hashes }) => hashes)).size).toBe(1);
  await settled(first, 'same');
  await first.stop();
  const second = await start(signer);
  expect(await second.submit(intent('same'))).toMatchObject({ state: 'mined', hashes: answers[0]?.hashes });
  expect(await c.port.transactionCount(signer.address, 'latest')).toBe(1);
});

test('bytes that were stored and not sent go out unchanged after a restart', async () => {
  const signer = await newSigner();
  const deaf: ChainPort = {
    ...c.port,
    sendRaw: async () => ({ kind: 'indeterminate', message: 'the process died here' }),
  };
  const first = await start(signer, { leaseMs: 300 }, deaf);
  const { hashes } = await first.submit(intent('crash'));
  await first.stop();
  expect(await c.port.transactionCount(signer.address, 'latest')).toBe(0);
  const second = await start(signer, { bumpAfterBlocks: 1_000 });
  expect(await settled(second, 'crash')).toMatchObject({ state: 'mined', hashes });
});

test('a transaction that is not mined is replaced with fees at least 12.5 % up, and one of the two is mined', async () => {
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 2 });
  const { hashes } = await transactor.submit(intent('slow'));
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending')).toBe(1);
  await c.anvil.rpc('anvil_dropTransaction', [hashes[0]]);
  for (let n = 0; n < 3; n += 1) {
    await c.anvil.mine();
    await new Promise((done) => setTimeout(done, 150));
  }
  await expect
    .poll(async () => (await transactor.status('slow'))?.hashes.length, { timeout: 40_000 })
    .toBeGreaterThan(1);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
  const status = await settled(transactor, 'slow');
  expect(status.state).toBe('mined');
  const [slot] = await store.slotsOf(31337, [signer.address], ['slow']);
  const [a, b] = slot?.attempts ?? [];
  expect((b?.maxFeePerGas ?? 0n) * 1_000n >= (a?.maxFeePerGas ?? 1n) * 1_125n).toBe(true);
  expect((b?.maxPriorityFeePerGas ?? 0n) * 1_000n >= (a?.maxPriorityFeePerGas ?? 1n) * 1_125n).toBe(true);
});

test('past its deadline an unmined intent gives its nonce to a no-op and is void; its key may be used again', async () => {
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 1_000 });
  const now = c.port.head()?.timestamp ?? 0;
  const { hashes } = await transactor.submit({ ...intent('late'), notAfter: now + 5 });
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending')).toBe(1);
  await c.anvil.rpc('anvil_dropTransaction', [hashes[0]]);
  await c.anvil.advance(10);
  await expect
    .poll(async () => (await transactor.status('late'))?.hashes.length, { timeout: 40_000 })
    .toBe(2);
  // Written down first, sent after.
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending')).toBe(1);
  await c.anvil.mine();
  expect(await settled(transactor, 'late')).toMatchObject({ state: 'void' });
  expect(await c.port.transactionCount(signer.address, 'latest')).toBe(1);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await transactor.submit(intent('late'));
  expect(await settled(transactor, 'late')).toMatchObject({ state: 'mined' });
});

test('a transaction removed by a reorganisation is sent again, byte for byte', async () => {
  const signer = await newSigner();
  const transactor = await start(signer, { bumpAfterBlocks: 1_000 });
  const { hashes } = await transactor.submit(intent('reorg'));
  const before = await settled(transactor, 'reorg');
  await c.anvil.rpc('evm_setAutomine', [false]);
  await c.anvil.rpc('anvil_reorg', [1, []]);
  expect(await c.port.transactionCount(signer.address, 'latest')).toBe(0);
  await c.anvil.mine();
  await expect.poll(async () => (await transactor.status('reorg'))?.state).toBe('pending');
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
  const after = await settled(transactor, 'reorg');
  expect(after).toMatchObject({ state: 'mined', hashes });
  if (before.state === 'mined' && after.state === 'mined')
    expect(after.receipt.blockHash).not.toBe(before.receipt.blockHash);
});

test('two processes, one key: the second stands by until the first stops', async () => {
  const signer = await newSigner();
  const first = await start(signer, { leaseMs: 600 });
  const second = await start(signer, { leaseMs: 600 });
  expect([first.healthy(), second.healthy()]).toEqual([true, false]);
  await expect(second.submit(intent('x'))).rejects.toMatchObject({ code: 'signer_not_held' });
  await first.stop();
  await expect.poll(() => second.healthy(), { timeout: 40_000 }).toBe(true);
  await second.submit(intent('x'));
  expect(await settled(second, 'x')).toMatchObject({ state: 'mined' });
});

test('an intent submitted while earlier slots are still being read is sent', async () => {
  const signer = await newSigner();
  const first = await start(signer, { leaseMs: 600 });
  let asked = 0;
  let answer = () => {};
  const slow = new Promise<void>((done) => {
    answer = done;
  });
  const held: TxStore = {
    ...store,
    async liveSlots(...question) {
      const slots = await store.liveSlots(...question);
      asked += 1;
      await slow;
      return slots;
    },
  };
  const second = createTransactor(
    {
      chain: c.port,
      store: held,
      signer: signer.signer,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { owner: `test-${accounts++}`, leaseMs: 15_000 },
  );
  running.push(second);
  await second.start();
  expect(second.healthy()).toBe(false);
  await first.stop();
  await expect.poll(() => asked, { timeout: 40_000 }).toBe(1);
  await second.submit(intent('early'));
  await expect.poll(() => c.port.transactionCount(signer.address, 'latest')).toBe(1);
  answer();
  expect(await settled(second, 'early')).toMatchObject({ state: 'mined' });
});

test('after the lease returns, processes a block that arrived while it had lapsed, without waiting for another', async () => {
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  let letRenew = () => {};
  let slow: Promise<void> = Promise.resolve();
  const held: TxStore = {
    ...store,
    async renewSigner(holder, leaseMs) {
      await slow;
      return store.renewSigner(holder, leaseMs);
    },
  };
  const transactor = createTransactor(
    {
      chain: c.port,
      store: held,
      signer: signer.signer,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { owner: `test-${accounts++}`, leaseMs: 300, bumpAfterBlocks: 1_000 },
  );
  running.push(transactor);
  await transactor.start();
  await transactor.submit(intent('overlooked'));
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending'), { timeout: 40_000 }).toBe(1);
  slow = new Promise((done) => {
    letRenew = done;
  });
  await expect.poll(() => transactor.healthy(), { timeout: 40_000 }).toBe(false);
  await c.anvil.mine();
  await expect.poll(() => c.port.transactionCount(signer.address, 'latest')).toBe(1);
  const mined = await c.anvil.rpc('eth_blockNumber', []);
  await expect.poll(() => c.port.head()?.number, { timeout: 40_000 }).toBe(BigInt(mined as string));
  expect(await transactor.status('overlooked')).toMatchObject({ state: 'pending' });
  letRenew();
  expect(await settled(transactor, 'overlooked')).toMatchObject({ state: 'mined' });
});

test('the same for a lease that lapses briefly while its renewal is in flight', async () => {
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  let nowMs = 1_000_000;
  let renew = () => {};
  let answer = () => {};
  let slow: Promise<void> = Promise.resolve();
  const held: TxStore = {
    ...store,
    async renewSigner(holder, leaseMs) {
      const renewed = await store.renewSigner(holder, leaseMs);
      await slow;
      return renewed;
    },
  };
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    after: (_ms: number, run: () => void) => ((renew = run), () => {}),
  };
  const transactor = createTransactor(
    { chain: c.port, store: held, signer: signer.signer, clock, log: silentLog, metrics: silentMetrics },
    { owner: `test-${accounts++}`, leaseMs: 60_000, bumpAfterBlocks: 1_000 },
  );
  running.push(transactor);
  await transactor.start();
  await transactor.submit(intent('moment'));
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending'), { timeout: 40_000 }).toBe(1);
  slow = new Promise((done) => {
    answer = done;
  });
  nowMs += 20_000;
  renew();
  nowMs += 45_000;
  await c.anvil.mine();
  await expect.poll(() => c.port.transactionCount(signer.address, 'latest')).toBe(1);
  const mined = await c.anvil.rpc('eth_blockNumber', []);
  await expect.poll(() => c.port.head()?.number, { timeout: 40_000 }).toBe(BigInt(mined as string));
  expect(transactor.healthy()).toBe(false);
  answer();
  expect(await settled(transactor, 'moment')).toMatchObject({ state: 'mined' });
});

test('an intent that would revert is refused before it takes a nonce', async () => {
  const signer = await newSigner();
  const transactor = await start(signer);
  await expect(
    transactor.submit({ key: 'bad', to: c.chain.escrow, data: '0x48f49eaf' }),
  ).rejects.toMatchObject({ code: 'would_revert' });
  expect(await transactor.status('bad')).toBeUndefined();
});

test('a signer with less than its operator demands counts as unable to pay, until it is topped up', async () => {
  const signer = await newSigner();
  const set = (wei: bigint) => c.anvil.rpc('anvil_setBalance', [signer.address, `0x${wei.toString(16)}`]);
  await set(10n ** 18n - 1n);
  const transactor = await start(signer, { leastBalance: 10n ** 18n });
  expect(transactor.healthy()).toBe(false);
  await set(10n ** 18n);
  await expect
    .poll(
      async () => {
        await c.anvil.mine();
        return transactor.healthy();
      },
      { timeout: 20_000, interval: 500 },
    )
    .toBe(true);
});

test('a signer can pay only if its balance pays for what it has sent and for one more, at the fees of now', async () => {
  const dear = 20_000_000_000n;
  await c.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${dear.toString(16)}`]);
  await c.anvil.mine();
  await expect
    .poll(async () => (await c.port.fees()).baseFee, { timeout: 10_000 })
    .toBeGreaterThan(dear / 2n);
  const fund = async (wei: bigint) => {
    const signer = await newSigner();
    await c.anvil.rpc('anvil_setBalance', [signer.address, `0x${wei.toString(16)}`]);
    return start(signer);
  };
  // The case of a report: enough for a fixed threshold of 0.001, and not for one settlement.
  expect((await fund(2n * 10n ** 15n)).healthy()).toBe(false);
  await c.anvil.rpc('evm_setAutomine', [false]);
  const rich = await fund(6n * 10n ** 16n);
  expect(rich.healthy()).toBe(true);
  for (let n = 0; n < 8; n += 1) await rich.submit({ ...intent(`dear-${n}`), gas: 500_000n });
  // Each may cost 0.01 to 0.02: eight of them are above 0.06.
  expect(rich.healthy()).toBe(false);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
  for (let n = 0; n < 8; n += 1) await settled(rich, `dear-${n}`);
  await expect
    .poll(
      async () => {
        await c.anvil.mine();
        return rich.healthy();
      },
      { timeout: 15_000, interval: 200 },
    )
    .toBe(true);
});
