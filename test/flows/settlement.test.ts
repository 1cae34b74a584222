/**
 * Orders from acceptance to their end, on real chains and a real database, whoever does what and whatever
 * falls over in between.
 */

import { encodeFunctionData } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createAttestationClient } from '../../src/adapters/attestations/client.ts';
import { attestationRoutes } from '../../src/adapters/attestations/routes.ts';
import { createBullQueue } from '../../src/adapters/bullmq/queue.ts';
import { createTransactor } from '../../src/adapters/evm/transactor/transactor.ts';
import { startOps } from '../../src/adapters/http/ops.ts';
import { createPostgresBus } from '../../src/adapters/postgres/bus.ts';
import { TRANSACTION_MIGRATIONS } from '../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createAttester } from '../../src/attester/attester.ts';
import type { Bytes32, Hex } from '../../src/domain/hex.ts';
import { outputHash, type MandateOutput } from '../../src/domain/order.ts';
import { fillAttestation } from '../../src/domain/attestation.ts';
import { fillApprovalDigest, releaseDigest } from '../support/escrow.ts';
import type { Attestations } from '../../src/ports/attestations.ts';
import type { Bus } from '../../src/ports/bus.ts';
import type { ChainPort, EscrowEvent } from '../../src/ports/chain.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import type { VenueStore } from '../../src/ports/stores/venue-store.ts';
import type { TxStore } from '../../src/ports/stores/tx-store.ts';
import type { Transactor } from '../../src/ports/transactor.ts';
import { escrowAbi } from '../../src/settlement/abi/escrow.ts';
import {
  depositCall,
  fillCall,
  finaliseCall,
  openForCall,
  permit2GrantCall,
  settleCall,
  submitAttestationsCall,
} from '../../src/settlement/call.ts';
import { fillWithApprovalsCall, invalidateNonceCall } from '../support/escrow.ts';
import { decodeRevert } from '../../src/settlement/revert.ts';
import { foldFacts, type Progress } from '../../src/settlement/lifecycle.ts';
import { createOpenOrders } from '../../src/venue/admin/open-orders.ts';
import { type OrderAdvancer, createOrderAdvancer } from '../../src/venue/orders/advance/advancer.ts';
import {
  account,
  ATTESTERS,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { fund, makeTrade, type TradeTerms } from '../support/trade.ts';

let postgres: TestPostgres;
let devnet: Devnet;
let a: TestChain;
let b: TestChain;
let store: VenueStore;
let bus: Bus;
let txStore: TxStore;
let queueUrl: string;
let attesterUrls: string[];
const closers: (() => Promise<unknown>)[] = [];

const lps = [account(201), account(202), account(203)] as const;
const operator = account(210);
const DAY_MS = 86_400_000;
let takers = 300;
let relayers = 500;

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([
    startTestPostgres(),
    startDevnet([31337, 31338], { landingMarginSeconds: 20, proofWindowSeconds: 60 }),
  ]);
  [a, b] = devnet.chains as [TestChain, TestChain];
  const db = await postgres.database('venue', VENUE_MIGRATIONS);
  store = createVenueStore(db);
  bus = createPostgresBus(db, silentLog);
  txStore = createTxStore(await postgres.database('tx', TRANSACTION_MIGRATIONS));
  queueUrl = await postgres.server.database('queue');
  for (const chain of [a, b]) {
    for (const lp of lps) {
      await chain.fund(lp.address);
      await chain.deposit(lp.address, chain.weth.address, 10n ** 21n);
      await chain.setOperator(lp.address, operator.address);
    }
    await chain.fund(operator.address, 0n);
  }
  // Two of the three attesters are up.
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
  await devnet.stop();
  await bus.close();
  await postgres.stop();
});

const ports = (): Map<number, ChainPort> => new Map(devnet.chains.map(({ chain, port }) => [chain.id, port]));
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop();
  for (const chain of devnet.chains) await chain.anvil.rpc('evm_setAutomine', [true]);
});

interface Worker {
  advancer: OrderAdvancer;
  transactors: Map<number, Transactor>;
  stop(): Promise<void>;
  wake(orderId: Bytes32): Promise<void>;
}

/** A venue worker, complete. */
async function startWorker(
  options: { relayer?: TestAccount; graceMs?: number; leaseMs?: number; attestations?: Attestations } = {},
): Promise<Worker> {
  const relayer = options.relayer ?? (await newRelayer());
  const transactors = new Map<number, Transactor>();
  for (const { chain, port } of devnet.chains) {
    const transactor = createTransactor(
      {
        chain: port,
        store: txStore,
        signer: relayer.signer,
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { owner: `worker-${relayers++}`, leaseMs: 1_000, bumpAfterBlocks: 50 },
    );
    await transactor.start();
    transactors.set(chain.id, transactor);
  }
  const queue = createBullQueue({
    connection: { kind: 'postgres', url: queueUrl, schema: 'bullmq' },
    log: silentLog,
  });
  const attestations =
    options.attestations ??
    createAttestationClient(
      {
        chains: ports(),
        recovery: createRecovery(),
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { urls: ['http://127.0.0.1:9', ...attesterUrls] },
    );
  const advancer = createOrderAdvancer(
    {
      store,
      chains: ports(),
      transactors,
      routeVenues: [],
      attestations,
      queue,
      bus,
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    },
    {
      owner: `worker-${relayers++}`,
      leaseMs: options.leaseMs ?? 1_000,
      sweepMs: 300,
      graceMs: options.graceMs ?? 0,
    },
  );
  await advancer.start();
  let stopped = false;
  const worker: Worker = {
    advancer,
    transactors,
    // As wherever an order is announced: a queue that is too slow to take it leaves it to the sweep.
    wake: (orderId) => queue.wake('orders', orderId).catch(() => {}),
    async stop() {
      if (stopped) return;
      stopped = true;
      await advancer.stop();
      await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
      await queue.close();
    },
  };
  running.push(worker);
  return worker;
}

async function newRelayer(): Promise<TestAccount> {
  const relayer = account(relayers++);
  await Promise.all(devnet.chains.map((chain) => chain.fund(relayer.address, 0n)));
  return relayer;
}

async function newTaker(...chains: TestChain[]): Promise<TestAccount> {
  const taker = account(takers++);
  for (const chain of chains) await chain.fund(taker.address);
  return taker;
}

async function accept(
  terms: Partial<TradeTerms> & { taker: TestAccount },
  change: Partial<NewOrder> = {},
): Promise<NewOrder> {
  const trade = {
    ...makeTrade({
      origin: a,
      lps: [{ account: lps[0], operator }],
      now: (await a.port.block((await height(a)) ?? 0n))?.timestamp ?? 0,
      ...terms,
    }),
    ...change,
  };
  expect(await store.accept(trade, '{}', null)).toMatchObject({ kind: 'accepted' });
  return trade;
}

const height = async (chain: TestChain) => BigInt(await chain.anvil.rpc<Hex>('eth_blockNumber'));

/** Mines so that depth is reached, until the order is where it should be. */
async function reaches(trade: NewOrder, stage: Progress['stage']): Promise<Progress> {
  let progress: Progress | undefined;
  const deadline = performance.now() + 100_000;
  for (;;) {
    const record = await store.order(trade.orderId);
    progress =
      record &&
      foldFacts(
        record.order,
        record.facts.map(({ fact }) => fact),
      );
    if (progress?.stage === stage) return progress;
    if (performance.now() > deadline || progress?.final)
      throw new Error(
        `wanted ${stage}, is ${progress?.stage}: ${JSON.stringify(record?.facts.map(({ fact }) => fact.kind))} ${progress?.failure?.message ?? ''}`,
      );
    await nextBlocks();
  }
}

let mining: Promise<void> | undefined;

/** However many wait, blocks come one after the other. */
function nextBlocks(): Promise<void> {
  mining ??= (async () => {
    await new Promise((done) => setTimeout(done, 60));
    for (const chain of devnet.chains) await chain.anvil.mine();
    mining = undefined;
  })();
  return mining;
}

/** The clocks of the two chains drift apart in these tests; real ones do too. */
async function advanceTo(chain: TestChain, timestamp: number): Promise<void> {
  const now = (await chain.port.block(await height(chain)))?.timestamp ?? 0;
  if (now < timestamp) await chain.anvil.advance(timestamp - now);
}

const eventsOf = async (trade: NewOrder) => (await store.events(trade.orderId)).map(({ type }) => type);

describe('one chain', () => {
  test('accepted, woken, settled: the taker has the output, the LP the input, fees are paid', async () => {
    const worker = await startWorker();
    const taker = await newTaker(a);
    const trade = await accept({ taker, relayFee: 1_000n });
    const before = await a.port.ledgerBalance(lps[0].address, a.usdc.address);
    await worker.wake(trade.orderId);
    const progress = await reaches(trade, 'settled');
    expect(progress).toMatchObject({
      status: 'settled',
      fills: [{ amount: 10n ** 18n, solver: lps[0].address }],
    });
    expect(progress.sent).toHaveLength(1);
    expect(progress.sent[0]?.txHash).toBe(progress.finalised?.txHash);
    expect(await a.port.tokenBalance(taker.address, a.weth.address)).toBe(1_000_001n * 10n ** 18n);
    expect((await a.port.ledgerBalance(lps[0].address, a.usdc.address)) - before).toBe(
      2_500_000_000n - 500_000n - 1_000n,
    );
    expect(await eventsOf(trade)).toEqual(['order.created', 'order.settled']);
  });

  test.each(['permit2Lock', 'permit2Grant', 'resourceLock'] as const)('funded by %s', async (lock) => {
    await startWorker();
    const taker = await newTaker(a);
    await a.approve(
      taker.address,
      a.usdc.address,
      lock === 'resourceLock' ? a.chain.escrow : a.chain.permit2,
    );
    if (lock === 'permit2Grant')
      await a.send(
        taker.address,
        a.chain.permit2,
        permit2GrantCall(a.usdc.address, a.chain.escrow, 10n ** 12n, 2 ** 32 - 1),
      );
    if (lock === 'resourceLock')
      await a.send(taker.address, a.chain.escrow, depositCall(a.usdc.address, 10n ** 10n));
    expect(await reaches(await accept({ taker, lock }), 'settled')).toMatchObject({ status: 'settled' });
  });

  test('a split over three LPs settles in one transaction', async () => {
    await startWorker();
    const taker = await newTaker(a);
    const progress = await reaches(
      await accept({ taker, lps: lps.map((lp) => ({ account: lp, operator })) }),
      'settled',
    );
    expect(new Set(progress.fills.map((fill) => fill?.evidence.txHash)).size).toBe(1);
    expect(progress.fills.map((fill) => fill?.solver)).toEqual(lps.map(({ address }) => address));
  });

  test('sixty concurrent orders settle, each with its own transaction', async () => {
    const worker = await startWorker();
    const taker = await newTaker(a);
    const trades = await Promise.all(
      Array.from({ length: 60 }, () => accept({ taker, inputAmount: 1_000_000n, outputAmount: 10n ** 15n })),
    );
    await Promise.all(trades.map(({ orderId }) => worker.wake(orderId)));
    const done = await Promise.all(trades.map((trade) => reaches(trade, 'settled')));
    expect(new Set(done.map(({ finalised }) => finalised?.txHash)).size).toBe(60);
  });

  test('settlement by a third party counts as success', async () => {
    const taker = await newTaker(a);
    const trade = await accept({ taker });
    await a.send(
      operator.address,
      a.chain.escrow,
      settleCall(trade.order, trade.funding, trade.quoteId, trade.commitments),
    );
    await startWorker();
    const progress = await reaches(trade, 'settled');
    expect(progress.sent).toEqual([]);
    expect(await eventsOf(trade)).toEqual(['order.created', 'order.settled']);
  });

  test("nobody opens a taker's order in place of settling it, whatever its expiry", async () => {
    const taker = await newTaker(a);
    const trade = await accept({ taker });
    for (const expires of [trade.order.expires, trade.order.fillDeadline + 3_600]) {
      const order = { ...trade.order, expires };
      const { funding } = fund(a, taker, order, 'eip3009');
      const opened = await a.port.simulate({
        from: operator.address,
        to: a.chain.escrow,
        data: openForCall(order, funding),
      });
      expect(opened.ok ? 'opened' : decodeRevert(opened.data).name).toMatch(
        /^(ProofWindowTooShort|WrongOracle)$/,
      );
    }
    await startWorker();
    await reaches(trade, 'settled');
  });

  test('walletBroadcast: the venue watches and sends nothing', async () => {
    await startWorker();
    const taker = await newTaker(a);
    await a.approve(taker.address, a.usdc.address, a.chain.escrow);
    const trade = await accept({ taker, lock: 'self', executionMode: 'walletBroadcast' });
    await a.send(
      taker.address,
      a.chain.escrow,
      settleCall(trade.order, trade.funding, trade.quoteId, trade.commitments),
    );
    expect((await reaches(trade, 'settled')).sent).toEqual([]);
  });

  test('walletBroadcast without a broadcast fails with not_broadcast after the chain passes the deadline', async () => {
    await startWorker();
    const trade = await accept({ taker: await newTaker(a), lock: 'self', executionMode: 'walletBroadcast' });
    await new Promise((done) => setTimeout(done, 500));
    expect((await store.order(trade.orderId))?.facts).toHaveLength(1);
    await a.anvil.advance(60);
    expect(await reaches(trade, 'failed')).toMatchObject({
      status: 'failed',
      failure: { code: 'not_broadcast' },
    });
    expect(await eventsOf(trade)).toEqual(['order.created', 'order.failed']);
  });

  test('a taker without money: retried until the deadline, then funding_failed with the reason', async () => {
    await startWorker();
    const taker = await newTaker();
    const trade = await accept({ taker });
    await new Promise((done) => setTimeout(done, 800));
    expect((await store.order(trade.orderId))?.facts).toHaveLength(1);
    await a.anvil.advance(60);
    const { failure } = await reaches(trade, 'failed');
    expect(failure).toMatchObject({ code: 'funding_failed' });
    expect(failure?.message).toContain('ERC20InsufficientBalance');
  });

  test('money that arrives before the deadline still settles it', async () => {
    await startWorker();
    const taker = await newTaker();
    const trade = await accept({ taker });
    await new Promise((done) => setTimeout(done, 500));
    await a.fund(taker.address);
    await reaches(trade, 'settled');
  });

  test('an LP that moved its money: settlement_reverted, and nothing was taken', async () => {
    await startWorker();
    const taker = await newTaker(a);
    const trade = await accept({ taker, outputAmount: 10n ** 24n });
    await new Promise((done) => setTimeout(done, 500));
    await a.anvil.advance(60);
    const { failure } = await reaches(trade, 'failed');
    expect(failure).toMatchObject({ code: 'settlement_reverted' });
    expect(failure?.message).toContain('InsufficientBalance');
    expect(await a.port.tokenBalance(taker.address, a.usdc.address)).toBe(1_000_000n * 10n ** 6n);
  });

  test('a nonce that the taker invalidated fails the order immediately', async () => {
    const taker = await newTaker(a);
    const trade = await accept({ taker });
    await a.send(taker.address, a.chain.escrow, invalidateNonceCall(trade.order.nonce));
    await startWorker();
    expect(await reaches(trade, 'failed')).toMatchObject({ failure: { code: 'not_opened' } });
  });

  test('a worker that dies between sending and seeing the receipt leaves an order that the next worker finishes with one transaction', async () => {
    const relayer = await newRelayer();
    const first = await startWorker({ relayer });
    const taker = await newTaker(a);
    await a.anvil.rpc('evm_setAutomine', [false]);
    const trade = await accept({ taker });
    await first.wake(trade.orderId);
    await expect
      .poll(async () => (await store.order(trade.orderId))?.facts.at(-1)?.fact.kind, { timeout: 40_000 })
      .toBe('sent');
    await first.stop();
    const second = await startWorker({ relayer });
    const progress = await reaches(trade, 'settled');
    expect(progress.sent).toHaveLength(1);
    expect(progress.finalised?.txHash).toBe(progress.sent[0]?.txHash);
    await second.stop();
    expect(await a.port.transactionCount(relayer.address, 'pending')).toBe(1);
  });

  test('two workers share the orders and none is settled twice', async () => {
    // A lease long enough that a busy machine does not take an order from a worker that is alive.
    const relayers = [await newRelayer(), await newRelayer()];
    const [one, two] = (await Promise.all(
      relayers.map((relayer) => startWorker({ relayer, leaseMs: 30_000 })),
    )) as [Worker, Worker];
    const taker = await newTaker(a);
    const trades = await Promise.all(
      Array.from({ length: 30 }, () => accept({ taker, inputAmount: 1_000_000n, outputAmount: 10n ** 15n })),
    );
    await Promise.all(trades.flatMap(({ orderId }) => [one.wake(orderId), two.wake(orderId)]));
    await Promise.all(trades.map((trade) => reaches(trade, 'settled')));
    const sent = await Promise.all(relayers.map(({ address }) => a.port.transactionCount(address, 'latest')));
    expect(sent.reduce((sum, count) => sum + count)).toBe(trades.length);
  });

  test('two workers with one relayer: the fenced one sends, and the other continues when it stops', async () => {
    const relayer = await newRelayer();
    const [first, second] = [await startWorker({ relayer }), await startWorker({ relayer })] as const;
    const taker = await newTaker(a);
    const some = () =>
      Promise.all(
        Array.from({ length: 10 }, () =>
          accept({ taker, inputAmount: 1_000_000n, outputAmount: 10n ** 15n }),
        ),
      );
    const early = await some();
    // The queue gives wake-ups to either, as it pleases.
    await Promise.all(early.map(({ orderId }) => second.wake(orderId)));
    await Promise.all(early.map((trade) => reaches(trade, 'settled')));
    await first.stop();
    const late = await some();
    await Promise.all(late.map((trade) => reaches(trade, 'settled')));
    expect(await a.port.transactionCount(relayer.address, 'latest')).toBe(early.length + late.length);
  });

  test('a settlement that a reorganisation removes before it is final is sent again', async () => {
    const relayer = await newRelayer();
    const worker = await startWorker({ relayer });
    const taker = await newTaker(a);
    await a.anvil.rpc('evm_setAutomine', [false]);
    const trade = await accept({ taker });
    await worker.wake(trade.orderId);
    await expect
      .poll(async () => (await store.order(trade.orderId))?.facts.at(-1)?.fact.kind, { timeout: 40_000 })
      .toBe('sent');
    await a.anvil.mine();
    expect(await a.port.orderStatus(trade.orderId)).toBe('claimed');
    await a.anvil.rpc('anvil_reorg', [1, []]);
    expect(await a.port.orderStatus(trade.orderId)).toBe('none');
    const progress = await reaches(trade, 'settled');
    expect(progress.fills[0]?.amount).toBe(10n ** 18n);
    expect(await a.port.transactionCount(relayer.address, 'latest')).toBe(1);
  });
});

describe('two chains', () => {
  const fill = (trade: NewOrder, index = 0) =>
    b.send(
      operator.address,
      b.chain.escrow,
      fillCall(
        trade.orderId,
        trade.order.outputs[index] as MandateOutput,
        trade.order.fillDeadline,
        lps[0].address,
      ),
    );

  test('opened by the venue, filled by the LP, proven by two of three attesters, finalised', async () => {
    const worker = await startWorker();
    const taker = await newTaker(a, b);
    const trade = await accept({ taker, dest: b });
    await worker.wake(trade.orderId);
    await reaches(trade, 'escrowed');
    await fill(trade);
    const progress = await reaches(trade, 'settled');
    expect(progress).toMatchObject({
      flow: 'cross_chain',
      fills: [{ evidence: { chainId: b.chain.id } }],
      attested: [{ evidence: { chainId: a.chain.id } }],
    });
    expect(await b.port.tokenBalance(taker.address, b.weth.address)).toBe(1_000_001n * 10n ** 18n);
    expect(await eventsOf(trade)).toEqual(['order.created', 'order.settled']);
  });

  test('slices of three LPs, filled together by their approvals', async () => {
    await startWorker();
    const taker = await newTaker(a, b);
    const trade = await accept({ taker, dest: b, lps: lps.map((lp) => ({ account: lp, operator })) });
    await reaches(trade, 'escrowed');
    const domain = { chainId: b.chain.id, escrow: b.chain.escrow };
    const approvals = trade.order.outputs.map((output) => ({
      deadline: trade.order.fillDeadline,
      signature: operator.sign(
        fillApprovalDigest(domain, {
          orderId: trade.orderId,
          outputHash: outputHash(output),
          deadline: trade.order.fillDeadline,
        }),
      ),
    }));
    await b.send(
      taker.address,
      b.chain.escrow,
      fillWithApprovalsCall(trade.orderId, trade.order.outputs, trade.order.fillDeadline, approvals),
    );
    expect((await reaches(trade, 'settled')).fills).toHaveLength(3);
  });

  test('filled, proven and finalised by others while no worker ran: the next worker records all of it with the right evidence', async () => {
    const worker = await startWorker();
    const taker = await newTaker(a, b);
    const trade = await accept({ taker, dest: b });
    await reaches(trade, 'escrowed');
    await worker.stop();
    await fill(trade);
    await b.anvil.mine(2);
    let filled: Extract<EscrowEvent, { kind: 'filled' }> | undefined;
    await expect
      .poll(
        async () =>
          (filled = (await b.port.orderEvents(trade.orderId, 0)).find((event) => event.kind === 'filled')),
      )
      .toBeDefined();
    if (!filled) throw new Error('not filled');
    const fact = {
      solver: filled.solver,
      orderId: trade.orderId,
      timestamp: filled.timestamp,
      output: filled.output,
    };
    const client = createAttestationClient(
      {
        chains: ports(),
        recovery: createRecovery(),
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { urls: attesterUrls },
    );
    const attestation = fillAttestation(fact);
    let signatures: readonly Hex[] | undefined;
    await expect
      .poll(
        async () =>
          (signatures = await client.signatures(
            attestation,
            { chainId: a.chain.id, oracle: a.chain.oracle },
            trade.orderId,
          ))?.length,
        { timeout: 40_000 },
      )
      .toBe(2);
    const proofTx = await a.send(
      operator.address,
      a.chain.oracle,
      submitAttestationsCall(attestation.remoteChainId, attestation.application, [
        { payloadHash: attestation.payloadHash, signatures: signatures ?? [] },
      ]),
    );
    const finaliseTx = await a.send(
      operator.address,
      a.chain.escrow,
      finaliseCall(trade.order, [{ timestamp: filled.timestamp, solver: lps[0].address }]),
    );
    await a.anvil.mine(20);
    await startWorker();
    const progress = await reaches(trade, 'settled');
    expect(progress).toMatchObject({
      attested: [{ evidence: { txHash: proofTx } }],
      finalised: { txHash: finaliseTx },
      fills: [{ evidence: { txHash: filled.txHash, chainId: b.chain.id } }],
    });
  });

  test('not filled: failed at the deadline, refunded once after expires', async () => {
    await startWorker();
    const taker = await newTaker(a);
    const trade = await accept({ taker, dest: b });
    await reaches(trade, 'escrowed');
    expect(await a.port.tokenBalance(taker.address, a.usdc.address)).toBe(997_500n * 10n ** 6n);
    await Promise.all([
      advanceTo(a, trade.order.fillDeadline + 2),
      advanceTo(b, trade.order.fillDeadline + 2),
    ]);
    expect(await reaches(trade, 'refund_pending')).toMatchObject({
      status: 'failed',
      failure: { code: 'expired_unfilled' },
    });
    // However old it is, nobody can refund it before `expires`: it is not stuck.
    const aged: typeof store.openOrders = async (most) =>
      (await store.openOrders(most)).map((order) => ({ ...order, createdAtMs: order.createdAtMs - DAY_MS }));
    const list = createOpenOrders({
      store: { openOrders: aged, unclaimed: store.unclaimed },
      ...{ chains: ports(), relayers: new Map(), clock: systemClock },
    });
    const { orders } = await list();
    expect(orders.find(({ id }) => id === trade.orderId)).toMatchObject({
      ...{ stage: 'refund_pending', waitsFor: 'time', problems: [], stuck: false },
    });
    await advanceTo(a, trade.order.expires + 2);
    await reaches(trade, 'refunded');
    expect(await a.port.tokenBalance(taker.address, a.usdc.address)).toBe(1_000_000n * 10n ** 6n);
    expect(await eventsOf(trade)).toEqual(['order.created', 'order.failed']);
  });

  test('released early by its LP: refunded, with the reason', async () => {
    await startWorker();
    const taker = await newTaker(a);
    const trade = await accept({ taker, dest: b });
    await reaches(trade, 'escrowed');
    const signature = operator.sign(
      releaseDigest({ chainId: a.chain.id, escrow: a.chain.escrow }, trade.orderId),
    );
    const data = encodeFunctionData({
      abi: escrowAbi,
      functionName: 'release',
      args: [
        {
          ...trade.order,
          inputs: trade.order.inputs.map(([token, amount]) => [token, amount] as const),
          outputs: [...trade.order.outputs],
        },
        [signature],
      ],
    });
    await a.send(operator.address, a.chain.escrow, data);
    expect(await reaches(trade, 'refunded')).toMatchObject({ failure: { code: 'solver_released' } });
  });

  test('filled while the attesters are down: not refunded after expires, and settled when they return', async () => {
    let away = true;
    const real = createAttestationClient(
      {
        chains: ports(),
        recovery: createRecovery(),
        clock: systemClock,
        log: silentLog,
        metrics: silentMetrics,
      },
      { urls: attesterUrls },
    );
    await startWorker({
      attestations: { signatures: async (...question) => (away ? undefined : real.signatures(...question)) },
    });
    const taker = await newTaker(a, b);
    const trade = await accept({ taker, dest: b });
    await reaches(trade, 'escrowed');
    await fill(trade);
    await reaches(trade, 'delivered');
    await advanceTo(a, trade.order.expires + 2);
    await new Promise((done) => setTimeout(done, 800));
    expect(await a.port.orderStatus(trade.orderId)).toBe('deposited');
    away = false;
    await reaches(trade, 'settled');
  });
});
