/** Transactions with value: sent once, replaced with the same value, never more than the signer has. */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  account,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../../../../test/support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres.ts';
import { silentLog, silentMetrics } from '../../../../test/support/silent.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import type { Transactor, TxStatus } from '../../../ports/transactor.ts';
import { createTxStore } from '../../postgres/tx-store.ts';
import { TRANSACTION_MIGRATIONS } from '../../postgres/migrations/transactions.ts';
import type { Database } from '../../postgres/pool.ts';
import { systemClock } from '../../system/clock.ts';
import { createTransactor, type TransactorOptions } from './transactor.ts';

const ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;

let postgres: TestPostgres;
let devnet: Devnet;
let c: TestChain;
let db: Database;
let store: TxStore;
const running: Transactor[] = [];
let serial = 3_000;

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([31337])]);
  c = devnet.chains[0] as TestChain;
  db = await postgres.database('tx_value', TRANSACTION_MIGRATIONS);
  store = createTxStore(db);
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

async function newSigner(wei: bigint): Promise<TestAccount> {
  const signer = account(serial++);
  await c.anvil.rpc('anvil_setBalance', [signer.address, `0x${wei.toString(16)}`]);
  return signer;
}

/** Makes an unused address, so that its balance is what a test sends to it. */
const newSink = (): Address => account(serial++).address;

async function start(
  signer: TestAccount,
  options: Partial<TransactorOptions> = {},
  chain: ChainPort = c.port,
): Promise<Transactor> {
  const transactor = createTransactor(
    { chain, store, signer: signer.signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { owner: `value-${serial++}`, leaseMs: 3_000, ...options },
  );
  running.push(transactor);
  await transactor.start();
  return transactor;
}

async function ended(transactor: Transactor, key: string): Promise<TxStatus> {
  let status: TxStatus | undefined;
  await expect
    .poll(
      async () => {
        await c.anvil.mine();
        return (status = await transactor.status(key))?.state;
      },
      { timeout: 40_000, interval: 50 },
    )
    .not.toBe('pending');
  return status as TxStatus;
}

test.each([
  ['with a gas limit', { gas: 30_000n }],
  ['with estimated gas', {}],
])('the receiver gets the value once, %s', async (name, gas) => {
  const sink = newSink();
  const transactor = await start(await newSigner(ETHER));
  const intent = { key: `once ${name}`, to: sink, data: '0x' as const, value: ETHER / 4n, ...gas };
  await Promise.all(Array.from({ length: 5 }, () => transactor.submit(intent)));
  expect(await ended(transactor, intent.key)).toMatchObject({
    state: 'mined',
    receipt: { status: 'success' },
  });
  expect(await c.port.nativeBalance(sink)).toBe(ETHER / 4n);
});

test('the gas of a call is estimated with its value: one that the contract refuses takes no nonce', async () => {
  const transactor = await start(await newSigner(ETHER));
  // Transfers of tokens are not payable.
  await expect(
    transactor.submit({
      key: 'not payable',
      to: c.usdc.address,
      data: `0xa9059cbb${newSink().slice(2).padStart(64, '0')}${'0'.padStart(64, '0')}`,
      value: 1n,
    }),
  ).rejects.toMatchObject({ code: 'would_revert' });
  expect(await transactor.status('not payable')).toBeUndefined();
});

test('a replacement carries the same value, also by a later process', async () => {
  const sink = newSink();
  const signer = await newSigner(ETHER);
  await c.anvil.rpc('evm_setAutomine', [false]);
  const first = await start(signer, { bumpAfterBlocks: 1_000 });
  const intent = { key: 'bumped', to: sink, data: '0x' as const, value: ETHER / 8n, gas: 30_000n };
  const { hashes } = await first.submit(intent);
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending')).toBe(1);
  await c.anvil.rpc('anvil_dropTransaction', [hashes[0]]);
  await first.stop();
  const deaf: ChainPort = {
    ...c.port,
    sendRaw: async () => ({ kind: 'underpriced', message: 'replacement transaction underpriced' }),
  };
  const second = await start(signer, { bumpAfterBlocks: 1_000 }, deaf);
  await expect
    .poll(
      async () => {
        await c.anvil.mine();
        return (await second.status('bumped'))?.hashes.length;
      },
      { timeout: 40_000, interval: 100 },
    )
    .toBeGreaterThan(1);
  await second.stop();
  await c.anvil.rpc('evm_setAutomine', [true]);
  const third = await start(signer, { bumpAfterBlocks: 1_000 });
  const status = await ended(third, 'bumped');
  expect(status.state === 'mined' && status.receipt.txHash).not.toBe(hashes[0]);
  expect(await c.port.nativeBalance(sink)).toBe(ETHER / 8n);
});

test('the no-op that takes the nonce of a late transaction carries no value', async () => {
  const sink = newSink();
  const signer = await newSigner(ETHER);
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 1_000 });
  const head = c.port.head();
  const { hashes } = await transactor.submit({
    key: 'late',
    to: sink,
    data: '0x',
    value: ETHER / 2n,
    gas: 30_000n,
    notAfter: (head?.timestamp ?? 0) + 5,
  });
  await expect.poll(() => c.port.transactionCount(signer.address, 'pending')).toBe(1);
  await c.anvil.rpc('anvil_dropTransaction', [hashes[0]]);
  await c.anvil.rpc('evm_increaseTime', [60]);
  await c.anvil.mine();
  await c.anvil.rpc('evm_setAutomine', [true]);
  expect(await ended(transactor, 'late')).toMatchObject({ state: 'void' });
  expect(await c.port.nativeBalance(sink)).toBe(0n);
  // Only the gas of the no-op is gone.
  expect(await c.port.nativeBalance(signer.address)).toBeGreaterThan((ETHER * 9n) / 10n);
});

test('refuses what the signer cannot pay, before it takes a nonce; it is sent once the signer can', async () => {
  const sink = newSink();
  const signer = await newSigner(ETHER);
  const transactor = await start(signer);
  const intent = { key: 'too dear', to: sink, data: '0x' as const, value: 2n * ETHER };
  await expect(transactor.submit({ ...intent, gas: 30_000n })).rejects.toMatchObject({
    code: 'signer_short',
    retry: 'later',
  });
  await expect(transactor.submit(intent)).rejects.toMatchObject({ code: 'signer_short' });
  expect(await transactor.status('too dear')).toBeUndefined();
  expect(transactor.healthy()).toBe(true);
  await c.anvil.rpc('anvil_setBalance', [signer.address, `0x${(3n * ETHER).toString(16)}`]);
  await transactor.submit(intent);
  expect(await ended(transactor, 'too dear')).toMatchObject({ state: 'mined' });
  expect(await c.port.nativeBalance(sink)).toBe(2n * ETHER);
});

test('value that is on its way, and value asked for at the same time, is not promised twice', async () => {
  const sink = newSink();
  const signer = await newSigner(ETHER);
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 1_000 });
  const send = (key: string, value: bigint) =>
    transactor.submit({ key, to: sink, data: '0x', value, gas: 30_000n });
  const answers = await Promise.allSettled([send('a', (ETHER * 6n) / 10n), send('b', (ETHER * 6n) / 10n)]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  await expect(send('c', (ETHER * 6n) / 10n)).rejects.toMatchObject({ code: 'signer_short' });
  await send('d', (ETHER * 3n) / 10n);
  expect(transactor.healthy()).toBe(true);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
  await ended(transactor, 'd');
  expect(await c.port.nativeBalance(sink)).toBe((ETHER * 9n) / 10n);
});

test('a signer whose open transactions carry nearly all it has counts as unable to pay', async () => {
  const sink = newSink();
  const signer = await newSigner(ETHER);
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 1_000, spareGas: 21_000n });
  const fees = await c.port.fees();
  const gas = 30_000n * (fees.baseFee * 2n + fees.priorityFee);
  expect(transactor.healthy()).toBe(true);
  await transactor.submit({
    key: 'nearly all',
    to: sink,
    data: '0x',
    value: ETHER - gas - GWEI,
    gas: 30_000n,
  });
  expect(transactor.healthy()).toBe(false);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
  await ended(transactor, 'nearly all');
});

test('rows that the previous release writes carry no value', async () => {
  const signer = await newSigner(ETHER);
  await db.query(
    `insert into tx_slot (chain_id, signer, nonce, key, destination, data, gas, created_at_ms)
     values (31337, $1, 0, 'released', $2, '\\x', 30000, 1)`,
    [Buffer.from(signer.address.slice(2), 'hex'), Buffer.from(newSink().slice(2), 'hex')],
  );
  await db.query(
    `insert into tx_signer (chain_id, signer, owner, fence, lease_until, next_nonce) values (31337, $1, 'released', 1, '-infinity', 1)`,
    [Buffer.from(signer.address.slice(2), 'hex')],
  );
  const transactor = await start(signer);
  expect(await ended(transactor, 'released')).toMatchObject({
    state: 'mined',
    receipt: { status: 'success' },
  });
  expect(await store.slotsOf(31337, [signer.address], ['released'])).toMatchObject([{ value: 0n }]);
});
