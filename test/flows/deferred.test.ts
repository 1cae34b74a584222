/**
 * Received into the ledger, from the quote to the wallet: on one chain and across two, paid out by itself or
 * taken by its owner, whatever restarts in between.
 */

import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAttestationClient } from '../../src/adapters/attestations/client.ts';
import { attestationRoutes } from '../../src/adapters/attestations/routes.ts';
import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import { startOps } from '../../src/adapters/http/ops.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createAttester } from '../../src/attester/attester.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Settlement } from '../../src/domain/delivery.ts';
import type { FactKind } from '../../src/domain/fact.ts';
import type { Bytes32, Hex } from '../../src/domain/hex.ts';
import { outputHash } from '../../src/domain/order.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { OrderRecord } from '../../src/ports/stores/store.ts';
import type { TxStore } from '../../src/ports/stores/tx-store.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { escrowAbi } from '../../src/settlement/abi/escrow.ts';
import {
  fillCall,
  requestWithdrawalCall,
  withdrawCall,
  withdrawDeferredCall,
} from '../../src/settlement/call.ts';
import { deferredSettlement, type DeferredSettlement, foldCredits } from '../../src/settlement/deferred.ts';
import { createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import { createWithdrawals } from '../../src/venue/orders/advance/withdrawals.ts';
import { account, ATTESTERS, DEPLOYER, type TestAccount, type TestChain } from '../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

const DELAY_SECONDS = 900;
const WETH = 10n ** 18n;

let v: TestVenue;
let postgres: TestPostgres;
let txStore: TxStore;
let a: TestChain;
let b: TestChain;
let key: string;
let solver: Awaited<ReturnType<TestVenue['solver']>>;
let attesterUrls: string[];
const closers: (() => Promise<unknown>)[] = [];
let accounts = 7_000;

beforeAll(async () => {
  [v, postgres] = await Promise.all([startTestVenue({ chainIds: [31_461, 31_462] }), startTestPostgres()]);
  [a, b] = v.devnet.chains as [TestChain, TestChain];
  txStore = createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS));
  key = await v.key('service');
  solver = await v.solver(70, (rfq, make) =>
    make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_500n }, { validSeconds: 500 }),
  );
  for (const chain of v.devnet.chains) await chain.fund(solver.operator.address, 0n);
  attesterUrls = await Promise.all(
    ATTESTERS.slice(1).map(async ({ signer }) => {
      const attester = createAttester({
        chains: ports(),
        signer,
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      });
      await attester.start();
      const door = await startOps({
        host: '127.0.0.1',
        port: 0,
        routes: attestationRoutes(attester),
        log: silentLog,
      });
      closers.push(
        () => door.close(),
        () => attester.stop(),
      );
      return door.url;
    }),
  );
});
afterAll(async () => {
  await Promise.all(closers.map((close) => close()));
  await v.stop();
  await postgres.stop();
});

const ports = (): Map<number, ChainPort> =>
  new Map(v.devnet.chains.map(({ chain, port }) => [chain.id, port]));

interface Worker {
  stop(): Promise<void>;
}
const running: Worker[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
});

async function newRelayer(): Promise<TestAccount> {
  const relayer = account(accounts++);
  for (const chain of v.devnet.chains) await chain.fund(relayer.address, 0n);
  return relayer;
}

/** A venue worker: orders are advanced, and with `payouts` what is due leaves the ledger. */
async function startWorker(relayer: TestAccount, { payouts = true } = {}): Promise<Worker> {
  const owner = `worker-${accounts++}`;
  const transactors = new Map<number, Transactor>();
  for (const { chain, port } of v.devnet.chains) {
    const transactor = createTransactor(
      {
        chain: port,
        store: txStore,
        signer: relayer.signer,
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { owner, leaseMs: 1_000, bumpAfterBlocks: 15 },
    );
    await transactor.start();
    transactors.set(chain.id, transactor);
  }
  const attestations = createAttestationClient(
    {
      chains: ports(),
      recovery: createRecovery(),
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    { urls: attesterUrls },
  );
  const queue = { wake: async () => {}, process: async () => {}, close: async () => {} };
  const deps = {
    store: v.store,
    chains: ports(),
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
  };
  const advancer = createOrderAdvancer(
    { ...deps, transactors, routeVenues: [], attestations, queue, bus: v.bus },
    { owner, leaseMs: 1_000, sweepMs: 200, graceMs: 0 },
  );
  await advancer.start();
  const withdrawals = createWithdrawals(
    { ...deps, transactors: payouts ? transactors : new Map() },
    { recordingSeconds: 0 },
  );
  withdrawals.start();
  let stopped = false;
  const worker = {
    async stop() {
      if (stopped) return;
      stopped = true;
      await withdrawals.stop();
      await advancer.stop();
      await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
    },
  };
  running.push(worker);
  return worker;
}

/** Asked, planned, signed by a wallet, submitted; 2,500 USDC for a WETH. */
async function trade(
  taker: TestAccount,
  dest: TestChain,
  settlement: Settlement,
  receiver = taker.address,
): Promise<Bytes32> {
  const body = {
    taker: taker.address,
    receiver,
    input: { asset: assetId({ chainId: a.chain.id, token: a.usdc.address }), amount: '2500000000' },
    output: { asset: assetId({ chainId: dest.chain.id, token: dest.weth.address }) },
    settlement,
  };
  const [quote] = (await v.call('POST', '/api/v1/rfq/quotes', { key, body })).json['quotes'] as unknown as [
    Json,
  ];
  expect(quote['preview']?.['outputs']?.[0]).toMatchObject({ receiver, amount: WETH.toString() });
  const plan = (await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } }))
    .json;
  const submitted = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: await signPlan(taker, quote, plan),
  });
  expect(submitted.status, submitted.text).toBe(200);
  return submitted.json['id'] as Hex;
}

async function newTaker(): Promise<TestAccount> {
  const taker = account(accounts++);
  await a.fund(taker.address);
  return taker;
}

const read = async (orderId: Bytes32): Promise<OrderRecord> =>
  (await v.store.order(orderId)) ?? expect.fail('no such order');
/** No order across chains is quoted while their clocks differ by more than the withdrawal delay. */
const advanceBoth = (seconds: number) => Promise.all([a, b].map(({ anvil }) => anvil.advance(seconds)));
const timeOf = async ({ anvil }: TestChain) =>
  Number((await anvil.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])).timestamp);
const countOf = ({ facts }: OrderRecord, kind: FactKind) =>
  facts.filter(({ fact }) => fact.kind === kind).length;
const wallet = (chain: TestChain, who: TestAccount) =>
  chain.port.tokenBalance(who.address, chain.weth.address);
const ledger = (chain: TestChain, who: TestAccount) =>
  chain.port.ledgerBalance(who.address, chain.weth.address);

async function shown(orderId: Bytes32, chain: TestChain): Promise<DeferredSettlement | null> {
  const { order, facts } = await read(orderId);
  return deferredSettlement(
    { orderId, outputs: order.outputs.length, credits: foldCredits(facts.map(({ fact }) => fact)) },
    await timeOf(chain),
  );
}

/**
 * Blocks until it is so: depth, and every look at a chain, comes with blocks. Each is a second of chain time,
 * so not too many of them.
 */
async function minedUntil<T>(what: () => Promise<T | undefined | false | null>): Promise<T> {
  for (;;) {
    const found = await what();
    if (found) return found;
    for (const chain of v.devnet.chains) await chain.anvil.mine();
    await new Promise((done) => setTimeout(done, 150));
  }
}

const settled = (orderId: Bytes32) =>
  minedUntil(async () => {
    const { json, text } = await v.call('GET', `/api/v1/rfq/orders/${orderId}`, { key });
    if ((json['status'] as string) === 'failed') throw new Error(text);
    return (json['status'] as string) === 'settled';
  });
const reaches = (orderId: Bytes32, chain: TestChain, stage: DeferredSettlement['stage']) =>
  minedUntil(async () => {
    const view = await shown(orderId, chain);
    return view?.stage === stage && view;
  });

describe('automatic payout', () => {
  test('on one chain: credited, spendable, and paid to the wallet after the window, with a restart in between', async () => {
    const relayer = await newRelayer();
    const first = await startWorker(relayer);
    const taker = await newTaker();
    const had = await wallet(a, taker);
    const orderId = await trade(taker, a, 'ledger_auto_withdraw');
    await settled(orderId);
    const status = (await v.call('GET', `/api/v1/rfq/orders/${orderId}`, { key })).json;
    expect(Object.values(status['settledAmounts'] as object)[0]).toMatchObject({
      amount: WETH.toString(),
      receiver: taker.address,
    });
    expect([
      await wallet(a, taker),
      await ledger(a, taker),
      await a.port.ledgerDeferred(taker.address, a.weth.address),
    ]).toEqual([had, WETH, WETH]);
    const executed = await shown(orderId, a);
    expect(executed).toMatchObject({
      stage: 'executed',
      autoWithdraw: true,
      withdrawalStatus: 'scheduled',
      withdrawalTxHash: null,
      settlementWindowHours: 1,
    });
    const availableAt = Date.parse(executed?.estimatedSettlementAvailableAt ?? '') / 1_000;
    expect(availableAt).toBe(Date.parse(executed?.executedAt ?? '') / 1_000 + DELAY_SECONDS);
    const [output] = (await read(orderId)).order.outputs;
    expect(output && (await a.port.deferredUntil(orderId, outputHash(output)))).toBe(availableAt);

    await first.stop();
    await advanceBoth(availableAt - (await timeOf(a)));
    expect(await shown(orderId, a)).toMatchObject({ stage: 'available', withdrawalStatus: 'due' });
    await startWorker(relayer);
    const done = await reaches(orderId, a, 'withdrawn');
    expect(done).toMatchObject({
      withdrawalStatus: 'completed',
      withdrawalTrackingId: `${orderId}-withdraw-0`,
      estimatedSettlementAvailableAt: executed?.estimatedSettlementAvailableAt,
    });
    expect([
      await wallet(a, taker),
      await ledger(a, taker),
      await a.port.ledgerDeferred(taker.address, a.weth.address),
    ]).toEqual([had + WETH, 0n, 0n]);
    const record = await read(orderId);
    expect([
      countOf(record, 'credited'),
      countOf(record, 'payout_sent'),
      countOf(record, 'withdrawn'),
    ]).toEqual([1, 1, 1]);
    expect(done.withdrawalTxHash).toBe(
      record.facts.flatMap(({ fact }) => (fact.kind === 'payout_sent' ? [fact.txHash] : []))[0],
    );
    expect((await v.store.events(orderId)).map(({ type }) => type)).toEqual([
      'order.created',
      'order.settled',
    ]);
  });

  test("across chains, to another receiver, on the output's chain", async () => {
    await startWorker(await newRelayer());
    const [taker, receiver] = [await newTaker(), account(accounts++)];
    const orderId = await trade(taker, b, 'ledger_auto_withdraw', receiver.address);
    await minedUntil(async () => (await a.port.orderStatus(orderId)) === 'deposited');
    const [output] = (await read(orderId)).order.outputs as [OrderRecord['order']['outputs'][number]];
    await b.send(
      solver.operator.address,
      b.chain.escrow,
      fillCall(orderId, output, (await read(orderId)).order.fillDeadline, solver.lp.address),
    );
    await settled(orderId);
    expect([await wallet(b, receiver), await ledger(b, receiver)]).toEqual([0n, WETH]);
    expect(await shown(orderId, b)).toMatchObject({ stage: 'executed' });
    await advanceBoth(DELAY_SECONDS);
    await reaches(orderId, b, 'withdrawn');
    expect([await wallet(b, receiver), await ledger(b, receiver)]).toEqual([WETH, 0n]);
  });

  test('a third party pays out first: recorded as it happened, and the venue sends nothing', async () => {
    const relayer = await newRelayer();
    const watching = await startWorker(relayer, { payouts: false });
    const taker = await newTaker();
    const orderId = await trade(taker, a, 'ledger_auto_withdraw');
    await settled(orderId);
    await a.anvil.advance(DELAY_SECONDS);
    const [output] = (await read(orderId)).order.outputs as [OrderRecord['order']['outputs'][number]];
    const hash = await a.send(DEPLOYER.address, a.chain.escrow, withdrawDeferredCall(orderId, output));
    expect(await reaches(orderId, a, 'withdrawn')).toMatchObject({ withdrawalTxHash: hash });
    await watching.stop();
    await startWorker(relayer);
    for (let block = 0; block < 5; block++) await minedUntil(async () => (await timeOf(a)) > 0);
    const record = await read(orderId);
    expect([countOf(record, 'payout_sent'), countOf(record, 'withdrawn')]).toEqual([0, 1]);
  });

  test('a payout that a reorganisation removed is made again and recorded once', async () => {
    await startWorker(await newRelayer());
    const taker = await newTaker();
    const orderId = await trade(taker, a, 'ledger_auto_withdraw');
    await settled(orderId);
    const had = await wallet(a, taker);
    await a.anvil.advance(DELAY_SECONDS);
    // The payment is in the newest block, which is not final.
    await until(async () => (await wallet(a, taker)) > had);
    await a.anvil.rpc('anvil_reorg', [1, []]);
    expect([await wallet(a, taker), countOf(await read(orderId), 'withdrawn')]).toEqual([had, 0]);
    await reaches(orderId, a, 'withdrawn');
    expect(await wallet(a, taker)).toBe(had + WETH);
    expect(countOf(await read(orderId), 'withdrawn')).toBe(1);
  });

  test('a delivery that its owner keeps stays in the ledger', async () => {
    await startWorker(await newRelayer());
    const taker = await newTaker();
    const orderId = await trade(taker, a, 'ledger_auto_withdraw');
    await settled(orderId);
    const [output] = (await read(orderId)).order.outputs as [OrderRecord['order']['outputs'][number]];
    await a.send(
      taker.address,
      a.chain.escrow,
      encodeFunctionData({ abi: escrowAbi, functionName: 'keepDeferred', args: [orderId, output] }),
    );
    await a.anvil.advance(DELAY_SECONDS);
    expect(
      await minedUntil(async () =>
        (await shown(orderId, a))?.withdrawalStatus === 'kept_in_ledger' ? shown(orderId, a) : undefined,
      ),
    ).toMatchObject({ stage: 'available' });
    expect(await ledger(a, taker)).toBe(WETH);
  });
});

describe('permanent delivery', () => {
  test('the owner withdraws in parts: the oldest delivery is counted first', async () => {
    await startWorker(await newRelayer());
    const taker = await newTaker();
    const had = await wallet(a, taker);
    const orders = [await trade(taker, a, 'ledger')];
    await settled(orders[0] as Hex);
    orders.push(await trade(taker, a, 'ledger'));
    await settled(orders[1] as Hex);
    const [first, second] = orders as [Hex, Hex];
    expect(await shown(first, a)).toMatchObject({
      stage: 'available',
      autoWithdraw: false,
      estimatedSettlementAvailableAt: null,
      withdrawalStatus: 'none',
    });
    const take = async (amount: bigint) => {
      await a.send(taker.address, a.chain.escrow, requestWithdrawalCall(a.weth.address, amount));
      await reaches(amount > WETH ? first : second, a, 'requested');
      await a.anvil.advance(DELAY_SECONDS);
      return a.send(taker.address, a.chain.escrow, withdrawCall(a.weth.address, taker.address));
    };
    const hash = await take(WETH + WETH / 4n);
    expect(await reaches(first, a, 'withdrawn')).toMatchObject({
      withdrawalStatus: 'completed',
      withdrawalTxHash: hash,
    });
    expect(await reaches(second, a, 'available')).toMatchObject({ withdrawalTxHash: hash });
    await take((WETH * 3n) / 4n);
    await reaches(second, a, 'withdrawn');
    expect([await wallet(a, taker), await ledger(a, taker)]).toEqual([had + 2n * WETH, 0n]);
    const amounts = async (orderId: Hex) =>
      (await read(orderId)).facts.flatMap(({ fact }) => (fact.kind === 'withdrawn' ? [fact.amount] : []));
    expect([await amounts(first), await amounts(second)]).toEqual([[WETH], [WETH / 4n, (WETH * 3n) / 4n]]);
  });

  test('a ledger balance pays for the next trade, deferred or not', async () => {
    await startWorker(await newRelayer());
    const taker = await newTaker();
    await settled(await trade(taker, a, 'ledger'));
    const body = {
      taker: taker.address,
      input: { asset: assetId({ chainId: a.chain.id, token: a.weth.address }), amount: WETH.toString() },
      output: { asset: assetId({ chainId: a.chain.id, token: a.usdc.address }) },
    };
    const plan = async () => {
      const [quote] = (await v.call('POST', '/api/v1/rfq/quotes', { key, body })).json[
        'quotes'
      ] as unknown as [Json];
      return (await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } }))
        .json;
    };
    await v.solver(71, (rfq, make) => make.quote(rfq, { output: 10n ** 9n }));
    expect(await plan()).toMatchObject({
      fundingLock: 'ResourceLock',
      lockDetails: { available: WETH.toString() },
    });
  });
});
