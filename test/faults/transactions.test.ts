/**
 * Transactions of one signer that do not go as planned: racing replacements, stolen nonces, gaps, expensive
 * gas and none.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTransactor, type TransactorOptions } from '../../src/adapters/evm/transactor/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { UpstreamError } from '../../src/domain/errors.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import { keccak } from '../../src/domain/keccak.ts';
import type { Signer } from '../../src/ports/signer.ts';
import type { TxAttempt, TxSlot, TxStore } from '../../src/ports/stores/tx-store.ts';
import type { Transactor, TxIntent, TxStatus } from '../../src/ports/transactor.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { until } from '../support/venue.ts';
import { diceOf, SEED } from './seed.ts';

let postgres: TestPostgres;
let devnet: Devnet;
let c: TestChain;
let store: TxStore;
const running: Transactor[] = [];
const SINK: Address = '0x00000000000000000000000000000000000000aa';
const GWEI = 1_000_000_000n;
const CHAIN = 31_621;
let serial = 30_000;

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([CHAIN])]);
  c = devnet.chains[0] as TestChain;
  store = createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((transactor) => transactor.stop()));
  await c.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00']);
  await c.anvil.rpc('evm_setAutomine', [true]);
  await c.anvil.mine();
});
afterAll(async () => {
  await devnet.stop();
  await postgres.stop();
});

/** Accounts are the same for the same seed, and no two faults share one. */
async function newSigner(wei = 10n ** 19n): Promise<TestAccount> {
  const signer = account(1_000_000 + (SEED % 1_000_000) * 100 + (serial += 1));
  await c.anvil.rpc('anvil_setBalance', [signer.address, `0x${wei.toString(16)}`]);
  return signer;
}

async function start(
  signer: TestAccount,
  options: Partial<TransactorOptions> = {},
  { chain = c.port, by = signer.signer }: { chain?: ChainPort; by?: Signer } = {},
): Promise<Transactor> {
  const transactor = createTransactor(
    { chain, store, signer: by, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { owner: `fault-${(serial += 1)}`, leaseMs: 120_000, bumpAfterBlocks: 1_000, ...options },
  );
  running.push(transactor);
  await transactor.start();
  return transactor;
}

/** A node that accepts transactions and does not forward them. */
const silentNode = (): ChainPort => ({
  ...c.port,
  sendRaw: async () => ({ kind: 'indeterminate', message: 'no answer' }),
});
const intent = (key: string): TxIntent => ({ key, to: SINK, data: '0x', gas: 30_000n });
const minedCount = (signer: TestAccount) => c.port.transactionCount(signer.address, 'latest');
const slotOf = async (signer: TestAccount, key: string): Promise<TxSlot | undefined> =>
  (await store.slotsOf(CHAIN, [signer.address], [key]))[0];
const attemptsOf = async (signer: TestAccount, key: string): Promise<TxAttempt[]> =>
  (await slotOf(signer, key))?.attempts ?? [];
/** Mines, and waits until the process has read the block and so decides by it. */
async function block(): Promise<void> {
  await c.anvil.mine();
  const number = BigInt(await c.anvil.rpc<Hex>('eth_blockNumber'));
  await until(() => (c.port.head()?.number ?? 0n) >= number);
}
/** Mines until the condition holds. */
async function mineUntil<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await block();
    await new Promise((done) => setTimeout(done, 50));
  }
}
const ended = (transactor: Transactor, key: string): Promise<TxStatus> =>
  mineUntil(async () => {
    const status = await transactor.status(key);
    return status?.state !== 'pending' && status;
  });

test('F24: whichever attempt of a slot is mined is found, and no other attempt of it executes', async () => {
  const dice = diceOf('F24');
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  const transactor = await start(signer, { bumpAfterBlocks: 1 }, { chain: silentNode() });
  await transactor.submit(intent('race'));
  const wanted = 3 + Math.floor(dice.next() * 3);
  const attempts = await mineUntil(async () => {
    const made = await attemptsOf(signer, 'race');
    return made.length >= wanted && made;
  });
  // Never the newest attempt, which any implementation would find.
  const winner = dice.pick(attempts.slice(0, -1));
  await c.anvil.rpc('eth_sendRawTransaction', [winner.raw]);
  expect(await ended(transactor, 'race')).toMatchObject({ state: 'mined', receipt: { txHash: winner.hash } });
  await transactor.stop();
  for (const { raw } of await attemptsOf(signer, 'race'))
    await c.anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => {});
  await block();
  expect(await minedCount(signer)).toBe(1);
  expect(await (await start(signer)).status('race')).toMatchObject({
    state: 'mined',
    receipt: { txHash: winner.hash },
  });
});

test('F25: a nonce spent by another process with the same key is not taken for ours, and the step gets another nonce', async () => {
  const dice = diceOf('F25');
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  const first = await start(signer, {}, { chain: silentNode() });
  const keys = Array.from({ length: 2 + Math.floor(dice.next() * 4) }, (_, n) => `stolen-${n}`);
  await Promise.all(keys.map((key) => first.submit(intent(key))));
  await first.stop();
  const stolen = new Set(keys.filter((_, n) => n === 0 || dice.next() < 0.5).map((key) => keys.indexOf(key)));
  const raws = await Promise.all(keys.map(async (key) => (await attemptsOf(signer, key)).at(-1)?.raw as Hex));
  for (const [n, raw] of raws.entries()) {
    if (stolen.has(n))
      await c.anvil.rpc('eth_sendTransaction', [
        { from: signer.address, to: SINK, nonce: `0x${n.toString(16)}`, gas: '0x5208', value: '0x1' },
      ]);
    else await c.anvil.rpc('eth_sendRawTransaction', [raw]);
    // One block each: anvil drops a pooled transaction that pays more than an earlier one from the same
    // account.
    await block();
  }
  expect(await minedCount(signer)).toBe(keys.length);
  const second = await start(signer);
  const states = await Promise.all(keys.map(async (key) => (await ended(second, key)).state));
  expect(states).toEqual(keys.map((_, n) => (stolen.has(n) ? 'void' : 'mined')));
  const again = await Promise.all(keys.map((key) => second.submit(intent(key))));
  expect(again.map(({ state }) => state)).toEqual(keys.map((_, n) => (stolen.has(n) ? 'pending' : 'mined')));
  await Promise.all(keys.map(async (key) => expect((await ended(second, key)).state).toBe('mined')));
  expect(await minedCount(signer)).toBe(keys.length + stolen.size);
});

test('F26: a nonce that will never be sent is filled by a no-op, and the transactions behind it proceed', async () => {
  const dice = diceOf('F26');
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  const keys = Array.from({ length: 6 }, (_, n) => `gap-${n}`);
  const [refused, unsignable] = dice.next() < 0.5 ? [2, 4] : [4, 2];
  // The signer is unavailable for the first few and refuses one of them each time. Unchanged fees keep its
  // bytes unchanged.
  let [away, asked, declined] = [2, -1, undefined as Hex | undefined];
  const by: Signer = {
    ...signer.signer,
    async sign(message) {
      if ((away -= 1) >= 0) throw new Error('the signer is away');
      const digest = keccak(message);
      if (asked === unsignable) declined ??= digest;
      if (digest === declined) throw new Error('the policy of the signer does not allow this');
      return signer.signer.sign(message);
    },
  };
  const chain: ChainPort = { ...c.port, fees: async () => ({ baseFee: 2n * GWEI, priorityFee: GWEI }) };
  // Sent again some blocks later, in case anvil dropped it.
  const transactor = await start(signer, { bumpAfterBlocks: 20 }, { chain, by });
  for (const [n, key] of keys.entries()) {
    asked = n;
    // More gas than a block has, so no node accepts it.
    await transactor.submit(n === refused ? { ...intent(key), gas: 100_000_000n } : intent(key));
    asked = -1;
  }
  const states = await Promise.all(keys.map(async (key) => (await ended(transactor, key)).state));
  expect(states[refused]).toBe('void');
  expect(states[unsignable]).toBe('void');
  expect(states.filter((state) => state === 'mined')).toHaveLength(4);
  expect(await minedCount(signer)).toBe(6);
});

test('a key service that is down for many blocks ends no transaction, and signs many at a time', async () => {
  const signer = await newSigner();
  await c.anvil.rpc('evm_setAutomine', [false]);
  let [down, signing, most] = [true, 0, 0];
  const by: Signer = {
    ...signer.signer,
    async sign(message) {
      if (down) throw new UpstreamError('The key service does not answer.', { code: 'signer_unavailable' });
      most = Math.max(most, (signing += 1));
      await new Promise((done) => setTimeout(done, 20));
      signing -= 1;
      return signer.signer.sign(message);
    },
  };
  const transactor = await start(signer, {}, { by });
  const keys = Array.from({ length: 5 }, (_, n) => `away-${n}`);
  await Promise.all(keys.map((key) => transactor.submit(intent(key))));
  for (let n = 0; n < 6; n += 1) await block();
  expect(await Promise.all(keys.map((key) => transactor.status(key)))).toEqual(
    keys.map(() => ({ state: 'pending', hashes: [] })),
  );
  down = false;
  const states = await Promise.all(keys.map(async (key) => (await ended(transactor, key)).state));
  expect(states).toEqual(keys.map(() => 'mined'));
  expect(await minedCount(signer)).toBe(keys.length);
  expect(most).toBe(keys.length);
});

test('F27: transactions wait while gas is above the cap, late ones are replaced by a no-op, and no attempt exceeds the cap', async () => {
  const dice = diceOf('F27');
  const signer = await newSigner();
  const cap = 20n * GWEI;
  await c.anvil.rpc('evm_setAutomine', [false]);
  const spike = async () =>
    c.anvil.rpc('anvil_setNextBlockBaseFeePerGas', [
      `0x${((25n + BigInt(Math.floor(dice.next() * 400))) * GWEI).toString(16)}`,
    ]);
  await spike();
  await block();
  const transactor = await start(signer, { maxFeePerGasCap: cap, bumpAfterBlocks: 1 });
  const late = { ...intent('late'), notAfter: (c.port.head()?.timestamp ?? 0) + 100 };
  await Promise.all([transactor.submit(late), transactor.submit(intent('patient'))]);
  for (let n = 0; n < 4; n += 1) {
    await spike();
    await block();
  }
  expect(await minedCount(signer)).toBe(0);
  expect(await transactor.status('late')).toMatchObject({ state: 'pending' });
  await spike();
  await c.anvil.advance(200);
  await until(async () => {
    await spike();
    await block();
    return (await attemptsOf(signer, 'late')).at(-1)?.noop;
  });
  expect(await minedCount(signer)).toBe(0);
  await c.anvil.rpc('anvil_setNextBlockBaseFeePerGas', ['0x3b9aca00']);
  expect((await ended(transactor, 'patient')).state).toBe('mined');
  expect((await ended(transactor, 'late')).state).toBe('void');
  const all = [...(await attemptsOf(signer, 'late')), ...(await attemptsOf(signer, 'patient'))];
  expect(
    all.filter(
      ({ maxFeePerGas, maxPriorityFeePerGas }) => maxFeePerGas > cap || maxPriorityFeePerGas > maxFeePerGas,
    ),
  ).toEqual([]);
  expect(await minedCount(signer)).toBe(2);
});

test('F28: a signer without gas reports it, keeps its transactions, and sends them after a top-up', async () => {
  const dice = diceOf('F28');
  await c.anvil.rpc('evm_setAutomine', [false]);
  const [empty, short] = [await newSigner(0n), await newSigner(2n * 10n ** 15n)];
  const [ofEmpty, ofShort] = [
    await start(empty, { bumpAfterBlocks: 1 }),
    await start(short, { bumpAfterBlocks: 1 }),
  ];
  // Before any attempt.
  expect([ofEmpty.healthy(), ofShort.healthy()]).toEqual([false, true]);
  const keys = Array.from({ length: 2 + Math.floor(dice.next() * 4) }, (_, n) => `poor-${n}`);
  const dear = (key: string): TxIntent => ({ ...intent(key), gas: 5_000_000n });
  await Promise.all(keys.flatMap((key) => [ofEmpty.submit(intent(key)), ofShort.submit(dear(key))]));
  // Only the node can tell that the gas is too little.
  await until(() => !ofShort.healthy());
  for (let n = 0; n < 3; n += 1) await block();
  expect([await minedCount(empty), await minedCount(short)]).toEqual([0, 0]);
  expect(
    new Set(
      await Promise.all(
        keys
          .flatMap((key) => [ofEmpty.status(key), ofShort.status(key)])
          .map(async (status) => (await status)?.state),
      ),
    ),
  ).toEqual(new Set(['pending']));
  for (const { address } of [empty, short])
    await c.anvil.rpc('anvil_setBalance', [address, '0x56bc75e2d63100000']);
  for (const key of keys)
    expect([(await ended(ofEmpty, key)).state, (await ended(ofShort, key)).state]).toEqual([
      'mined',
      'mined',
    ]);
  expect([await minedCount(empty), await minedCount(short)]).toEqual([keys.length, keys.length]);
  await until(async () => {
    await block();
    return ofEmpty.healthy() && ofShort.healthy();
  });
});
