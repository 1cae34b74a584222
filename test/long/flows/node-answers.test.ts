/**
 * What nodes and providers answer instead of doing what they are asked, played by a proxy before a real node.
 * Nothing ends because of an answer that is not final, and nothing is asked in a way that the node refuses.
 */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createChain, type EvmChain } from '../../../src/adapters/evm/chain/chain.ts';
import { createTransactor } from '../../../src/adapters/evm/transactor/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../../src/adapters/postgres/tx-store.ts';
import { createSender } from '../../../src/apps/lp/account/sender.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import type { Address, Hex } from '../../../src/domain/hex.ts';
import type { TxStore } from '../../../src/ports/stores/tx-store.ts';
import type { Transactor } from '../../../src/ports/transactor.ts';
import { type RpcProxy, startRpcProxy } from '../../faults/support/rpc-proxy.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../../support/devnet.ts';
import {
  type Plan,
  PLANS,
  type PlayedProvider,
  playProvider,
  type ProviderName,
} from '../../support/providers.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';

const SINK: Address = '0x00000000000000000000000000000000000000aa';
const GWEI = 1_000_000_000n;

let postgres: TestPostgres;
let devnet: Devnet;
let c: TestChain;
let store: TxStore;
let proxy: RpcProxy;
let port: EvmChain;
let accounts = 7_000;
const running: Transactor[] = [];

const chainOf = (...rpcUrls: string[]) =>
  createChain(c.chain, { rpcUrls, clock: systemClock, log: silentLog, metrics: silentMetrics });

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([31_351])]);
  c = devnet.chains[0] as TestChain;
  store = createTxStore(await postgres.database('answers', TRANSACTION_MIGRATIONS));
  proxy = await startRpcProxy(c.anvil.url);
  port = chainOf(proxy.url);
  await port.start();
});
afterEach(async () => {
  proxy.heal();
  await Promise.all(running.splice(0).map((transactor) => transactor.stop()));
});
afterAll(async () => {
  await port.close();
  await proxy.stop();
  await devnet.stop();
  await postgres.stop();
});

async function start(signer: TestAccount): Promise<Transactor> {
  const transactor = createTransactor(
    { chain: port, store, signer: signer.signer, clock: systemClock, log: silentLog, metrics: silentMetrics },
    { owner: `answers-${accounts++}`, leaseMs: 3_000 },
  );
  running.push(transactor);
  await transactor.start();
  return transactor;
}

async function allEvents(to: bigint) {
  const honest = chainOf(c.anvil.url);
  await honest.start();
  const events = await honest.events(0n, to);
  await honest.close();
  return events;
}

const refuse = (
  method: string,
  code: number,
  message: string,
  when?: (params: readonly unknown[]) => boolean,
) => proxy.fault(method, { do: 'reject', code, message }, when);

async function mined(transactor: Transactor, key: string) {
  await expect
    .poll(
      async () => {
        await c.anvil.mine();
        return (await transactor.status(key))?.state;
      },
      { timeout: 30_000, interval: 100 },
    )
    .toBe('mined');
  return transactor.status(key);
}

describe('sending', () => {
  test("an owner's command sends the same bytes again, and one transaction is mined", async () => {
    const owner = account(accounts++);
    await c.fund(owner.address, 0n);
    const said: string[] = [];
    const sender = createSender(port, owner.address, owner.signer, (line) => said.push(line));
    const heal = refuse('eth_sendRawTransaction', -32_005, 'request rate limited');
    const before = proxy.faulted('eth_sendRawTransaction');
    const step = sender.run('send nothing', SINK, '0x');
    await expect
      .poll(() => proxy.faulted('eth_sendRawTransaction'), { timeout: 5_000 })
      .toBeGreaterThan(before);
    heal();
    expect(await step).toMatchObject({ txHash: expect.any(String), blockNumber: expect.any(BigInt) });
    expect(said.join('\n')).toMatch(/cannot take it now: .*request rate limited/);
    expect(await c.port.transactionCount(owner.address, 'latest')).toBe(1);
  });

  test("an owner's command ends at once where sending again cannot help", async () => {
    const owner = account(accounts++);
    await c.fund(owner.address, 0n);
    const sender = createSender(port, owner.address, owner.signer, () => {});
    refuse('eth_sendRawTransaction', -32_000, 'insufficient funds for gas * price + value');
    const before = proxy.faulted('eth_sendRawTransaction');
    await expect(sender.run('send nothing', SINK, '0x')).rejects.toThrow(
      /did not take the transaction to send nothing: .*insufficient funds.* Nothing was sent\./,
    );
    expect(proxy.faulted('eth_sendRawTransaction')).toBe(before + 1);
  });

  test.each([
    [-32_005, 'daily request count exceeded, request rate limited'],
    [-32_000, 'txpool is full'],
    [-32_010, 'NonceGap, Future nonce. Expected nonce: 7'],
    [-32_000, 'in-flight transaction limit reached for delegated accounts'],
    [-32_603, 'Internal error'],
    [-32_099, 'the moon is in the wrong house'],
  ])('%i %s: the same bytes go out again, and nothing ends', async (code, message) => {
    const signer = account(accounts++);
    await c.fund(signer.address, 0n);
    const transactor = await start(signer);
    const heal = refuse('eth_sendRawTransaction', code, message);
    const { hashes } = await transactor.submit({ key: message, to: SINK, data: '0x', gas: 30_000n });
    await expect.poll(() => proxy.faulted('eth_sendRawTransaction'), { timeout: 5_000 }).toBeGreaterThan(0);
    for (let block = 0; block < 5; block += 1) {
      await c.anvil.mine();
      await port.fees();
    }
    expect(await transactor.status(message)).toMatchObject({ state: 'pending', hashes });
    heal();
    expect(await mined(transactor, message)).toMatchObject({ state: 'mined', hashes });
    expect(await c.port.transactionCount(signer.address, 'latest')).toBe(1);
  });

  test.each([
    [-32_010, 'InsufficientFunds, Account balance: 3000000000000000, cumulative cost: 4100000000000000'],
    [-32_004, 'Upfront cost exceeds account balance (transaction up-front cost 0x1 exceeds 0x0)'],
    [-32_000, "Sender doesn't have enough funds to send tx. The max upfront cost is: 9"],
    [-32_000, 'insufficient funds for gas * price + value: address 0x1 have 0 want 21000'],
  ])(
    '%i %s: the signer is unhealthy until it is topped up, and then everything is sent',
    async (code, message) => {
      const signer = account(accounts++);
      await c.fund(signer.address, 0n);
      const transactor = await start(signer);
      const heal = refuse('eth_sendRawTransaction', code, message);
      const { hashes } = await transactor.submit({ key: message, to: SINK, data: '0x', gas: 30_000n });
      await expect.poll(() => transactor.healthy(), { timeout: 5_000 }).toBe(false);
      for (let block = 0; block < 5; block += 1) await c.anvil.mine();
      expect(await transactor.status(message)).toMatchObject({ state: 'pending', hashes });
      heal();
      expect(await mined(transactor, message)).toMatchObject({ state: 'mined', hashes });
      await expect.poll(() => transactor.healthy(), { timeout: 5_000 }).toBe(true);
    },
  );
});

describe('fees', () => {
  /** Far below any constant that a program might carry. */
  const MARKET = 1_000_000n;
  const unknown = 'the method does not exist/is not available';

  beforeAll(async () => {
    await c.fund(account(1).address);
    for (let n = 0; n < 3; n += 1)
      await c.anvil.rpc('eth_sendTransaction', [
        {
          from: account(1).address,
          to: SINK,
          maxFeePerGas: `0x${(100n * GWEI).toString(16)}`,
          maxPriorityFeePerGas: `0x${MARKET.toString(16)}`,
        },
      ]);
  });

  test('a node without eth_maxPriorityFeePerGas: the tip is what others pay', async () => {
    refuse('eth_maxPriorityFeePerGas', -32_601, unknown);
    const fresh = chainOf(proxy.url);
    await fresh.start();
    expect((await fresh.fees()).priorityFee).toBe(MARKET);
    await fresh.close();
  });

  test('a node that refuses every question about tips for a while leaves the last known tip', async () => {
    let shiftMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + shiftMs };
    const fresh = createChain(c.chain, {
      rpcUrls: [proxy.url],
      clock,
      log: silentLog,
      metrics: silentMetrics,
    });
    await fresh.start();
    expect((await fresh.fees()).priorityFee).toBe(MARKET);
    refuse('eth_feeHistory', -32_005, 'request rate limited');
    refuse('eth_maxPriorityFeePerGas', -32_005, 'request rate limited');
    shiftMs = 60_000;
    expect((await fresh.fees()).priorityFee).toBe(MARKET);
    await fresh.close();
  });
});

test('an endpoint that is over its limit for everything is left for the other one', async () => {
  refuse('*', -32_011, 'request limit reached');
  const two = chainOf(proxy.url, c.anvil.url);
  await two.start();
  expect(await two.nativeBalance(account(1).address)).toBe(await c.port.nativeBalance(account(1).address));
  expect((await two.fees()).baseFee).toBeGreaterThan(0n);
  await two.close();
});

describe.each(Object.keys(PLANS) as ProviderName[])('a plan of %s', (name) => {
  let provider: PlayedProvider;
  let behind: RpcProxy;
  const begin = async (perSecond: number) => {
    behind = await startRpcProxy(c.anvil.url);
    provider = playProvider(name, { perSecond });
    behind.play(provider);
  };
  afterEach(() => behind.stop());

  test('60 questions at once and old logs fit into its limits, which are remembered', async () => {
    await begin(1e6);
    // Nobody else pays gas from it between two looks.
    const first = 7_000;
    await c.fund(account(first).address);
    const chain = chainOf(behind.url);
    await chain.start();
    const head = chain.head()?.number ?? 0n;
    const balances = () =>
      Promise.all(Array.from({ length: 60 }, (_, n) => chain.nativeBalance(account(first + n).address)));
    const logs = () => chain.events(0n, head, true);
    const [held, seen] = [await balances(), await logs()];
    expect(held[0]).toBe(await c.port.nativeBalance(account(first).address));
    expect(seen).toEqual(await allEvents(head));
    const { logs: refusedLogs, batch: refusedBatches } = provider.counts;
    expect([await balances(), await logs()]).toEqual([held, seen]);
    expect(provider.counts).toMatchObject({ logs: refusedLogs, batch: refusedBatches });
    const { batch }: Plan = PLANS[name];
    expect(refusedBatches > 0).toBe(batch !== undefined && batch.calls < 60);
    expect((await chain.fees()).baseFee).toBeGreaterThan(0n);
    await chain.close();
  });

  test('what it refuses for its rate is asked of the other endpoint', async () => {
    await begin(5);
    const chain = chainOf(behind.url, c.anvil.url);
    await chain.start();
    const [own] = await Promise.all(
      Array.from({ length: 60 }, (_, n) => chain.nativeBalance(account(1 + n).address)),
    );
    expect(own).toBe(await c.port.nativeBalance(account(1).address));
    expect(provider.counts.rate).toBeGreaterThan(0);
    await chain.close();
  });
});

test('a provider without old history: another endpoint is asked, and without one its words are told', async () => {
  const pruned = await startRpcProxy(c.anvil.url);
  const provider = playProvider('publicnode', { perSecond: 1e6, historyBlocks: 20n });
  pruned.play(provider);
  await c.fund(account(1).address);
  await c.deposit(account(1).address, c.usdc.address, 5n);
  await c.anvil.mine(30);
  const [two, alone] = [chainOf(pruned.url, c.anvil.url), chainOf(pruned.url)];
  await Promise.all([two.start(), alone.start()]);
  const head = two.head()?.number ?? 0n;
  const all = await allEvents(head);
  expect(all.length).toBeGreaterThan(0);
  expect(await two.events(0n, head)).toEqual(all);
  expect(await two.events(0n, head, true)).toEqual(all);
  const logsRefused = provider.counts.history;
  expect(logsRefused).toBeGreaterThan(0);
  const order: Hex = `0x${'ab'.repeat(32)}`;
  expect(await two.orderStatus(order, head - 30n)).toEqual(await c.port.orderStatus(order, head - 30n));
  expect(provider.counts.history).toBeGreaterThan(logsRefused);
  await expect(alone.events(0n, head)).rejects.toThrow(/Archive requests require a personal token/);
  expect(await alone.events(head - 10n, head)).toEqual(await two.events(head - 10n, head));
  await Promise.all([two.close(), alone.close(), pruned.stop()]);
});

/** Last, because the followers of the other tests do not believe in a thousand blocks at once. */
describe('logs', () => {
  const spanOf = ([filter]: readonly unknown[]) => {
    const { fromBlock, toBlock } = filter as { fromBlock: Hex; toBlock: Hex };
    return BigInt(toBlock) - BigInt(fromBlock) + 1n;
  };

  test.each([
    [-32_600, 'You can make eth_getLogs requests with up to a 500 block range.', 500n],
    [-32_005, 'query returned more than 10000 results', 300n],
    [-32_602, 'range 2000 exceeds limit of 1000', 1_000n],
    [-32_701, 'ranges over 10 blocks are not supported on freetier', 10n],
  ])('%i %s: 1,200 missed blocks are read in smaller ranges', async (code, message, most) => {
    await c.anvil.mine(1_200);
    await c.fund(account(1).address);
    await c.deposit(account(1).address, c.usdc.address, 5n);
    const limited = chainOf(proxy.url);
    refuse('eth_getLogs', code, message, (params) => spanOf(params) > most);
    await limited.start();
    const head = limited.head()?.number ?? 0n;
    const all = await allEvents(head);
    expect(all.length).toBeGreaterThan(0);
    expect(await limited.events(0n, head)).toEqual(all);
    expect(await limited.events(0n, head, true)).toEqual(all);
    const before = proxy.faulted('eth_getLogs');
    expect(await limited.events(0n, head)).toEqual(all);
    expect(proxy.faulted('eth_getLogs')).toBe(before);
    await limited.close();
  });

  test('of two endpoints the one with the lower limit is not left out', async () => {
    const limited = chainOf(proxy.url, c.anvil.url);
    await limited.start();
    const head = limited.head()?.number ?? 0n;
    refuse(
      'eth_getLogs',
      -32_614,
      'eth_getLogs is limited to a 100 range',
      (params) => spanOf(params) > 100n,
    );
    expect(await limited.events(0n, head, true)).toEqual(await allEvents(head));
    const before = proxy.calls('eth_getLogs');
    await limited.events(0n, head, true);
    expect(proxy.calls('eth_getLogs')).toBeGreaterThan(before + Number(head / 100n));
    await limited.close();
  });
});
